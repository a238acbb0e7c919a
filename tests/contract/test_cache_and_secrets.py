"""Cached values until their very expiry, and secrets under their paths."""

from __future__ import annotations

import boto3
import pytest

from local.aws import REGION, local_aws
from tests.contract.samples import ALICE, BOB
from webbee_kernel.aws.parameters import SsmSecretStore
from webbee_kernel.stores import Stores


async def test_a_value_comes_back_until_its_very_expiry(stores: Stores) -> None:
    await stores.cache.set(ALICE, "mail", "Inbox", "k", b"\x00\xff", expires_at=160.25)
    assert await stores.cache.get(ALICE, "mail", "Inbox", "k", now=160.2) == b"\x00\xff"
    assert await stores.cache.get(ALICE, "mail", "Inbox", "k", now=160.25) is None
    assert await stores.cache.get(ALICE, "mail", "Inbox", "k", now=1e9) is None


async def test_entries_are_apart_and_purging_takes_one_app_of_one_user(stores: Stores) -> None:
    for n in range(30):
        await stores.cache.set(ALICE, "mail", "A", f"k{n}", b"1", expires_at=10.0)
    await stores.cache.set(ALICE, "mail2", "A", "k", b"1", expires_at=10.0)
    await stores.cache.set(BOB, "mail", "A", "k", b"1", expires_at=10.0)
    assert await stores.cache.get(ALICE, "mail", "", "k7", now=1.0) is None
    assert await stores.cache.purge(ALICE, "mail") == 30
    assert await stores.cache.purge(ALICE, "mail") == 0
    assert await stores.cache.get(ALICE, "mail", "A", "k7", now=1.0) is None
    assert await stores.cache.get(ALICE, "mail2", "A", "k", now=1.0) == b"1"
    assert await stores.cache.get(BOB, "mail", "A", "k", now=1.0) == b"1"


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


async def test_the_secrets_of_a_user_are_named_and_nobody_else_s(stores: Stores) -> None:
    own = [f"acme/auth0|42/app{n}/p" for n in range(12)]  # more than a page of the service
    for path in [*own, "acme/auth0|421/mail/p", "acme/auth0/mail/p", "other/auth0|42/mail/p"]:
        await stores.secrets.set(path, "x")
    assert await stores.secrets.below("acme/auth0|42") == tuple(sorted(own))
    assert await stores.secrets.below("acme/nobody") == ()


async def test_a_key_of_one_s_own_encrypts_what_is_written() -> None:
    with local_aws():
        key = boto3.client("kms", REGION).create_key()["KeyMetadata"]["Arn"]
        ssm = boto3.client("ssm", REGION)
        store = SsmSecretStore("/webbee/test", lambda _: ssm, key=key)
        await store.set("acme/alice/mail/p", "x")
        assert await store.get("acme/alice/mail/p") == "x"
        (described,) = ssm.describe_parameters()["Parameters"]
    assert described["KeyId"] == key
