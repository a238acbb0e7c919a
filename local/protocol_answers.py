"""Shapes of the answers that other people's protocols prescribe: OpenAI's and the Model Context
Protocol's. As in `answers`, routes name them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from webbee_kernel.types import JSONObject


class ModelRow(TypedDict):
    """A model as OpenAI's protocol lists it."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelsAnswer(TypedDict):
    """All of them."""

    object: Literal["list"]
    data: list[ModelRow]


class Completion(TypedDict):
    """What the assistant says."""

    role: Literal["assistant"]
    content: str
    refusal: None


class CompletionChoice(TypedDict):
    """The one choice there is."""

    index: int
    message: Completion
    finish_reason: Literal["stop", "length"]
    logprobs: None


class CompletionUsage(TypedDict):
    """Tokens of all requests to models in the turn; zeros where the reply was known already."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: NotRequired[JSONObject]


class CompletionAnswer(TypedDict):
    """A turn as a chat completion; `webbee` holds the rest of what `POST /v1/chat` answers."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage
    webbee: JSONObject


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
