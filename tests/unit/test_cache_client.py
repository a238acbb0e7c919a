"""ctx.cache: limits before any I/O, typed and plain values, one fetch for all who ask at once."""

import asyncio
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel

from webbee_kernel.channels.cache import CacheClient, InFlight
from webbee_kernel.clock import FrozenClock
from webbee_kernel.errors import StorageUnavailable
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.types import UserKey

ALICE, BOB = UserKey("t", "alice"), UserKey("t", "bob")


class Inbox(BaseModel):
    unread: int
    sender: str = ""


class Renamed(BaseModel):
    unread: list[int]


class Recorder:
    """A cache store that counts what reaches it, and fails on demand."""

    def __init__(self) -> None:
        self.inner = memory_stores().cache
        self.calls: list[str] = []
        self.down: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            if name in self.down:
                raise StorageUnavailable("down")
            return await getattr(self.inner, name)(*args, **kwargs)

        return call


class World:
    def __init__(self) -> None:
        self.store = Recorder()
        self.clock = FrozenClock()
        self.flights = InFlight()

    def client(
        self,
        user: UserKey = ALICE,
        app_id: str = "mail",
        models: dict[str, type[BaseModel]] | None = None,
    ) -> CacheClient:
        known = {"inbox": Inbox} if models is None else models
        store: Any = self.store
        return CacheClient(store, user, app_id, known, self.clock, self.flights)


@pytest.fixture
def world() -> World:
    return World()


def run(coro: Any) -> Any:
    return asyncio.run(coro)


def test_a_registered_model_comes_back_as_itself_and_apart_from_plain_values(world: World) -> None:
    cache = world.client()
    run(cache.set("k", Inbox(unread=8)))
    assert run(cache.get("k", Inbox)) == Inbox(unread=8)
    assert run(cache.get("k")) is None
    run(cache.set("k", "plain"))
    assert (run(cache.get("k")), run(cache.get("k", Inbox))) == ("plain", Inbox(unread=8))


def test_a_value_that_no_longer_fits_its_model_is_a_miss(world: World) -> None:
    run(world.client().set("k", Inbox(unread=8)))
    assert run(world.client(models={"inbox": Renamed}).get("k", Renamed)) is None


def test_a_model_nobody_registered_is_a_type_error_before_any_io(world: World) -> None:
    for call in (
        world.client().get("k", Renamed),
        world.client().set("k", Renamed(unread=[])),
        world.client().get_or_fetch("k", Renamed, _one),
    ):
        with pytest.raises(TypeError, match=r"@ext\.cache_model"):
            run(call)
    assert world.store.calls == []


def test_without_a_word_a_value_lives_sixty_seconds(world: World) -> None:
    run(world.client().set("k", 1))
    world.clock.advance(59.9)
    assert run(world.client().get("k")) == 1
    world.clock.advance(0.1)
    assert run(world.client().get("k")) is None


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, b"x", date(2026, 5, 15), {"d": date(2026, 5, 15)}, {5: "five"}, 1j]
)
def test_what_json_cannot_hold_is_a_type_error_before_any_io(world: World, value: Any) -> None:
    with pytest.raises(TypeError, match="JSON"):
        run(world.client().set("k", value))
    with pytest.raises(ValueError, match="JSON"):
        run(world.client().set("k", [1.0, float("nan")]))
    with pytest.raises(TypeError, match=r"I-CACHE-KEY-SAFETY.*128.*This key is a"):
        run(world.client().get(value))
    assert world.store.calls == []


async def _one() -> int:
    return 1


class Fetcher:
    def __init__(self, value: Any = 1, error: Exception | None = None) -> None:
        self.value, self.error, self.fetched = value, error, 0

    async def __call__(self) -> Any:
        self.fetched += 1
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        return self.value


async def test_many_who_ask_at_once_cause_one_fetch_and_all_get_it(world: World) -> None:
    fetch = Fetcher([1, 2])
    asked = [world.client().get_or_fetch("k", None, fetch) for _ in range(50)]
    assert await asyncio.gather(*asked) == [[1, 2]] * 50 and fetch.fetched == 1


async def test_a_failed_fetch_fails_all_who_wait_and_the_next_tries_again(world: World) -> None:
    fetch = Fetcher(error=RuntimeError("upstream"))
    asked = [world.client().get_or_fetch("k", None, fetch) for _ in range(3)]
    failed = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(e) for e in failed] == [RuntimeError] * 3 and fetch.fetched == 1
    fetch.error = None
    assert await world.client().get_or_fetch("k", None, fetch) == 1 and fetch.fetched == 2


async def test_one_who_gives_up_does_not_take_the_fetch_from_the_others(world: World) -> None:
    fetch = Fetcher("v")
    patient = asyncio.create_task(world.client().get_or_fetch("k", None, fetch))
    hasty = asyncio.create_task(world.client().get_or_fetch("k", None, fetch))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    hasty.cancel()
    assert await patient == "v" and fetch.fetched == 1


@pytest.mark.parametrize("value", ["x" * 70_000, object(), {"unread": 1}, Inbox(unread=2)])
def test_a_fetched_value_that_cannot_be_cached_is_served(world: World, value: Any) -> None:
    """Too large, no JSON, of another kind than its model, and while the table is down."""
    world.store.down = {"set"} if isinstance(value, Inbox) else set()
    model = Inbox if isinstance(value, dict | Inbox) else None
    assert run(world.client().get_or_fetch("k", model, Fetcher(value))) is value
    assert (run(world.client().get("k")), run(world.client().get("k", Inbox))) == (None, None)
    if world.store.down:
        with pytest.raises(StorageUnavailable):
            run(world.client().set("k", 1))


def test_a_fetch_of_a_loop_that_stands_still_is_nobody_elses_to_wait_for(world: World) -> None:
    there = asyncio.Event()

    async def slow() -> str:
        await there.wait()
        return "late"

    standing = asyncio.new_event_loop()
    first = standing.create_task(world.client().get_or_fetch("k", None, slow))
    for _ in range(5):
        standing.run_until_complete(asyncio.sleep(0))
    assert run(world.client().get_or_fetch("k", None, Fetcher("v"))) == "v"
    there.set()
    assert standing.run_until_complete(first) == "late"
    standing.close()
