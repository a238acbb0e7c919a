"""Credentials for a tenant and for one person: taken once, renewed in time, and good for nobody else's
data; and a webhook's address, which only who holds the key can write."""

import asyncio
import fnmatch
import json
import re
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.aws import tenant_credentials
from webbee_kernel.aws.parameters import mark_of, tenant_of
from webbee_kernel.aws.tenant_credentials import LASTS_S, MAX_SESSIONS
from webbee_kernel.errors import DispatchRefused, NotAllowed
from webbee_kernel.stores.item_keys import pseudonyms_of, secrets_of, user_key
from webbee_kernel.types import UserKey


class Sts:
    """Gives numbered sessions; waits while it is closed, refuses while it is told to."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.open = threading.Event()
        self.open.set()
        self.refuses = False

    def assume_role(self, **request: Any) -> Any:
        self.asked.append(request)
        assert self.open.wait(30)
        if self.refuses:
            raise ConnectionError("no STS")
        number = len(self.asked)
        given = {"SecretAccessKey": "s", "SessionToken": "t"}
        return {"Credentials": {"AccessKeyId": f"ASIA{number}", **given}}


class Taken:
    """The credentials at a time of the test's own."""

    def __init__(self, *, per_user: bool = False) -> None:
        self.sts, self.now = Sts(), 1_000.0
        role = "arn:aws:iam::123456789012:role/data"
        given: Any = {"client": lambda _: self.sts, "now": lambda: self.now}
        of = {"secrets_prefix": "/webbee", "per_user": per_user}
        self.credentials = tenant_credentials.TenantCredentials(role, **of, **given)

    async def key(self, tenant: str = "acme", user: str = "alice", *, wide: bool = False) -> str:
        given = await self.credentials.of(tenant, user, whole_tenant=wide)
        return str(given["key"])


async def test_isolation_by_user_gives_each_user_one_and_the_system_the_tenants() -> None:
    taken = Taken(per_user=True)
    keys = [await taken.key(user="alice"), await taken.key(user="bob")]
    keys += [await taken.key(user="__webhook__", wide=True), await taken.key(wide=True)]
    keys += [await taken.key("umbrella", wide=True)]
    assert keys == ["ASIA1", "ASIA2", "ASIA3", "ASIA3", "ASIA4"]
    assert ["Policy" in r for r in taken.sts.asked] == [True, True, False, False]
    tags = [{t["Key"]: t["Value"] for t in r["Tags"]} for r in taken.sts.asked[2:]]
    assert tags == [{"tenant": t, "secrets": t} for t in ("acme", "umbrella")]


ADVISED_S, REQUIRED_S = 15 * 60, 10 * 60
"""Seconds before its end at which botocore tries to renew a session, and has to."""


async def test_a_session_near_its_end_is_renewed_in_time_for_the_calls() -> None:
    taken = Taken()
    assert [await taken.key() for _ in range(3)] == ["ASIA1"] * 3
    taken.now += LASTS_S - ADVISED_S + 1
    assert [await taken.key() for _ in range(3)] == ["ASIA2"] * 3
    taken.now += LASTS_S + 1
    assert await taken.key() == "ASIA3" == f"ASIA{len(taken.sts.asked)}"


async def test_without_sts_the_old_session_serves_on_and_then_a_call_is_not_run() -> None:
    taken = Taken()
    await taken.key()
    taken.sts.refuses = True
    taken.now += LASTS_S - ADVISED_S + 1
    assert await taken.key() == "ASIA1"
    taken.now += ADVISED_S - REQUIRED_S
    with pytest.raises(DispatchRefused, match="no credentials for the tenant"):
        await taken.key()
    taken.sts.refuses = False
    assert await taken.key() == f"ASIA{len(taken.sts.asked)}"


async def test_calls_of_a_tenant_share_one_session_whoever_gives_up_and_later_ones_none() -> None:
    taken = Taken()
    taken.sts.open.clear()
    impatient, *patient = (asyncio.ensure_future(taken.key(user=f"u{n}")) for n in range(10))
    await asyncio.sleep(0.01)
    impatient.cancel()
    taken.sts.open.set()
    assert {*await asyncio.gather(*patient), await taken.key()} == {"ASIA1"}
    assert len(taken.sts.asked) == 1


async def test_no_process_keeps_all_tenants_sessions() -> None:
    taken = Taken()
    with pytest.raises(NotAllowed, match="cannot be kept apart"):
        await taken.key("a*")
    for number in range(MAX_SESSIONS + 1):
        await taken.key(f"t{number}")
    await taken.key(f"t{MAX_SESSIONS}")
    assert len(taken.sts.asked) == MAX_SESSIONS + 1
    await taken.key("t0")  # the oldest has gone
    assert len(taken.sts.asked) == MAX_SESSIONS + 2


def allowed(user: UserKey, key: str) -> bool:
    """Whether the policy for a user lets a request name this partition."""
    given = user_key(user), pseudonyms_of(user.tenant_id), f"/webbee/s/{secrets_of(user)}"
    policy = tenant_credentials.person_policy(*given)
    tables = json.loads(policy)["Statement"][0]
    patterns = tables["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    return any(re.fullmatch(_regex(pattern), key) for pattern in patterns)


def _regex(pattern: str) -> str:
    """IAM's StringLike: `*` and `?` are wild, `${*}`, `${?}` and `${$}` themselves."""
    parts = re.split(r"(\$\{[*?$]\})", pattern)
    return "".join(
        re.escape(part[2]) if part.startswith("${") else fnmatch.translate(part)[4:-3]
        for part in parts
        if part
    )


@pytest.mark.parametrize("name", ["*", "a*", "?????", "${x}", "al$ce"])
def test_a_user_named_like_a_pattern_reaches_himself_alone(name: str) -> None:
    user = UserKey("acme", name)
    assert allowed(user, user_key(user))
    assert not allowed(user, "acme#alice")
    assert not allowed(user, "acme#alice#mail")


TENANTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


@given(TENANTS)
def test_a_mark_leads_back_to_its_tenant_alone_and_stands_in_any_address(tenant: str) -> None:
    mark = mark_of(tenant, "key")
    assert tenant_of(mark, "key") == tenant
    assert mark.isascii()
    assert not set(mark) & set("/?#%&= ")


MARK = mark_of("acme", "key")


@pytest.mark.parametrize(
    "forged",
    [
        *("", "~", "~acme.", mark_of("acme", "another key"), MARK.replace("acme", "umbrella")),
        *(MARK + "a", MARK[:-1], MARK.replace("acme", "_61_cme")),
        *("~_110000_." + "a" * 24, "~_ffffffffff_." + "a" * 24),
    ],
)
def test_a_mark_that_was_not_made_with_the_key_or_without_one_names_nobody(forged: str) -> None:
    assert tenant_of(forged, "key") is None
    assert mark_of("acme", "") == ""
    assert tenant_of(mark_of("acme", "key"), "") is None
