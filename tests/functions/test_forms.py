"""A form that a model offers below a reply, filled by its user: it runs at once and once, and what
came of it is part of the conversation, like the answer to a question."""

from typing import Any

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, Answer, Person, call, obey
from tests.functions.test_exactly_once import at_once, texts
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import FunctionModel

FORMS: list[Any] = [
    {"type": "Form", "props": {"action": action, "children": []}}
    for name in ("save", "fail")
    for action in [{"action": "call", "function": name, "app_id": "probe"}]
]
FORM = {"type": "Stack", "props": {"children": FORMS}}


class Offering:
    """Offers a form to whoever asks for one, and keeps what it is shown."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, request: ModelRequest) -> ModelResponse:
        self.prompts.append(request.prompt)
        if request.prompt.endswith("] a form, please"):
            return ModelResponse(text="Please check this.", offer=FORM)
        if request.role == "classifier" and request.prompt.endswith(("] once more", "] yes")):
            return call("probe.save", text="gift for Zoe")
        return obey(request)


@pytest.fixture
def model() -> Offering:
    return Offering()


@pytest.fixture
def deployment(model: Offering) -> dict[str, Any]:
    return {"model": FunctionModel(model)}


@pytest.fixture
def alice(stack: Stack) -> Person:
    person = Person(stack, ALICE)
    person.chat("a form, please", request_id="r1")
    return person


def fill(
    person: Person, text: Any = "hello", function: str = "save", request_id: str = "r1"
) -> Answer:
    below = {"session_id": "s1", "request_id": request_id}
    params = {"text": text} if function != "fail" else {}
    body = {"function": function, "params": params, "below": below}
    return person.send("POST", "/v1/extensions/probe/call", body=body)


def test_a_form_that_was_sent_is_its_turn_and_one_effect_however_often_it_is_pressed(
    stack: Stack, alice: Person, model: Offering
) -> None:
    assert alice.turns()[0]["ui"] == FORM
    answers = at_once(*[lambda: fill(alice)] * 4)
    answers.append(fill(alice))
    assert [a["status"] for a in answers] == ["ok"] * 5
    other = fill(alice, "other values")
    assert (other.status, other.error["code"]) in {(409, "request_conflict"), (410, "gone")}
    [turn] = alice.turns()
    assert "ui" not in turn
    assert (turn["message"], turn["reply"]) == ("a form, please", 'Saved "hello".')
    assert [r["status"] for r in turn["receipts"]] == ["done"]
    assert [c["fn_name"] for c in turn["calls"]] == ["save"]

    alice.chat("and now?")
    [facts] = [line for line in model.prompts[-1].splitlines() if line.startswith("FACTS: ")]
    assert '"text": "hello"' in facts
    assert texts(stack) == ["hello"]


@pytest.mark.parametrize(("function", "below"), [("remove", "r1"), ("save", "r2")])
def test_only_offered_forms_are_run(stack: Stack, alice: Person, function: str, below: str) -> None:
    """Another function than a form's, and any below a reply without a form."""
    alice.chat("hello", request_id="r2")
    before = alice.turns()
    refused = fill(alice, function=function, request_id=below)
    assert (refused.status, refused.error["field"]) == (400, "function")
    assert (texts(stack), texts(stack, "removed")) == ([], [])
    assert alice.turns() == before


def test_a_failure_is_told_and_the_form_can_be_sent_again(stack: Stack, alice: Person) -> None:
    before = alice.turns()
    assert fill(alice, text=["no text"])["error_code"] == "VALIDATION_TYPE_ERROR"
    assert alice.turns() == before and before[0]["ui"] == FORM, "what is refused is no turn's"
    for states in (["failed"], ["failed", "failed"]):  # it ran
        assert fill(alice, function="fail")["status"] == "error"
        [turn] = alice.turns()
        assert turn["ui"] == FORM and [r["status"] for r in turn["receipts"]] == states
    assert fill(alice)["status"] == "ok"
    assert [r["status"] for r in alice.turns()[0]["receipts"]] == ["failed", "failed", "done"]
    assert texts(stack) == ["hello"]


@pytest.mark.parametrize("said", ["once more", "yes"])
def test_what_was_filled_in_is_not_what_the_user_said(alice: Person, said: str) -> None:
    """Its values, which a model may have filled in, bind no later effect."""
    fill(alice, "gift for Zoe")
    assert alice.chat(said)["status"] == "confirmation"
    assert texts(alice.stack) == ["gift for Zoe"]
    assert [t["message"] for t in alice.turns()] == ["a form, please", said]


@pytest.mark.parametrize("claims", [ALICE, {**ALICE, "sub": "mallory"}], ids=lambda c: c["sub"])
def test_no_old_or_others_form_runs(stack: Stack, alice: Person, claims: dict[str, str]) -> None:
    if claims == ALICE:
        for n in range(5):
            alice.chat(f"go on {n}")
    assert (fill(Person(stack, claims)).status, texts(stack)) == (410, [])
