"""An answer says where each value of its reply comes from, and what has no source is marked."""

import pytest

from tests.functions.support import call, say
from tests.planning import telling
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.messages import as_text

ROWS = [
    {"id": "A-17", "customer": "anna@example.com", "amount": 120.5},
    {"id": "A-18", "customer": "bert@example.com", "amount": 79.5},
]
SHOP = telling("shop", orders={"orders": ROWS, "currency": "EUR"})


def kernel(*replies: ModelResponse) -> TestKernel:
    return TestKernel([SHOP], script=list(replies))


def test_each_value_of_a_reply_names_its_field_or_is_marked() -> None:
    reply = "<EMAIL_1> ordered A-17 for 120.50 EUR; both together are 200 EUR."
    body = kernel(call("shop.orders"), say(reply)).chat("my orders?").body
    assert body["reply"] == reply.replace("<EMAIL_1>", "anna@example.com")
    places = {body["reply"][s["start"] : s["end"]]: s for s in body["sources"]}
    told = {text: s.get("path") or s.get("formula", "") for text, s in places.items()}
    assert (told["A-17"], told["120.50 EUR"]) == ("data.orders[0].id", "data.orders[0].amount")
    assert "formatted" in [s["how"] for s in body["sources"]]
    assert told["200 EUR"] == "sum(data.orders[].amount)"
    assert body["sourced"] is True
    reply = say("A-17 is 79.50 EUR. A-18 is 999 EUR.")
    k = kernel(call("shop.orders"), reply, reply)
    body = k.chat("my orders?").body
    assert body["reply"] == k.memory().turns[0].reply == reply.text
    marks = marked(body)
    assert {word: m["reason"] for word, m in marks.items()} == {
        "79.50 EUR": "other_record", "999 EUR": "not_found",
    }  # fmt: skip
    assert marks["79.50 EUR"]["holds"] == "amount: 120.5"


def marked(body: dict[str, object]) -> dict[str, dict[str, object]]:
    text, found = body["reply"], body["marks"]
    assert isinstance(text, str) and isinstance(found, list)
    return {text[m["start"] : m["end"]]: m for m in found}


TASKS = [{"id": f"t_{n}", "title": f"Chore {n}", "status": "open"} for n in range(36)]
LIST = telling("tasks", list_tasks={"tasks": TASKS})


def test_a_table_of_many_rows_says_how_many_it_leaves_out() -> None:
    kernel = TestKernel([LIST], script=[call("tasks.list_tasks"), say(""), say("")])
    assert kernel.chat("show my tasks").text.endswith("… and 24 more")


ASKED = [
    ("do I have 50 tasks?", "Yes, you have 50 tasks."),
    ("are there really 50 tasks on my list", "Right, 50 of them."),
    ("у меня 50 задач?", "Да, у вас 50 задач."),
    ("habe ich 50 Aufgaben?", "Ja, Sie haben 50 Aufgaben."),
    ("¿tengo 50 tareas?", "Sí, tienes 50 tareas."),
    ("ai-je 50 tâches ?", "Oui, vous avez 50 tâches."),
]


@pytest.mark.parametrize("remembered", [True, False])
@pytest.mark.parametrize(("message", "reply"), ASKED)
def test_a_number_of_the_message_is_marked(message: str, reply: str, remembered: bool) -> None:
    """The list was called for in this turn, or is remembered from the last."""

    def answer(request: ModelRequest) -> ModelResponse:
        last = request.prompt.splitlines()[-1]
        if request.role == "narrator":
            return ModelResponse(text="Here it is." if "show" in request.prompt else reply)
        if "show" in last or not remembered:
            return call("tasks.list_tasks")
        return ModelResponse(text=reply)

    kernel = TestKernel([LIST], model=FunctionModel(answer))
    if remembered:
        kernel.chat("show my tasks")
    body = kernel.chat(message).body
    assert body["reply"].startswith(reply)
    assert {word: m["holds"] for word, m in marked(body).items()} == {"50": "tasks: 36"}
    assert "36" in body["reply"].removeprefix(reply)
    assert "50 (?)" in as_text(body)


def test_a_reply_that_the_check_fails_on_is_shown_without_marks(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What it tells of is done, and a retry would fail as well."""

    def fail(reply: str, *, evidence: object) -> None:
        raise ValueError("a bug in the check")

    own = kernel(call("shop.orders"), say("Two orders."))
    monkeypatch.setattr("webbee_kernel.grounding.check", fail)
    body = own.chat("how many orders?").body
    assert body["reply"] == "Two orders." and "marks" not in body and not body.get("sourced")
    assert "the check failed on a reply" in caplog.text
