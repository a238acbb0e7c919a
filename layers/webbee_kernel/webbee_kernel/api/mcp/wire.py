"""Messages of the Model Context Protocol, for the OpenAPI document; `mcp.server.messages` reads
them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from ...types import JSONObject


class McpBody(BaseModel):
    """`POST /v1/mcp`: one JSON-RPC 2.0 request, or a notification, which has no id."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | None = None
    params: JSONObject | None = None


class McpError(TypedDict):
    """An error of JSON-RPC."""

    code: int
    message: str
    data: NotRequired[Any]


class McpAnswer(TypedDict):
    """An answer of JSON-RPC: a result or an error."""

    jsonrpc: Literal["2.0"]
    id: str | int | None
    result: NotRequired[JSONObject]
    error: NotRequired[McpError]


class Refusal(TypedDict):
    """An error of JSON-RPC, or, with a word for its code, of what stands before the server."""

    code: int | str
    message: str
    data: NotRequired[Any]


class McpFailure(TypedDict):
    """The same of a request that failed; `message` alone comes from API Gateway's own refusals."""

    jsonrpc: NotRequired[Literal["2.0"]]
    id: NotRequired[str | int | None]
    error: NotRequired[Refusal]
    message: NotRequired[str]


class ResourceAnswer(TypedDict):
    """Metadata of the protected resource (RFC 9728)."""

    resource: str
    resource_name: str
    bearer_methods_supported: list[str]
    authorization_servers: NotRequired[list[str]]
