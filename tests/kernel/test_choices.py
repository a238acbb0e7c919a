"""A "which one?" lists what can be chosen, and a number or a label picks it."""

from __future__ import annotations

import pytest

from webbee_kernel.sdk import ui
from webbee_kernel.turn.choices import choices, picked

ASKED = "I found two:\n1. **Buy soy milk**\n2. Buy oat milk\n\nWhich one do you mean?"


def labels(reply: str) -> list[str]:
    return [c["label"] for c in choices(reply)]


def test_rows_beside_a_question_are_choices() -> None:
    assert labels(ASKED) == ["Buy soy milk", "Buy oat milk"]
    assert labels("Welche?\n- Berlin\n- Bonn") == ["Berlin", "Bonn"]


@pytest.mark.parametrize(
    "reply",
    [
        "You have two tasks:\n- Buy soy milk\n- Buy oat milk",  # nothing is asked
        "Which one?\n- Buy milk",  # nothing to choose
        "Which one?\n- Buy milk\n- Buy milk",  # nothing tells them apart
        "Monday:\n- a\nTuesday:\n- b\nWednesday:\n- c\nShall I go on?",  # an answer with a question
        "Which one?\n" + "\n".join(f"- {n}" for n in range(10)),  # something to read
    ],
)
def test_what_is_no_choice_offers_none(reply: str) -> None:
    assert labels(reply) == []


def test_buttons_of_the_tree_say_more_than_their_label() -> None:
    tree = ui.Stack(
        [
            ui.Button("Buy soy milk", on_click=ui.Send("delete 17")),
            ui.Button("Buy oat milk", on_click=ui.Send("delete 18")),
            ui.Button("Open", on_click=ui.Call("open")),
        ]
    ).to_dict()
    offered = choices("Which one?", tree)
    assert [c["message"] for c in offered] == ["delete 17", "delete 18"]
    assert picked("2", offered) == picked("buy OAT milk", offered) == "delete 18"


@pytest.mark.parametrize("message", ["3", "0", "yes", "2 of them", "delete 2", ""])
def test_any_other_message_picks_nothing(message: str) -> None:
    assert picked(message, choices(ASKED)) == ""


def test_a_number_picks_nothing_where_the_labels_are_numbers() -> None:
    assert picked("2", choices("How many?\n- 1 night\n- 2 nights")) == ""
