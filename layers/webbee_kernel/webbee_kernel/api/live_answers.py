"""Shapes of answers about turns that are followed (docs/live.md), their calls and questions."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from ..values.plain import JSONObject


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
    """An argument as a person reads it; `title` is what an id stands for."""

    name: str
    value: Any
    title: NotRequired[str]
