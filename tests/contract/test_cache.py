from __future__ import annotations

import pytest

from tests.contract.samples import ALICE, BOB
from webbee_kernel.stores import Stores

pytestmark = pytest.mark.anyio


async def test_a_value_comes_back_until_its_very_expiry(stores: Stores) -> None:
    await stores.cache.set(ALICE, "mail", "Inbox", "k", b"\x00\xff", expires_at=160.25)
    assert await stores.cache.get(ALICE, "mail", "Inbox", "k", now=160.2) == b"\x00\xff"
    assert await stores.cache.get(ALICE, "mail", "Inbox", "k", now=160.25) is None
    assert await stores.cache.get(ALICE, "mail", "Inbox", "k", now=1e9) is None


async def test_entries_of_other_users_apps_models_and_keys_are_apart(stores: Stores) -> None:
    await stores.cache.set(ALICE, "mail", "A", "k", b"1", expires_at=10.0)
    for user, app, model, key in [
        (BOB, "mail", "A", "k"),
        (ALICE, "mai", "A", "k"),
        (ALICE, "mail", "", "k"),
        (ALICE, "mail", "A", "k2"),
    ]:
        assert await stores.cache.get(user, app, model, key, now=1.0) is None


async def test_a_delete_takes_the_key_under_each_named_model(stores: Stores) -> None:
    for model in ("", "A", "B"):
        await stores.cache.set(ALICE, "mail", model, "k", b"1", expires_at=10.0)
    await stores.cache.delete(ALICE, "mail", ("", "A"), "k")
    await stores.cache.delete(ALICE, "mail", ("", "A"), "k")
    found = [await stores.cache.get(ALICE, "mail", model, "k", now=1.0) for model in ("", "A", "B")]
    assert found == [None, None, b"1"]


async def test_purging_takes_one_app_of_one_user(stores: Stores) -> None:
    for n in range(30):
        await stores.cache.set(ALICE, "mail", "A", f"k{n}", b"1", expires_at=10.0)
    await stores.cache.set(ALICE, "mail2", "A", "k", b"1", expires_at=10.0)
    await stores.cache.set(BOB, "mail", "A", "k", b"1", expires_at=10.0)
    assert await stores.cache.purge(ALICE, "mail") == 30
    assert await stores.cache.purge(ALICE, "mail") == 0
    assert await stores.cache.get(ALICE, "mail", "A", "k7", now=1.0) is None
    assert await stores.cache.get(ALICE, "mail2", "A", "k", now=1.0) == b"1"
    assert await stores.cache.get(BOB, "mail", "A", "k", now=1.0) == b"1"


async def test_the_largest_value_fits(stores: Stores) -> None:
    value = b"x" * 65_536
    await stores.cache.set(ALICE, "mail", "A", "k" * 128, value, expires_at=10.0)
    assert await stores.cache.get(ALICE, "mail", "A", "k" * 128, now=1.0) == value
