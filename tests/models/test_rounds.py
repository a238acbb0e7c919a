"""A turn of several rounds over the wire: what was said stays as it was, results are native, and
reasoning goes back with the answer it came with, between the rounds, and nowhere else."""

import base64
import json
import logging
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tests.stand_ins.servers import Answer
from webbee_kernel.llm.options import RoleModels
from webbee_kernel.llm.protocol import Exchange
from webbee_kernel.observability import watch_spans
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel

from .conftest import Wire, asking

CONTINUE = ("kernel__continue", {})


def desk() -> Extension:
    ext = Extension("desk")
    chat = ChatExtension(ext)

    @chat.function("find", "Find people")
    async def find(ctx: Context, name: str) -> ActionResult:
        if name == "Nobody":
            return ActionResult.error("there is no such person", code="NOT_FOUND")
        return ActionResult.success({"name": name, "room": "B-12"}, f"{name} sits in B-12.")

    @chat.function("note", "Write a note", action_type="write")
    async def note(ctx: Context, text: str) -> ActionResult:
        return ActionResult.success({"text": text}, f"Noted: {text}.")

    return ext


ENV = {"IMPERAL_FACT_LEDGER_EXPOSE_PII": "true", "WEBBEE_CONFIRM": "destructive"}


@pytest.fixture
def kernel(service: Wire) -> TestKernel:
    return TestKernel([desk()], model=service.model, env=ENV)


def find(name: str = "Anna") -> tuple[str, Any]:
    return "desk__find", {"name": name}


def messages(service: Wire, n: int) -> list[Any]:
    """What the n-th request said, cache points left out: they mark, they say nothing."""
    found: list[Any] = json.loads(json.dumps(service.server.requests[n].body["messages"]))
    for message in found:
        if isinstance(message["content"], list):
            message["content"] = [b for b in message["content"] if "cachePoint" not in b]
    return found


def results(service: Wire, n: int) -> list[str]:
    if service.kind == "openai":
        return [m["content"] for m in messages(service, n) if m["role"] == "tool"]
    blocks = [block for message in messages(service, n) for block in message["content"]]
    return [b["toolResult"]["content"][0]["text"] for b in blocks if "toolResult" in b]


def test_results_travel_as_native_tool_results(service: Wire, kernel: TestKernel) -> None:
    service.server.play(
        Answer("Let me look.", calls=(find(), CONTINUE)),
        Answer(calls=(("desk__note", {"text": "Anna: B-12"}),)),
        Answer("Noted: Anna: B-12."),
    )
    reply = kernel.chat("note where Anna sits")
    assert [c["fn_name"] for c in reply.body["calls"]] == ["find", "note"]
    found, went_on = results(service, 1)
    assert found.startswith("RESULT: app=desk fn=find status=ok step=0 ")
    assert '"room": "B-12"' in found
    assert went_on == "status=ok"
    assert service.server.problems == []


def test_a_later_round_says_more_than_the_earlier_one(service: Wire, kernel: TestKernel) -> None:
    asks = [Answer(calls=(find(name), CONTINUE)) for name in ("Anna", "Boris", "Carla")]
    service.server.play(*asks, Answer("That is all."), Answer("All three sit in B-12."))
    kernel.chat("where do Anna, Boris and Carla sit?")
    for earlier, later in pairwise(messages(service, n) for n in range(4)):
        assert later[: len(earlier)] == earlier
        assert len(later) > len(earlier)
    first, *rest = (request.body for request in service.server.requests[:4])
    for body in rest:
        assert body | {"messages": ()} == first | {"messages": ()}


ANSWERS = {
    "odd name": Answer(calls=(("desk.find (please)", {"name": "Anna"}),)),
    "broken JSON": Answer(calls=(("desk__find", '{"name": "An'),)),
    "placeholder": Answer(calls=(find("<NAME_7>"),)),
    "nothing to see": Answer(calls=(CONTINUE,)),
    "invented": Answer("You have 50 notes."),
    "blank": Answer("   "),
    "twice": Answer(calls=(find(), find(), CONTINUE)),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_next_request_is_one_they_take(service: Wire, kernel: TestKernel, name: str) -> None:
    if service.kind == "bedrock" and name in ("odd name", "broken JSON"):
        return  # Converse itself lets no such answer through
    service.server.play(ANSWERS[name], Answer(calls=(find(),)), Answer("Anna sits in B-12."))
    assert kernel.chat("where does Anna sit?").text == "Anna sits in B-12."
    assert service.server.problems == []


# ---- reasoning


SECRET = "the user is surely a spy"
SIGNED = {"reasoningText": {"text": f"Hm, {SECRET}.", "signature": "c2lnbmVk+/=="}}
SEALED = {"redactedContent": base64.b64encode(b"sealed thoughts").decode()}
DETAILS = [
    {"type": "reasoning.text", "text": f"Hm, {SECRET}.", "signature": "c2ln", "index": 0},
    {"type": "reasoning.encrypted", "data": "ZW5j", "id": "rs_1", "index": 1},
]
EXTRA = {"extra_content": {"google": {"thought_signature": "Z2VtaW5p"}}}


def talking(service: Wire, answer: Answer, *more: Answer) -> TestKernel:
    """A kernel that has had a turn of two rounds, the first of which is this answer."""
    kernel = TestKernel([desk()], model=service.model, env=ENV)
    service.server.play(answer, *more, Answer("That is all."), Answer("Anna sits in B-12."))
    kernel.chat("where does Anna sit?")
    assert service.server.problems == []
    return kernel


def thoughtful(service: Wire, **changes: Any) -> Answer:
    """An answer with a call, and what the service wants back with it."""
    given: dict[str, Any] = (
        {"reasoning": (SIGNED, SEALED)}
        if service.kind == "bedrock"
        else {"reasoning": {"reasoning_details": DETAILS}, "extras": (EXTRA, {})}
    )
    return Answer("Let me look.", calls=(find(), CONTINUE), **(given | changes))


def assistant(service: Wire, n: int) -> dict[str, Any]:
    [said] = [m for m in messages(service, n) if m["role"] == "assistant"]
    return dict(said)


def test_what_is_signed_or_sealed_goes_back_unchanged_and_dies_with_the_turn(service: Wire) -> None:
    """It reaches no narrator either."""
    kernel = talking(service, thoughtful(service))
    said = assistant(service, 1)
    if service.kind == "bedrock":
        assert said["content"][:2] == [{"reasoningContent": SIGNED}, {"reasoningContent": SEALED}]
        assert "toolUse" in said["content"][-1]
    else:
        assert said["reasoning_details"] == DETAILS
        given = [c.get("extra_content") for c in said["tool_calls"]]
        assert given == [EXTRA["extra_content"], None]
    service.server.play(Answer("Good-bye."))
    kernel.chat("thanks, good-bye")
    for n in (2, -1):
        body = json.dumps(service.server.requests[n].body)
        assert not any(w in body for w in (SECRET, "reasoningContent", "Z2VtaW5p", "ZW5j"))


def test_it_is_told_nowhere_else(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "webbee")
    kernel = TestKernel([desk()], model=wire.model, env=ENV)
    wire.server.play(thoughtful(wire), Answer("That is all."), Answer("Anna sits in B-12."))
    reply = kernel.chat("where does Anna sit?")
    kept = repr(kernel.memory()) + kernel.prompt("and now?")
    seen = json.dumps(reply.body) + kept + caplog.text
    assert "Anna" in seen
    assert SECRET not in seen and "c2ln" not in seen
    wire.server.play(thoughtful(wire), thoughtful(wire))
    response = wire.ask(asking())
    assert response.reasoning is not None
    assert SECRET not in repr(response) + repr(response.reasoning)

    told: list[Any] = []
    models = RoleModels({"classifier": wire.model})
    exchange = Exchange("[RESULTS]", "Hm.", note="go on", reasoning=response.reasoning)
    with watch_spans(lambda *what: told.append(what)):
        again = replace(wire, model=models).ask(asking(opening="[HISTORY]", exchanges=(exchange,)))
    assert again.reasoning is not None
    assert SECRET in json.dumps(wire.server.requests[-1].body)
    assert "Let me look." in repr(told) and SECRET not in repr(told)


def test_a_model_that_refuses_its_reasoning_is_asked_again_without(service: Wire) -> None:
    words = (
        "messages.1.content.0: Invalid `signature` in `thinking` block"
        if service.kind == "bedrock"
        else "messages.2.reasoning_details: Extra inputs are not permitted"
    )
    talking(service, thoughtful(service), service.invalid(words))
    first, second = (json.dumps(assistant(service, n)) for n in (1, 2))
    assert SECRET in first
    assert not any(word in second for word in (SECRET, "extra_content", "reasoning"))


def test_signatures_that_cannot_be_told_to_their_calls_are_left_out(openai: Wire) -> None:
    """A call that has no name is none, so the second call's signature has no place that is sure."""
    functions = [{"name": name, "arguments": "{}"} for name in ("", "mail__list_inbox")]
    calls = [{"id": f"c{n}", "type": "function", "function": f} for n, f in enumerate(functions)]
    calls[0] |= EXTRA
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    openai.server.play(Answer(raw=json.dumps({"choices": [choice]}).encode()))
    response = openai.ask(asking())
    assert [c.name for c in response.tool_calls] == ["mail__list_inbox"]
    assert response.reasoning is None
