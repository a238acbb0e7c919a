"""What somebody else knows, and what is kept of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from webbee_kernel import background
from webbee_kernel.background import CachedValue


@dataclass
class Shelf:
    """Keeps one value."""

    value: str | None = None
    looked: int = 0

    async def find(self) -> str | None:
        self.looked += 1
        return self.value

    async def keep(self, value: str) -> None:
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


async def _over() -> None:
    assert await asyncio.to_thread(background.wait, 60)


def test_what_is_kept_serves_while_the_source_is_busy_and_is_renewed_behind_it() -> None:
    async def story() -> None:
        shelf, source = Shelf("old"), Source()
        asked = CachedValue(source, kept=shelf)
        assert [await asked(), await asked()] == ["old", "old"]
        source.free.set()
        await _over()
        assert [await asked(), shelf.value] == ["new", "new"]
        assert (source.asked, shelf.looked) == (1, 1)

    asyncio.run(story())


def test_what_is_kept_serves_on_where_the_source_breaks() -> None:
    async def story() -> None:
        shelf, source = Shelf("old"), Source("broken")
        source.free.set()
        asked = CachedValue(source, kept=shelf)
        assert await asked() == "old"
        await _over()
        assert [await asked(), shelf.value] == ["old", "old"]
        with pytest.raises(OSError, match=r"^$"):
            await CachedValue(source, kept=Shelf())()

    asyncio.run(story())
