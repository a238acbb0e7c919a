"""Whatever extension code raises, stops or leaves behind ends its own call, in every kind of call,
and the next one works."""

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from pydantic import BaseModel, field_validator

from webbee_kernel import background
from webbee_kernel.background import LoopThread
from webbee_kernel.errors import StorageUnavailable
from webbee_kernel.extensions import host
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import CallOutcome, CallRequest, user_dict

Act = Callable[[], Awaitable[Any]]


async def cancels_what_it_awaits() -> None:
    task = asyncio.create_task(asyncio.sleep(60))
    task.cancel()
    await task


async def cancels_everybody() -> None:
    for task in asyncio.all_tasks():
        task.cancel()
    await asyncio.sleep(60)


class Odd(BaseException):
    """Neither an Exception nor one that Python knows."""


class Mute(Exception):
    """Fails where it is asked what it says."""

    def __str__(self) -> str:
        raise self


def does(work: Callable[[], Any]) -> Act:
    return AsyncMock(side_effect=work)


def raises(error: BaseException) -> Act:
    return AsyncMock(side_effect=error)


async def exits_in_a_task() -> None:
    await asyncio.create_task(raises(SystemExit(3))())


async def recurses() -> None:
    await recurses()


ACTS: dict[str, tuple[Act, str]] = {
    "cancels what it awaits": (cancels_what_it_awaits, "CancelledError"),
    "cancels everybody": (cancels_everybody, "CancelledError"),
    "raises CancelledError": (raises(asyncio.CancelledError()), "CancelledError"),
    "raises KeyboardInterrupt": (raises(KeyboardInterrupt()), "KeyboardInterrupt"),
    "exits": (raises(SystemExit(3)), "SystemExit"),
    "exits in a task of its own": (exits_in_a_task, "SystemExit"),
    "raises GeneratorExit": (raises(GeneratorExit()), "GeneratorExit"),
    "raises a BaseException": (raises(Odd()), "Odd"),
    "raises what says nothing": (raises(Mute()), "Mute"),
    "stops the loop": (does(lambda: asyncio.get_running_loop().stop()), "RuntimeError"),
    "closes the loop": (does(lambda: asyncio.get_running_loop().close()), "RuntimeError"),
    "recurses for ever": (recurses, "RecursionError"),
}


class Office:
    """An extension whose every handler does the same, and returns what that gave or a little."""

    def __init__(self) -> None:
        self.act: Act | None = None
        self.done = 0
        self.harness = ExtensionHarness(self.extension())

    async def _do(self) -> Any:
        given = await self.act() if self.act else None
        self.done += 1
        return given

    def extension(self) -> Extension:
        ext = Extension("office")
        chat = ChatExtension(ext)

        async def answer(ctx: Context, *given: Any, **named: Any) -> Any:
            return await self._do() or {"response": {"n": 1}}

        async def text(ctx: Context, *given: Any, **named: Any) -> Any:
            return await self._do() or "text"

        @chat.function("read", "Read")
        async def read(ctx: Context) -> Any:
            return await self._do() or ActionResult.success({"n": 1}, "Read.")

        @chat.function("write", "Write", action_type="write")
        async def write(ctx: Context) -> Any:
            await ctx.store.create("effects", {})
            return await self._do() or ActionResult.success({"n": 1}, "Written.")

        ext.panel("board")(text)
        ext.webhook("hook")(answer)
        ext.skeleton("state", alert=True)(answer)
        ext.tool("skeleton_alert_state")(text)
        ext.signal("wake")(answer)
        ext.on_install(answer)
        ext.health_check(answer)
        ext.schedule("job", cron="* * * * *")(answer)
        ext.on_event("heard")(answer)
        return ext

    def request(self, kind: str, name: str = "", **more: Any) -> CallRequest:
        user, given = user_dict(self.harness.user), HOOKED if kind == "webhook" else {}
        return CallRequest(kind, user, "office", name or KINDS[kind], given, "s1", **more)

    def call(self, kind: str, name: str = "", request_id: str = "r1") -> CallOutcome:
        """One call of a kind."""
        sent = self.request(kind, name, request_id=request_id, deadline_s=20.0)
        outcome: CallOutcome = self.harness.run(self.harness.dispatch.call(sent))
        return outcome


HOOKED = {"method": "POST", "headers": {}, "body": "", "query": {}}
KINDS = {
    "function": "write",
    "panel": "board",
    "webhook": "hook",
    "skeleton": "state",
    "alert": "state",
    "hook": "on_install",
    "signal": "wake",
    "schedule": "job",
    "health": "health",
    "event": "heard",
}
TOLD = [kind for kind in KINDS if kind != "event"]
"""Kinds of calls that end with what their handler did; listeners are many."""


@pytest.fixture(scope="module")
def office() -> Office:
    return Office()


@pytest.mark.parametrize("kind", TOLD)
@pytest.mark.parametrize("act", ACTS)
def test_a_call_that_ends_so_ends_as_internal_and_the_next_one_works(
    office: Office, kind: str, act: str
) -> None:
    office.act, name = ACTS[act]
    outcome = office.call(kind, request_id=f"{act} {kind}")
    assert (outcome.status, outcome.error_code) == ("error", "INTERNAL")
    assert outcome.error.endswith(name)
    office.act = None
    assert office.call(kind, request_id=f"then {act} {kind}").ok
    if kind == "function":  # its effect is on record, and not run again
        again = office.call(kind, request_id=f"{act} {kind}")
        assert (again.repeated, again.error, again.error_code) == (True, outcome.error, "INTERNAL")


def test_a_listener_that_ends_so_keeps_nobody_else_from_hearing() -> None:
    office = Office()  # others may have calls that still end
    office.act = cancels_what_it_awaits
    assert office.call("event").ok
    office.act = None
    assert office.call("event").ok
    assert office.done == 1


def test_who_gives_up_on_a_call_has_cancelled_it_and_nothing_becomes_of_it(office: Office) -> None:
    """Our own cancellation stays one."""

    released = threading.Event()

    async def wait_long() -> None:
        await asyncio.to_thread(released.wait, 60)

    office.act = wait_long
    request = office.request("function", "read")

    async def give_up() -> None:
        call = asyncio.ensure_future(office.harness.host.execute(request))
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(give_up())
    released.set()
    office.act = None
    assert office.call("function", "read").ok


def result_of(work: Act) -> dict[str, Any]:
    """What the event says of a background task that does this."""
    ext = Extension("office")
    chat = ChatExtension(ext)

    @chat.function("begin", "Begin")
    async def begin(ctx: Context) -> ActionResult:
        await ctx.background_task(work(), name="work")
        return ActionResult.success({}, "Begun.")

    harness = ExtensionHarness(ext)
    assert harness.call("begin").ok
    assert background.wait(60)
    (event,) = harness.events("result")
    return dict(event.data)


def test_a_background_task_that_ends_so_or_with_too_much_says_so() -> None:
    told = result_of(cancels_what_it_awaits)
    assert (told["status"], told["error"]) == ("error", "CancelledError")
    told = result_of(does(lambda: {"text": "x" * 500_000}))
    assert told["status"] == "ok" and "500" in told["data"]["omitted"]


def test_code_that_does_not_heed_its_end_is_left_to_itself(office: Office) -> None:
    released = threading.Event()

    async def stays() -> None:
        while not released.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    office.act = stays
    sent = office.request("panel", deadline_s=0.05)
    assert office.harness.run(office.harness.host.execute(sent)).error_code == "BACKEND_TIMEOUT"
    office.act = None
    assert office.call("panel").ok  # also while it stays
    released.set()


# ---- the loop itself


@pytest.mark.parametrize("later", range(8))
def test_work_that_ends_together_with_its_given_up_loop_is_told_as_ended(later: int) -> None:
    thread, held, released = LoopThread("given-up"), threading.Event(), threading.Event()

    async def turns(of: int) -> None:
        for _ in range(of):
            await asyncio.sleep(0)

    async def blocks() -> None:
        held.set()
        released.wait(60)
        await turns(later)
        background.start(turns(1), "kept")

    work = thread.submit(blocks())
    assert held.wait(60)
    thread.abandon(work)
    released.set()
    work.result(60)
    assert background.wait(60)


# ---- what is done already


class Picky(BaseModel):
    """A model whose own check is wrong."""

    n: int

    @field_validator("n")
    @classmethod
    def known(cls, n: int) -> int:
        return {"one": 1}[str(n)]


def test_an_effect_is_done_whatever_its_data_model_raises_and_whoever_cannot_be_told_of_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ext, released, told = Extension("office"), threading.Event(), {"event": "written"}

    @ext.on_event("office.written")
    async def listens(ctx: Context, data: Any) -> None:
        await asyncio.to_thread(released.wait, 60)

    @ChatExtension(ext).function("write", "Write", action_type="write", data_model=Picky, **told)
    async def write(ctx: Context) -> ActionResult:
        await ctx.progress(50, "half")
        return ActionResult.success({"n": 1}, "Written.")

    harness = ExtensionHarness(ext)
    away = AsyncMock(side_effect=StorageUnavailable("away"))
    monkeypatch.setattr(harness.app.stores.events, "append", away)
    monkeypatch.setattr(host, "LISTENERS_S", 0.01)
    outcome = harness.outcome("write")
    released.set()
    assert (outcome.status, outcome.summary) == ("ok", "Written.")
    assert "does not fit its data_model: KeyError" in caplog.text
    assert "app=office | progress was not told" in caplog.text


# ---- what is too much


def test_what_is_too_much_or_http_cannot_carry_ends_its_call_and_a_long_alert_is_cut(
    office: Office,
) -> None:
    office.act = does(lambda: {"text": "x" * 10_000_000})
    for kind in ("function", "panel", "webhook", "skeleton", "signal", "schedule"):
        outcome = office.call(kind, request_id=f"10 MB {kind}")
        assert (outcome.status, outcome.error_code, outcome.data) == ("error", "INTERNAL", None)
        assert len(outcome.error) < 1_000
    office.act = does(lambda: "x" * 10_000_000)
    assert len(office.harness.alert("state", old={}, new={})) == 2_000
    broken = [{"x-a": "1\r\nx-b: 2"}, {"x a": "1"}, {"": "1"}]
    answers = [{"status_code": code} for code in (99, 0, 1000)]
    answers += [{"status_code": 200, "headers": headers} for headers in broken]
    for answer in (*answers, {"status_code": 200, "body": "\ud800"}):
        office.act = AsyncMock(return_value=answer)
        assert office.call("webhook").error_code == "INTERNAL", answer


# ---- what is left behind


LITTER = """
import asyncio
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension

ext = Extension("litter")


async def fail():
    raise RuntimeError


@ChatExtension(ext).function("task", "Leaves a task and a callback that fail")
async def task(ctx) -> ActionResult:
    loop = asyncio.get_running_loop()
    loop.create_task(fail())
    loop.call_soon(lambda: loop.stop())
    await asyncio.sleep(0.01)
    return ActionResult.success({}, "Left.")
"""


def test_what_fails_on_the_loop_after_its_call_is_reported_with_the_apps_name(
    written: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    assert ExtensionHarness(written("litter", LITTER)).call("task").ok
    gc.collect()
    told = [line for line in caplog.messages if "left on the loop" in line]
    assert len(told) == 2
    assert all(line.startswith("app=litter error=RuntimeError") for line in told)
