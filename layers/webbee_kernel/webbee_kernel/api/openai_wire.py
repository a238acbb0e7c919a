"""Chat completions as they travel: what requests may hold, what answers look like."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from ..types import JSONObject

MODEL: Final = "webbee"


class Part(BaseModel):
    """A part of a message's content; only text is read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str
    text: str = ""


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(BaseModel):
    """What a stream ends with."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    include_usage: bool = False


class CompletionBody(BaseModel):
    """`POST /v1/openai/v1/chat/completions`. What is not named here (temperature, seed, …) is the
    operator's to choose and ignored; what would change the answer's form is honoured or refused."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    model: Annotated[str, StringConstraints(max_length=128)] = MODEL
    messages: Annotated[
        list[Message],
        Field(min_length=1, max_length=4096, description="One by the user at least, of text."),
    ]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=1, description="One answer, no more.")] | None = None
    stop: Annotated[
        str | list[str] | None, Field(description="At most four texts; the first found ends it.")
    ] = None
    max_tokens: Annotated[int, Field(ge=1, description="The reply is cut there.")] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    response_format: Annotated[JSONObject | None, Field(description="Only `text`.")] = None
    tool_choice: Annotated[str | JSONObject | None, Field(description="Only `auto`, `none`.")] = (
        None
    )
    function_call: Annotated[str | JSONObject | None, Field(description="As `tool_choice`.")] = None
    logprobs: bool | None = None
    modalities: list[str] | None = None
    user: Annotated[str, StringConstraints(max_length=512)] | None = None
    metadata: dict[str, Any] | None = None


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
