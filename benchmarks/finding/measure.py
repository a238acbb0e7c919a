"""The figures: of what people say, how often the function meant is in the first prompt, and how
often at the latest after the model's own search.

Sets, and who wrote them:

- `ours`, `ours, sealed`: 304 messages, 203 English and 101 Russian, for 203 functions drawn by lot
  from the large catalogue. One author wrote them from the documentation before the ranking was
  touched, and beside each the words with which he would search; the same author made the ranking.
  The sealed half was looked at once, when the ranking was done.
- `BFCL, calls`: the true calls of BFCL's multi-turn conversations, with the messages before them
  and the functions used before them, as the kernel would remember them.
- `BFCL, questions`: BFCL's single questions, a part of them asked by users of a public page in
  several languages; functions that do the same under other names count as missed.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.foreign import packages
from webbee_kernel.catalogue import Catalogue
from webbee_kernel.turn.tool_retrieval import Shortlist, Standing, shortlist, standing
from webbee_kernel.turn.tool_search import search

from .catalogues import large, simulated, single_id, singles
from .sessions import Turn
from .sessions import play as play_sessions

FOLDER = Path(__file__).parent
TALKS = ("base", "long_context", "miss_param", "miss_func")
REMEMBERED = 5
"""Turns that a session holds."""

Key = tuple[str, str]


@dataclass(frozen=True)
class Said:
    """One message: the functions it needs, what was said and used before it, and the words with
    which a model would search."""

    set_name: str
    language: str
    message: str
    calls: tuple[Key, ...]
    recent: tuple[str, ...] = ()
    used: frozenset[Key] = frozenset()
    ask: str = ""


@dataclass(frozen=True)
class Found:
    """Of the functions that a message needs, how many were shown, and how many were shown at the
    latest after a search; of how many functions that the prompt held."""

    said: Said
    first: int
    after: int
    functions: int


def play(sample: int = 1) -> Iterator[Found]:
    """Every message of ours, every `sample`-th of the others."""
    for sealed in (False, True):
        yield from (_found(s, large()) for s in ours(sealed=sealed))
    for talk in list(talks())[::sample]:
        yield from _in_session(talk, simulated())
    catalogue, _ = singles()
    yield from (_found(s, catalogue) for s in list(questions())[:: 4 * sample])


def ours(*, sealed: bool) -> Iterator[Said]:
    """Our own messages."""
    name = "cases_sealed.json" if sealed else "cases.json"
    rows: list[dict[str, Any]] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    for row in rows:
        app_id, _, fn_name = row["call"].partition(".")
        yield Said(
            "ours, sealed" if sealed else "ours",
            row["lang"],
            row["say"],
            ((app_id, fn_name),),
            ask=row["ask"],
        )


def questions() -> Iterator[Said]:
    """BFCL's single questions."""
    for message, called in singles()[1]:
        calls = tuple((a, f) for a, _, f in (single_id(c).partition(".") for c in called))
        yield Said("BFCL, questions", "any", message, calls)


def sessions(sample: int = 1) -> Iterator[Turn]:
    """The first five turns of BFCL's conversations `base`, among all functions of the large
    catalogue."""
    said = list(talks(TALKS[:1]))[::sample]
    yield from play_sessions(large(), [[(s.message, s.calls) for s in talk] for talk in said])


def talks(sets: Sequence[str] = TALKS) -> Iterator[list[Said]]:
    """BFCL's conversations, each turn by turn."""
    where: dict[str, list[str]] = {}
    for app in simulated().apps.values():
        for function in app.functions:
            where.setdefault(function.fn_name, []).append(app.app_id)
    for name in sets:
        file = f"BFCL_v4_multi_turn_{name}.json"
        answers = {
            a["id"]: a["ground_truth"] for a in packages.bfcl_lines(f"possible_answer/{file}")
        }
        for entry in packages.bfcl_lines(file):
            involved = {c.lower() for c in entry["involved_classes"]}
            yield list(_turns(entry["question"], answers[entry["id"]], where, involved))


def _turns(
    turns: list[Any], answers: list[list[str]], where: dict[str, list[str]], involved: set[str]
) -> Iterator[Said]:
    said: list[str] = []
    used: list[tuple[Key, ...]] = []
    for turn, sources in zip(turns, answers, strict=False):
        message = " ".join(m["content"] for m in turn if m["role"] == "user")
        names = [_called(source) for source in sources]
        calls = tuple((next(a for a in where[n] if a in involved), n) for n in names)
        before = frozenset(key for keys in used[-REMEMBERED:] for key in keys)
        yield Said("BFCL, calls", "en", message, calls, tuple(said[-REMEMBERED:]), before)
        said.append(message)
        used.append(calls)


def _called(source: str) -> str:
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name), source
    return call.func.id


def _in_session(talk: Sequence[Said], catalogue: Catalogue) -> Iterator[Found]:
    """Each message of a conversation, where what was shown before it stays."""
    functions = catalogue.functions(catalogue.apps)
    before: Standing | None = None
    for said in talk:
        listed = shortlist(functions, said.message, said.recent, said.used, catalogue.apps, before)
        before = standing(listed.tools, functions, listed.base)
        yield _counted(said, catalogue, listed)


def _found(said: Said, catalogue: Catalogue) -> Found:
    functions = catalogue.functions(catalogue.apps)
    listed = shortlist(functions, said.message, said.recent, said.used, catalogue.apps)
    return _counted(said, catalogue, listed)


def _counted(said: Said, catalogue: Catalogue, listed: Shortlist) -> Found:
    shown = {(f.app_id, f.fn_name) for f in listed.shown}
    functions = catalogue.functions(catalogue.apps) if said.ask else ()
    more = search(functions, said.ask, "", catalogue.apps)
    later = shown | {(f.app_id, f.fn_name) for f in more}
    return Found(
        said,
        sum(key in shown for key in said.calls),
        sum(key in later for key in said.calls),
        len(shown),
    )
