"""The answer of a turn, fresh or repeated, and the kernel's own few sentences."""

from typing import Any

import pytest

from webbee_kernel.errors import RequestConflict
from webbee_kernel.stores.types import SessionMemory, Turn
from webbee_kernel.turn import messages
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


def test_a_panel_is_named_once_and_only_for_calls_that_worked() -> None:
    done = {
        0: outcome(0, panels=("inbox", "outbox")),
        1: outcome(1, panels=("inbox",)),
        2: outcome(2, status="error", panels=("other",)),
    }
    assert messages.response(done)["refresh_panels"] == [
        {"app_id": "mail", "panel_id": "inbox"},
        {"app_id": "mail", "panel_id": "outbox"},
    ]


def test_the_last_tree_that_worked_is_the_one_shown() -> None:
    trees = {
        0: outcome(0, ui={"n": 0}),
        1: outcome(1, ui={"n": 1}),
        2: outcome(2),
        3: outcome(3, status="error", ui={"n": 3}),
    }
    assert messages.ui(trees) == {"n": 1} and messages.ui({}) is None


def test_a_conflict_is_known_long_after_the_turn_has_left_memory() -> None:
    memory = SessionMemory()
    for seq in range(1, 202):
        said = turn(seq=seq, request_id=f"r{seq}", marks=marks(memory, seq, f"r{seq}", "hi"))
        memory = SessionMemory((*memory.turns, said)[-5:])
    assert all(len(t.marks) <= KEPT and len(m) == 12 for t in memory.turns for m in t.marks)
    for seq in (201, 150, 2):
        with pytest.raises(RequestConflict):
            refuse_another_message(memory, f"r{seq}", "something else")


@pytest.mark.parametrize("sentence", [messages.gave_up, messages.refused])
def test_the_kernel_speaks_the_users_language(sentence: Any) -> None:
    assert sentence("ru") == sentence("RU-ru") != sentence("en") == sentence("tlh")
    assert any("а" <= c <= "я" for c in sentence("ru")) and sentence("en").isascii()


@pytest.mark.parametrize("language", ["en", "ru", "de"])
def test_a_pressed_button_stands_in_the_history_as_the_word_for_it(language: str) -> None:
    assert answer(messages.decision(True, language)) is True
    assert answer(messages.decision(False, language)) is False
