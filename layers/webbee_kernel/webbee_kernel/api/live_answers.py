"""Shapes of answers about turns that are followed (docs/live.md)."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


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
