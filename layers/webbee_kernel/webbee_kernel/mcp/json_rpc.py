"""JSON-RPC as MCP clients send it over streamable HTTP, one message a request. Pure.

Two eras are served. Up to 2025-11-25 a client says `initialize` first; as nothing is kept between
its requests, what it can do is not known later. From 2026-07-28 on each request carries version and
capabilities of its client in `_meta`, and mirrors what routers look at in headers.

The official package has all of this, too, and costs 0.6 s of import: here are the few messages that
a server without sessions meets.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from ..errors import KernelError
from ..text import json_text
from ..types import JSONObject, from_token, object_of, token_of

HANDSHAKE: Final = ("2025-06-18", "2025-11-25")
"""Versions of the protocol that begin with `initialize`, oldest first."""
STATELESS: Final = ("2026-07-28",)
"""Versions in which each request stands for itself."""
VERSIONS: Final = (*HANDSHAKE, *STATELESS)
ASSUMED: Final = "2025-03-26"
"""What a request without a version means by the specification. It is answered as the oldest."""

ELICITS: Final = "elicits-"
"""How the session of a client begins that said in its handshake that it can ask its user. Nothing
is kept of it: the client repeats what it said, as those of later versions do."""

FRESH_MS: Final = 60_000
"""For how long a client may keep what it listed; apps are installed on the page, not here."""

_META: Final = "io.modelcontextprotocol/"
META_VERSION: Final = f"{_META}protocolVersion"
META_CAPABILITIES: Final = f"{_META}clientCapabilities"
META_CLIENT: Final = f"{_META}clientInfo"
META_SERVER: Final = f"{_META}serverInfo"

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL: Final = -32603
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022
RESOURCE_NOT_FOUND: Final = -32002
"""Up to 2025-11-25; then it is INVALID_PARAMS."""

_STATUS: Final[Mapping[int, int]] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the header Mcp-Name repeats, by method."""
_ENCODED: Final = ("=?base64?", "?=")


class Refused(KernelError):
    """A message that is answered with an error of JSON-RPC."""

    def __init__(
        self, number: int, message: str, *, status: int = 200, data: JSONObject | None = None
    ) -> None:
        super().__init__(message)
        self.number = number
        self.status = status
        self.data = data


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `id` is None for a notification, which is never answered."""

    id: str | int | None
    method: str
    params: JSONObject
    version: str
    capabilities: JSONObject = field(default_factory=dict)
    client: str = ""
    streams: bool = False
    """Whether its client takes an answer as Server-Sent Events."""

    @property
    def stateless(self) -> bool:
        """Whether it is of a version without a handshake."""
        return self.version in STATELESS

    @property
    def can_elicit(self) -> bool:
        """Whether its client can put a form to its user: it says so in each message, or, where it
        said so in a handshake, by the session that this gave it."""
        asks = self.capabilities.get("elicitation")
        # an empty object means forms, as before clients could say which kinds they take
        able = isinstance(asks, dict) and (not asks or "form" in asks)
        return able and (self.stateless or self.streams)

    @property
    def progress_token(self) -> str | int | None:
        """Under which name its client wants to hear how far it is; None where it does not."""
        token = object_of(self.params.get("_meta")).get("progressToken")
        return token if self.streams and isinstance(token, str | int) else None

    def text(self, name: str) -> str:
        """A text parameter, empty without one; Refused for anything else."""
        value = self.params.get(name)
        if value is None or isinstance(value, str):
            return value or ""
        raise self.bad(f"{name} must be a text")

    def cached(self, fresh_ms: int = FRESH_MS) -> JSONObject:
        """How long an answer holds, in versions that say it; it is one user's."""
        return {"ttlMs": fresh_ms, "cacheScope": "private"} if self.stateless else {}

    def bad(self, why: str) -> Refused:
        """The error that answers it where its parameters cannot be served."""
        return self.refused(INVALID_PARAMS, why)

    def refused(self, number: int, message: str, data: JSONObject | None = None) -> Refused:
        """The error that answers it; with its HTTP status where the version has one."""
        status = _STATUS.get(number, 200) if self.stateless else 200
        return Refused(number, message, status=status, data=data)


def json_of(raw: bytes) -> object:
    """A body as JSON; Refused where it is none."""
    try:
        found: object = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise Refused(PARSE_ERROR, "the body is not JSON in UTF-8", status=400) from None
    return found


def parsed(data: object) -> JSONObject:
    """One JSON-RPC message: an object with a method. Refused otherwise; what is an answer, and a
    batch, is no message for a server without sessions."""
    if not isinstance(data, dict) or not _is_message(data):
        raise Refused(
            INVALID_REQUEST, "the body must be one JSON-RPC 2.0 request or notification", status=400
        )
    return data


def reply_of(data: object) -> tuple[str, JSONObject] | None:
    """What a client answers to a question that was put to it in a stream, and the id under which
    it was put; None for what is no such answer."""
    if not isinstance(data, dict) or "method" in data or data.get("jsonrpc") != "2.0":
        return None
    # our questions bear the id of their confirmation: any other answer is nobody's
    ident, result = data.get("id"), data.get("result", {})
    asked = isinstance(ident, str) and ident.startswith("conf_")
    return (str(ident), result) if asked and isinstance(result, dict) else None


def _is_message(data: JSONObject) -> bool:
    ident, params = data.get("id"), data.get("params")
    return (
        data.get("jsonrpc") == "2.0"
        and isinstance(data.get("method"), str)
        and (params is None or isinstance(params, dict))
        # true is an int to Python, and no id to JSON-RPC
        and ("id" not in data or (isinstance(ident, str | int) and not isinstance(ident, bool)))
    )


def message(data: JSONObject, headers: Mapping[str, str]) -> Message:
    """The message with what its client says of itself. Refused where version, headers and body do
    not agree; `headers` by lower-case name."""
    version = headers.get("mcp-protocol-version", "")
    params: JSONObject = data.get("params") or {}
    meta = object_of(params.get("_meta"))
    # either sign is enough: where the other one is missing, `_agree` refuses it
    if not (version in STATELESS or META_VERSION in meta):
        return _of_handshake(data, params, version, headers)
    if "id" in data:
        _agree(data, params, meta, headers)
    return Message(
        data.get("id"),
        data["method"],
        params,
        version,
        object_of(meta.get(META_CAPABILITIES)),
        str(object_of(meta.get(META_CLIENT)).get("name", "")),
        _streams(headers),
    )


def _streams(headers: Mapping[str, str]) -> bool:
    return "text/event-stream" in headers.get("accept", "")


def _of_handshake(
    data: JSONObject, params: JSONObject, version: str, headers: Mapping[str, str]
) -> Message:
    # `initialize` negotiates: it may name any version, and is answered with one of ours
    if version and version not in (*HANDSHAKE, ASSUMED) and data["method"] != "initialize":
        raise _unsupported(version)
    name = str(object_of(params.get("clientInfo")).get("name", ""))
    known = version if version in HANDSHAKE else HANDSHAKE[0]
    can: JSONObject = {"elicitation": {}} if in_session(headers) else {}
    ident, method = data.get("id"), data["method"]
    return Message(ident, method, params, known, can, name, _streams(headers))


def in_session(headers: Mapping[str, str]) -> bool:
    """Whether a request comes from a client that said in its handshake that it can elicit."""
    asks = headers.get("mcp-session-id", "").startswith(ELICITS)
    return asks and headers.get("mcp-protocol-version") == HANDSHAKE[-1]


def _agree(
    data: JSONObject, params: JSONObject, meta: JSONObject, headers: Mapping[str, str]
) -> None:
    """The envelope is whole, the headers repeat it, the version is served; in this order."""
    if missing := [k for k in (META_VERSION, META_CAPABILITIES) if k not in meta]:
        raise Refused(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}", status=400)
    told = {"mcp-protocol-version": meta[META_VERSION], "mcp-method": data["method"]}
    if (name := _NAMED.get(data["method"])) and params.get(name) is not None:
        told["mcp-name"] = params[name]
    for header, value in told.items():
        if _decoded(headers.get(header)) != value:
            raise Refused(
                HEADER_MISMATCH, f"the header {header} does not repeat the body", status=400
            )
    if meta[META_VERSION] not in STATELESS:
        raise _unsupported(str(meta[META_VERSION]))


def _unsupported(version: str) -> Refused:
    return Refused(
        UNSUPPORTED_VERSION,
        f"version {version[:32]!r} of the protocol is not served",
        status=400,
        data={"supported": list(VERSIONS), "requested": version[:64]},
    )


def _decoded(header: str | None) -> str | None:
    """A header's value; what cannot stand in a header travels as `=?base64?…?=`."""
    first, last = _ENCODED
    if not header or not (header.startswith(first) and header.endswith(last)):
        return header
    try:
        return base64.b64decode(header[len(first) : -len(last)], validate=True).decode()
    except ValueError:
        return None


def answer(ident: str | int, result: JSONObject) -> JSONObject:
    return {"jsonrpc": "2.0", "id": ident, "result": result}


def failure(ident: str | int | None, error: Refused) -> JSONObject:
    told: dict[str, Any] = {"code": error.number, "message": str(error)}
    if error.data is not None:
        told["data"] = error.data
    return {"jsonrpc": "2.0", "id": ident, "error": told}


RETRY_MS: Final = 3_000
"""After which time a client asks again for a result that waits for its user."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Messages before a result, and the result, None if the client comes back with `resume`."""

    before: Sequence[JSONObject] = ()
    result: JSONObject | None = None
    resume: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call whose client comes back for its result: the question, the message, the tool."""

    confirmation_id: str
    ident: str | int
    tool: str

    def token(self) -> str:
        """The same as the id of an event."""
        return token_of([self.confirmation_id, self.ident, self.tool])

    @staticmethod
    def of(token: str) -> Waiting | None:
        """The inverse; None for what is no token of ours."""
        try:
            confirmation_id, ident, tool = from_token(token)
        except (TypeError, ValueError):
            return None
        is_ours = isinstance(confirmation_id, str) and isinstance(tool, str)
        if not is_ours or not isinstance(ident, str | int):
            return None
        return Waiting(confirmation_id, ident, tool)


def events(stream: Stream, last: JSONObject | None) -> str:
    """The text of a stream; `last` is the answer with the result."""
    messages = [*stream.before, *([last] if last is not None else [])]
    named = f"id: {stream.resume}\n" if stream.resume else ""
    # an empty event first: the client has the id to come back with before all else
    opening = f"retry: {RETRY_MS}\n{named}data:\n\n" if stream.resume else ""
    return opening + "".join(f"{named}data: {json_text(m)}\n\n" for m in messages)


def progress(token: str | int, percent: float, text: str) -> JSONObject:
    """How far a call was."""
    told: JSONObject = {"progressToken": token, "progress": percent, "total": 100}
    more = {"message": text} if text else {}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {**told, **more}}
