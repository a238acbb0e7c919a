"""The answer of a turn, fresh or repeated, and the kernel's own few sentences."""

from typing import Any

import pytest

from webbee_kernel.errors import RequestConflict
from webbee_kernel.stores.types import PendingConfirmation, SessionMemory, Turn
from webbee_kernel.turn import replies
from webbee_kernel.turn.confirmation import answer
from webbee_kernel.turn.record import KEPT, marks, refuse_another_message
from webbee_kernel.types import CallOutcome


def outcome(step: int, **changes: Any) -> CallOutcome:
    return CallOutcome(
        **{
            "app_id": "mail",
            "fn_name": "send",
            "status": "ok",
            "step": step,
            "duration_ms": 12,
            **changes,
        }
    )


def turn(**changes: Any) -> Turn:
    return Turn(
        **{
            "seq": 3,
            "at": "",
            "status": "ok",
            "message": "hi",
            "reply": "hello",
            "request_id": "r1",
            **changes,
        }
    )


def test_calls_are_told_in_order_without_their_data() -> None:
    body = replies.response(
        {1: outcome(1, status="error", error_code="BACKEND_5XX"), 0: outcome(0, data={"secret": 1})}
    )
    assert body["calls"] == [
        {"app_id": "mail", "fn_name": "send", "status": "ok", "duration_ms": 12},
        {
            "app_id": "mail",
            "fn_name": "send",
            "status": "error",
            "duration_ms": 12,
            "error_code": "BACKEND_5XX",
        },
    ]


def test_a_panel_is_named_once_and_only_for_calls_that_worked() -> None:
    done = {
        0: outcome(0, panels=("inbox", "outbox")),
        1: outcome(1, panels=("inbox",)),
        2: outcome(2, status="error", panels=("other",)),
    }
    assert replies.response(done)["refresh_panels"] == [
        {"app_id": "mail", "panel_id": "inbox"},
        {"app_id": "mail", "panel_id": "outbox"},
    ]


def test_what_waits_is_told_with_its_exact_arguments() -> None:
    step = {
        "index": 0,
        "app_id": "notes",
        "fn_name": "delete",
        "arguments": {"id": "n1"},
        "action_type": "destructive",
    }
    waiting = PendingConfirmation(
        "conf_0123456789ab", 1300, "delete it", "r1", (step,), "delete – id: n1 (notes)"
    )
    assert replies.response({}, [waiting])["confirmation"] == {
        "id": "conf_0123456789ab",
        "expires_at": 1300,
        "summary": "delete – id: n1 (notes)",
        "calls": [
            {
                "app_id": "notes",
                "fn_name": "delete",
                "arguments": {"id": "n1"},
                "fields": [{"name": "id", "value": "n1", "kind": "value"}],
            }
        ],
    }
    assert "confirmation" not in replies.response({})


def test_the_last_tree_that_worked_is_the_one_shown() -> None:
    trees = {
        0: outcome(0, ui={"n": 0}),
        1: outcome(1, ui={"n": 1}),
        2: outcome(2),
        3: outcome(3, status="error", ui={"n": 3}),
    }
    assert replies.ui(trees) == {"n": 1} and replies.ui({}) is None


def test_a_repeated_request_gets_the_recorded_answer() -> None:
    reply = replies.replay(
        turn(response={"calls": [], "refresh_panels": []}), "s1", ui={"type": "Text"}
    )
    assert reply.text == "hello"
    assert reply.body == {
        "reply": "hello", "session_id": "s1", "turn": 3, "status": "ok", "calls": [], "refresh_panels": [], "ui": {"type": "Text"},
    }  # fmt: skip
    assert "ui" not in replies.replay(turn(), "s1").body


def test_the_same_request_id_with_another_message_is_a_conflict() -> None:
    memory = SessionMemory((turn(marks=marks(SessionMemory(), 3, "r1", "hi")),))
    refuse_another_message(memory, "r1", "hi")
    refuse_another_message(memory, "r2", "something else")
    with pytest.raises(RequestConflict) as caught:
        refuse_another_message(memory, "r1", "something else")
    assert (caught.value.status, caught.value.field) == (409, "request_id")


def test_a_conflict_is_known_long_after_the_turn_has_left_memory() -> None:
    memory = SessionMemory()
    for seq in range(1, 202):
        said = turn(seq=seq, request_id=f"r{seq}", marks=marks(memory, seq, f"r{seq}", "hi"))
        memory = SessionMemory((*memory.turns, said)[-5:])
    assert all(len(t.marks) <= KEPT and len(m) == 12 for t in memory.turns for m in t.marks)
    for seq in (201, 150, 2):
        with pytest.raises(RequestConflict):
            refuse_another_message(memory, f"r{seq}", "something else")


@pytest.mark.parametrize("sentence", [replies.gave_up, replies.refused])
def test_the_kernel_speaks_the_users_language(sentence: Any) -> None:
    assert sentence("ru") == sentence("RU-ru") != sentence("en") == sentence("tlh")
    assert any("а" <= c <= "я" for c in sentence("ru")) and sentence("en").isascii()


@pytest.mark.parametrize("language", ["en", "ru", "de"])
def test_a_pressed_button_stands_in_the_history_as_the_word_for_it(language: str) -> None:
    assert answer(replies.decision(True, language)) is True
    assert answer(replies.decision(False, language)) is False
