"""Every error the kernel raises: a `KernelError` ends the request and becomes `{"error": {...}}` in
one place, a `CallError` ends one call and never sinks the turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final


class KernelError(Exception):
    """Base: `str(error)` is the message for the caller, in full sentences, with what to do. A 503's
    is for operators; callers get `public_message` instead."""

    status = 500
    code = "internal"
    public_message = ""

    def __init_subclass__(cls, *, status: int = 0, code: str = "") -> None:
        """Status and code of the class, inherited where not given."""
        cls.status, cls.code = status or cls.status, code or cls.code

    def __init__(self, message: str, *, code: str = "", field: str = "", limit: Any = None) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.field = field
        self.limit = limit

    def body(self) -> dict[str, Any]:
        """`{"error": {"code", "message", "field"?, "limit"?}}`."""
        error: dict[str, Any] = {"code": self.code, "message": self.public_message or str(self)}
        if self.field:
            error["field"] = self.field
        if self.limit is not None:
            error["limit"] = self.limit
        return {"error": error}


class BadInput(KernelError, status=400, code="bad_input"):
    """The request cannot be served as it is."""


class RequestConflict(BadInput, status=409, code="request_conflict"):
    """The same request id arrived with another message."""


class TurnWorking(KernelError, status=202, code="working"):
    """This request's turn runs already, or goes on: no failure, and nothing to mend."""

    def __init__(self, request_id: str, session_id: str) -> None:
        super().__init__("this request is being worked on: its answer comes as an event")
        self.request_id = request_id
        self.session_id = session_id

    def body(self) -> dict[str, Any]:
        """`{"status": "working", "request_id", "session_id"}`."""
        ids = {"request_id": self.request_id, "session_id": self.session_id}
        return {"status": "working", **ids}


class NotAuthenticated(KernelError, status=401, code="not_authenticated"):
    """The authoriser gave no identity."""


class NotAllowed(KernelError, status=403, code="not_allowed"):
    """The identity lacks a role or scope."""


class NotFound(KernelError, status=404, code="not_found"):
    """There is no such thing for this user."""


class Gone(KernelError, status=410, code="gone"):
    """It was there and is over."""


class LimitReached(KernelError, status=429, code="limit_reached"):
    """A limit of the operator's is used up: `field` is the template's parameter, `retry_after` the
    whole seconds until it is free again."""

    def __init__(self, message: str, *, field: str, limit: int, retry_after: int) -> None:
        super().__init__(message, field=field, limit=limit)
        self.retry_after = retry_after

    def body(self) -> dict[str, Any]:
        error = super().body()
        error["error"]["retry_after"] = self.retry_after
        return error


class StorageUnavailable(KernelError, status=503, code="storage_unavailable"):
    """The database did not answer, also after botocore's retries. Nothing was half recorded."""


class DispatchUnanswered(KernelError, status=503, code="dispatch_unavailable"):
    """An invocation of extension code gave no answer: what it did is not known."""


class DispatchRefused(KernelError, status=503, code="dispatch_refused"):
    """Extension code was not run, for certain, also after retries: nothing happened."""


class ModelUnavailable(KernelError, status=503, code="model_unavailable"):
    """The model gave no usable answer. `cause` is a key of the user-facing texts
    (`Language.cause`), `words` the server's message for developers and operators, at most 300
    characters, `wait_s` the seconds it asked to wait."""

    def __init__(
        self, message: str, *, cause: str = "", words: str = "", wait_s: float = 0.0, **more: Any
    ) -> None:
        super().__init__(message, **more)
        self.cause = cause
        self.words = " ".join(words.split())[:300]
        self.wait_s = wait_s


UNAVAILABLE: Final[Mapping[str, type[KernelError]]] = {
    e.code: e for e in (StorageUnavailable, DispatchUnanswered, DispatchRefused, ModelUnavailable)
}
"""Errors that are passed from `tool_dispatch` to its caller, by code."""


def from_body(error: Mapping[str, Any]) -> KernelError:
    """The error that another function raised, rebuilt from its body."""
    # a code that only a later version knows becomes the one that says: retry
    kind = UNAVAILABLE.get(str(error.get("code")), StorageUnavailable)
    return kind(str(error.get("message")), field=str(error.get("field", "")))


class SettingsError(KernelError, code="settings"):
    """An environment variable is missing or wrong; the message names it."""


class CallError(Exception):
    """One call failed before or inside its handler. `code` is one of the platform's."""

    def __init__(self, code: str, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.field = field


class ResultError(CallError):
    """What a handler returned is no result; the message says what of it, and what to return.
    `path` is where in the result, `rows[0].price`; empty where it is about all of it."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__("INTERNAL", message)
        self.path = path


def not_installed(app_id: str) -> NotAllowed:
    """The user does not have the app (any more)."""
    return NotAllowed(
        f"{app_id} is not installed for this user: PUT /v1/extensions/{app_id}/installation",
        field="app_id",
    )


def no_app(app_id: str, *, is_broken: bool) -> CallError:
    """There is no app of that id, or it failed to load; the log has the reason."""
    reason = ": it failed to load" if is_broken else ""
    return CallError("UNKNOWN_TOOL", f"there is no app {app_id[:64]!r}{reason}")
