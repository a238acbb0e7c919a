"""Shapes of answers about turns that are followed (docs/live.md), their calls and questions."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from ..types import JSONObject


class TicketAnswer(TypedDict):
    """Where to open a WebSocket, once, within `expires_in` seconds (docs/live.md)."""

    url: str
    expires_in: int


class StopAnswer(TypedDict):
    """The wish is noted; what ran is told in the turn's reply."""

    request_id: str
    status: Literal["stopping"]


class WorkingAnswer(TypedDict):
    """202: the turn goes on; its answer arrives as an event of kind `turn` (docs/live.md)."""

    request_id: str
    session_id: str
    status: Literal["working"]


class CallDetails(TypedDict):
    """What a call was given and what it gave, cut to what can be looked at; passwords are
    hidden."""

    arguments: NotRequired[JSONObject]
    data: NotRequired[Any]
    summary: NotRequired[str]
    error: NotRequired[str]


class QuestionField(TypedDict):
    """An argument as a person reads it. `kind` says what it is for him: where the effect goes, the
    record that it is about (`title`: what its id stands for), a text, another value, or a secret,
    whose value is hidden. A text with a `path` may be rewritten with the yes."""

    name: str
    value: Any
    kind: Literal["destination", "record", "text", "value", "secret"]
    title: NotRequired[str]
    path: NotRequired[str]
