"""Open connections, tickets for them, wishes to stop."""

from __future__ import annotations

import pytest

from tests.contract.samples import ALICE, BOB, race
from webbee_kernel.stores import Stores

pytestmark = pytest.mark.anyio

NOW = 1_747_330_000
WHO = {"tenant_id": ALICE.tenant_id, "imperal_id": ALICE.imperal_id, "role": "user"}


async def test_a_ticket_is_taken_once(stores: Stores) -> None:
    await stores.connections.issue("t1", WHO, expires_at=NOW + 60)
    takers = [lambda: stores.connections.take("t1", now=NOW) for _ in range(4)]
    found = await race(*takers)
    assert sorted(found, key=bool) == [None, None, None, WHO]


async def test_a_ticket_is_worth_nothing_after_its_time(stores: Stores) -> None:
    await stores.connections.issue("t1", WHO, expires_at=NOW + 60)
    assert await stores.connections.take("t1", now=NOW + 60) is None
    assert await stores.connections.take("never issued", now=NOW) is None


async def test_a_connection_knows_its_user_and_a_user_his_connections(stores: Stores) -> None:
    connections = stores.connections
    for name in ("c1=", "c2="):
        await connections.open(name, WHO, expires_at=NOW + 60)
    assert await connections.find("c1=", now=NOW) == WHO
    assert await connections.of_user(ALICE, now=NOW) == ("c1=", "c2=")
    assert await connections.of_user(BOB, now=NOW) == ()
    await connections.close(ALICE, "c1=")
    await connections.close(ALICE, "c1=")
    assert await connections.find("c1=", now=NOW) is None
    assert await connections.of_user(ALICE, now=NOW) == ("c2=",)


async def test_a_connection_is_forgotten_after_its_time(stores: Stores) -> None:
    await stores.connections.open("c1=", WHO, expires_at=NOW + 60)
    assert await stores.connections.find("c1=", now=NOW + 60) is None
    assert await stores.connections.of_user(ALICE, now=NOW + 60) == ()


async def test_a_users_connections_and_tickets_are_forgotten_and_nobody_elses(
    stores: Stores,
) -> None:
    connections, other = stores.connections, {**WHO, "imperal_id": BOB.imperal_id}
    for name, who in (("1", WHO), ("2", WHO), ("3", other)):
        await connections.issue(f"t{name}", who, expires_at=NOW + 60)
        await connections.open(f"c{name}", who, expires_at=NOW + 60)
    await connections.forget(ALICE)
    await connections.forget(ALICE)
    assert await connections.of_user(ALICE, now=NOW) == ()
    assert [await connections.find(f"c{n}", now=NOW) for n in "123"] == [None, None, other]
    assert [await connections.take(f"t{n}", now=NOW) for n in "123"] == [None, None, other]


async def test_a_turn_is_asked_to_stop_by_its_own_user(stores: Stores) -> None:
    await stores.connections.stop(ALICE, "r1", expires_at=NOW + 60)
    assert await stores.connections.stopped(ALICE, "r1", now=NOW)
    assert not await stores.connections.stopped(ALICE, "r2", now=NOW)
    assert not await stores.connections.stopped(BOB, "r1", now=NOW)
    assert not await stores.connections.stopped(ALICE, "r1", now=NOW + 60)
