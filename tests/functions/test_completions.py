"""What a chat completion says of tokens, limits and errors that pass."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from local.stack import Stack
from tests.functions.support import Answer, Held, Person, call, rows, until
from webbee_kernel.clock import FrozenClock
from webbee_kernel.llm.embedded import EmbeddedModel
from webbee_kernel.llm.protocol import ModelResponse, Usage
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.turn.session_memory import REGENERATE_S

REAL = Path(__file__).parents[2] / "extensions"
HELLO = ModelResponse(text="hello", usage=Usage(100, 7, cached_tokens=60))


@pytest.mark.deployed(model=FunctionModel(lambda _: HELLO))
def test_usage_counts_every_model_request_and_none_of_a_repeated_turn(alice: Person) -> None:
    once, again = (alice.complete("hi", headers={"Idempotency-Key": "k1"}) for _ in range(2))
    assert once["usage"] == {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "total_tokens": 107,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    assert (again["usage"]["total_tokens"], again["choices"]) == (0, once["choices"])


@pytest.mark.usefixtures("clock")
@pytest.mark.deployed(env={"WEBBEE_USER_REQUESTS_PER_MINUTE": "1"})
def test_a_limit_is_the_protocols_rate_limit_error(alice: Person) -> None:
    assert alice.complete("hi", model="webbee").status == 200
    refused = alice.complete("hi")
    assert (refused.status, refused.error["type"]) == (429, "rate_limit_error")
    assert int(refused.headers["retry-after"]) > 0


HELD = Held(call("probe.save", text="milk"))


@pytest.mark.deployed(model=HELD)
def test_what_is_asked_again_while_it_is_at_work_is_done_once(
    stack: Stack, clock: FrozenClock, alice: Person
) -> None:
    """As OpenAI's own client does, without a key, when API Gateway has given up."""
    with ThreadPoolExecutor() as callers:
        first = callers.submit(alice.complete, "save milk")
        until(lambda: HELD.requests)
        clock.advance(2)
        again = callers.submit(alice.complete, "save milk")
        until(lambda: [len(v) for n, v in rows(stack, "limits")[0].items() if "mark" in n] == [2])
        HELD.let.set()
    assert again.result()["choices"] == first.result()["choices"]
    assert len(rows(stack, "store", "texts#")) == 1


# ---- the same message asked for anew, on either API


class Client:
    """A chat client that sends the whole conversation each time: between the user's messages the
    assistant said something."""

    def __init__(self, person: Person) -> None:
        self.person = person

    def send(self, *messages: str, headers: Any = None, **body: Any) -> Answer:
        shown = [text for message in messages for text in (message, "Noted.")][:-1]
        sent = {"x-session-id": "c1", **(headers or {})}
        answer = self.person.complete(*shown, headers=sent, **body)
        assert answer.status == 200, answer.body
        return answer

    def say(self, *messages: str, **more: Any) -> str:
        return str(self.send(*messages, **more)["choices"][0]["message"]["content"])

    def tasks(self) -> int:
        return len(self.person.call("tasks", "list_tasks")["data"]["tasks"])


@pytest.fixture
def client(clock: FrozenClock, alice: Person) -> Client:
    return Client(alice)


MILK = "add a task: buy milk"
shipped = pytest.mark.deployed(extensions=REAL, model=EmbeddedModel())


@shipped
def test_a_message_asked_for_anew_repeats_the_receipt_and_no_effect(
    client: Client, clock: FrozenClock
) -> None:
    client.say("hello")
    assert "buy milk" in (first := client.say("hello", MILK))
    assert (client.say("hello", MILK), client.tasks()) == (first, 1)
    client.say("hello", MILK, MILK)
    assert client.tasks() == 2
    assert (client.say("hello", MILK), client.tasks()) == (first, 2)
    for key in ("k1", "k2"):  # with a key of its own, and later, it is a new request
        client.say("hello", MILK, headers={"idempotency-key": key})
    assert client.tasks() == 4
    clock.advance(REGENERATE_S + 1)
    client.say("hello", MILK)
    assert client.tasks() == 5


@shipped
def test_what_waits_for_a_yes_is_not_proposed_twice(client: Client) -> None:
    sends = 'send an email to ann@example.com with the text "The draft is ready."'
    once, again = client.send(sends)["webbee"], client.send(sends)["webbee"]
    assert "ann@example.com" in client.say(sends)
    assert again["confirmation"]["id"] == once["confirmation"]["id"]
    assert len(client.person.turns(once["session_id"])) == 1
