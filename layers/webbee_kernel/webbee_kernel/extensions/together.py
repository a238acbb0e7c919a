"""Several sections' handlers in one call: side by side, and none of them at the others' expense.

A handler that fails or is slow fails alone. One that blocks the extensions' thread starves those
beside it: they have not had their time, so they get it afterwards, one at a time on a new thread,
where whoever blocks again loses its own turn only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ..types import CallOutcome, CallRequest, JSONObject, succeeded

SHARE = 0.4
"""Of the call's time for all handlers side by side, and again for those that were starved."""
LEAST_S = 0.1

Execute = Callable[[CallRequest], Awaitable[CallOutcome]]
"""Runs one call to its outcome; TimeoutError where its thread was blocked."""


async def run(execute: Execute, request: CallRequest) -> CallOutcome:
    """`arguments.sections` names sections by app; the outcome's data holds for each, by app,
    `{"data": …}` or `{"code", "error"}`."""
    each = _each(request)
    together = request.deadline_s * SHARE
    found = await asyncio.gather(*(_one(execute, replace(r, deadline_s=together)) for r in each))
    results = {(r.app_id, r.name): o for r, o in zip(each, found, strict=True)}
    starved = [r for r in each if results[r.app_id, r.name] is None]
    apart = max(LEAST_S, together / max(1, len(starved)))
    for call in starved:
        results[call.app_id, call.name] = await _one(execute, replace(call, deadline_s=apart))
    data: JSONObject = {}
    for call in each:
        data.setdefault(call.app_id, {})[call.name] = _told(results[call.app_id, call.name])
    return succeeded(request, data)


def _each(request: CallRequest) -> list[CallRequest]:
    stored = request.arguments.get("snapshots") or {}
    return [
        replace(
            request,
            kind="skeleton",
            app_id=app_id,
            name=section,
            arguments={"snapshots": stored.get(app_id) or {}},
        )
        for app_id, sections in (request.arguments.get("sections") or {}).items()
        for section in sections
    ]


async def _one(execute: Execute, call: CallRequest) -> CallOutcome | None:
    """Its outcome; None where the thread was blocked, by it or by another."""
    try:
        return await execute(call)
    except TimeoutError:
        return None


def _told(outcome: CallOutcome | None) -> JSONObject:
    if outcome is None:
        return {"code": "BACKEND_TIMEOUT", "error": "its thread was blocked"}
    if outcome.ok:
        return {"data": outcome.data}
    return {"code": outcome.error_code, "error": outcome.error}
