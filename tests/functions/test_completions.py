"""What a chat completion says of tokens, limits and errors that pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.functions.support import ALICE, Answer, Person, deployed
from webbee_kernel.api.openai_wire import limits, told
from webbee_kernel.clock import FrozenClock
from webbee_kernel.llm.embedded import EmbeddedModel
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, Usage
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.turn.record import ANEW_S

REAL = Path(__file__).parents[2] / "extensions"
PATH = "/v1/openai/v1/chat/completions"
RESPONSES = "/v1/openai/v1/responses"


def test_usage_counts_every_model_request_of_the_turn_and_none_of_a_repeated_one() -> None:
    def model(request: ModelRequest) -> ModelResponse:
        return ModelResponse(text="hello", usage=Usage(100, 7, cached_tokens=60))

    with deployed(model=FunctionModel(model)) as stack:
        person = Person(stack, ALICE)
        body = {"model": "webbee", "messages": [{"role": "user", "content": "hi"}]}
        once, again = (
            person.send("POST", PATH, body=body, headers={"Idempotency-Key": "k1"})
            for _ in range(2)
        )
    assert once["usage"] == {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "total_tokens": 107,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    assert again["usage"]["total_tokens"] == 0
    assert again["choices"] == once["choices"]


def test_a_limit_is_the_protocols_rate_limit_error() -> None:
    clock = FrozenClock(1_780_000_000.0)  # both requests fall into one minute
    with deployed(env={"WEBBEE_USER_REQUESTS_PER_MINUTE": "1"}, clock=clock) as stack:
        person = Person(stack, ALICE)
        body = {"messages": [{"role": "user", "content": "hi"}]}
        assert person.send("POST", PATH, body=body).status == 200
        refused = person.send("POST", PATH, body=body)
    assert (refused.status, refused.error["type"]) == (429, "rate_limit_error")
    assert int(refused.headers["retry-after"]) > 0


# ---- where an answer ends


@given(st.text(max_size=200), st.integers(1, 50))
def test_a_cut_text_is_a_beginning_with_room_for_no_more(text: str, tokens: int) -> None:
    kept, is_cut = limits(None, tokens).cut(text)
    assert text.startswith(kept)
    assert is_cut == bool(text[len(kept) :].strip())
    assert len(kept.split()) <= tokens


@given(st.text("ab ", max_size=30), st.lists(st.text("ab", min_size=1, max_size=2), max_size=4))
def test_no_stop_is_in_what_is_left(text: str, stops: list[str]) -> None:
    kept, is_cut = limits(stops, None).cut(text)
    assert not is_cut
    assert not any(stop in kept for stop in stops)
    assert kept == text or any(text[len(kept) :].startswith(stop) for stop in stops)


def test_a_limit_hides_no_receipt_and_no_mark_points_behind_the_end() -> None:
    receipt = {"status": "failed", "text": "Not sent."}
    reply = {
        "reply": "All was sent to 50 people.",
        "status": "ok",
        "receipts": [receipt],
        "marks": [{"start": 16, "end": 18, "holds": "36"}],
    }
    text, is_cut = told(reply, limits(None, 2))
    assert is_cut
    assert "Not sent." in text
    assert "50" not in text


def test_a_question_stays_whole() -> None:
    reply = {"reply": "Send it to a@b.example?", "status": "confirmation"}
    assert told(reply, limits("b", 1)) == ("Send it to a@b.example?", False)


# ---- the same message asked for anew


def _said(person: Person, *messages: str, **headers: str) -> str:
    """The answer to the last of the user's messages, between which the assistant said something."""
    shown = [
        {"role": role, "content": text}
        for message in messages
        for role, text in (("user", message), ("assistant", "Noted."))
    ][:-1]
    sent = {"x-session-id": "c1", **headers}
    answer = person.send("POST", PATH, body={"messages": shown}, headers=sent)
    assert answer.status == 200, answer.body
    return str(answer["choices"][0]["message"]["content"])


def _tasks(person: Person) -> int:
    return len(person.call("tasks", "list_tasks")["data"]["tasks"])


def test_a_message_asked_for_anew_repeats_no_effect_and_tells_the_first_ones_receipt() -> None:
    with deployed(extensions=REAL, model=EmbeddedModel()) as stack:
        person = Person(stack, ALICE)
        _said(person, "hello")
        assert "buy milk" in (first := _said(person, "hello", "add a task: buy milk"))
        assert _said(person, "hello", "add a task: buy milk") == first
        assert _tasks(person) == 1
        _said(person, "hello", "add a task: buy milk", "add a task: buy milk")
        assert _tasks(person) == 2
        branched = _said(person, "hello", "add a task: buy milk")
        assert (branched, _tasks(person)) == (first, 2)


def test_what_waits_for_a_yes_is_not_proposed_twice() -> None:
    sends = 'send an email to ann@example.com with the text "The draft is ready."'
    with deployed(extensions=REAL, model=EmbeddedModel()) as stack:
        person = Person(stack, ALICE)
        first = _said(person, sends)
        assert "ann@example.com" in first
        assert _said(person, sends) == first
        assert len(person.turns("c1")) == 1


def test_a_key_of_the_clients_own_and_a_later_conversation_are_new_requests() -> None:
    clock = FrozenClock(1_780_000_000.0)
    with deployed(extensions=REAL, clock=clock, model=EmbeddedModel()) as stack:
        person = Person(stack, ALICE)
        for key in ("k1", "k2"):
            _said(person, "add a task: buy milk", **{"idempotency-key": key})
        assert _tasks(person) == 2
        clock.advance(ANEW_S + 1)
        _said(person, "add a task: buy milk")
        assert _tasks(person) == 3


# ---- the same on the Responses API


def _responded(person: Person, *messages: str, **body: Any) -> Answer:
    """The response to the last of the user's messages, between which the assistant said something;
    the conversation is named by the first of them."""
    shown = [
        {"type": "message", "role": role, "content": text}
        for message in messages
        for role, text in (("user", message), ("assistant", "Noted."))
    ][:-1]
    answer = person.send("POST", RESPONSES, body={"input": shown, **body})
    assert answer.status == 200, answer.body
    return answer


def _text(answer: Answer) -> str:
    [item] = answer["output"]
    return str(item["content"][0]["text"])


def test_a_response_asked_for_anew_repeats_no_effect() -> None:
    with deployed(extensions=REAL, model=EmbeddedModel()) as stack:
        person = Person(stack, ALICE)
        first = _text(_responded(person, "add a task: buy milk"))
        assert "buy milk" in first
        assert _text(_responded(person, "add a task: buy milk")) == first
        assert _tasks(person) == 1
        _responded(person, "add a task: buy milk", "add a task: buy milk")
        assert _tasks(person) == 2


def test_a_response_that_waits_for_a_yes_is_not_proposed_twice() -> None:
    sends = 'send an email to ann@example.com with the text "The draft is ready."'
    with deployed(extensions=REAL, model=EmbeddedModel()) as stack:
        person = Person(stack, ALICE)
        once, again = (_responded(person, sends) for _ in range(2))
        assert "ann@example.com" in _text(once)
        assert again["webbee"]["confirmation"]["id"] == once["webbee"]["confirmation"]["id"]


def test_what_follows_a_response_by_its_id_is_said_and_not_asked_for_anew() -> None:
    with deployed(extensions=REAL, model=EmbeddedModel()) as stack:
        person = Person(stack, ALICE)
        first = _responded(person, "add a task: buy milk")
        _responded(person, "add a task: buy milk", previous_response_id=first["id"])
        assert _tasks(person) == 2
