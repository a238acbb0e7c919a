"""Having sections' handlers run: one call for everything of a user that is due."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from ..base.logs import correlation_id
from ..channels.skeleton import snapshots
from ..dispatch import Dispatch
from ..errors import DispatchUnanswered
from ..sdk.context import User
from ..values import CallRequest, JSONObject, Section, user_dict

SECTIONS_S = 52.0
"""Seconds for all handlers of one user together. A handler has 20; those that another one kept
from running share the rest."""

Results = Mapping[tuple[str, str], JSONObject]
"""By app and section `{"data": …}` or `{"code", "error"}`."""

_log = logging.getLogger("webbee.refresh")


async def run(
    dispatch: Dispatch, user: User, due: Sequence[Section], known: Iterable[Section]
) -> Results:
    """The result of every due section's handler; each may read what is stored of its own app.

    One that is missing in the answer, or an answer that is missing, is a failure of that section.
    """
    apps: dict[str, list[str]] = {}
    for section in due:
        apps.setdefault(section.app_id, []).append(section.section)
    stored = {app_id: snapshots([s for s in known if s.app_id == app_id]) for app_id in apps}
    request = CallRequest(
        "skeletons",
        user_dict(user),
        "",
        "skeletons",
        {"sections": apps, "snapshots": stored},
        deadline_s=SECTIONS_S,
        correlation_id=correlation_id(),
    )
    try:
        outcome = await dispatch.call(request)
    except DispatchUnanswered as error:
        _log.warning("sections=%d error=%s | no answer", len(due), type(error).__name__)
        return {s.key: _failure("BACKEND_5XX", str(error)) for s in due}
    found = outcome.data if outcome.ok else {}
    none = _failure(outcome.error_code or "INTERNAL", outcome.error or "no result")
    return {s.key: (found.get(s.app_id) or {}).get(s.section, none) for s in due}


def _failure(code: str, error: str) -> JSONObject:
    return {"code": code, "error": error}
