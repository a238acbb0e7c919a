"""`User`: who a call is for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class User:
    """Who the call is for, as the authoriser said. `language` is a BCP 47 tag such as `ru`."""

    imperal_id: str
    role: str = "user"
    language: str = "en"
    email: str = ""
    tenant_id: str = "default"
    scopes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The user's id: another name of `imperal_id`."""
        return self.imperal_id

    def has_scope(self, scope: str) -> bool:
        """Whether the scope (or `*`, held by the system) was granted."""
        return "*" in self.scopes or scope in self.scopes

    def has_role(self, role: str) -> bool:
        """Whether the role is exactly this."""
        return self.role == role
