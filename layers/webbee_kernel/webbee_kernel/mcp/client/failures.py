"""Failures: what went wrong between us and a server, as a result with a code of the platform's."""

from __future__ import annotations

from ...errors import CallError
from ...sdk import ActionResult
from ...text import one_line
from .connections import NotReached
from .servers import McpServer

INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601
CLOSED, TIMED_OUT, NO_JSON = -32000, -32001, -32700
"""Codes of JSON-RPC, and the library's own for a lost connection and a request without answer."""
MAX_REASON = 2_500
OTHER_WAYS = {
    "uvx": "`pip install uv` brings it; or `pip install` the server's package and give the command"
    " that it brings (mcp-server-time in the place of uvx mcp-server-time)",
    "npx": "Node.js brings it; or name a server that is no package of npm",
    "docker": "install a Docker engine; or name the server's own command in its place",
}
"""How a server is started without the program that starts it."""


def failure_of(error: Exception, server: McpServer) -> ActionResult:
    """The error as the call's result: what happened, and whether it may be tried again."""
    name = server.display_name
    if isinstance(error, CallError):
        return ActionResult.error(str(error), code=error.code)
    if isinstance(error, NotReached):
        return _not_reached(error.__cause__, name)
    if isinstance(error, TimeoutError):
        return ActionResult.error(f"{name} did not answer in time", True, code="BACKEND_TIMEOUT")
    if type(error).__name__ == "ServerEnded":  # by its name: its module imports the library
        told = f"{error}; whether {name} carried the call out is not known"
        return ActionResult.error(told, True, code="BACKEND_5XX")
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return _of_code(code, one_line(str(error), 500), name)
    told = f"{name} gave no answer ({type(error).__name__})"
    return ActionResult.error(told, True, code="BACKEND_5XX")


def _not_reached(why: BaseException | None, name: str) -> ActionResult:
    """No session was to be had."""
    if isinstance(why, TimeoutError):
        told = f"{name} cannot be reached: it did not answer in time"
        return ActionResult.error(told, True, code="BACKEND_TIMEOUT")
    reason = one_line(str(why), MAX_REASON) or type(why).__name__
    if isinstance(why, FileNotFoundError):
        program = str(why.filename)
        reason = f"there is no {program!r} on this machine"
        if other := OTHER_WAYS.get(program):
            reason = f"{reason}: {other}"
    return ActionResult.error(f"{name} cannot be reached: {reason}", True, code="BACKEND_5XX")


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
