"""Whose call it is, and what `ctx.store` returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Document:
    """One stored document. Times are ISO 8601 in UTC; `etag` changes with every write."""

    id: str
    collection: str
    data: dict[str, Any]
    created_at: str = ""
    updated_at: str = ""
    user_id: str = ""
    etag: str = ""

    def get(self, key: str, default: Any = None) -> Any:
        """A top-level field of `data`."""
        return self.data.get(key, default)

    def __getitem__(self, key: str) -> Any:
        return self.data[key]


@dataclass(slots=True)
class Page(Generic[T]):
    """A slice of a result: pass `cursor` back to get the next one while `has_more`.

    `total` is known where the query has it without reading more: with `order_by`, unless it walks
    an index and filters by `where`. Else None.
    """

    data: list[T] = field(default_factory=list)
    cursor: str | None = None
    has_more: bool = False
    total: int | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


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
