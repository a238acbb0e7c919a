"""Chat completions as they travel: what requests may hold, what answers look like."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ..errors import BadInput
from ..turn.messages import as_text
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


def text_of(content: str | list[Part] | None, kinds: frozenset[str], field: str) -> str:
    """The text of a message; BadInput where it holds a part that is none."""
    if not isinstance(content, list):
        return content or ""
    if other := next((p.type for p in content if p.type not in kinds), ""):
        raise BadInput(
            f"{field} holds a part of type {other[:64]!r}: only text is read", field=field
        )
    return "\n".join(part.text for part in content)


MAX_STOPS: Final = 4

_TOKEN: Final = re.compile(r"\s*(?:[A-Za-z]{1,4}|\d{1,3}|[^\W\d_]{1,2}|\S)")
"""A piece of text that no tokeniser of today's models makes more than about one token of."""


def refuse(name: str, why: str) -> BadInput:
    """A parameter that is not served, as the protocol words it."""
    return BadInput(f"{name}: {why}", code="unsupported_parameter", field=name)


def only_text(name: str, wanted: Mapping[str, Any] | None) -> None:
    """Raise BadInput where another form of answer than text is wanted."""
    kind = str((wanted or {}).get("type") or "text")
    if kind != "text":
        raise refuse(name, f"the kernel answers in text only, not {kind[:64]!r}")


def no_choice(name: str, choice: object) -> None:
    """Raise BadInput where a call of the client's own tools is demanded: the kernel never makes
    one, which `auto` and `none` allow."""
    kind = choice.get("type", "function") if isinstance(choice, Mapping) else choice
    if kind not in (None, "auto", "none"):
        raise refuse(name, "the kernel calls its own functions only, so use 'auto' or 'none'")


def no_more_than_text(*, logprobs: bool | None, modalities: Sequence[str] | None) -> None:
    """Raise BadInput for probabilities and for sounds."""
    if logprobs:
        raise refuse("logprobs", "the kernel gives no probabilities")
    if set(modalities or ()) - {"text"}:
        raise refuse("modalities", "the kernel answers in text only")


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an answer ends: before the first of `stops`, and after `tokens`, by a count that is
    rather too high than too low; 0 is no limit."""

    stops: tuple[str, ...] = ()
    tokens: int = 0

    def cut(self, text: str) -> tuple[str, bool]:
        """The text within its limits, and whether the number of tokens cut it."""
        places = [place for stop in self.stops if (place := text.find(stop)) >= 0]
        text = text[: min(places)] if places else text
        if not self.tokens:
            return text, False
        end, count = 0, 0
        for piece in _TOKEN.finditer(text):
            if count == self.tokens:
                return text[:end], True
            end, count = piece.end(), count + 1
        return text, False


def limits(stop: str | Sequence[str] | None, tokens: int | None) -> Limits:
    """The limits that a request names."""
    stops = (stop,) if isinstance(stop, str) else tuple(stop or ())
    if len(stops) > MAX_STOPS:
        raise refuse("stop", f"takes at most {MAX_STOPS} texts")
    return Limits(tuple(filter(None, stops)), tokens or 0)


def told(reply: JSONObject, ends: Limits) -> tuple[str, bool]:
    """A turn's answer as text, its reply within the limits, and whether tokens cut it. Receipts
    stay whole, and so does a question that a yes would answer: no effect is hidden by a limit."""
    if reply.get("status") == "confirmation":
        return as_text(reply), False
    text, is_cut = ends.cut(reply["reply"])
    marks = [m for m in reply.get("marks", ()) if m["end"] <= len(text)]
    return as_text({**reply, "reply": text, "marks": marks}), is_cut
