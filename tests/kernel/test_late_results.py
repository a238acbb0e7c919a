"""What outlives its turn arrives as an event, never lost."""

from __future__ import annotations

import asyncio
import threading
import time

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.values import Event


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
    return ModelResponse(text="The report is still running; it will arrive.")


def result_event(kernel: TestKernel) -> Event:
    """Wait for the late result, however slow the machine is."""
    for _ in range(3000):
        if found := [
            e for e in kernel.run(kernel.app.events.since(kernel.key)) if e.kind == "result"
        ]:
            return found[0]
        time.sleep(0.01)
    raise AssertionError("the late result never arrived")


def test_a_call_that_outlives_its_deadline_goes_on_and_arrives_as_an_event() -> None:
    release, runs = threading.Event(), []
    kernel = TestKernel(
        [slow_app(release, runs)], model=FunctionModel(answer), env={"WEBBEE_CALL_SECONDS": "0.05"}
    )
    reply = kernel.chat("order the report", request_id="r1")
    assert reply.body["calls"][0]["error_code"] == "BACKEND_TIMEOUT"
    release.set()
    event = result_event(kernel)
    assert event.data["text"] == "Report r-7 is ready."
    assert event.data["data"] == {"report": "r-7"}
    assert event.data["session_id"] == "s1"


def test_a_retry_of_that_request_gets_the_same_answer_and_runs_nothing() -> None:
    release, runs = threading.Event(), []
    kernel = TestKernel(
        [slow_app(release, runs)], model=FunctionModel(answer), env={"WEBBEE_CALL_SECONDS": "0.05"}
    )
    kernel.chat("order the report", request_id="r1")
    release.set()
    result_event(kernel)
    again = kernel.chat("order the report", session_id="s1", request_id="r1")
    assert again.body["turn"] == 1
    assert runs == ["started"]
