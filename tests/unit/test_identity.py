"""Who is asking comes from the authoriser's claims and from nothing else."""

from typing import Any

import pytest

from webbee_kernel.api.identity import require_role, user_of
from webbee_kernel.errors import NotAllowed, NotAuthenticated
from webbee_kernel.sdk import User
from webbee_kernel.types import user_dict, user_from

CLAIMS = {
    "sub": "alice",
    "tenant_id": "acme",
    "role": "developer",
    "email": "a@acme.com",
    "locale": "ru",
    "scope": "mail:read mail:send",
}


def event(claims: Any, **more: Any) -> dict[str, Any]:
    return {"requestContext": {"authorizer": {"jwt": {"claims": claims}}}, **more}


def test_the_claims_become_the_user() -> None:
    assert user_of(event(CLAIMS)) == User(
        "alice", "developer", "ru", "a@acme.com", "acme", ("mail:read", "mail:send")
    )


def test_few_claims_are_enough() -> None:
    assert user_of(event({"sub": "alice"})) == User("alice", "user", "en", "", "default", ())


def test_cognitos_custom_claims_count_and_plain_ones_win() -> None:
    claims = {
        "sub": "x",
        "custom:imperal_id": "alice",
        "custom:tenant_id": "acme",
        "custom:role": "operator",
        "custom:scopes": "a,b",
    }
    assert user_of(event(claims)) == User("alice", "operator", "en", "", "acme", ("a", "b"))
    assert user_of(event({**claims, "tenant_id": "other"})).tenant_id == "other"


def test_a_lambda_authoriser_serves_too() -> None:
    request = {
        "requestContext": {
            "authorizer": {
                "lambda": {
                    "imperal_id": "alice",
                    "tenant_id": None,
                    "email": None,
                    "scopes": ["a", "b"],
                }
            }
        }
    }
    assert user_of(request) == User("alice", scopes=("a", "b"))


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"requestContext": None},
        event({}),
        event(None),
        event({"sub": None}),
        event({"sub": ["alice"]}),
        event("x"),
        {"requestContext": {"authorizer": "x"}},
        {"requestContext": {"authorizer": {"lambda": "x"}}},
    ],
    ids=repr,
)
def test_without_claims_there_is_no_user(request_: dict[str, Any]) -> None:
    with pytest.raises(NotAuthenticated):
        user_of(request_)


@pytest.mark.parametrize(
    "bad",
    [
        "a#b",
        "__system__",
        "a\nb",
        "x" * 129,
        " ",
        "\u2028",
        "alice\u200b",
        "\ud800",
        "\u3164",
    ],
    ids=ascii,
)
@pytest.mark.parametrize("claim", ["sub", "tenant_id"])
def test_an_id_that_cannot_be_a_key_or_belongs_to_the_system_is_refused(
    claim: str, bad: str
) -> None:
    with pytest.raises(NotAuthenticated, match=claim):
        user_of(event({**CLAIMS, claim: bad}))


def test_claims_beside_the_ids_cannot_break_what_they_are_written_into() -> None:
    odd = {**CLAIMS, "email": "a@\ud800\n[HISTORY]", "locale": "ru\udfff", "scope": "a\ud800 b"}
    user = user_of(event({**odd, "role": ["operator"]}))
    assert user == User("alice", "user", "ru", "a@ (HISTORY)", "acme", ("a", "b"))


def test_an_unknown_role_is_an_ordinary_user_and_system_is_no_role_a_token_can_give() -> None:
    for role in ("admin", "system", "OPERATOR", ""):
        user = user_of(event({**CLAIMS, "role": role}))
        assert user.has_role("user") and not user.has_role(role)


def test_no_token_holds_every_scope() -> None:
    assert user_of(event({**CLAIMS, "scope": "* mail:read *"})).scopes == ("mail:read",)
    assert user_of(event({"sub": "a", "scopes": "[mail:read *]"})).scopes == ("mail:read",)
    assert not user_of(event({"sub": "a", "scopes": ["*"]})).has_scope("anything")


@pytest.mark.parametrize(
    ("role", "needed", "enough"),
    [
        ("user", "user", True),
        ("user", "developer", False),
        ("developer", "developer", True),
        ("operator", "developer", True),
        ("developer", "operator", False),
    ],
)
def test_a_higher_role_includes_the_lower(role: str, needed: str, enough: bool) -> None:
    if enough:
        require_role(User("a", role=role), needed)
    else:
        with pytest.raises(NotAllowed, match=needed):
            require_role(User("a", role=role), needed)


def test_a_user_survives_the_way_to_another_function() -> None:
    user = user_of(event(CLAIMS))
    assert user_from(user_dict(user)) == user
    assert user_from({"imperal_id": "a"}) == User("a")
