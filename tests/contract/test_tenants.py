"""Which tenants have an app, as every implementation of the port keeps it."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.conftest import SHARDS
from tests.contract.samples import ALICE, BOB
from webbee_kernel.stores import Stores
from webbee_kernel.stores.types import Installation, Section
from webbee_kernel.types import UserKey

STRANGER = UserKey("umbrella", ALICE.imperal_id)


async def put(stores: Stores, user: UserKey, app_id: str, installed: bool = True) -> None:
    at = "2026-05-15T17:21:04Z"
    await stores.skeleton.put_installation(user, Installation(app_id, installed, "1", at))


async def test_a_tenant_has_an_app_while_one_of_its_users_has_it(stores: Stores) -> None:
    store = stores.skeleton
    assert await store.tenants("mail") == ()
    for user in (ALICE, BOB, ALICE):
        await put(stores, user, "mail")
    assert await store.tenants("mail") == (ALICE.tenant_id,)
    await put(stores, ALICE, "mail", False)
    await put(stores, ALICE, "mail", False)
    assert await store.tenants("mail") == (ALICE.tenant_id,)
    await put(stores, BOB, "mail", False)
    assert await store.tenants("mail") == ()
    await put(stores, BOB, "mail")
    assert await store.tenants("mail") == (ALICE.tenant_id,)


async def test_tenants_and_apps_stay_apart(stores: Stores) -> None:
    store = stores.skeleton
    await put(stores, ALICE, "mail")
    await put(stores, STRANGER, "tasks")
    await put(stores, STRANGER, "mail")
    assert await store.tenants("mail") == tuple(sorted({ALICE.tenant_id, STRANGER.tenant_id}))
    assert await store.tenants("tasks") == (STRANGER.tenant_id,)
    assert await store.tenants("mai") == ()
    await put(stores, STRANGER, "mail", False)
    assert await store.tenants("mail") == (ALICE.tenant_id,)
    assert await store.tenants("tasks") == (STRANGER.tenant_id,)


async def test_all_tenants_are_known_also_those_without_an_app(stores: Stores) -> None:
    store = stores.skeleton
    await store.know("hooli")
    await store.know("hooli")
    await put(stores, ALICE, "mail")
    await put(stores, ALICE, "mail", False)
    assert await store.tenants() == tuple(sorted({"hooli", ALICE.tenant_id}))


async def test_an_installation_is_nobodys_timer(stores: Stores) -> None:
    await put(stores, ALICE, "mail")
    for shard in range(SHARDS):
        assert await stores.skeleton.due(shard, 10.0) == ((), None)
    state = await stores.skeleton.read(ALICE)
    assert state.sections == ()
    assert state.has("mail", default=False)


async def test_a_refresh_leaves_installations_listed(stores: Stores) -> None:
    store = stores.skeleton
    await put(stores, ALICE, "mail")
    await store.register(ALICE, [Section("mail", "inbox", due_at=1.0)], who={})
    lease = await store.lease(ALICE, now=2.0, until=60.0)
    assert lease is not None
    done = [replace(s, due_at=300.0) for s in lease.state.sections]
    assert await store.save(ALICE, done, lease=lease, now=3.0) is not None
    assert await store.tenants("mail") == (ALICE.tenant_id,)
