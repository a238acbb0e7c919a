from __future__ import annotations

import pytest

from webbee_kernel.stores import Stores

pytestmark = pytest.mark.anyio


async def test_a_secret_is_kept_replaced_and_removed(stores: Stores) -> None:
    path = "acme/alice/mail/password"
    assert await stores.secrets.get(path) is None
    assert not await stores.secrets.delete(path)
    await stores.secrets.set(path, "пароль")
    await stores.secrets.set(path, "hunter2")
    assert await stores.secrets.get(path) == "hunter2"
    assert await stores.secrets.delete(path)
    assert await stores.secrets.get(path) is None


@pytest.mark.parametrize(
    "other",
    [
        "acme/auth0|43/mail/p",
        "acme/auth0.7C42/mail/p",
        "acme/auth0/42/mail/p",
        "acme/AUTH0|42/mail/p",
        "acme/ю/mail/p",
    ],
)
async def test_no_two_paths_share_a_secret(stores: Stores, other: str) -> None:
    await stores.secrets.set("acme/auth0|42/mail/p", "one")
    assert await stores.secrets.get(other) is None
    await stores.secrets.set(other, "two")
    assert await stores.secrets.get("acme/auth0|42/mail/p") == "one"
    assert await stores.secrets.get(other) == "two"
