"""Structured logs: one JSON line each, with request and function, never content or secrets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_invocation: ContextVar[dict[str, str] | None] = ContextVar("webbee_invocation", default=None)


def fields() -> Mapping[str, str]:
    """What every line logged here carries."""
    return _invocation.get() or {}


def correlation_id() -> str:
    """The id that goes with a request from the API to the last handler; empty outside an
    invocation."""
    return fields().get("correlation_id", "")


def bind(**more: str) -> None:
    """Add fields to every line logged from here on in this task, such as `user` (hashed),
    `session`, `turn`; empty ones change nothing."""
    _invocation.set({**fields(), **{k: v for k, v in more.items() if v}})


def hashed(tenant_id: str, imperal_id: str) -> str:
    """A user as logs name them: the same twelve characters for the same user, and no way back
    without the user's id."""
    return hashlib.sha256(f"{tenant_id}#{imperal_id}".encode()).hexdigest()[:12]


@contextmanager
def bind_invocation(event: Mapping[str, Any], context: Any) -> Iterator[None]:
    """Every line logged inside carries the API's request id (or the caller's correlation id) and
    Lambda's.

    A call from another function also says whose it is: session, step and the user's hash.
    """
    http = event.get("requestContext") or {}
    fields = {
        "correlation_id": str(http.get("requestId") or event.get("correlation_id") or ""),
        "aws_request_id": str(getattr(context, "aws_request_id", "") or ""),
        "user": _whose(event.get("user")),
        "session": str(event.get("session_id") or ""),
        "turn": str(event.get("request_id") or ""),
        "step": str(event.get("step", "")),
    }
    token = _invocation.set({k: v for k, v in fields.items() if v})
    try:
        yield
    finally:
        _invocation.reset(token)


def _whose(user: Any) -> str:
    """The hash of the user a call is for; empty where it names none."""
    if not isinstance(user, dict) or "imperal_id" not in user:
        return ""
    return hashed(str(user.get("tenant_id", "")), str(user["imperal_id"]))
