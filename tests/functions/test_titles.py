"""Titles of conversations by a model: one small request, where the operator has chosen it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functions.support import ALICE, BOB, Person, deployed, obey
from webbee_kernel.api.titles import SYSTEM
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import FunctionModel

MODEL = {"WEBBEE_TITLES": "model", "WEBBEE_MODEL": "bedrock:stand-in"}


class Namer:
    """Names conversations, and does as it is told otherwise."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.asked: list[ModelRequest] = []

    def __call__(self, request: ModelRequest) -> ModelResponse:
        if request.system != SYSTEM:
            return obey(request)
        self.asked.append(request)
        return ModelResponse(text=self.title)


def title(person: Person, session: str = "s1") -> Any:
    return person.send("chat_turn", "POST", f"/v1/sessions/{session}/title")


def test_a_conversation_is_named_once_and_never_over_a_persons_own_title() -> None:
    namer = Namer('"Milk and bread."\nand more')
    with deployed(env=MODEL, model=FunctionModel(namer)) as stack:
        alice = Person(stack, ALICE)
        alice.chat('probe.save {"text": "buy milk for ann@example.org"}')
        assert title(alice)["title"].startswith("Milk and bread")
        title(alice)
        assert len(namer.asked) == 1
        assert namer.asked[0].max_tokens < 100 and not namer.asked[0].tools
        alice.chat("and now?", session_id="s2")
        alice.send("chat_turn", "PATCH", "/v1/sessions/s2", body={"title": "Mine"})
        assert title(alice, "s2")["title"] == "Mine"
        assert title(Person(stack, BOB)).status == 404


def test_a_reply_is_masked_for_it_as_in_any_prompt() -> None:
    namer = Namer("Letters to <EMAIL_1>")
    with deployed(env=MODEL, model=FunctionModel(namer)) as stack:
        alice = Person(stack, ALICE)
        alice.chat('probe.save {"text": "to ann@example.org"}')
        told = title(alice)["title"]
        [request] = namer.asked
        reply = request.prompt.partition("REPLY: ")[2]
        assert "ann@example.org" not in reply
        assert "<" not in told


@pytest.mark.parametrize("env", [{}, {"WEBBEE_TITLES": "model"}])  # not chosen; no model
def test_without_it_the_first_words_stay(env: dict[str, str]) -> None:
    namer = Namer("Never")
    with deployed(env=env, model=FunctionModel(namer)) as stack:
        alice = Person(stack, ALICE)
        alice.chat("hello there")
        assert title(alice)["title"] == "hello there"
        assert namer.asked == []
