"""Consent over the API: destinations accepted for good, rewritten texts, and chat clients whose own
requests are no turns of a person's."""

import json
from unittest.mock import patch

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, BOB, Person, rows
from webbee_kernel.errors import DispatchRefused
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel

ANN = "ann@example.org"


def model(request: ModelRequest) -> ModelResponse:
    """Sends a letter to Ann for every message, whatever it says; what it cannot call it talks."""
    if request.role == "narrator":
        return ModelResponse("Done.")
    if not any(tool.app_id == "probe" for tool in request.tools):
        return ModelResponse("A title")
    text = json.dumps({"to": "eve@evil.example"}) if "Eve" in request.prompt else "Hello"
    return ModelResponse(tool_calls=(ToolCall("probe__send_letter", {"to": ANN, "text": text}),))


pytestmark = pytest.mark.deployed(model=FunctionModel(model))


@pytest.fixture
def card(alice: Person) -> str:
    """The card below Alice's first letter, which she has not answered."""
    return str(alice.chat("write to Ann")["confirmation"]["id"])


def sent(stack: Stack) -> int:
    return len(rows(stack, "store", "sent#"))


def accepted(person: Person) -> list[dict[str, str]]:
    found = person.send("GET", "/v1/me/accepted")["accepted"]
    assert isinstance(found, list)
    return found


def test_an_address_accepted_for_good_is_not_asked_about_until_revoked(stack: Stack) -> None:
    alice, bob = Person(stack, ALICE), Person(stack, BOB)
    card = alice.chat("write to Ann")["confirmation"]
    assert card["calls"][0]["remember"] is True
    alice.confirm(card["id"], remember=True)
    [row] = accepted(alice)
    assert (row["app_id"], row["fn_name"], row["destination"]) == ("probe", "send_letter", ANN)
    assert alice.chat("again", session_id="another")["status"] == "ok"
    assert sent(stack) == 2
    assert bob.chat("write to Ann")["status"] == "confirmation" and accepted(bob) == []
    assert alice.send("DELETE", "/v1/me/accepted", query={"key": row["key"]})["revoked"] == 1
    assert accepted(alice) == []
    assert alice.chat("again", session_id="third")["status"] == "confirmation"
    assert alice.chat("again")["status"] == "confirmation", "nor where he said yes"
    records = alice.send("GET", "/v1/me/audit")["records"]
    told = [r["status"] for r in records if r["action_type"] == "consent"]
    assert (told, sent(stack)) == (["revoked", "accepted"], 2)
    bob.confirm(bob.chat("again")["confirmation"]["id"], remember=True)
    bob.uninstall("probe")
    assert accepted(bob) == [], "it goes with its app"
    bob.install("probe")
    assert bob.chat("again", session_id="another")["status"] == "confirmation"
    assert sent(stack) == 3


def test_a_card_of_an_app_that_was_uninstalled_does_not_run(alice: Person, card: str) -> None:
    """By button or in words; the same card runs once the app is there again."""
    alice.uninstall("probe")
    for answer in (alice.confirm(card), alice.chat("yes")):
        assert (answer.status, answer.error["code"]) == (403, "not_allowed")
        assert answer.error["field"] == "app_id"
    assert sent(alice.stack) == 0
    alice.install("probe")
    assert (alice.confirm(card)["status"], sent(alice.stack)) == ("ok", 1)


def test_a_yes_may_rewrite_a_text_not_where_it_goes(stack: Stack, alice: Person, card: str) -> None:
    smuggled = ({"text": '{"to": "eve@evil.example"}'}, {"text": "Dear <NAME_1>"})
    for edits in ({"to": "eve@evil.example"}, *smuggled):
        refused = alice.confirm(card, edits={"0": edits}, remember=True)
        assert (refused.status, refused.error["field"]) == (400, "edits")
    assert sent(stack) == 0 and accepted(alice) == [], "the card still waits"
    first = {"edits": {"0": {"text": "Good morning"}}}
    chat = stack.handlers["chat_turn"].lambda_handler.service()
    with patch.object(chat.kernel.dispatch, "call", side_effect=DispatchRefused("busy")):
        assert alice.confirm(card, **first).status == 503
    assert alice.confirm(card, **first)["status"] == "ok"
    assert (again := alice.confirm(card, **first))["status"] == "ok"
    for other in ({"edits": {"0": {"text": "Good night"}}}, {**first, "remember": True}, {}):
        refused = alice.confirm(card, **other)  # it is told that this was not sent or accepted
        assert (refused.status, refused.error["code"]) == (409, "request_conflict"), other
    assert (alice.confirm(card, accept=False)["reply"], accepted(alice)) == (again["reply"], [])
    [row] = rows(stack, "store", "sent#")
    assert "Good morning" in row["data"] and ANN in row["data"]
    eve = alice.chat("write to Ann and hand Eve's address on", session_id="eve")["confirmation"]
    alice.confirm(eve["id"], edits={"0": {"text": "Hello"}}, remember=True)
    assert sent(stack) == 2 and [row["destination"] for row in accepted(alice)] == [ANN]


def test_a_clients_request_for_a_title_is_no_answer_to_a_card(stack: Stack, alice: Person) -> None:
    def say(content: str) -> dict[str, object]:
        answer = alice.complete(content, headers={"x-openwebui-chat-id": "chat-1"})
        said: dict[str, object] = answer["choices"][0]["message"]
        return said

    asked = str(say("write to Ann")["content"])
    assert asked.endswith("shall I do it?")
    history = f"<chat_history>\nUSER: write to Ann\nASSISTANT: {asked}\n</chat_history>"
    for task in ("Generate a concise title.", "Suggest three tags.", "Suggest follow-ups: yes, no"):
        assert say(f"### Task:\n{task}\n{history}")["content"] == "A title"
    assert sent(stack) == 0
    assert say("yes")["content"]
    assert sent(stack) == 1
