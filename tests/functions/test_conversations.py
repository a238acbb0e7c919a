"""Conversations: searched in full, titled by a model where the operator has chosen it."""

from __future__ import annotations

from typing import Any

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, BOB, OTHER_ALICE, Person, deployed, obey
from webbee_kernel.api.conversations import SYSTEM
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import FunctionModel


def said(person: Person, query: str, **more: str) -> list[dict[str, object]]:
    answer = person.send("GET", "/v1/search", query={"q": query, **more})
    return list(answer["matches"])


def test_a_number_in_a_reply_is_found_in_whatever_conversation_it_was_said(stack: Stack) -> None:
    alice = Person(stack, ALICE)
    alice.chat('probe.save {"text": "order 300418 was shipped"}', session_id="orders")
    for n in range(7):  # the model's memory has lost it, the person has not
        alice.chat(f"and what of {n}?", session_id="orders")
    alice.chat("something else", session_id="other")
    [match] = said(alice, "300418")
    assert match["session_id"] == "orders"
    excerpt = str(match["excerpt"])
    assert excerpt[int(str(match["start"])) : int(str(match["end"]))] == "300418"
    assert len(said(alice, "SHIPPED Order")) == 1


def test_every_word_must_have_been_said_in_the_turn(stack: Stack) -> None:
    alice = Person(stack, ALICE)
    alice.chat("is Straße a street?", session_id="s1")
    assert said(alice, "straße street") and not said(alice, "straße avenue")


def test_nobody_finds_what_another_has_said(stack: Stack) -> None:
    Person(stack, ALICE).chat("my secret is 771204", session_id="s1")
    for other in (BOB, OTHER_ALICE):
        assert said(Person(stack, other), "771204") == []


def test_what_was_deleted_is_not_found(stack: Stack) -> None:
    alice = Person(stack, ALICE)
    alice.chat("remember 771204", session_id="s1")
    assert said(alice, "771204")
    alice.send("DELETE", "/v1/sessions/s1")
    assert said(alice, "771204") == []


def test_a_request_reads_so_many_conversations_and_the_cursor_goes_on(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbee_kernel.api.conversations.CONVERSATIONS", 2)
    alice = Person(stack, ALICE)
    for n in range(3):
        alice.chat(f"needle {n}", session_id=f"s{n}")
    first = alice.send("GET", "/v1/search", query={"q": "needle"})
    assert first["searched"] == 2 and len(first["matches"]) == 2
    rest = alice.send("GET", "/v1/search", query={"q": "needle", "cursor": first["cursor"]})
    assert len(rest["matches"]) == 1 and rest["cursor"] is None


@pytest.mark.parametrize("query", [{"q": "a" * 81}, {"q": "ab", "cursor": "?"}])
def test_a_query_that_is_none_is_refused_by_name(stack: Stack, query: dict[str, str]) -> None:
    answer = Person(stack, ALICE).send("GET", "/v1/search", query=query)
    assert answer.status == 400
    assert answer["error"]["field"] == ("cursor" if "cursor" in query else "q")


def test_a_letter_stands_everywhere_and_finds_nothing(stack: Stack) -> None:
    alice = Person(stack, ALICE)
    alice.chat("a", session_id="s1")
    assert said(alice, " a ") == said(alice, "") == []


# ---- titles


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


def title_of(person: Person, session: str = "s1") -> Any:
    return person.send("POST", f"/v1/sessions/{session}/title")


def test_a_conversation_is_named_once_and_never_over_a_persons_own_title() -> None:
    namer = Namer('"Milk and bread."\nand more')
    with deployed(env=MODEL, model=FunctionModel(namer)) as stack:
        alice = Person(stack, ALICE)
        alice.chat('probe.save {"text": "buy milk for ann@example.org"}')
        assert title_of(alice)["title"].startswith("Milk and bread")
        title_of(alice)
        assert len(namer.asked) == 1
        assert namer.asked[0].max_tokens < 100 and not namer.asked[0].tools
        alice.chat("and now?", session_id="s2")
        alice.send("PATCH", "/v1/sessions/s2", body={"title": "Mine"})
        assert title_of(alice, "s2")["title"] == "Mine"
        assert title_of(Person(stack, BOB)).status == 404


def test_a_reply_is_masked_for_it_as_in_any_prompt() -> None:
    namer = Namer("Letters to <EMAIL_1>")
    with deployed(env=MODEL, model=FunctionModel(namer)) as stack:
        alice = Person(stack, ALICE)
        alice.chat('probe.save {"text": "to ann@example.org"}')
        told = title_of(alice)["title"]
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
        assert title_of(alice)["title"] == "hello there"
        assert namer.asked == []
