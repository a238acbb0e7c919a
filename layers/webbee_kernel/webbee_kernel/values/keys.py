"""Whose data it is."""

from __future__ import annotations

from dataclasses import dataclass

from ..sdk.context import User


@dataclass(frozen=True, slots=True)
class UserKey:
    """Whose data it is. Both parts come from the authoriser; neither may hold `#`."""

    tenant_id: str
    imperal_id: str

    @classmethod
    def of(cls, user: User) -> UserKey:
        """The key of an authorised user."""
        return cls(user.tenant_id, user.imperal_id)

    def __str__(self) -> str:
        return f"{self.tenant_id}#{self.imperal_id}"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """One conversation of one user."""

    user: UserKey
    session_id: str

    def __str__(self) -> str:
        return f"{self.user}#{self.session_id}"
