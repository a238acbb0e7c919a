"""The table of `webbee_kernel/base/compiled.py`: `python compiling.py FILE`, run where the layer is
built with the Python that will use it. No part of the layer itself."""

from __future__ import annotations

import array
import dataclasses
import inspect
import marshal
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from webbee_kernel.base import compiled

_patterns: dict[tuple[str, int], bytes] = {}
_sources: dict[str, bytes] = {}
_answers: dict[tuple[Any, ...], bytes] = {}


def plain(made: Any) -> bytes:
    """The same bytes for the same value. From its third version on marshal marks what more than one
    reference holds, and who else in the process holds a word is another thing in each build."""
    return marshal.dumps(made, 2)


class _Sre:
    """`_sre` as the compiler of patterns sees it, with an ear for what is compiled."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.flags = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def compile(self, pattern: Any, flags: int, code: list[int], *rest: Any) -> Any:
        if type(pattern) is str:
            groups, index, names = rest
            packed = array.array("I", code).tobytes()
            told = (flags, packed, groups, dict(index), names)
            _patterns[pattern, self.flags] = plain(told)
        return self._real.compile(pattern, flags, code, *rest)


def listen() -> None:
    """Keep from now on what `re` and `dataclasses` compile and what `kept` functions answer."""
    compiler: Any = import_module("re._compiler")
    sre = compiler._sre = _Sre(compiler._sre)
    compile_pattern = compiler.compile

    def heard(pattern: Any, flags: int = 0) -> Any:
        sre.flags = int(flags)
        return compile_pattern(pattern, flags)

    def run(source: Any, *where: Any) -> None:
        if isinstance(source, str):
            _sources[source] = plain(compile(source, "<string>", "exec"))
        exec(source, *where)  # noqa: S102

    compiler.compile = heard
    setattr(dataclasses, "exec", run)  # noqa: B010
    compiled.told.append(lambda asked, made: _answers.setdefault(asked, plain(made)))


def _lend_urllib3() -> None:
    """The Lambda runtime brings urllib3, the layer does not. pip's own copy does as well: the table
    is asked by a pattern's text, so another version's at most leave some out."""
    for name in ("urllib3", "pip._vendor.urllib3"):
        try:
            sys.modules.setdefault("urllib3", import_module(name))
            return
        except ImportError:
            continue


def read_sources() -> None:
    """Import from now on what is written, not what was compiled before: a set out of a compiled
    module is filled in another order than in its source, and babel makes patterns of sets."""
    sys.dont_write_bytecode = True
    sys.pycache_prefix = os.devnull


def load_all() -> None:
    """Import every module of the kernel, and ask what all languages and a first turn ask."""
    import pkgutil  # and what else comes now is heard

    _lend_urllib3()
    package = import_module("webbee_kernel")
    for module in pkgutil.walk_packages(package.__path__, "webbee_kernel."):
        try:
            import_module(module.name)
        except ImportError:  # needs what only another layer, or a developer's machine, has
            continue
    _ask_languages()
    import_module("webbee_kernel.turn.ready").make_ready()


def _ask_languages() -> None:
    """Ask each language for each role of its words and its calendar, and each `kept` function that
    takes no more than a language for all of them."""
    from webbee_kernel.language import calendars, files, model, registry, words

    for language in map(files.of, registry.tags()):
        for role, kind in vars(words.Words).items():
            if isinstance(kind, words.Role | words.Mapped):
                getattr(language.words, role)
        calendars.names(language)
    for field in dataclasses.fields(model.People):
        for make in (files.people, files.people_keys, files.people_phrases):
            make(field.name)
    for function in tuple(compiled.asked):
        takes = list(inspect.signature(function).parameters)
        if takes == ["tag"]:
            for tag in registry.tags():
                function(tag)
        elif not takes:
            function()


def main(file: str) -> None:
    """Write the table."""
    read_sources()
    listen()
    load_all()
    table: tuple[Any, ...] = compiled.Kept(compiled.stamp(), _patterns, _sources, _answers)
    Path(file).write_bytes(plain((*table,)))
    print(f"{len(_patterns)} patterns, {len(_sources)} classes, {len(_answers)} answers")


if __name__ == "__main__":
    main(sys.argv[1])
