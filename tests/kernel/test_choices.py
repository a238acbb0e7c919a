"""What stands in an answer beside its words: choices that a number or a label picks, panels, the tree
of the last call; and the kernel's own few sentences."""

import pytest

from tests.planning import planning, telling
from webbee_kernel.errors import RequestConflict
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension, ui
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.confirmation import choices, pick_choice

ASKED = "I found two:\n1. **Buy soy milk**\n2. Buy oat milk\n\nWhich one do you mean?"


NINE = [f"{chr(97 + n)}{'x' * 119}" for n in range(9)]
BESIDE = "I found some:\nWhich one?\n" + "\n".join(f"- {row}" for row in NINE)
"""As many rows, as long, beside as many lines as are choices."""


@pytest.mark.parametrize(
    ("reply", "offered"),
    [
        (ASKED, ["Buy soy milk", "Buy oat milk"]),
        ("Welche?\n- Berlin\n- Bonn", ["Berlin", "Bonn"]),
        ("You have two tasks:\n- Buy soy milk\n- Buy oat milk", []),  # nothing is asked
        ("Which one?\n- Buy milk", []),  # nothing to choose
        ("Which one?\n- Buy milk\n- Buy milk", []),  # nothing tells them apart
        # an answer with a question
        ("Monday:\n- a\nTuesday:\n- b\nWednesday:\n- c\nShall I go on?", []),
        ("Which one?\n" + "\n".join(f"- {n}" for n in range(10)), []),  # something to read
        (BESIDE, NINE),
        (f"{BESIDE}x", []),
        (f"Hello.\n{BESIDE}", []),
    ],
)
def test_rows_beside_a_question_are_choices(reply: str, offered: list[str]) -> None:
    assert [c["label"] for c in choices(reply)] == offered


def test_buttons_say_more_than_their_label_and_any_other_message_picks_nothing() -> None:
    soy = ui.Button("Buy soy milk", on_click=ui.Send("delete 17"))
    oat = ui.Button("Buy oat milk", on_click=ui.Send("delete 18"))
    tree = ui.Stack([soy, oat, ui.Button("Open", on_click=ui.Call("open"))]).to_dict()
    offered = choices("Which one?", tree)
    assert [c["message"] for c in offered] == ["delete 17", "delete 18"]
    assert pick_choice("2", offered) == pick_choice("buy OAT milk", offered) == "delete 18"
    assert choices("Shall I go on?", soy.to_dict()) == []
    alone = choices("No “tea” here. Which one: 1. Buy soy milk?", soy.to_dict())
    assert pick_choice("1", alone) == "delete 17"
    for message in ("3", "0", "yes", "2 of them", "delete 2", ""):
        assert pick_choice(message, choices(ASKED)) == ""
    assert pick_choice("2", choices("How many?\n- 1 night\n- 2 nights")) == ""


def test_a_number_is_the_choice_for_the_model_and_a_retry_is_the_same_turn() -> None:
    read: list[str] = []

    def answer(request: ModelRequest) -> ModelResponse:
        read.append(request.prompt.splitlines()[-1])
        return ModelResponse(ASKED if len(read) == 1 else "Very well.")

    ext = Extension("shop", display_name="Shop")
    ChatExtension(ext)
    kernel = TestKernel([ext], model=FunctionModel(answer))
    asked = kernel.chat("delete the milk")
    assert [c["label"] for c in asked.body["choices"]] == ["Buy soy milk", "Buy oat milk"]
    told = kernel.chat("2", request_id="r2")
    assert "Buy oat milk" in read[-1] and "choices" not in told.body
    assert kernel.chat("2", request_id="r2").body["turn"] == told.body["turn"]
    assert len(read) == 2
    with pytest.raises(RequestConflict):
        kernel.chat("1", request_id="r2")


def test_panels_are_named_once_and_the_last_tree_is_shown_of_calls_that_worked() -> None:
    failed = ActionResult.error("No.", code="NO")
    failed.ui, failed.refresh_panels = ui.Text("not shown"), ["other"]
    both = ["inbox", "outbox"]
    mail = telling(
        "mail",
        first=ActionResult.success({"n": 1}, "", ui=ui.Text("1"), refresh_panels=both),
        second=ActionResult.success({"n": 2}, "", ui=ui.Text("2"), refresh_panels=["inbox"]),
        third=ActionResult.success({"n": 3}, ""),
        fourth=failed,
    )
    calls = [f"mail__{name}" for name in ("first", "second", "third", "fourth")]
    body = TestKernel([mail], model=planning(*calls)).chat("look at all").body
    assert [c["status"] for c in body["calls"]] == ["ok", "ok", "ok", "error"]
    assert body["refresh_panels"] == [{"app_id": "mail", "panel_id": name} for name in both]
    assert body["ui"] == ui.Text("2").to_dict()
