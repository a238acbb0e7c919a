"""Having sections' handlers run: one call for everything of a user that is due."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from ..base.logs import correlation_id
from ..channels.skeleton import snapshots
from ..dispatch import Dispatch
from ..errors import DispatchRefused, DispatchUnanswered
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
    try:
        outcome = await dispatch.call(_request(user, due, known))
    except (DispatchUnanswered, DispatchRefused) as error:
        _log.warning("sections=%d error=%s | no answer", len(due), type(error).__name__)
        return {s.key: _failure("BACKEND_5XX", str(error)) for s in due}
    if not outcome.ok:
        return {s.key: _failure(outcome.error_code, outcome.error) for s in due}
    none = _failure("INTERNAL", "no result")
    return {s.key: outcome.data.get(s.app_id, {}).get(s.section, none) for s in due}


def _request(user: User, due: Sequence[Section], known: Iterable[Section]) -> CallRequest:
    apps: dict[str, list[str]] = {}
    stored: dict[str, list[Section]] = {}
    for section in due:
        apps.setdefault(section.app_id, []).append(section.section)
    for section in known:
        stored.setdefault(section.app_id, []).append(section)
    return CallRequest(
        "skeletons",
        user_dict(user),
        "",
        "skeletons",
        {"sections": apps, "snapshots": {a: snapshots(stored.get(a, [])) for a in apps}},
        deadline_s=SECTIONS_S,
        correlation_id=correlation_id(),
    )


def _failure(code: str, error: str) -> JSONObject:
    return {"code": code, "error": error}
