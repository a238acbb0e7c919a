"""Work that outlives its caller: what is waited for, what cannot be, and what is kept of what somebody
else knows."""

import asyncio
import threading
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Any

import pytest

from tests.stand_ins.service import Reply, Request, served
from webbee_kernel import background
from webbee_kernel.api.function import AfterResponse
from webbee_kernel.background import CachedValue, LoopThread


async def until(released: asyncio.Event) -> None:
    task: Any = asyncio.current_task()
    task._log_destroy_pending = False  # some loops here end before it does
    await released.wait()


async def begins() -> asyncio.Event:
    """Starts what goes on until the event is set, by whoever has it."""
    released = asyncio.Event()
    background.start(until(released), "goes on")
    await asyncio.sleep(0)
    return released


@pytest.mark.parametrize("is_closed", [True, False])
def test_what_an_ended_loop_had_begun_is_not_waited_for_and_hides_nothing(is_closed: bool) -> None:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(begins())
    if is_closed:
        loop.close()
    thread = LoopThread("goes-on")
    assert background.wait(60)
    released = thread.run(begins(), 60)
    assert not background.wait(0.5)
    thread.run(asyncio.to_thread(int), 60)  # the loop was not held up meanwhile
    thread.run(setting(released), 60)
    assert background.wait(60)
    loop.close()


async def setting(released: asyncio.Event) -> None:
    released.set()


def test_what_runs_on_a_halting_loop_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that exits halts the kernel's loop, which goes on at once."""
    thread = LoopThread("halts")
    released = thread.run(begins(), 60)
    with monkeypatch.context() as halted:
        halted.setattr(asyncio.SelectorEventLoop, "is_running", lambda loop: False)
        assert not background.wait(0.3)
    thread.run(setting(released), 60)
    assert background.wait(60)


def test_a_loop_whose_descriptors_work_has_closed_ends_with_one_line_and_another_follows(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Such as `os.closerange(3, 4096)` by an extension: the loop cannot run any more."""

    async def closes() -> None:
        released = await begins()
        loop: Any = asyncio.get_running_loop()
        loop._selector._selector.close()
        await until(released)

    thread = LoopThread("closes")
    with pytest.raises(RuntimeError, match="broke"):
        thread.run(closes(), 60)
    assert background.wait(60)
    assert thread.run(asyncio.sleep(0, "goes on"), 60) == "goes on"
    assert sum("a loop broke" in line for line in caplog.messages) == 1


def test_a_runtime_that_fails_to_tell_of_an_event_is_asked_again_and_not_for_ever() -> None:
    """Lambda's extensions API hangs up once and fails once before it tells of an event, and answers no
    more questions after it."""
    asked = chain([Reply(drop=True), Reply(status=500), Reply()], repeat(Reply(status=500)))
    waited: list[int] = []

    def runtime(request: Request) -> Reply:
        reply = Reply() if request.method == "POST" else next(asked)
        return replace(reply, headers={"Lambda-Extension-Identifier": "one"})

    with served(answer=runtime) as service:
        after = AfterResponse(service.url.removeprefix("http://"), lambda: waited.append(1))
        after.start()
        (asking,) = [t for t in threading.enumerate() if t.name == "webbee-background"]
        after.invocation_answered()
        asking.join(60)
    assert (asking.is_alive(), waited) == (False, [1])


@dataclass
class Shelf:
    """Keeps one value."""

    value: str | None = None
    looked: int = 0

    async def find(self) -> str | None:
        self.looked += 1
        return self.value

    async def put(self, value: str) -> None:
        self.value = value


@dataclass
class Source:
    """Knows, once it is let."""

    value: str = "new"
    free: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0

    async def __call__(self) -> str:
        self.asked += 1
        await self.free.wait()
        if self.value == "broken":
            raise OSError
        return self.value


async def test_what_the_work_of_a_block_begins_while_the_block_ends_has_ended_with_it() -> None:
    ended = []

    async def next_of(left: int) -> None:
        await asyncio.sleep(0)
        if left:
            await background.start_in_scope(next_of(left - 1))
        ended.append(left)

    async with background.task_scope():
        await background.start_in_scope(next_of(2))
    assert ended == [2, 1, 0]


@pytest.mark.parametrize(("brings", "then"), [("new", "new"), ("broken", "old")])
async def test_what_is_kept_serves_while_the_source_is_busy_or_broken(
    brings: str, then: str
) -> None:
    shelf, source = Shelf("old"), Source(brings)
    asked = CachedValue(source, store=shelf)
    assert [await asked(), await asked()] == ["old", "old"]
    source.free.set()
    assert await asyncio.to_thread(background.wait, 60)
    assert [await asked(), shelf.value] == [then, then]
    if brings == "new":
        assert (source.asked, shelf.looked) == (1, 1)
    else:
        with pytest.raises(OSError, match=r"^$"):
            await CachedValue(source, store=Shelf())()
