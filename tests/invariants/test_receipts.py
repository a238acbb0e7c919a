"""The kernel's own account of effects."""

from typing import Any

import pytest

from tests.planning import planning
from webbee_kernel.llm.protocol import ToolCall
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.messages import as_text


def notes() -> Extension:
    ext = Extension("notes", display_name="Notes")
    chat = ChatExtension(ext)

    @chat.function("list_notes", "List the notes")
    async def list_notes(ctx: Context) -> ActionResult:
        return ActionResult.success({"notes": [{"id": "n1", "title": "Lisbon"}]}, "")

    @chat.function("add_note", "Add a note", action_type="write")
    async def add_note(ctx: Context, title: str) -> ActionResult:
        if title == "broken":
            return ActionResult.error("the disk is full")
        return ActionResult.success({"id": "n2", "title": title}, "")

    @chat.function("print_note", "Print a note", action_type="write")
    async def print_note(ctx: Context, title: str, colour: bool = False) -> ActionResult:
        results: dict[str, dict[str, Any]] = {
            "milk": {"printed": False, "reason": "quota_exceeded"},
            "echo": {"colour": colour},
            "record": {"note_id": "n2", "pinned": False},
            "both": {"printed": True, "colour": False},
        }
        return ActionResult.success(results[title], "")

    return ext


def told(message: str, reply: str, name: str, *titles: str, **given: Any) -> dict[str, Any]:
    """The answer of a turn whose model calls this function for each title and says this reply."""
    calls = [ToolCall(f"notes__{name}", {"title": title, **given}) for title in titles]
    model = planning(*(calls or [f"notes__{name}"]), reply=reply)
    body: dict[str, Any] = TestKernel([notes()], model=model).chat(message).body
    return body


LIES = ["Done.", "I could not add the note.", "Заметка сохранена, и письмо отправлено."]


@pytest.mark.parametrize("reply", LIES)
def test_i_effect_receipt(reply: str) -> None:
    body = told("add a note: milk", reply, "add_note", "milk")
    assert [(r["status"], r["call"]) for r in body["receipts"]] == [("done", 0)]
    assert "Notes" in body["receipts"][0]["text"] and "milk" in body["receipts"][0]["text"]
    assert body["work"]["changed"] == 1

    body = told("add a note: broken", reply, "add_note", "broken")
    assert [r["status"] for r in body["receipts"]] == ["failed"]
    assert "the disk is full" in body["receipts"][0]["text"]
    assert body["work"]["changed"] == 0 and body["work"]["failed"] == 1


@pytest.mark.parametrize("reply", LIES)
def test_a_result_that_says_no_is_quoted_above_the_reply(reply: str) -> None:
    body = told("print the note milk", reply, "print_note", "milk")
    [receipt] = body["receipts"]
    assert receipt["status"] == "unknown"
    assert receipt["text"].endswith("the app answered “printed: false, reason: quota_exceeded”")
    assert body["work"]["text"] == "perhaps changed 1" and body["work"]["changed"] == 0


@pytest.mark.parametrize("title", ["echo", "record", "both"])
def test_a_false_that_tells_of_a_record_or_of_the_wish_is_no_refusal(title: str) -> None:
    said = f"print the note {title}, colour: no"
    body = told(said, "Printed.", "print_note", title, colour=False)
    assert [r["status"] for r in body["receipts"]] == ["done"]


@pytest.mark.parametrize("reply", LIES)
def test_a_turn_that_changed_nothing_says_so_whatever_is_claimed(reply: str) -> None:
    body = told("show my notes", reply, "list_notes")
    assert "receipts" not in body and body["reply"] == reply
    assert body["work"]["text"] == "looked up 1, changed nothing"


def test_a_failure_is_not_hidden_by_a_later_success_of_the_same_function() -> None:
    said = "add two notes: broken, milk"
    body = told(said, "Both notes are added.", "add_note", "broken", "milk")
    assert sorted(r["status"] for r in body["receipts"]) == ["done", "failed"]


@pytest.mark.parametrize("reply", ["All done.", ""])
def test_a_client_that_shows_text_reads_a_failure_once_above_the_reply(reply: str) -> None:
    body = told("add a note: broken", reply, "add_note", "broken")
    text = as_text(body)
    assert text.index("the disk is full") < text.index("failed 1")
    assert not reply or text.index("the disk is full") < text.index(body["reply"])
    assert text.count("the disk is full") == 1


def test_a_card_says_itself_that_nothing_is_done_and_its_receipt_is_short() -> None:
    receipt = {"status": "waiting", "what": "Notes – delete", "text": "waiting"}
    body = {
        "reply": "Delete it?",
        "confirmation": {"id": "conf_1"},
        "receipts": [receipt],
        "work": {"looked_up": 1, "changed": 0, "failed": 0, "text": "looked up 1, changed nothing"},
    }
    assert as_text(body) == "Delete it?"
    changed = {"looked_up": 0, "changed": 1, "failed": 0, "text": "changed 1"}
    assert as_text({**body, "work": changed}) == "(changed 1)\n\nDelete it?"
