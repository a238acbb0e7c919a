"""Identity: who is asking, from the authoriser's claims and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import NotAllowed, NotAuthenticated
from ..sdk.context import User

ROLES = ("user", "developer", "operator")
_PART = re.compile(r"[^#\x00-\x1f\x7f]{1,128}")
_RESERVED = re.compile(r"__.*__")


def user_of(event: Mapping[str, Any]) -> User:
    """The caller of an API Gateway HTTP API (payload 2.0) event with a JWT authoriser.

    Claims read: `sub` (or `imperal_id`) → imperal_id, `tenant_id`, `role`, `email`, `locale` (or
    `language`), `scope`/`scopes`; each also with Cognito's `custom:` prefix. Body, query and
    headers cannot change any of it. Raises NotAuthenticated without claims or with an id that
    cannot be a key.
    """
    claims = _claims(event)
    imperal_id = _first(claims, "imperal_id", "sub")
    if not imperal_id:
        raise NotAuthenticated(
            "the request carries no identity: send Authorization: Bearer <token>",
            field="Authorization",
        )
    role = _claim(claims, "role")
    scopes = re.split(r"[\s,]+", _first(claims, "scopes", "scope"))
    return User(
        imperal_id=_key_part("sub", imperal_id),
        role=role if role in ROLES else "user",
        language=(_first(claims, "language", "locale") or "en")[:35],
        email=_claim(claims, "email")[:320],
        tenant_id=_key_part("tenant_id", _claim(claims, "tenant_id") or "default"),
        scopes=tuple(s for s in scopes if s not in ("", "*")),
    )


def has_role(user: User, role: str) -> bool:
    """Whether the user's role is `role` or a higher one (user < developer < operator)."""
    return ROLES.index(user.role) >= ROLES.index(role)


def require_role(user: User, role: str) -> None:
    """NotAllowed unless the user has the role or a higher one."""
    if not has_role(user, role):
        raise NotAllowed(f"this needs the role {role}; the token says {user.role}", field="role")


def _claims(event: Mapping[str, Any]) -> Mapping[str, Any]:
    authorizer = (event.get("requestContext") or {}).get("authorizer") or {}
    return (authorizer.get("jwt") or {}).get("claims") or authorizer.get("lambda") or {}


def _key_part(name: str, value: str) -> str:
    if _PART.fullmatch(value) and not _RESERVED.fullmatch(value):
        return value
    raise NotAuthenticated(
        f"the token's {name} cannot be used: 1 to 128 characters without # and control characters",
        field=name,
        limit=128,
    )


def _first(claims: Mapping[str, Any], *names: str) -> str:
    return next((text for name in names if (text := _claim(claims, name))), "")


def _claim(claims: Mapping[str, Any], name: str) -> str:
    value = next((v for v in (claims.get(name), claims.get(f"custom:{name}")) if v is not None), "")
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    text = str(value)
    return text.strip("[]") if name in ("scopes", "scope") else text
