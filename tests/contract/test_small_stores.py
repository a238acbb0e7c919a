"""Open connections and tickets for them; requests and tokens against their limits; cached values until
their very expiry; secrets under their paths."""

from functools import partial

import boto3
import pytest

from local.aws import REGION, local_aws
from tests.contract.conftest import Dynamo
from tests.contract.samples import ALICE, BOB, race
from webbee_kernel.aws.parameters import SsmSecretStore
from webbee_kernel.stores import Stores
from webbee_kernel.stores.types import CountResult, LimitUsage
from webbee_kernel.types import UserKey

NOW = 1_747_330_000
WHO = {"tenant_id": ALICE.tenant_id, "imperal_id": ALICE.imperal_id, "role": "user"}


async def test_a_ticket_is_taken_once_in_its_time(stores: Stores) -> None:
    for name in ("t1", "t2"):
        await stores.connections.issue(name, WHO, expires_at=NOW + 60)
    assert await stores.connections.take("t2", now=NOW + 60) is None
    assert await stores.connections.take("never issued", now=NOW) is None
    found = await race(*[lambda: stores.connections.take("t1", now=NOW)] * 4)
    assert sorted(found, key=bool) == [None, None, None, WHO]


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
    assert await connections.find("c2=", now=NOW + 60) is None
    assert await connections.of_user(ALICE, now=NOW + 60) == ()


async def test_a_users_connections_and_tickets_alone_are_forgotten(stores: Stores) -> None:
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
    assert await stores.connections.is_stopped(ALICE, "r1", now=NOW)
    assert not await stores.connections.is_stopped(ALICE, "r2", now=NOW)
    assert not await stores.connections.is_stopped(BOB, "r1", now=NOW)
    assert not await stores.connections.is_stopped(ALICE, "r1", now=NOW + 60)


MINUTE = 29_000_000
DAY = MINUTE // 1440


async def test_of_a_limit_of_ten_exactly_ten_get_through(stores: Stores) -> None:
    take = partial(stores.limits.take, ALICE, minute=MINUTE, requests=10, tokens=0)
    assert [t.used_up for t in await race(*[take] * 14) if t.used_up] == [LimitUsage(10, 0)] * 4


async def test_the_next_minute_begins_anew_and_others_have_their_own(stores: Stores) -> None:
    for _ in range(2):
        await stores.limits.take(ALICE, minute=MINUTE, requests=2, tokens=0)
    refused = await stores.limits.take(ALICE, minute=MINUTE, requests=2, tokens=0)
    assert refused == CountResult(used_up=LimitUsage(2, 0))
    assert await stores.limits.take(ALICE, minute=MINUTE + 1, requests=2, tokens=0) == CountResult()
    assert await stores.limits.take(BOB, minute=MINUTE, requests=2, tokens=0) == CountResult()


async def test_a_day_of_tokens_ends_with_the_day(stores: Stores) -> None:
    await stores.limits.spend(ALICE, day=DAY, tokens=70)
    assert await stores.limits.take(ALICE, minute=MINUTE, requests=0, tokens=100) == CountResult()
    await stores.limits.spend(ALICE, day=DAY, tokens=30)
    refused = await stores.limits.take(ALICE, minute=MINUTE, requests=0, tokens=100)
    assert refused == CountResult(used_up=LimitUsage(1, 100))
    tomorrow = await stores.limits.take(ALICE, minute=MINUTE + 1440, requests=0, tokens=100)
    assert tomorrow == CountResult()


async def test_tokens_spent_before_count_with_the_request_that_brings_them(stores: Stores) -> None:
    async def take(spent: int) -> LimitUsage | None:
        of = {"minute": MINUTE, "requests": 0, "tokens": 100}
        return (await stores.limits.take(ALICE, **of, spent=spent)).used_up

    assert [await take(60), await take(39)] == [None, None]
    assert await take(1) == LimitUsage(2, 99)  # refused, and nothing counted
    assert await take(0) is None


async def test_a_tenant_s_day_is_one_sum_and_no_user_s(stores: Stores) -> None:
    assert await stores.limits.tenant_tokens("acme", day=DAY) == 0
    assert await stores.limits.spend("acme", day=DAY, tokens=5) == 5
    assert await stores.limits.spend("acme", day=DAY, tokens=7) == 12
    assert await stores.limits.tenant_tokens("acme", day=DAY) == 12
    assert await stores.limits.tenant_tokens("acme", day=DAY + 1) == 0
    assert await stores.limits.spend("other", day=DAY, tokens=1) == 1
    assert await stores.limits.take(ALICE, minute=MINUTE, requests=0, tokens=1) == CountResult()


async def test_a_request_is_told_the_marks_of_this_minute_and_the_last(stores: Stores) -> None:
    async def take(mark: str, minute: int = MINUTE, user: UserKey = ALICE) -> set[str]:
        counted = await stores.limits.take(user, minute=minute, requests=9, tokens=0, mark=mark)
        return set(counted.marks_before)

    assert [await take("a"), await take("b"), await take("b")] == [set(), {"a"}, {"a", "b"}]
    await stores.limits.mark(ALICE, "c", minute=MINUTE)
    assert await take("d", MINUTE + 1) == {"a", "b", "c"}
    assert await take("e", MINUTE + 2) == {"d"}
    assert await take("a", MINUTE, BOB) == set()


async def test_a_day_s_item_keeps_few_minutes_and_expires(dynamo: Dynamo) -> None:
    for minute in range(MINUTE, MINUTE + 30):
        await dynamo.stores.limits.take(ALICE, minute=minute, requests=9, tokens=9, mark="a")
    (item,) = dynamo.client.scan(TableName=dynamo.tables.limits)["Items"]
    assert len(item) <= 4 + 2 * 3  # keys, layout, its end, and three minutes
    assert int(item["expires_at"]["N"]) == (DAY + 2) * 86_400


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


@pytest.mark.parametrize("user", ["auth0|43", "auth0.7C42", "auth0/42", "AUTH0|42", "ю"])
async def test_no_two_paths_share_a_secret(stores: Stores, user: str) -> None:
    await stores.secrets.set("acme/auth0|42/mail/p", "one")
    other = f"acme/{user}/mail/p"
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
