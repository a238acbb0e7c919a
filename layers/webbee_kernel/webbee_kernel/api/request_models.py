"""Wire models of requests. Unknown fields, wrong types and exceeded limits are refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from ..errors import BadInput

MAX_MESSAGE = 8_000
"""Characters of a message."""

MAX_SEARCH = 500
"""Characters of the inspector's search."""

PAGE = 50
"""Rows of a list in one answer, maximum and default."""


@contextmanager
def check_cursor() -> Iterator[None]:
    """BadInput for an invalid cursor."""
    try:
        yield
    except ValueError as error:
        raise BadInput(str(error)[:200], field="cursor") from None


def _has_text(value: str) -> str:
    if not value.strip():
        raise ValueError("must hold some text")
    return value


class Wire(BaseModel):
    """What a request holds. Unknown fields are refused."""

    # built with the first request that needs it, not at start
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


MAX_EDIT = 100_000
Edits = Annotated[
    dict[
        Annotated[str, Field(pattern=r"^[0-9]{1,2}$")],
        dict[
            Annotated[str, Field(min_length=1, max_length=200)],
            Annotated[str, Field(min_length=1, max_length=MAX_EDIT)],
        ],
    ],
    Field(json_schema_extra={"additionalProperties": False}),
]
SESSION_ID = r"[A-Za-z0-9_-]{1,64}"
SessionId = Annotated[str, Field(pattern=f"^{SESSION_ID}$")]
EVENT_ID = r"^[0-9a-f]{0,32}$"
"""The id of an event, the beginning of one, or nothing."""
EventId = Annotated[str, Field(pattern=EVENT_ID)]
RequestId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")]
Text = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"pattern": r"[^\s\u001c-\u001f\u0085]"}),
    AfterValidator(_has_text),
]
"""Not only white space."""


class ChatBody(Wire):
    """`POST /v1/chat`. A session id of your own choice continues that session; a request id makes a
    retry safe."""

    message: Annotated[Text, Field(max_length=MAX_MESSAGE)]
    session_id: SessionId | None = None
    request_id: RequestId | None = None


class ConfirmationBody(Wire):
    """`POST /v1/confirmations/{id}`. `edits` are texts rewritten on the card, by place of the call
    and path of the field; with `remember` its destinations are not asked about again."""

    accept: bool
    edits: Edits = {}
    remember: bool = False


class HelloFrame(Wire):
    """The first frame of a connection: the last event that the page has seen, empty for none."""

    type: Literal["hello"]
    last_event_id: EventId = ""


class PingFrame(Wire):
    """Says that somebody is there, and whatever else: API Gateway ends a connection that was silent
    for ten minutes."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["ping"]


class TurnFrame(ChatBody):
    """A message, said over a socket."""

    type: Literal["turn"]


class ConfirmFrame(ConfirmationBody):
    """An answer to a question, said over a socket."""

    type: Literal["confirm"]
    confirmation_id: Annotated[str, Field(min_length=1, max_length=64)]


class StopPath(Wire):
    """`POST /v1/turns/{request_id}/stop`."""

    request_id: RequestId


class StopFrame(StopPath):
    """The wish to stop a turn, said over a socket."""

    type: Literal["stop"]


class Params(BaseModel):
    """What a request asks for in path and query: texts, whatever is made of them."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class After(Params):
    """What comes behind an answer."""

    cursor: Annotated[str, Field(description="The cursor of the answer before.")] = ""


class Page(After):
    """A part of a list."""

    limit: Annotated[int, Field(ge=1, le=PAGE, description="How many rows, at most.")] = PAGE


class EventsParams(Params):
    """`GET /v1/events`."""

    last_event_id: Annotated[
        EventId,
        Field(description="Where to go on, for clients that cannot send the header Last-Event-ID."),
    ] = ""


class InspectParams(Params):
    """`GET /v1/inspect`."""

    session_id: Annotated[
        SessionId,
        BeforeValidator(lambda given: given or "inspect"),
        Field(description="The session whose memory is read; without it an empty one."),
    ] = "inspect"
    message: Annotated[
        str, Field(max_length=MAX_MESSAGE, description="A message not yet sent.")
    ] = ""
    search: Annotated[
        str, Field(max_length=MAX_SEARCH, description="A value to look for in every channel.")
    ] = ""
