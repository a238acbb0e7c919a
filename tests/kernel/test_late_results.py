"""What ends later than its turn is recorded for it, and what was found in one turn is taken up in the next
by what its FACTS hold: "show that file again"."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.contract.samples import LATER, turn
from tests.functions.support import call, until
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.late import LateResults
from webbee_kernel.types import Event, SessionKey


def result_event(kernel: TestKernel) -> Event:
    """Wait for the late result, however slow the machine is."""
    since = kernel.app.events.since
    found = until(lambda: [e for e in kernel.run(since(kernel.key)) if e.kind == "result"])
    first: Event = found[0]
    return first


def ledger(kernel: TestKernel) -> list[str]:
    return [d.data_facts_json for t in kernel.memory().turns for d in t.digests]


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


def test_a_late_end_without_data_is_told_once() -> None:
    kernel = TestKernel([with_task([])], model=FunctionModel(begins))
    made = {"app_id": "tasked", "fn_name": "begin", "status": "error", "duration_ms": 1}
    receipt = {"status": "running", "what": "Begin", "text": "Begin: still running", "call": 0}
    asked = turn(
        1,
        status="error",
        request_id="r1",
        digests=(),
        response={"calls": [{**made, "error_code": "BACKEND_TIMEOUT"}], "receipts": [receipt]},
    )
    key, sessions = SessionKey(kernel.key, "s1"), kernel.app.stores.sessions
    kernel.run(sessions.append(key, asked, expires_at=LATER, now=kernel.clock.now()))
    late = LateResults(kernel.app.settings, kernel.app.stores, kernel.kernel.dispatch, kernel.clock)
    told = {"session_id": "s1", "request_id": "r1", "status": "ok", "data": {}, **which(made)}
    looks = [kernel.run(late.look(kernel.key, Event("e1", "", "result", told))) for _ in range(2)]
    assert looks == ["taken", "known"]
    [then] = kernel.memory().turns
    assert (then.status, then.response["calls"][0]["status"]) == ("ok", "ok")
    assert then.response["receipts"][0]["status"] == "done"


def which(call: dict[str, Any]) -> dict[str, Any]:
    return {"app_id": call["app_id"], "fn_name": call["fn_name"]}


# ---- facts taken up in the next turn


FILES = {"f-77": "Q3 plan.pdf", "f-78": "Lease.pdf"}


def office(done: list[tuple[str, str]]) -> Extension:
    ext = Extension("office", display_name="Office")
    chat = ChatExtension(ext)

    @chat.function("find_file", "Find a file by its name")
    async def find_file(ctx: Context, name: str) -> ActionResult:
        found = [{"id": i, "title": title} for i, title in FILES.items() if name in title]
        return ActionResult.success({"files": found}, "")

    @chat.function("show_file", "Show a file")
    async def show_file(ctx: Context, file_id: str) -> ActionResult:
        done.append(("show", file_id))
        return ActionResult.success({"id": file_id, "title": FILES[file_id], "pages": 12}, "")

    @chat.function("list_messages", "List messages")
    async def list_messages(ctx: Context) -> ActionResult:
        rows = [{"id": "m-41", "subject": "Invoice for May", "from": "billing@example.com"}]
        return ActionResult.success({"messages": rows}, "")

    @chat.function("delete_message", "Delete a message", action_type="destructive")
    async def delete_message(ctx: Context, message_id: str) -> ActionResult:
        done.append(("delete", message_id))
        return ActionResult.success({"id": message_id}, "Deleted.")

    return ext


def facts(prompt: str, function: str) -> Any:
    """The data of the newest FACTS line of a function, as the model reads it."""
    lines = re.findall(rf"^FACTS: app=office fn={function} data=(.*)$", prompt, re.M)
    return json.loads(lines[-1])


def model(request: ModelRequest) -> ModelResponse:
    """Calls what the message asks for, with the ids that FACTS hold and no others."""
    if request.role != "classifier":
        return ModelResponse(text="There it is.")
    message = request.prompt.splitlines()[-1]
    if "find the lease" in message:
        return call("office.find_file", name="Lease")
    if "my messages" in message:
        return call("office.list_messages")
    if "show that file" in message:
        held = facts(request.prompt, "(?:find|show)_file")
        return call("office.show_file", file_id=held.get("id") or held["files"][0]["id"])
    listed = facts(request.prompt, "list_messages")["messages"]
    return call("office.delete_message", message_id=listed[0]["id"])


def test_a_file_is_shown_again_by_the_id_that_facts_hold() -> None:
    done: list[tuple[str, str]] = []
    kernel = TestKernel([office(done)], model=FunctionModel(model))
    kernel.chat("find the lease")
    for message in ("show that file", "show that file again"):
        body = kernel.chat(message).body
        assert [c["status"] for c in body["calls"]] == ["ok"], body
    assert done == [("show", "f-78"), ("show", "f-78")]


def test_the_message_just_listed_is_deleted_once_its_card_is_accepted() -> None:
    done: list[tuple[str, str]] = []
    kernel = TestKernel([office(done)], model=FunctionModel(model))
    kernel.chat("my messages")
    body = kernel.chat("delete the message just listed").body
    if card := body.get("confirmation"):
        assert done == []
        body = kernel.confirm(card["id"], True).body
    assert done == [("delete", "m-41")]
    (receipt,) = body["receipts"]
    assert receipt["status"] == "done" and "Office" in receipt["what"]
