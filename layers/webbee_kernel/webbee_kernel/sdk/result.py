"""The values that handlers see and return: `ActionResult`, what `ctx.store` returns, the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

from pydantic import BaseModel

UNSTRUCTURED = "EXT_UNSTRUCTURED_ERROR"
"""The code of an error that names none (I-EXT-ERROR-CODE-NORMALIZED)."""

NEEDS_ANSWER = "NEEDS_ANSWER"
"""The code of a call that asks its user something before it can end."""
ANSWERS = "_answers"
"""The argument with which the same call, made again, brings the user's answers."""
ANSWERING = f"ask the user, then make the same call again with the answers as {ANSWERS}"
"""What a model is told of such a call; people read the question alone."""

ErrorFactory = Callable[..., "ActionResult"]


class _ErrorAttribute:
    """`ActionResult.error(...)` makes a failure, `result.error` is its text: the platform uses one
    name for both."""

    @overload
    def __get__(self, obj: None, owner: type) -> ErrorFactory: ...
    @overload
    def __get__(self, obj: ActionResult, owner: type) -> str | None: ...
    def __get__(self, obj: ActionResult | None, owner: type) -> ErrorFactory | str | None:
        return failure if obj is None else obj._error

    def __set__(self, obj: ActionResult, value: str | None) -> None:
        obj._error = value


class ActionResult:
    """Outcome of one call: `data` feeds the fact ledger verbatim, `summary` feeds the narrator.

    Build it with `ActionResult.success(data, summary)` or `ActionResult.error("what to do",
    code="…")`. `refresh_panels`: None refreshes every panel of the app, `[]` none, a list just
    those. `undo` is the call of the same app that takes an effect back, `ui.Call("reopen", id=…)`,
    with at most 1,000 bytes of arguments: the user presses it or says "undo that", and is asked
    first.
    """

    error = _ErrorAttribute()

    def __init__(
        self,
        status: str,
        data: Any = None,
        summary: str = "",
        error: str | None = None,
        retryable: bool = False,
        ui: Any = None,
        refresh_panels: list[str] | None = None,
        error_code: str = "",
        undo: Any = None,
    ) -> None:
        self.status = status
        self.data: Any = {} if data is None else plain(data)
        self.summary = summary
        self._error = error
        self.retryable = retryable
        self.ui = ui
        self.refresh_panels = refresh_panels
        self.error_code = error_code
        self.undo = undo

    @staticmethod
    def success(
        data: Any,
        summary: str,
        *,
        ui: Any = None,
        refresh_panels: list[str] | None = None,
        undo: Any = None,
    ) -> ActionResult:
        """A call that worked. `data` is a dict or a Pydantic model (kept as its JSON form)."""
        return ActionResult(
            "success", data, summary, ui=ui, refresh_panels=refresh_panels, undo=undo
        )

    @staticmethod
    def ask(message: str, fields: dict[str, Any], *, name: str = "answer") -> ActionResult:
        """A call that cannot end before its user has answered. `fields` are properties of a JSON
        Schema, flat; all without a `default` are required. Nothing waits: the same call is made
        again with the answers, by field, as its parameter `_answers`."""
        required = [n for n, rules in fields.items() if "default" not in rules]
        schema = {"type": "object", "properties": fields, "required": required}
        result = failure(f"{message} ({', '.join(fields)})", code=NEEDS_ANSWER)
        result.data = {"questions": {name: {"message": message, "schema": schema}}}
        return result

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.status == "success"

    def to_dict(self) -> dict[str, Any]:
        """The wire form, one key per field; `ui` is rendered to plain JSON."""
        return {
            "status": self.status,
            "data": self.data,
            "summary": self.summary,
            "error": self.error,
            "retryable": self.retryable,
            "ui": ui_dict(self.ui),
            "refresh_panels": self.refresh_panels,
            "error_code": self.error_code,
            **({"undo": ui_dict(self.undo)} if self.undo else {}),
        }

    @staticmethod
    def from_dict(d: dict[str, Any]) -> ActionResult:
        """The inverse of `to_dict`; unknown keys are ignored, missing ones take their defaults."""
        return ActionResult(
            # what does not say that it succeeded has not
            str(d.get("status", "error")),
            d.get("data"),
            str(d.get("summary") or ""),
            d.get("error"),
            bool(d.get("retryable", False)),
            d.get("ui"),
            d.get("refresh_panels"),
            str(d.get("error_code") or ""),
            d.get("undo"),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionResult) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"ActionResult(status={self.status!r}, summary={self.summary!r},"
            + (f" error={self.error!r}," if self.error else "")
            + f" error_code={self.error_code!r})"
        )


AMBIGUOUS = "AMBIGUOUS"
"""The code of a call whose words fit several things. Its `data` may list them, each with its id and
title: behind a yes the user chooses among them."""


def failure(error: str, retryable: bool = False, *, code: str = "") -> ActionResult:
    """A call that failed; served as `ActionResult.error`. A missing `code` becomes
    `EXT_UNSTRUCTURED_ERROR`."""
    return ActionResult("error", {}, "", error, retryable, error_code=code or UNSTRUCTURED)


def plain(value: Any) -> Any:
    """A Pydantic model as its JSON form; anything else untouched."""
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def ui_dict(node: Any) -> Any:
    """A UI tree as plain JSON: anything with `to_dict` renders itself, lists and dicts render item
    by item."""
    if isinstance(node, list | tuple):
        return [ui_dict(n) for n in node]
    if isinstance(node, Mapping):
        return {k: ui_dict(v) for k, v in node.items()}
    return node.to_dict() if hasattr(node, "to_dict") else node


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
