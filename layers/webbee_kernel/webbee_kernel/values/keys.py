"""Whose data it is."""

from __future__ import annotations

from typing import NamedTuple

from ..sdk.user import User


class UserKey(NamedTuple):
    """Whose data it is. Both parts come from the authoriser; neither may hold `#`."""

    tenant_id: str
    imperal_id: str

    @classmethod
    def of(cls, user: User) -> UserKey:
        """The key of an authorised user."""
        return cls(user.tenant_id, user.imperal_id)

    def __str__(self) -> str:
        return f"{self.tenant_id}#{self.imperal_id}"


class SessionKey(NamedTuple):
    """One conversation of one user."""

    user: UserKey
    session_id: str

    def __str__(self) -> str:
        return f"{self.user}#{self.session_id}"
