"""What ends later than its turn is recorded for it."""

from typing import Any

from tests.contract.samples import LATER, turn
from tests.functions.support import until
from tests.planning import planning
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.late import LateResults
from webbee_kernel.types import Event, SessionKey


def ledger(kernel: TestKernel) -> list[str]:
    return [d.data_facts_json for t in kernel.memory().turns for d in t.digests]


def began(*results: Any) -> TestKernel:
    """A kernel whose model begins, in each turn, a read whose background task returns one of these."""
    ext, left = Extension("tasked"), list(results)
    chat = ChatExtension(ext)

    @chat.function("begin", "Begin a long calculation", action_type="read")
    async def begin(ctx: Context) -> ActionResult:
        async def work() -> Any:
            return left.pop()

        await ctx.background_task(work(), name="sum")
        return ActionResult.success({"begun": True}, "Begun.")

    return TestKernel([ext], model=planning("tasked__begin", reply="It has begun."))


def test_the_result_of_a_background_task_is_in_the_ledger_of_its_turn_and_counts_once() -> None:
    kernel = began(ActionResult.success({"sum": 4711}, "The sum is 4711."))
    kernel.chat("begin")
    until(lambda: any("4711" in facts for facts in ledger(kernel)))
    assert 'FACTS: app=tasked fn=begin data={"sum": 4711}' in kernel.prompt("and now?")
    since = kernel.app.events.since
    found = until(lambda: [e for e in kernel.run(since(kernel.key)) if e.kind == "result"])
    event: Event = found[0]
    assert (event.data["data"], event.data["text"]) == ({"sum": 4711}, "The sum is 4711.")
    kernel = began({"sum": 1})
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


def test_a_late_end_without_data_is_told_once_of_the_call_that_ended() -> None:
    kernel, of = began(), {"app_id": "tasked", "fn_name": "begin"}
    call = {**of, "status": "error", "duration_ms": 1, "error_code": "BACKEND_TIMEOUT"}
    receipt = {"status": "running", "what": "Begin", "text": "Begin: still running", "call": 0}
    made = {"calls": [call, call], "receipts": [receipt, {**receipt, "call": 1}]}
    asked = turn(1, status="error", request_id="r1", digests=(), response=made, unended={"2": 1})
    key, sessions = SessionKey(kernel.key, "s1"), kernel.app.stores.sessions
    kernel.run(sessions.append(key, asked, expires_at=LATER, now=kernel.clock.now()))
    late = LateResults(kernel.app.settings, kernel.app.stores, kernel.kernel.dispatch, kernel.clock)
    told = {**of, "session_id": "s1", "request_id": "r1", "status": "ok", "data": {}, "call": "2"}
    looks = [kernel.run(late.look(kernel.key, Event("e1", "", "result", told))) for _ in range(2)]
    assert looks == ["taken", "known"]
    [then] = kernel.memory().turns
    assert (then.status, [c["status"] for c in then.response["calls"]]) == ("ok", ["error", "ok"])
    assert [r["status"] for r in then.response["receipts"]] == ["running", "done"]
