"""ctx.cache: limits before any I/O, typed and plain values, one fetch for all who ask at once."""

import asyncio
from datetime import date
from typing import Any
from unittest.mock import AsyncMock

import pytest
from pydantic import BaseModel

from webbee_kernel.errors import StorageUnavailable
from webbee_kernel.sdk import Extension
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import ExtensionHarness


class Inbox(BaseModel):
    unread: int
    sender: str = ""


class Renamed(BaseModel):
    unread: list[int]


STORES = memory_stores()


def mail(stores: Any = STORES, model: type[BaseModel] = Inbox) -> ExtensionHarness:
    ext = Extension("mail")
    ext.cache_model("inbox")(model)
    return ExtensionHarness(ext, stores=stores)


@pytest.fixture
def harness() -> ExtensionHarness:
    return mail(memory_stores())


@pytest.fixture
def cache(harness: ExtensionHarness) -> Any:
    return harness.context().cache


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch, harness: ExtensionHarness) -> None:
    """A store that nothing reaches."""
    for name in ("get", "set"):
        reached = AsyncMock(side_effect=AssertionError("I/O"))
        monkeypatch.setattr(harness.app.stores.cache, name, reached)


async def test_a_registered_model_comes_back_as_itself_and_apart_from_plain_values(
    cache: Any,
) -> None:
    await cache.set("k", Inbox(unread=8))
    assert await cache.get("k", Inbox) == Inbox(unread=8)
    assert await cache.get("k") is None
    await cache.set("k", "plain")
    assert (await cache.get("k"), await cache.get("k", Inbox)) == ("plain", Inbox(unread=8))


async def test_a_value_that_no_longer_fits_its_model_is_a_miss() -> None:
    await mail().context().cache.set("k", Inbox(unread=8))
    assert await mail(model=Renamed).context().cache.get("k", Renamed) is None


@pytest.mark.usefixtures("untouched")
async def test_a_model_nobody_registered_is_a_type_error_before_any_io(cache: Any) -> None:
    fetched = cache.get_or_fetch("k", Renamed, Fetcher())
    for call in (cache.get("k", Renamed), cache.set("k", Renamed(unread=[])), fetched):
        with pytest.raises(TypeError, match=r"@ext\.cache_model"):
            await call


async def test_without_a_word_a_value_lives_sixty_seconds(
    harness: ExtensionHarness, cache: Any
) -> None:
    await cache.set("k", 1)
    harness.advance(59.9)
    assert await cache.get("k") == 1
    harness.advance(0.1)
    assert await cache.get("k") is None


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, b"x", date(2026, 5, 15), {"d": date(2026, 5, 15)}, {5: "five"}, 1j]
)
@pytest.mark.usefixtures("untouched")
async def test_what_json_cannot_hold_is_a_type_error_before_any_io(cache: Any, value: Any) -> None:
    with pytest.raises(TypeError, match="JSON"):
        await cache.set("k", value)
    with pytest.raises(ValueError, match="JSON"):
        await cache.set("k", [1.0, float("nan")])
    with pytest.raises(TypeError, match=r"I-CACHE-KEY-SAFETY.*128.*This key is a"):
        await cache.get(value)


class Fetcher:
    def __init__(self, value: Any = 1, error: Exception | None = None) -> None:
        self.value, self.error, self.fetched = value, error, 0

    async def __call__(self) -> Any:
        self.fetched += 1
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        return self.value


async def test_many_who_ask_at_once_cause_one_fetch_and_all_get_it_or_its_failure(
    harness: ExtensionHarness,
) -> None:
    async def asked(fetch: Fetcher) -> list[Any]:
        caches = [harness.context().cache for _ in range(50)]
        each = (cache.get_or_fetch("k", None, fetch) for cache in caches)
        return await asyncio.gather(*each, return_exceptions=True)

    fetch = Fetcher([1, 2], error=RuntimeError("upstream"))
    assert await asked(fetch) == [fetch.error] * 50 and fetch.fetched == 1
    fetch.error = None
    assert await asked(fetch) == [[1, 2]] * 50 and fetch.fetched == 2


async def test_one_who_gives_up_does_not_take_the_fetch_from_the_others(cache: Any) -> None:
    fetch = Fetcher("v")
    patient, hasty = (asyncio.create_task(cache.get_or_fetch("k", None, fetch)) for _ in range(2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    hasty.cancel()
    assert await patient == "v" and fetch.fetched == 1


@pytest.mark.parametrize("value", ["x" * 70_000, object(), {"unread": 1}, Inbox(unread=2)])
async def test_a_fetched_value_that_cannot_be_cached_is_served(
    harness: ExtensionHarness, cache: Any, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too large, no JSON, of another kind than its model, and while the table is down."""
    model = Inbox if isinstance(value, dict | Inbox) else None
    if isinstance(value, Inbox):
        down = AsyncMock(side_effect=StorageUnavailable("down"))
        monkeypatch.setattr(harness.app.stores.cache, "set", down)
        with pytest.raises(StorageUnavailable):
            await cache.set("k", 1)
    assert await cache.get_or_fetch("k", model, Fetcher(value)) is value
    assert (await cache.get("k"), await cache.get("k", Inbox)) == (None, None)


def test_a_fetch_of_a_loop_that_stands_still_is_nobody_elses_to_wait_for(cache: Any) -> None:
    there = asyncio.Event()

    async def slow() -> str:
        await there.wait()
        return "late"

    standing = asyncio.new_event_loop()
    first = standing.create_task(cache.get_or_fetch("k", None, slow))
    for _ in range(5):
        standing.run_until_complete(asyncio.sleep(0))
    assert asyncio.run(cache.get_or_fetch("k", None, Fetcher("v"))) == "v"
    there.set()
    assert standing.run_until_complete(first) == "late"
    standing.close()
