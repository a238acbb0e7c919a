"""Is the function that a message needs among those that the first prompt shows, out of some 1,900
of foreign apps; and if not, does the model's own search bring it?

- `ours`, `ours, sealed`: 304 messages, 203 English and 101 Russian, for 203 functions drawn by lot
  from the large catalogue. One author wrote them from the documentation before the ranking was
  touched, and beside each the words with which he would search; the same author made the ranking.
  The sealed half was looked at twice: when the ranking was done, and when it was made shorter.
- `BFCL, calls`: the true calls of BFCL's multi-turn conversations, with the functions used before
  them, as the kernel would remember them.
- Sessions: BFCL's conversations among all functions, each turn run by a whole kernel whose model
  calls the functions meant that only read and that it is shown. A turn's input is all that is sent
  to models in it; what begins as in the turn before, a model's service has in its cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from pathlib import Path
from typing import Any

from benchmarks.tables import grouped, means
from webbee_kernel.bootstrap import make_kernel
from webbee_kernel.catalogue import Catalogue
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.llm.tools import describe, parameters
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.tool_retrieval import Shortlist, ToolList, shortlist, tool_list
from webbee_kernel.turn.tool_search import search
from webbee_kernel.types import CallOutcome, CallRequest

from . import packages
from .packages import large, simulated

MESSAGES = Path(__file__).with_name("messages.json")
TALKS = ("base", "long_context", "miss_param", "miss_func")
REMEMBERED = 5
"""Turns that a session holds."""
LAST_TURN = 5
"""Turns of a session that are counted, the first apart: it has none before it."""
RESULT = {
    "count": 4,
    "rows": [
        {"id": f"row-{n}", "title": f"What the row number {n} holds", "owner": f"owner{n}@test.org"}
        for n in range(6)
    ],
}
"""What every function of a session returns."""

Key = tuple[str, str]


@dataclass(frozen=True)
class Said:
    """One message: the functions it needs, what was used before it, and the words with which a
    model would search."""

    set_name: str
    language: str
    message: str
    calls: tuple[Key, ...]
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


@dataclass(frozen=True)
class Turn:
    """One turn of a session: letters sent, and how many of them begin as before."""

    number: int
    sent: int
    same: int


def play(sample: int = 1) -> Iterator[Found]:
    """Every message of ours, every `sample`-th of BFCL's conversations."""
    for said in ours():
        functions = large().functions(large().apps)
        listed = shortlist(functions, said.message, frozenset(), large().apps)
        yield _counted(said, large(), listed)
    for talk in list(talks())[::sample]:
        yield from _in_session(talk, simulated())


def ours() -> Iterator[Said]:
    """Our own messages."""
    rows: list[dict[str, Any]] = json.loads(MESSAGES.read_text(encoding="utf-8"))
    for row in rows:
        app_id, _, fn_name = row["call"].partition(".")
        name = "ours, sealed" if row["sealed"] else "ours"
        yield Said(name, row["lang"], row["say"], ((app_id, fn_name),), ask=row["ask"])


def talks(sets: Sequence[str] = TALKS) -> Iterator[list[Said]]:
    """BFCL's conversations, each turn by turn."""
    for name in sets:
        for entry, answers in packages.bfcl_talks(name):
            involved = [simulated().apps[c.lower()] for c in entry["involved_classes"]]
            where = {f.fn_name: f.app_id for app in involved for f in app.functions}
            yield list(_turns(entry["question"], answers, where))


def _turns(turns: list[Any], answers: list[list[str]], where: dict[str, str]) -> Iterator[Said]:
    used: list[tuple[Key, ...]] = []
    for turn, sources in zip(turns, answers, strict=False):
        message = " ".join(m["content"] for m in turn if m["role"] == "user")
        names = [packages.call_in(source)[0] for source in sources]
        calls = tuple((where[name], name) for name in names)
        before = frozenset(key for keys in used[-REMEMBERED:] for key in keys)
        yield Said("BFCL, calls", "en", message, calls, before)
        used.append(calls)


def _in_session(talk: Sequence[Said], catalogue: Catalogue) -> Iterator[Found]:
    """Each message of a conversation, where what was shown before it stays."""
    functions = catalogue.functions(catalogue.apps)
    before: ToolList | None = None
    for said in talk:
        listed = shortlist(functions, said.message, said.used, catalogue.apps, before)
        before = tool_list(listed.tools, functions, listed.base)
        yield _counted(said, catalogue, listed)


def _counted(said: Said, catalogue: Catalogue, listed: Shortlist) -> Found:
    shown = {(f.app_id, f.fn_name) for f in listed.shown}
    functions = catalogue.functions(catalogue.apps) if said.ask else ()
    later = {(f.app_id, f.fn_name) for f in search(functions, said.ask, "", catalogue.apps)}
    first = sum(key in shown for key in said.calls)
    return Found(said, first, sum(key in shown | later for key in said.calls), len(shown))


class Shelf:
    """A dispatch of functions that nobody wrote."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def catalogue(self) -> Catalogue:
        return self._catalogue

    async def call(self, request: CallRequest) -> CallOutcome:
        return CallOutcome(request.app_id, request.name, "ok", data=RESULT, summary="Here it is.")


def sessions(sample: int = 1) -> Iterator[Turn]:
    """The first five turns of BFCL's conversations `base`, each in a session of its own."""
    for talk in list(talks(TALKS[:1]))[::sample]:
        session = Session(large())
        for number, said in enumerate(talk[:LAST_TURN], 1):
            yield session.turn(number, said.message, said.calls)


class Session:
    """One session and what its models were sent."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._requests: list[ModelRequest] = []
        self._meant: Sequence[Key] = ()
        self._last = ""
        self._kernel = TestKernel(model=FunctionModel(self._answer))
        self._kernel.kernel = make_kernel(
            self._kernel.app, dispatch=Shelf(catalogue), queue=self._kernel.queue
        )

    def _answer(self, request: ModelRequest) -> ModelResponse:
        self._requests.append(request)
        if request.role == "narrator":
            return ModelResponse("Here it is.")
        shown = {(t.app_id, t.fn_name): t for t in request.tools}
        called = [shown[k] for k in self._meant if k in shown and shown[k].action_type == "read"]
        if request.exchanges or not called:
            return ModelResponse("Hm.")
        return ModelResponse(tool_calls=tuple(ToolCall(t.name, {}) for t in called))

    def turn(self, number: int, message: str, meant: Sequence[Key]) -> Turn:
        """Say it."""
        self._requests, self._meant = [], meant
        self._kernel.chat(message)
        same = 0
        for request in self._requests:
            if request.role == "classifier":
                text = _sent(request)
                pairs = zip(self._last, text, strict=False)
                same += sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
                self._last = text
        return Turn(number, sum(len(_sent(r)) for r in self._requests), same)


def _sent(request: ModelRequest) -> str:
    """All of a request in the order in which most services put its parts."""
    schemas = (json.dumps(parameters(t), ensure_ascii=False, default=str) for t in request.tools)
    tools = (f"{t.name}{describe(t)}{s}" for t, s in zip(request.tools, schemas, strict=True))
    return request.system + "".join(tools) + request.prompt


def table(found: Sequence[Found]) -> str:
    """Messages, by set and language."""
    return grouped(
        "Finding: is the function in the prompt",
        found,
        ("messages", lambda f: f"{f.said.set_name} ({f.said.language})"),
        {
            "function shown at once": lambda p: "/".join(map(str, _share(p, "first"))),
            "after a search": lambda p: (
                "/".join(map(str, _share(p, "after"))) if p[-1].said.ask else "–"
            ),
            "functions shown": lambda p: means(p, lambda f: f.functions),
        },
    )


def figures(found: Sequence[Found], turns: Sequence[Turn]) -> dict[str, Fraction]:
    """What the bars speak of."""
    searched = [f for f in found if f.said.ask]
    parts = {
        "shown at once, said in English": [f for f in searched if f.said.language == "en"],
        "shown at once, said in Russian": [f for f in searched if f.said.language == "ru"],
        "calls of BFCL shown at once": [f for f in found if f.said.set_name == "BFCL, calls"],
    }
    measured = {n: Fraction(*_share(part, "first")) for n, part in parts.items() if part}
    if searched:
        measured["shown after a search"] = Fraction(*_share(searched, "after"))
    if later := [t for t in turns if t.number > 1]:
        same = Fraction(sum(t.same for t in later), sum(t.sent for t in later))
        measured["input that begins as in the turn before"] = same.limit_denominator(10_000)
    return measured


def _share(found: Sequence[Found], count: str) -> tuple[int, int]:
    return sum(getattr(f, count) for f in found), sum(len(f.said.calls) for f in found)
