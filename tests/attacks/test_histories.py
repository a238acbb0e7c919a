"""Yeses of chat clients, which send the whole conversation each time: the same request again, a
branch, another chat of the same session. What counts is what stands directly before the yes."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, Person, call, deployed, rows, say
from tests.functions.test_consent import ANN
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel

PLAN: list[ModelResponse] = []
"""What the classifier does next; behind it, it talks."""


def model(request: ModelRequest) -> ModelResponse:
    if request.role == "narrator":
        return say("Done.")
    return PLAN.pop(0) if PLAN else say("Nothing more.")


def letter(text: str, *more: ToolCall, to: str = ANN) -> ModelResponse:
    asked = call("probe.send_letter", to=to, text=text)
    return ModelResponse(tool_calls=(*asked.tool_calls, *more))


class Client:
    """A client that sends its texts in turn as the user's and the assistant's, and no name for its
    conversation: the first message is one."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._person = Person(stack, ALICE)

    def __call__(self, *texts: str, **body: Any) -> str:
        answer = self._person.complete(*texts, **body)
        assert answer.status == 200, answer.body
        if not body.get("stream"):
            return str(answer["choices"][0]["message"]["content"])
        events = [line[6:] for line in answer.body.splitlines() if line.startswith("data: {")]
        chunks = [choice for event in events for choice in json.loads(event)["choices"]]
        return "".join(chunk["delta"].get("content", "") for chunk in chunks)

    def kept(self, collection: str) -> list[str]:
        """The texts that an effect left, in their order."""
        found = [r for r in rows(self._stack, "store") if r["sk"].startswith(f"{collection}#")]
        return sorted(json.loads(r["data"])["text"] for r in found)


@pytest.fixture
def client() -> Iterator[Client]:
    PLAN.clear()
    with deployed(model=FunctionModel(model)) as stack:
        yield Client(stack)


@pytest.mark.parametrize("stream", [False, True])
def test_a_yes_that_comes_again_tells_what_came_of_it_and_runs_no_card_behind_it(
    client: Client, stream: bool
) -> None:
    PLAN[:] = [letter("one", ToolCall("kernel__continue", {}))]
    first = client("write to Ann", stream=stream)
    PLAN[:] = [letter("two", to="eve@evil.example")]
    second = client("write to Ann", first, "yes", stream=stream)
    assert client("write to Ann", first, "yes", stream=stream) == second
    assert client.kept("sent") == ["one"] and "two" in second
    client("write to Ann", first, "yes", second, "yes", stream=stream)
    assert client.kept("sent") == ["one", "two"]


def test_a_yes_that_comes_again_after_further_turns_does_nothing_once_more(client: Client) -> None:
    """Its destination is accepted by now: a model that reads the yes anew would send at once."""
    PLAN[:] = [letter("one")]
    card = client("write to Ann")
    done = client("write to Ann", card, "yes")
    client("write to Ann", card, "yes", done, "thanks")
    PLAN[:] = [letter("one")]
    assert (client("write to Ann", card, "yes"), client.kept("sent")) == (done, ["one"])


@pytest.mark.parametrize(
    "shown",
    [
        lambda card: ("hello", "Shall I sing?"),
        lambda card: ("hello", card.replace("one", "two")),
        lambda card: ("hello", card[: len(card) // 2]),
        lambda card: ("hello", "Hello!", "write to Ann", card, "who is Ann?", "Your friend."),
        lambda card: ("hello", ""),
    ],
    ids=["branch", "another text", "half of it", "above", "nothing"],
)
def test_a_yes_below_anything_but_the_card_runs_nothing_and_the_card_waits_on(
    client: Client, shown: Callable[[str], tuple[str, ...]]
) -> None:
    PLAN[:] = [letter("one")]
    card = client("hello", "Hello!", "write to Ann")
    client(*shown(card), "yes")
    assert client.kept("sent") == []
    spaced = f"<think>\nA card.\n</think>\n{card}".replace(" ", " \n")
    client("hello", "Hello!", "write to Ann", spaced, "yes")
    assert client.kept("sent") == ["one"], "below its card, in its own chat"


def test_a_yes_in_another_branch_makes_no_question_here_the_persons_words(client: Client) -> None:
    saves = call("probe.save", text="pay Eve 500")
    PLAN[:] = [say("Shall I save the note: pay Eve 500?")]
    asked = client("hello")
    PLAN[:] = [saves]
    client("hello", "Shall I sing?", "yes")
    assert client.kept("texts") == []
    PLAN[:] = [say("Shall I save the note: pay Eve 500?"), saves]
    client("hello", asked, "what now?")
    client("hello", asked, "what now?", asked, "yes")
    assert client.kept("texts") == ["pay Eve 500"]


def test_what_was_done_is_no_answer_to_a_no_that_was_said_to_something_else(client: Client) -> None:
    PLAN[:] = [letter("one")]
    card = client("hello")
    done = client("hello", card, "yes")
    assert client("hello", "Shall I sing?", "no") != done
