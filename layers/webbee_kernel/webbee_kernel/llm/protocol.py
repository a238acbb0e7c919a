"""The model interface: one request in, one response out, for every model service.

Three roles share it: the classifier picks calls from `tools`, the narrator writes the reply, `ai`
serves `ctx.ai`.
Implementations: `embedded` (the default, named `offline`), `scripted` (for tests) and the adapters
of real model services. A model that can stream its answer has a second method, `stream`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable

from ..types import JSONObject

OUTPUT_TOKENS = 1024
"""Output tokens that every service accepts, reasoning included."""

CUT_OFF: Final = "max_tokens"
"""Stop reason of an answer that reached its output token limit."""

NO_TEXT: Final = "no_text"
"""Stop reason of an answer without text by intent: the kernel's own words, or the narrator's data
itself, are the reply, without a retry. Only the embedded model uses it."""

ModelRole = Literal["classifier", "narrator", "ai"]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ToolSpec:
    """One chat function as a model sees it.

    `name` is `{app_id}__{fn_name}`, `[A-Za-z0-9_-]{1,64}`; `input_schema` is the JSON schema of the
    arguments; `action_type` is read, write or destructive; `examples` are possible user messages in
    any language. `told` lists arguments described in [APPS] instead; `titles` are not sent.
    """

    name: str
    app_id: str
    fn_name: str
    description: str
    input_schema: JSONObject
    action_type: str
    examples: tuple[str, ...]
    told: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model requests. `arguments` is the raw text where it is not valid JSON."""

    name: str
    arguments: JSONObject | str


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one request; `cached_tokens` is the part of the input read from the service's
    cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def paid(self) -> int:
        """Tokens charged in full: uncached input and output."""
        return self.input_tokens - self.cached_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Reasoning that a service requires back unchanged in the next rounds of the same turn: signed,
    encrypted or plain, in that service's own format.

    Only the adapter that made it reads it; it is in no repr, log, record or inspector.
    """

    message: JSONObject = field(default_factory=dict, repr=False)
    calls: tuple[JSONObject, ...] = field(default=(), repr=False)
    """Extra fields for each call of the answer, in order, or empty."""
    plain: JSONObject = field(default_factory=dict, repr=False)
    """Clear-text reasoning, which most services do not accept back."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier answer of the model in the same turn, and its results.

    `results` has one text per call in the same order, `note` is added by the kernel. `flat` is all
    of it as prompt lines, for a model without native tool results.
    """

    flat: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[str, ...] = ()
    note: str = ""
    reasoning: Reasoning | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Growing:
    """Cache hints for a session whose tool list only grows at its end.

    The first `common` tools are the same for all users with these apps, the first `before` were in
    the previous request. `apps` is the app list at the end of the system part; an adapter may move
    it into the last common tool where the service puts tools before the system part.
    """

    common: int
    before: int
    apps: str = ""


class Undo(NamedTuple):
    """An effect of the session with the call that undoes it (no `name` where none does): `what` is
    the receipt's label, `is_back` whether it undoes another one, `message` its turn's."""

    name: str
    arguments: JSONObject
    what: str
    turn: int = 0
    is_back: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One completion. `language` is the user's BCP 47 tag; `timeout_s` limits the whole call, in
    seconds.

    `prompt` holds everything; each round appends lines to it. Adapters with native tool results
    send `opening` (the first round's prompt) and `exchanges` instead. `growing` is None where
    `tools` are the same in every request; `undo` has the effects that stand, newest first;
    `waiting` name and arguments of the calls that the last turn showed, on its card (`on_card`) or
    in a form.
    """

    role: ModelRole
    system: str
    prompt: str
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = OUTPUT_TOKENS
    timeout_s: float = 20.0
    language: str = "en"
    opening: str = ""
    exchanges: tuple[Exchange, ...] = ()
    growing: Growing | None = None
    undo: tuple[Undo, ...] = ()
    waiting: tuple[tuple[str, JSONObject], ...] = ()
    on_card: bool = False


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """Text, calls, or both. `stop_reason` is `end_turn`, `tool_use`, `max_tokens` or the service's
    own word. `orphan`: reasoning was marked only at its end, so answers of this model must not be
    streamed. From the embedded model only: `offer`, a UI tree shown below the text, and `left`, how
    many calls more than one answer holds were asked for."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    stop_reason: str = "end_turn"
    orphan: bool = False
    offer: JSONObject | None = None
    reasoning: Reasoning | None = field(default=None, repr=False)
    left: int = 0


class Model(Protocol):
    """Anything that completes a request. `name` goes to the audit record."""

    name: str

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer the request, or raise `ModelUnavailable` (`webbee_kernel.errors`) when it cannot
        be served now."""
        ...


Hear = Callable[[str], None]
"""Callback for the next piece of text, on the caller's event loop."""


@runtime_checkable
class StreamingModel(Protocol):
    """A model that can stream its answer."""

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """As `complete`; the pieces passed to `hear` add up to the response's text. After the first
        piece a failure is not retried."""
        ...


async def streamed(model: Model, request: ModelRequest, hear: Hear | None) -> ModelResponse:
    """The model's answer, streamed to `hear` if given and supported. Raises ModelUnavailable."""
    if hear is not None and isinstance(model, StreamingModel):
        return await model.stream(request, hear)
    return await model.complete(request)
