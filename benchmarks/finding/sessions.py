"""Sessions of several turns over a catalogue that is not shown whole: what of each turn's input
begins as what a model's service has read before, and whether the functions meant are shown.

A whole kernel runs each turn. The model calls those of the functions meant that only read and that
it is shown, each returns some 500 bytes; it never searches. A turn's input is all that is sent to
models in it, narrator included. What begins as before is counted by letters, in the two orders in
which services put the parts of a request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from webbee_kernel.bootstrap import make_kernel
from webbee_kernel.catalogue import Catalogue
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.llm.tools import describe, parameters
from webbee_kernel.testing import TestKernel
from webbee_kernel.types import CallOutcome, CallRequest

Key = tuple[str, str]
LAST_TURN = 5
"""Turns of a session that are counted, the first apart: it has none before it."""

RESULT = {
    "count": 4,
    "rows": [
        {"id": f"row-{n}", "title": f"What the row number {n} holds", "owner": f"owner{n}@test.org"}
        for n in range(6)
    ],
}


@dataclass(frozen=True)
class Turn:
    """One turn: letters sent, how many of them begin as before where the system part stands first
    and where the tools do, and of the functions meant those that the first prompt shows."""

    number: int
    sent: int
    system_first: int
    tools_first: int
    shown: int
    meant: int
    stored: int
    """Bytes by which its record names what was shown."""


class Shelf:
    """A dispatch of functions that nobody wrote."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def catalogue(self) -> Catalogue:
        return self._catalogue

    async def call(self, request: CallRequest) -> CallOutcome:
        return CallOutcome(request.app_id, request.name, "ok", data=RESULT, summary="Here it is.")


class _Session:
    """One session and what its models were sent."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._requests: list[ModelRequest] = []
        self._meant: Sequence[Key] = ()
        self._last: ModelRequest | None = None
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
        self._requests, self._meant = [], meant
        self._kernel.chat(message)
        [first, *_] = asked = [r for r in self._requests if r.role == "classifier"]
        same = [(0, 0)]
        for request in asked:
            if self._last:
                same.append(_same(self._last, request))
            self._last = request
        shown = {(t.app_id, t.fn_name) for t in first.tools}
        return Turn(
            number,
            sum(len(part) for r in self._requests for part in _parts(r)),
            sum(system_first for system_first, _ in same),
            sum(tools_first for _, tools_first in same),
            sum(key in shown for key in meant),
            len(meant),
            len(self._kernel.memory().turns[-1].listed) // 2,
        )


def play(
    catalogue: Catalogue, talks: Iterable[Sequence[tuple[str, Sequence[Key]]]]
) -> Iterator[Turn]:
    """The first five turns of each conversation, each in a session of its own."""
    for talk in talks:
        session = _Session(catalogue)
        for number, (message, meant) in enumerate(talk[:LAST_TURN], 1):
            yield session.turn(number, message, meant)


def shares(turns: Iterable[Turn]) -> Mapping[str, float]:
    """Of all but the first turns: the part of their input that begins as before, in both orders."""
    later = [t for t in turns if t.number > 1]
    sent = sum(t.sent for t in later)
    return {
        "system first": sum(t.system_first for t in later) / sent,
        "tools first": sum(t.tools_first for t in later) / sent,
    }


def _parts(request: ModelRequest) -> tuple[str, str, str]:
    return request.system, "".join(map(_tool, request.tools)), request.prompt


def _tool(tool: ToolSpec) -> str:
    schema = json.dumps(parameters(tool), ensure_ascii=False, default=str)
    return f"{tool.name}{describe(tool)}{schema}"


def _same(before: ModelRequest, now: ModelRequest) -> tuple[int, int]:
    """Letters with which both begin, system part first and tools first."""
    return (
        _common("".join(_parts(before)), "".join(_parts(now))),
        _common(_tools_first(before), _tools_first(now)),
    )


def _tools_first(request: ModelRequest) -> str:
    """The request as Bedrock is told it: all apps before the tools."""
    system, tools, prompt = _parts(request)
    apps = request.growing.apps if request.growing else ""
    return f"{apps}{tools}{system.removesuffix(apps)}{prompt}"


def _common(before: str, now: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now)))  # noqa: B905
