"""A turn that is followed: what its reader sees, when, and that nothing shown is taken back."""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.planning import telling
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.sdk import ActionResult
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.stream import Follower

DATA = {"unread": 8, "messages": [{"id": "m1", "from": "sarah@example.com", "subject": "Q3 plan"}]}
TRUE = "You have 8 unread messages. One is about the Q3 plan. It came from <EMAIL_1>."
READ = TRUE.replace("<EMAIL_1>", "sarah@example.com")
"""What the narrator writes, and what the user reads."""

WRONG = "You have 8 unread messages. Another 36 are waiting. One is about the Q3 plan."


MAIL = telling("mail", "Mail", look=ActionResult.success(DATA, "8 unread."))
LOOK = (ToolCall("mail__look", {}),)


class Speaker:
    """A classifier that says its answers and then what it calls, and a narrator that says its replies,
    both token by token."""

    name = "speaker"

    def __init__(
        self, *replies: str | Exception, planned: tuple[str, tuple[ToolCall, ...]] = ("", LOOK)
    ) -> None:
        self.replies = list(replies)
        self.planned = planned
        self.narrated: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelResponse:
        raise AssertionError("whoever is followed streams")

    async def stream(self, request: ModelRequest, hear: Callable[[str], None]) -> ModelResponse:
        said: str | Exception
        calls: tuple[ToolCall, ...] = ()
        if request.role == "classifier":
            said, calls = self.planned
        else:
            self.narrated.append(request)
            said = self.replies.pop(0)
        for piece in re.findall(r"\s*\S{1,4}", str(said)):
            hear(piece)
            await asyncio.sleep(0)
        if isinstance(said, Exception):
            raise ModelUnavailable("broken off")
        return ModelResponse(text=said, tool_calls=calls)


def followed(model: Any, stop_at: str = "") -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The frames of one turn, which is stopped at the first of a type, and its reply's body."""
    frames: list[dict[str, Any]] = []

    def tell(frame: dict[str, Any]) -> None:
        frames.append(frame)
        if frame["type"] == stop_at:
            watching.stop()

    kernel, watching = TestKernel([MAIL], model=model), Follower("r1", tell)
    ask = kernel.ask("what is new?", request_id="r1")._replace(follower=watching)
    body = kernel.run(kernel.kernel.turn(ask)).body
    assert kernel.memory().turns[-1].reply == body["reply"]
    return frames, body


def texts(frames: Sequence[dict[str, Any]]) -> list[str]:
    return [f["text"] for f in frames if f["type"] == "text"]


def test_a_turn_tells_its_steps_in_order_and_a_true_reply_while_it_is_written() -> None:
    frames, body = followed(Speaker(TRUE))
    kinds = [f["type"] for f in frames if f["type"] != "text"]
    assert kinds == ["turn.started", "call.started", "call.ended"]
    assert {f["request_id"] for f in frames} == {"r1"}
    call = frames[2]
    assert (call["app_id"], call["fn_name"], call["display_name"]) == ("mail", "look", "Mail")
    assert (call["call"], call["status"], call["action_type"]) == (0, "ok", "read")
    assert len(texts(frames)) > 1
    assert "".join(texts(frames)) == body["reply"] == READ
    assert texts(frames)[0].strip() == "You have 8 unread messages."


def test_a_wrong_sentence_waits_and_the_rest_goes_on_behind_what_was_shown() -> None:
    model = Speaker(WRONG, "One is about the Q3 plan.")
    frames, body = followed(model)
    shown = "".join(texts(frames)).rstrip()
    assert "36" not in shown + body["reply"]
    assert shown == body["reply"] == "You have 8 unread messages. One is about the Q3 plan."
    again = model.narrated[1].prompt
    assert "36" in again.partition("[PROBLEMS]")[2]
    assert "You have 8 unread messages." in again.partition("[PROBLEMS]")[2]


@pytest.mark.parametrize(("second", "told"), [(TRUE, READ), (WRONG, WRONG)])
def test_a_second_reply_is_shown_once_and_its_wrong_marked(second: str, told: str) -> None:
    frames, body = followed(Speaker(WRONG, second))
    assert "".join(texts(frames)) == body["reply"] == told
    marked = [told[m["start"] : m["end"]] for m in body.get("marks", ())]
    assert marked == ["36"] * (second == WRONG)


def test_a_reply_that_breaks_off_keeps_what_was_shown_and_the_data_follows() -> None:
    frames, body = followed(Speaker(Exception("You have 8 unread messages. One is")))
    assert texts(frames)[0].strip() == "You have 8 unread messages."
    assert body["reply"].startswith("You have 8 unread messages.\n\n8 unread.")
    assert "Q3 plan" in body["reply"]


@pytest.mark.parametrize("cut", range(4, len(WRONG), 7))
def test_whatever_is_shown_is_how_the_reply_begins(cut: int) -> None:
    for second in (TRUE, WRONG[:cut], Exception(TRUE[:cut])):
        frames, body = followed(Speaker(WRONG[:cut] + ". And 36 more.", second))
        assert body["reply"].startswith("".join(texts(frames)).rstrip())
        marked = [body["reply"][m["start"] : m["end"]] for m in body.get("marks", ())]
        assert ("36" in marked) is ("36" in body["reply"])


STOPPED = "Stopped, as you asked."


@pytest.mark.parametrize(
    ("stop_at", "planned", "told", "called", "narrated"),
    [
        ("turn.started", "", STOPPED, [], 0),
        ("call.ended", "", f"{STOPPED}\n\n8 unread.", ["ok"], 0),
        ("text", "Hello there. And then there is more.", f"Hello there.\n\n{STOPPED}", [], 0),
        ("text", "", f"You have 8 unread messages.\n\n{STOPPED}", ["ok"], 1),
    ],
    ids=["before a call", "behind one, of which it says what it brought", "while it answers",
         "while it tells of one"],
)  # fmt: skip
def test_a_stopped_turn_calls_nothing_more_and_tells_what_ran_and_was_shown(
    stop_at: str, planned: str, told: str, called: list[str], narrated: int
) -> None:
    model = Speaker(TRUE, planned=(planned, LOOK))
    _, body = followed(model, stop_at)
    assert body["stopped"] and body["reply"].startswith(told)
    assert ([c["status"] for c in body["calls"]], len(model.narrated)) == (called, narrated)


def test_what_is_said_is_shown_by_sentences_and_stays() -> None:
    said = "Hello there. I can look into your mail."
    frames, body = followed(Speaker(planned=(said, ())))
    assert texts(frames)[0].strip() == "Hello there."
    assert said.startswith("".join(texts(frames)).rstrip())
    assert body["reply"] == said
    frames, body = followed(Speaker(TRUE, planned=("Let me look. One moment", LOOK)))
    assert body["reply"] == f"Let me look.\n\n{READ}"
    assert re.sub(r"\s+", " ", "".join(texts(frames))) == re.sub(r"\s+", " ", body["reply"])
