"""What outlives its turn arrives as an event, never lost."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.late import LateResults
from webbee_kernel.types import Event


def slow_app(release: threading.Event, runs: list[str]) -> Extension:
    """A write that finishes when the test says so."""
    ext = Extension("slow")
    chat = ChatExtension(ext)

    @chat.function("order", "Order a report", action_type="write")
    async def order(ctx: Context) -> ActionResult:
        runs.append("started")
        await asyncio.to_thread(release.wait)
        return ActionResult.success({"report": "r-7"}, "Report r-7 is ready.")

    return ext


def answer(request: ModelRequest) -> ModelResponse:
    if request.role == "classifier":
        return ModelResponse(tool_calls=(ToolCall("slow__order", {}),))
    return ModelResponse(text="I could not order the report.")


def until(found: Callable[[], Any]) -> Any:
    """What becomes true, however slow the machine is."""
    for _ in range(3000):
        if there := found():
            return there
        time.sleep(0.01)
    raise AssertionError("it never became so")


def result_event(kernel: TestKernel) -> Event:
    """Wait for the late result, however slow the machine is."""
    events = until(
        lambda: [e for e in kernel.run(kernel.app.events.since(kernel.key)) if e.kind == "result"]
    )
    return events[0]


def test_a_call_that_outlives_its_deadline_goes_on_and_arrives_as_an_event() -> None:
    release, runs = threading.Event(), []
    kernel = TestKernel(
        [slow_app(release, runs)], model=FunctionModel(answer), env={"WEBBEE_CALL_SECONDS": "0.05"}
    )
    reply = kernel.chat("order the report", request_id="r1")
    assert reply.body["calls"][0]["error_code"] == "BACKEND_TIMEOUT"
    assert [r["status"] for r in reply.body["receipts"]] == ["running"]
    release.set()
    event = result_event(kernel)
    assert event.data["text"] == "Report r-7 is ready."
    assert event.data["data"] == {"report": "r-7"}
    assert event.data["session_id"] == "s1"


def ledger(kernel: TestKernel) -> list[str]:
    return [d.data_facts_json for t in kernel.memory().turns for d in t.digests]


def test_a_write_that_outlives_its_turn_is_in_the_ledger_when_it_ends() -> None:
    release, runs = threading.Event(), []
    kernel = TestKernel(
        [slow_app(release, runs)], model=FunctionModel(answer), env={"WEBBEE_CALL_SECONDS": "0.05"}
    )
    kernel.chat("order the report", request_id="r1")
    assert ledger(kernel) == []
    release.set()
    until(lambda: ledger(kernel))
    prompt = kernel.prompt("what came of it?")
    assert 'FACTS: app=slow fn=order data={"report": "r-7"}' in prompt
    assert "user ok apps=[slow]" in prompt  # no longer an error that a model would mend
    again = kernel.chat("order the report", request_id="r1").body
    [call] = again["calls"]
    assert again["turn"] == 1
    assert (call["status"], call["late"], runs) == ("ok", True, ["started"])


def with_task(results: list[Any]) -> Extension:
    """A read whose background task returns what the test says."""
    ext = Extension("tasked")
    chat = ChatExtension(ext)

    @chat.function("begin", "Begin a long calculation", action_type="read")
    async def begin(ctx: Context) -> ActionResult:
        async def work() -> Any:
            return results.pop()

        await ctx.background_task(work(), name="sum")
        return ActionResult.success({"begun": True}, "Begun.")

    return ext


def begins(request: ModelRequest) -> ModelResponse:
    if request.role == "classifier":
        return ModelResponse(tool_calls=(ToolCall("tasked__begin", {}),))
    return ModelResponse(text="It has begun.")


def test_the_result_of_a_background_task_is_in_the_ledger_of_the_turn_that_began_it() -> None:
    results = [ActionResult.success({"sum": 4711}, "The sum is 4711.")]
    kernel = TestKernel([with_task(results)], model=FunctionModel(begins))
    kernel.chat("begin")
    until(lambda: any("4711" in facts for facts in ledger(kernel)))
    assert 'FACTS: app=tasked fn=begin data={"sum": 4711}' in kernel.prompt("and now?")
    event = result_event(kernel)
    assert (event.data["data"], event.data["text"]) == ({"sum": 4711}, "The sum is 4711.")


def test_a_result_counts_for_what_its_turn_has_asked_and_once() -> None:
    kernel = TestKernel([with_task([{"sum": 1}])], model=FunctionModel(begins))
    kernel.chat("begin", request_id="r1")
    until(lambda: len(ledger(kernel)) == 2)
    late = LateResults(kernel.app.settings, kernel.app.stores, kernel.kernel.dispatch, kernel.clock)
    told = {"session_id": "s1", "request_id": "r1", "status": "ok", "app_id": "tasked"}
    for forged in (
        {**told, "app_id": "bank", "task_id": "t", "data": {"balance": 1}},
        {**told, "fn_name": "begin", "data": {"sum": 2}},  # was not told to be still running
        {**told, "fn_name": "begin", "task_id": "t", "data": {"sum": 1}},  # is there already
        {"status": "ok", "app_id": "tasked", "task_id": "t"},
    ):
        assert not kernel.run(late.take(kernel.key, Event("e1", "", "result", forged)))
    assert len(ledger(kernel)) == 2
