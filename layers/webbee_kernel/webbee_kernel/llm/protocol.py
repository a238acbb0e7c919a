"""The model seam: one request in, one response out, whatever serves it.

Three roles share it: the classifier picks calls from `tools`, the narrator writes the reply, `ai`
serves `ctx.ai`.
Implementations: `embedded` (the default, named `offline`), `scripted` (for tests) and the adapters
of real model services. A model whose answers can be heard while they are written has a second
method, `stream`; others are heard at their end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable

from ..types import JSONObject

OUTPUT_TOKENS = 1024
"""Tokens that every service lets an answer have, of which thoughts are a part."""

CUT_OFF: Final = "max_tokens"
"""Stop reason of an answer that ends where it might write no more."""

NO_TEXT: Final = "no_text"
"""Stop reason of a narrator that tells nothing, so that the data itself is the reply and nobody
asks again: only the embedded model's."""

ModelRole = Literal["classifier", "narrator", "ai"]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ToolSpec:
    """One chat function as a model sees it.

    `name` is `{app_id}__{fn_name}`, `[A-Za-z0-9_-]{1,64}`; `input_schema` is the JSON schema of the
    arguments; `action_type` is read, write or destructive; `examples` are things a user may say, in
    any language. What `told` names needs no description: [APPS] has it; no model reads `titles`.
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
    """A call the model asks for. `arguments` is a str when the model wrote broken JSON: the text as
    it came."""

    name: str
    arguments: JSONObject | str


@dataclass(frozen=True, slots=True)
class Usage:
    """What one request cost, in tokens; `cached_tokens` are those of the input read from the
    service's cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def paid(self) -> int:
        """Tokens charged in full: read anew, and written."""
        return self.input_tokens - self.cached_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What a service wants back unchanged with an answer in the next rounds of the same turn:
    signed, encrypted or plain thoughts, in that service's own form.

    Only the adapter that made it reads it. It stands in no representation, log, record or
    inspector, and no user or developer is shown it.
    """

    message: JSONObject = field(default_factory=dict, repr=False)
    calls: tuple[JSONObject, ...] = field(default=(), repr=False)
    """What belongs to each call of the answer, in their order; empty where nothing does."""
    plain: JSONObject = field(default_factory=dict, repr=False)
    """Thoughts in clear text, which most services do not want back."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier answer of the model in the same piece of work, and what came of it.

    `text` and `calls` are the answer as the model gave it, `results` one text per call in the same
    order, `note` what the kernel says besides. `flat` is all of it as lines of a prompt, for a
    model that takes no native results. `reasoning` is the answer's own.
    """

    flat: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[str, ...] = ()
    note: str = ""
    reasoning: Reasoning | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Growing:
    """How tools change from request to request of a session: behind what was there. A service may
    have in its cache what was.

    The first `common` of them are the same for everybody with these apps, the first `before` were
    in the session's request before. `apps`, the end of the system part, tells of all apps; where
    a service puts tools before the system part, the last of the common tools may tell it.
    """

    common: int
    before: int
    apps: str = ""


class Undo(NamedTuple):
    """An effect of the session: the call that takes it back, as its receipt offers it, `what` the
    receipt calls it, what was `said` in its `turn`; `taken` where it was taken back."""

    name: str
    arguments: JSONObject
    what: str
    said: str
    turn: int = 0
    taken: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One completion. `language` is the user's BCP 47 tag; `timeout_s` the whole call's limit in
    seconds.

    `prompt` holds everything. A later round's prompt is the one before it with lines appended;
    adapters whose service has native tool results send `opening`, the prompt of the first round,
    and the `exchanges` since instead.
    `growing` is None where `tools` are the same in every request. `undo` are
    the effects of the session that can be taken back, the newest first.
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


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """Text, calls, or both. `stop_reason` is the service's word, such as `end_turn`, `tool_use`,
    `max_tokens`. `orphan`: it thought aloud and said so only at the end of its thoughts, so that an
    answer like it must not be shown before its end. `offer` is a UI tree shown below the text where
    nothing was called: only the embedded model makes one."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    stop_reason: str = "end_turn"
    orphan: bool = False
    offer: JSONObject | None = None
    reasoning: Reasoning | None = field(default=None, repr=False)


class Model(Protocol):
    """Anything that completes a request. `name` goes to the audit record."""

    name: str

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer the request, or raise `ModelUnavailable` (`webbee_kernel.errors`) when it cannot
        be served now."""
        ...


Hear = Callable[[str], None]
"""Takes the next piece of the text, on the event loop that asked."""


@runtime_checkable
class StreamingModel(Protocol):
    """A model whose answer can be heard while it comes."""

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """As `complete`; the pieces that `hear` is given make up the response's text. Once one was
        heard, a failure is not tried again."""
        ...


async def streamed(model: Model, request: ModelRequest, hear: Hear | None) -> ModelResponse:
    """The model's answer, heard while it comes where anybody wants to and the model can. Raises
    ModelUnavailable."""
    if hear is not None and isinstance(model, StreamingModel):
        return await model.stream(request, hear)
    return await model.complete(request)
