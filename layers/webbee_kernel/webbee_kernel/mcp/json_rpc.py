"""JSON-RPC messages of MCP clients over streamable HTTP, one per request. Pure.

Two kinds of protocol versions are served. Up to 2025-11-25 a client sends `initialize` first; since
no session state is kept, its capabilities are unknown later. From 2026-07-28 on each request has
its client's version and capabilities in `_meta`, and repeats some fields in headers.

The official package does all of this and takes 0.6 s to import; a server without sessions needs
only a part.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ..errors import KernelError
from ..text import json_text
from ..types import JSONObject, from_token, object_of, token_of

HANDSHAKE: Final = ("2025-06-18", "2025-11-25")
"""Versions of the protocol that begin with `initialize`, oldest first."""
STATELESS: Final = ("2026-07-28",)
"""Versions in which each request stands for itself."""
VERSIONS: Final = (*HANDSHAKE, *STATELESS)
ASSUMED: Final = "2025-03-26"
"""The version of a request that names none, by the specification; treated as the oldest."""

ELICITS: Final = "elicits-"
"""Prefix of the session id of a client that said in its handshake that it supports elicitation. The
id is all that is kept of the session, and the client repeats it."""

FRESH_MS: Final = 60_000
"""Milliseconds for which a client may cache a list."""

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

_STATUS: Final[Mapping[int, int]] = {INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404}
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the header Mcp-Name repeats, by method."""


class Refused(KernelError):
    """A message that is answered with a JSON-RPC error."""

    def __init__(
        self, number: int, message: str, *, status: int = 200, data: JSONObject | None = None
    ) -> None:
        super().__init__(message)
        self.number = number
        self.status = status
        self.data = data


class McpBody(BaseModel):
    """`POST /v1/mcp`: one JSON-RPC 2.0 request, or a notification, which has no id."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | None = None
    params: JSONObject | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message with its client's version, capabilities and name; `id` is None for a
    notification. `streams`: the client accepts Server-Sent Events."""

    id: str | int | None
    method: str
    params: JSONObject
    version: str
    capabilities: JSONObject
    client: str
    streams: bool

    @property
    def stateless(self) -> bool:
        """Whether its version has no handshake."""
        return self.version in STATELESS

    @property
    def can_elicit(self) -> bool:
        """Whether its client can show its user a form, by each message or by its session."""
        return takes_forms(self.capabilities) and (self.stateless or self.streams)

    @property
    def progress_token(self) -> str | int | None:
        """The token for progress notifications; None where the client wants none."""
        token = object_of(self.params.get("_meta")).get("progressToken")
        return token if self.streams and isinstance(token, str | int) else None

    def text(self, name: str) -> str:
        """A text parameter, empty without one; Refused for anything else."""
        value = self.params.get(name)
        if value is None or isinstance(value, str):
            return value or ""
        raise self.bad(f"{name} must be a text")

    def cached(self, fresh_ms: int = FRESH_MS) -> JSONObject:
        """The fields for caching an answer, in versions that have them."""
        return {"ttlMs": fresh_ms, "cacheScope": "private"} if self.stateless else {}

    def bad(self, why: str) -> Refused:
        """The error for invalid parameters."""
        return self.refused(INVALID_PARAMS, why)

    def refused(self, number: int, message: str, data: JSONObject | None = None) -> Refused:
        """An error that answers it, with the HTTP status that its version has for it."""
        status = _STATUS.get(number, 200) if self.stateless else 200
        return Refused(number, message, status=status, data=data)


def takes_forms(capabilities: JSONObject) -> bool:
    """Whether a client with these capabilities supports elicitation by a form."""
    asks = capabilities.get("elicitation")
    # older clients say so by an empty object
    return isinstance(asks, dict) and (not asks or "form" in asks)


def json_of(raw: bytes) -> object:
    """A body as JSON; Refused where it is none."""
    try:
        found: object = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise Refused(PARSE_ERROR, "the body is not JSON in UTF-8", status=400) from None
    return found


def parsed(data: object) -> McpBody:
    """One request or notification; Refused otherwise, also for an answer and a batch."""
    with suppress(ValidationError):
        body = McpBody.model_validate(data, strict=True)
        # the protocol has no id that is null
        if body.id is not None or "id" not in body.model_fields_set:
            return body
    raise Refused(
        INVALID_REQUEST, "the body must be one JSON-RPC 2.0 request or notification", status=400
    )


def reply_of(data: object) -> tuple[str, JSONObject] | None:
    """The id and the result of a client's answer to a question sent in a stream; None for anything
    else."""
    if not isinstance(data, dict) or "method" in data or data.get("jsonrpc") != "2.0":
        return None
    # the id is that of a confirmation
    ident, result = data.get("id"), data.get("result", {})
    asked = isinstance(ident, str) and ident.startswith("conf_")
    return (str(ident), result) if asked and isinstance(result, dict) else None


def message(body: McpBody, headers: Mapping[str, str]) -> Message:
    """The message with what its client says of itself. Refused where version, headers and body do
    not agree; `headers` by lower-case name."""
    version, params = headers.get("mcp-protocol-version", ""), body.params or {}
    meta = object_of(params.get("_meta"))
    # one of both is enough here: `_check_envelope` refuses a message that lacks the other
    if version in STATELESS or META_VERSION in meta:
        if body.id is not None:
            _check_envelope(body.method, params, meta, headers)
        capabilities, client = object_of(meta.get(META_CAPABILITIES)), meta.get(META_CLIENT)
    else:
        # `initialize` negotiates: it may name any version
        if version not in ("", *HANDSHAKE, ASSUMED) and body.method != "initialize":
            raise _unsupported(version)
        version = version if version in HANDSHAKE else HANDSHAKE[0]
        capabilities = {"elicitation": {}} if in_session(headers) else {}
        client = params.get("clientInfo")
    name = str(object_of(client).get("name", ""))
    streams = "text/event-stream" in headers.get("accept", "")
    return Message(body.id, body.method, params, version, capabilities, name, streams)


def in_session(headers: Mapping[str, str]) -> bool:
    """Whether the client said in its handshake that it supports elicitation."""
    asks = headers.get("mcp-session-id", "").startswith(ELICITS)
    return asks and headers.get("mcp-protocol-version") == HANDSHAKE[-1]


def _check_envelope(
    method: str, params: JSONObject, meta: JSONObject, headers: Mapping[str, str]
) -> None:
    """Refused unless `_meta` is complete, the headers repeat the body and the version is served."""
    if missing := [k for k in (META_VERSION, META_CAPABILITIES) if k not in meta]:
        raise Refused(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}", status=400)
    told = {"mcp-protocol-version": meta[META_VERSION], "mcp-method": method}
    if (name := _NAMED.get(method)) and params.get(name) is not None:
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
    """A header's value; other than ASCII travels as `=?base64?…?=`."""
    encoded = re.fullmatch(r"=\?base64\?(.*)\?=", header or "")
    if not encoded:
        return header
    try:
        return base64.b64decode(encoded[1], validate=True).decode()
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
"""Milliseconds after which a client asks again for a result that waits for its user."""


class Stream(NamedTuple):
    """Messages before a result, and the result, None if the client comes back with `resume`."""

    before: Sequence[JSONObject] = ()
    result: JSONObject | None = None
    resume: str = ""


class Waiting(NamedTuple):
    """A call whose client comes back for its result: confirmation, message id, tool."""

    confirmation_id: str
    ident: str | int
    tool: str

    def token(self) -> str:
        """As the id of an event."""
        return token_of(list(self))

    @staticmethod
    def of(token: str) -> Waiting | None:
        """The inverse; None for any other text."""
        try:
            return TypeAdapter(Waiting).validate_python(from_token(token), strict=True)
        except ValueError:
            return None


def events(stream: Stream, last: JSONObject | None) -> str:
    """The text of a stream; `last` is the answer with the result."""
    messages = [*stream.before, *([last] if last is not None else [])]
    named = f"id: {stream.resume}\n" if stream.resume else ""
    # an empty event first: the client has the id to come back with before all else
    opening = f"retry: {RETRY_MS}\n{named}data:\n\n" if stream.resume else ""
    return opening + "".join(f"{named}data: {json_text(m)}\n\n" for m in messages)


def progress(token: str | int, percent: float, text: str) -> JSONObject:
    """A notification of a call's progress."""
    told: JSONObject = {"progressToken": token, "progress": percent, "total": 100}
    more = {"message": text} if text else {}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {**told, **more}}
