"""Which tenants have an app, as every implementation of the port keeps it."""

from __future__ import annotations

from tests.contract.samples import ALICE, BOB
from webbee_kernel.stores import Stores
from webbee_kernel.stores.types import Installation
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
