"""Alerts: what an extension says about a change of a section, told to its user once."""

from __future__ import annotations

from ..catalogue import Dispatch
from ..clock import digest
from ..observability import correlation_id
from ..sdk.user import User
from ..stores.event_log import EventLog
from ..stores.types import Section
from ..text import one_line
from ..types import CallRequest, JSONObject, UserKey, user_dict

ALERT_S = 25.0
"""Seconds an alert tool may take."""
MAX_ALERT = 1_000
"""Characters of an alert; a longer one is cut."""


class Alerts:
    """Has alert tools called and their text delivered."""

    def __init__(self, dispatch: Dispatch, events: EventLog) -> None:
        self._dispatch = dispatch
        self._events = events

    async def deliver(self, user: User, section: Section) -> None:
        """Deliver the alert of the stored change. Repeatable: the event's id is made of the section
        and its version, so the user hears of it once."""
        change: JSONObject = {"old": section.previous or {}, "new": section.data or {}}
        request = CallRequest(
            "alert",
            user_dict(user),
            section.app_id,
            section.section,
            change,
            deadline_s=ALERT_S,
            correlation_id=correlation_id(),
        )
        outcome = await self._dispatch.call(request)
        text = str(outcome.data["text"]) if outcome.ok else ""
        if text:
            data = {
                "app_id": section.app_id,
                "section": section.section,
                "text": one_line(text, MAX_ALERT),
            }
            await self._events.emit(UserKey.of(user), "alert", data, event_id=_event_id(section))


def _event_id(section: Section) -> str:
    """Sorts by time like every event id, and is the same for the same change."""
    milliseconds = int((section.refreshed_at or 0) * 1000)
    return f"{milliseconds:012x}7{digest(section.app_id, section.section, section.version)[:19]}"
