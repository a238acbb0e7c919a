"""A question that is being answered belongs to whoever answers it, for as long as that takes."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.samples import LATER, SESSION, pending, turn
from webbee_kernel.clock import FrozenClock
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.turn.pending_approvals import AcceptedDestinations, Decisions

LEASE_S = 0.1


async def ends_at(stores: object, clock: FrozenClock, name: str) -> float:
    memory = await stores.sessions.read(SESSION, now=clock.now())  # type: ignore[attr-defined]
    return float(memory.taken[name].until)


async def renewed(stores: object, clock: FrozenClock, name: str) -> None:
    for _ in range(3000):
        if await ends_at(stores, clock, name) >= clock.now():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the lease was not renewed")


@pytest.mark.parametrize("names", [["conf_1"], ["conf_1", "conf_2"]])
def test_a_lease_lasts_as_long_as_its_calls_run(names: list[str]) -> None:
    async def run() -> None:
        stores, clock = memory_stores(), FrozenClock()
        asking = turn(1, status="confirmation", waiting=tuple(pending(n) for n in names))
        await stores.sessions.append(SESSION, asking, expires_at=LATER, now=0.0)
        kept = AcceptedDestinations(stores.accepted, stores.audit, clock, 365)
        decisions = Decisions(stores.sessions, clock, LEASE_S, kept)
        memory = await stores.sessions.read(SESSION, now=clock.now())
        taken = await decisions.take(SESSION, memory, dict.fromkeys(names, True))
        async with decisions.held(SESSION, taken):
            for _ in range(2):
                clock.advance(1.0)
                for name in names:
                    await renewed(stores, clock, name)
        clock.advance(1.0)
        await asyncio.sleep(3 * LEASE_S)
        for name in names:  # whoever died holds nothing
            assert await ends_at(stores, clock, name) < clock.now()

    asyncio.run(asyncio.wait_for(run(), 60))
