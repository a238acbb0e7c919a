"""A user in its plain form, as it travels between functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..sdk.user import User
from .plain import JSONObject


def user_from(data: Mapping[str, Any]) -> User:
    """A user from its plain form; the authoriser's claims were checked before it was made."""
    return User(**{**data, "scopes": tuple(data.get("scopes") or ())})


def user_dict(user: User) -> JSONObject:
    """The plain form of a user, as it travels between functions."""
    return {
        "imperal_id": user.imperal_id,
        "role": user.role,
        "language": user.language,
        "email": user.email,
        "tenant_id": user.tenant_id,
        "scopes": list(user.scopes),
    }
