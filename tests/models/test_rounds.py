"""A turn of several rounds over the wire: what was said stays as it was, results are native."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from tests.stand_ins.servers import Answer
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel

from .conftest import Wire

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


@pytest.fixture
def kernel(service: Wire) -> TestKernel:
    env = {"IMPERAL_FACT_LEDGER_EXPOSE_PII": "true", "WEBBEE_CONFIRM": "destructive"}
    return TestKernel([desk()], model=service.model, env=env)


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


def test_a_later_round_says_all_that_the_earlier_one_said_and_more(
    service: Wire, kernel: TestKernel
) -> None:
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
def test_whatever_a_model_answered_the_next_request_is_one_that_services_take(
    service: Wire, kernel: TestKernel, name: str
) -> None:
    if service.kind == "bedrock" and name in ("odd name", "broken JSON"):
        return  # Converse itself lets no such answer through
    service.server.play(ANSWERS[name], Answer(calls=(find(),)), Answer("Anna sits in B-12."))
    assert kernel.chat("where does Anna sit?").text == "Anna sits in B-12."
    assert service.server.problems == []
