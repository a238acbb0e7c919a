"""Credentials for one person: the session policy reaches that person's data and nothing else."""

from __future__ import annotations

import fnmatch
import json
import re

import pytest

from webbee_kernel.aws.person import Reach
from webbee_kernel.stores.keys import app_key, pseudonyms_of, secrets_of, session_key, user_key
from webbee_kernel.types import SessionKey, UserKey

ALICE = UserKey("acme", "alice")


def reach(user: UserKey) -> Reach:
    return Reach(user_key(user), pseudonyms_of(user.tenant_id), f"/webbee/s/{secrets_of(user)}")


def allowed(user: UserKey, key: str) -> bool:
    """Whether the policy for a user lets a request name this partition."""
    tables = json.loads(reach(user).policy())["Statement"][0]
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


def test_a_person_s_own_partitions_are_reached() -> None:
    own = [user_key(ALICE), app_key(ALICE, "mail"), session_key(SessionKey(ALICE, "s1"))]
    assert all(allowed(ALICE, key) for key in [*own, "acme#__erased_01__"])


@pytest.mark.parametrize(
    "other",
    [
        "acme#alice2",
        "acme#alice2#mail",
        "acme#bob",
        "acme#bob#s1",
        "umbrella#alice",
        "acme#",
        "!due#1",
    ],
)
def test_nobody_else_s_are(other: str) -> None:
    assert not allowed(ALICE, other)


@pytest.mark.parametrize("name", ["*", "a*", "?????", "${x}", "al$ce"])
def test_a_user_named_like_a_pattern_reaches_himself_alone(name: str) -> None:
    user = UserKey("acme", name)
    assert allowed(user, user_key(user))
    assert not allowed(user, "acme#alice")
    assert not allowed(user, "acme#alice#mail")


def test_secrets_of_a_longer_name_are_out_of_reach() -> None:
    parameters = json.loads(reach(ALICE).policy())["Statement"][1]["Resource"]
    assert parameters == [
        "arn:*:ssm:*:*:parameter/webbee/s/acme/alice",
        "arn:*:ssm:*:*:parameter/webbee/s/acme/alice/*",
    ]
