"""Identity: the caller, from the authoriser's claims only."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from ..errors import NotAllowed, NotAuthenticated
from ..sdk.result import User
from ..text import one_line
from ..types import object_of

ROLES = ("user", "developer", "operator")
_PART = re.compile(r"[^#]{1,128}")
_RESERVED = re.compile(r"__.*__")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of invisible characters: two ids that differ in these look the same."""


def user_of(event: Mapping[str, Any]) -> User:
    """The caller of an API Gateway HTTP API (payload 2.0) event with a JWT authoriser.

    Claims read: `sub` (or `imperal_id`) → imperal_id, `tenant_id`, `role`, `email`, `locale` (or
    `language`), `scope`/`scopes`; each also with Cognito's `custom:` prefix. Body, query and
    headers cannot change any of it. Raises NotAuthenticated without claims, with claims of another
    shape, or with an id that cannot be a key.
    """
    claims = _claims(event)
    imperal_id = _first(claims, "imperal_id", "sub")
    if not imperal_id:
        raise NotAuthenticated(
            "the request carries no identity: send Authorization: Bearer <token>",
            field="Authorization",
        )
    role = _claim(claims, "role")
    scopes = _first(claims, "scopes", "scope").replace(",", " ").split()
    return User(
        imperal_id=_key_part("sub", imperal_id),
        # an unknown role gives no rights
        role=role if role in ROLES else "user",
        language=one_line(_first(claims, "language", "locale") or "en")[:35],
        email=one_line(_claim(claims, "email"))[:320],
        tenant_id=_key_part("tenant_id", _claim(claims, "tenant_id") or "default"),
        # a token cannot give all scopes
        scopes=tuple(one_line(s) for s in scopes if s != "*"),
    )


def token_ends_at(event: Mapping[str, Any]) -> float:
    """When the caller's token ends (`exp`), Unix seconds; infinite where it does not say."""
    try:
        return float(_claims(event)["exp"])
    except (KeyError, TypeError, ValueError):
        return math.inf


def has_role(user: User, role: str) -> bool:
    """Whether the user's role is `role` or a higher one (user < developer < operator)."""
    return ROLES.index(user.role) >= ROLES.index(role)


def require_role(user: User, role: str) -> None:
    """NotAllowed unless the user has the role or a higher one."""
    if not has_role(user, role):
        raise NotAllowed(f"this needs the role {role}; the token says {user.role}", field="role")


def _claims(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The claims; empty for an event of another shape."""
    authorizer = object_of(object_of(event.get("requestContext")).get("authorizer"))
    claims = object_of(object_of(authorizer.get("jwt")).get("claims"))
    # a Lambda authoriser's context has them directly
    return claims or object_of(authorizer.get("lambda"))


def _key_part(name: str, value: str) -> str:
    seen = one_line(value) and not any(unicodedata.category(c) in _UNSEEN for c in value)
    if seen and _PART.fullmatch(value) and not _RESERVED.fullmatch(value):
        return value
    raise NotAuthenticated(
        f"the token's {name} cannot be used: 1 to 128 visible characters without #",
        field=name,
        limit=128,
    )


def _first(claims: Mapping[str, Any], *names: str) -> str:
    return next((text for name in names if (text := _claim(claims, name))), "")


def _claim(claims: Mapping[str, Any], name: str) -> str:
    """A claim as text; empty where it is neither text nor a number, nor a list of scopes."""
    value = next((v for v in (claims.get(name), claims.get(f"custom:{name}")) if v is not None), "")
    scopes = name in ("scopes", "scope")
    if scopes and isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if not isinstance(value, str | int) or isinstance(value, bool):
        return ""
    text = str(value)
    # API Gateway writes a claim that is a list as `[a b]`
    return text.strip("[]") if scopes else text
