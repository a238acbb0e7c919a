"""Wire models: what requests may hold. Unknown fields, wrong types and breached limits are refused
by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ..errors import BadInput
from ..types import JSONObject

MAX_MESSAGE = 8_000
"""Characters of a message."""

MAX_TITLE = 80
"""Characters of a session's title."""

MAX_QUERY = 80
"""Characters of what is searched for in conversations."""

MAX_SEARCH = 500
"""Characters of what the inspector looks for."""


def limit_of(query: Mapping[str, str]) -> int:
    """How many rows a list shall have; BadInput for what is no number from 1 to `PAGE`."""
    given = query.get("limit")
    if given is None:
        return PAGE
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= PAGE:
        raise BadInput(f"limit is a number from 1 to {PAGE}", field="limit", limit=PAGE)
    return int(given)


def at_most(limit: int, name: str, value: str) -> str:
    """A text of a request's; BadInput where it has more characters."""
    if len(value) > limit:
        told = f"{name} has {len(value)} characters; the limit is {limit}"
        raise BadInput(told, field=name, limit=limit)
    return value


def _has_text(value: str) -> str:
    if not value.strip():
        raise ValueError("must hold some text")
    return value


class _Wire(BaseModel):
    # built with the first request that holds one: a start would pay for all of them
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
SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
RequestId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")]
Message = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_MESSAGE,
        json_schema_extra={"pattern": r"[^\s\u001c-\u001f\u0085]"},
    ),
    AfterValidator(_has_text),
]


class ChatBody(_Wire):
    """`POST /v1/chat`. A session id of your own choice continues that session; a request id makes a
    retry safe."""

    message: Message
    session_id: SessionId | None = None
    request_id: RequestId | None = None


class ConfirmationBody(_Wire):
    """`POST /v1/confirmations/{id}`. `edits` are texts rewritten on the card, by place of the call
    and path of the field; with `remember` its destinations are not asked about again."""

    accept: bool
    edits: Edits = {}
    remember: bool = False


class RenameBody(_Wire):
    """`PATCH /v1/sessions/{id}`."""

    title: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_TITLE,
            json_schema_extra={"pattern": r"[^\s\u001c-\u001f\u0085]"},
        ),
        AfterValidator(_has_text),
    ]


class CallBody(_Wire):
    """`POST /v1/extensions/{app_id}/call`: a chat function, or a panel as `__panel__<id>`."""

    function: Annotated[str, Field(min_length=1, max_length=128)]
    params: JSONObject = Field(default_factory=dict)
    request_id: RequestId | None = None


class SignInBody(BaseModel):
    """`POST /v1/ext/{app_id}/oauth/{provider}/callback`: the form of the page that asks; what a
    provider adds is ignored."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    state: Annotated[str, Field(min_length=1, max_length=1024)]
    code: Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,4096}$")]


class InstallationBody(_Wire):
    """`PUT /v1/extensions/{app_id}/installation`; may be left out."""

    refresh: bool = False


class SecretBody(_Wire):
    """`PUT /v1/extensions/{app_id}/secrets/{name}`."""

    value: Annotated[str, Field(min_length=1, max_length=65_536)]


class HelloFrame(_Wire):
    """The first frame of a connection: the last event that the page has seen, empty for none."""

    type: Literal["hello"]
    last_event_id: Annotated[str, Field(max_length=64)] = ""


class TurnFrame(ChatBody):
    """A message, said over a socket."""

    type: Literal["turn"]


class ConfirmFrame(_Wire):
    """An answer to a question, said over a socket."""

    type: Literal["confirm"]
    confirmation_id: Annotated[str, Field(min_length=1, max_length=64)]
    accept: bool
    edits: Edits = {}
    remember: bool = False


class StopFrame(_Wire):
    """The wish to stop a turn, said over a socket."""

    type: Literal["stop"]
    request_id: RequestId


class StopPath(_Wire):
    """`POST /v1/turns/{request_id}/stop`."""

    request_id: RequestId


STOP_PARAMS = {"request_id": RequestId}
SESSION_PARAMS = {"id": SessionId}
_CURSOR = Annotated[str, Field(description="The cursor of the answer before.")]
PAGE = 50
"""Rows of a list in one answer, at most and where nothing is said."""
_LIMIT = Annotated[int, Field(ge=1, le=PAGE, description="How many rows, at most.")]
SESSION_TURNS_PARAMS = {"id": SessionId, "cursor": _CURSOR, "limit": _LIMIT}
SESSIONS_PARAMS = {
    "cursor": _CURSOR,
    "limit": _LIMIT,
    "q": Annotated[str, Field(max_length=MAX_TITLE, description="What the title must hold.")],
}
SEARCH_PARAMS = {
    "q": Annotated[str, Field(max_length=MAX_QUERY, description="Words that were all said.")],
    "cursor": _CURSOR,
}
AUDIT_PARAMS = {"cursor": Annotated[_CURSOR, Field(max_length=64)], "limit": _LIMIT}
EXPORT_PARAMS = {
    "cursor": Annotated[str, Field(description="The cursor in the last line of the part before.")]
}
ACCEPTED_PARAMS = {
    "key": Annotated[
        str, Field(max_length=256, description="Which one; without it all are taken back.")
    ]
}
ERASE_PARAMS = {
    "confirm": Annotated[
        str, Field(description="The word that the same request without it answered.")
    ]
}
EVENTS_PARAMS = {
    "last_event_id": Annotated[
        str,
        Field(
            max_length=64,
            description="Where to go on, for clients that cannot send the header Last-Event-ID.",
        ),
    ]
}
INSPECT_PARAMS = {
    "session_id": Annotated[
        SessionId, Field(description="The session whose memory is read; without it an empty one.")
    ],
    "message": Annotated[str, Field(max_length=MAX_MESSAGE, description="A message not yet sent.")],
    "search": Annotated[
        str, Field(max_length=MAX_SEARCH, description="A value to look for in every channel.")
    ],
}
"""Query and path parameters by name, for the OpenAPI document; the routes check them themselves."""
