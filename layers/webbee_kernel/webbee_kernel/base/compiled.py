"""What every process would work out alike, taken from a table made where the layer was built.

A `.pyc` spares a module's compiling, not what the module does when it runs: `re` parses each
pattern in Python, `dataclasses` writes the text of each class's methods and compiles it, the
languages' word lists are stemmed. That was two fifths of chat_turn's init. `compiling.py`, beside
the package, runs the same at `make build` and keeps what came of it; here the table stands before
those who would do it again. What it does not hold, or holds for another Python, is made as ever: a
checkout, which has no table, differs in time alone.
"""

from __future__ import annotations

import functools
import marshal
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import MAGIC_NUMBER
from io import open_code
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

NAME: Final = "compiled.bin"
"""The table's file, in the package's own folder."""

_Asked = ParamSpec("_Asked")
_Made = TypeVar("_Made")
_NOTHING: Final = object()


class Kept(NamedTuple):
    """A table: for which Python; patterns by text and flags; byte code by text; answers of `kept`
    functions by name and arguments, each marshalled by itself, for a process needs a part."""

    stamp: tuple[object, ...]
    patterns: Mapping[tuple[str, int], bytes]
    sources: Mapping[str, bytes]
    answers: Mapping[tuple[Any, ...], bytes]


_answers: dict[tuple[Any, ...], bytes] = {}
asked: list[Callable[..., object]] = []
"""Every `kept` function that was defined."""
told: list[Callable[[tuple[Any, ...], Any], object]] = []
"""Who hears what `kept` functions answer: `compiling`, else nobody."""


def kept(make: Callable[_Asked, _Made]) -> Callable[_Asked, _Made]:
    """A pure function of a few plain arguments with a plain answer, whose answers the table may
    hold. One without arguments, or with one called `tag`, is asked by the build of its own accord.
    """
    name = f"{make.__module__}.{make.__qualname__}"

    @functools.wraps(make)
    def answer(*arguments: _Asked.args, **named: _Asked.kwargs) -> _Made:
        if (found := _answers.get((name, *arguments))) is not None:
            made: _Made = marshal.loads(found)  # noqa: S302 - the layer's own, as its .pyc are
            return made
        made = make(*arguments, **named)
        for hear in told:
            hear((name, *arguments), made)
        return made

    asked.append(answer)
    return answer


def stamp() -> tuple[object, ...]:
    """What the table's code depends on: the versions of byte code and of patterns' code, and how
    wide that is."""
    sre: Any = import_module("_sre")
    return MAGIC_NUMBER, sre.MAGIC, sre.CODESIZE, sys.byteorder


def use(file: str) -> bool:
    """Look into this table first from now on; False where there is none for this Python."""
    try:
        with open_code(file) as opened:
            kept = Kept(*marshal.load(opened))  # noqa: S302
    except (OSError, ValueError, EOFError, TypeError):
        return False
    if kept.stamp != stamp():
        return False
    _answers.update(kept.answers)
    _use_patterns(kept.patterns)
    _use_sources(kept.sources)
    return True


def _use_patterns(patterns: Mapping[tuple[str, int], bytes]) -> None:
    compiler: Any = import_module("re._compiler")
    make: Callable[..., Any] = import_module("_sre").compile
    parse: Callable[..., Any] = compiler.compile

    def compiled(pattern: Any, flags: int = 0) -> Any:
        found = patterns.get((pattern, flags)) if type(pattern) is str else None
        if found is None:
            return parse(pattern, flags)
        meant, code, groups, index, names = marshal.loads(found)  # noqa: S302
        return make(pattern, meant, memoryview(code).cast("I").tolist(), groups, index, names)

    compiler.compile = compiled


def _use_sources(sources: Mapping[str, bytes]) -> None:
    import dataclasses

    def run(source: Any, *where: Any) -> None:
        found = sources.get(source) if isinstance(source, str) else None
        exec(marshal.loads(found) if found else source, *where)  # noqa: S102,S302

    setattr(dataclasses, "exec", run)  # noqa: B010 - stands before the builtin of that name
