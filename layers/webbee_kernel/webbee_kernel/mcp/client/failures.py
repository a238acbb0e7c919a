"""Failures: what went wrong between us and a server, as a result with a code of the platform's."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.text import one_line
from ...errors import CallError
from ...sdk import ActionResult
from ...values.mcp import McpServer

INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601
CLOSED, TIMED_OUT, NO_JSON = -32000, -32001, -32700
"""Codes of JSON-RPC, and the library's own for a lost connection and a request without answer."""


def failure_of(error: Exception, server: McpServer) -> ActionResult:
    """The error as the call's result: what happened, and whether it may be tried again."""
    name = server.display_name
    if isinstance(error, CallError):
        return ActionResult.error(str(error), code=error.code)
    if isinstance(error, TimeoutError):
        return ActionResult.error(f"{name} did not answer in time", True, code="BACKEND_TIMEOUT")
    status = _status(error)
    if status in (401, 403):
        told = f"{name} refuses the sign-in ({status})"
        return ActionResult.error(told, code="PERMISSION_DENIED")
    if status:
        return ActionResult.error(f"{name} answered {status}", True, code="BACKEND_5XX")
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return _of_code(code, one_line(str(error), 500), name)
    told = f"{name} cannot be reached ({type(error).__name__})"
    return ActionResult.error(told, True, code="BACKEND_5XX")


def _of_code(code: int, text: str, name: str) -> ActionResult:
    if code == TIMED_OUT:
        return ActionResult.error(f"{name} did not answer in time", True, code="BACKEND_TIMEOUT")
    if code == CLOSED:
        told = f"the connection to {name} broke; whether the call was carried out is not known"
        return ActionResult.error(told, True, code="BACKEND_5XX")
    if code == NO_JSON:
        told = f"{name} gave an answer that cannot be read: {text}"
        return ActionResult.error(told, code="BACKEND_5XX")
    if code == INVALID_PARAMS:
        return ActionResult.error(f"{name}: {text}", code="VALIDATION_TYPE_ERROR")
    if code == METHOD_NOT_FOUND:
        return ActionResult.error(f"{name}: {text}", code="UNKNOWN_SUB_FUNCTION")
    return ActionResult.error(f"{name}: {text}", code="")


def _status(error: BaseException) -> int:
    """The HTTP status that an error comes from; 0 where none does."""
    for each in _chain(error):
        status = getattr(getattr(each, "response", None), "status_code", None)
        if isinstance(status, int):
            return status
    return 0


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
