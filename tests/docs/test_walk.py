"""The walk of a message through the rooms is the one that docs/architecture.md gives: every
coroutine of the kernel that a turn enters, in order. Rooms that `turn/` asks for a value without
waiting are no stations, and neither are those that everything stands on. What the turn begins
beside itself (`background.beside`) goes a way of its own, at a moment that the event loop chooses."""

import asyncio
import inspect
import itertools
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import webbee_kernel
from local.stack import http_event
from tests.documents import ROOT
from webbee_kernel import background
from webbee_kernel.api import turns
from webbee_kernel.api.chat_turn import ChatService
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.testing import TestKernel

PACKAGE = Path(webbee_kernel.__file__).parent
BENEATH = ("background.py", "observability.py", "testing")
DOWNWARDS = ("api", "turn", "dispatch", "stores", "llm")
SEAM = ("stores/audit_trail.py", "stores/audit_trail.py", "extensions")
"""What stands behind `dispatch` for a turn: the record of a call, and who runs it."""


class Walk:
    """Notes each room that a new coroutine of the kernel belongs to."""

    def __init__(self) -> None:
        self.rooms: list[str] = []
        self._entered: list[FrameType] = []
        self._beside: list[FrameType] = []

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is background.start_task.__code__:
            self._beside.append(frame.f_locals["work"].cr_frame)
        if event != "call" or not frame.f_code.co_flags & inspect.CO_COROUTINE:
            return
        path = Path(frame.f_code.co_filename)
        if PACKAGE not in path.parents or any(frame is f for f in self._entered):
            return
        self._entered.append(frame)
        if any(f is b for f in _callers(frame) for b in self._beside):
            return
        where = path.relative_to(PACKAGE)
        room = "dispatch" if {where.as_posix(), where.parts[0]} & {*SEAM} else where.parts[0]
        if room not in BENEATH and self.rooms[-1:] != [room]:
            self.rooms.append(room)


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """The frame and those that wait for it."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def model(request: ModelRequest) -> ModelResponse:
    if request.role == "narrator":
        return ModelResponse(text="You have 0 notes.")
    return ModelResponse(tool_calls=(ToolCall("notes__find", {}),))


def test_a_message_takes_the_rooms_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "BEAT_S", 3600.0)  # a turn done within a second has no beat
    kernel = TestKernel(["extensions/notes"], model=FunctionModel(model))
    service = ChatService(kernel.app.settings, app=kernel.app, kernel=kernel.kernel)
    body, walk = json.dumps({"message": "list notes"}), Walk()
    event = http_event("POST", "/v1/chat", claims={"sub": "alice"}, body=body)
    sys.setprofile(walk)
    try:
        answer = asyncio.run(service.handle(event))
    finally:
        sys.setprofile(None)
    assert answer["statusCode"] == 200
    rooms = [*walk.rooms, "api"]
    climbs = [b for a, b in itertools.pairwise(rooms) if _stands(b) < _stands(a)]
    assert len(rooms) - 1 <= 12
    assert len(climbs) <= 5
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    [written] = re.findall(r"`(api → [^`]*)`: (\d+) moves, (\d+) of", page)
    assert (written[0], *map(int, written[1:])) == (" → ".join(rooms), len(rooms) - 1, len(climbs))


def _stands(room: str) -> int:
    return DOWNWARDS.index(room)
