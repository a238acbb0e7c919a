"""What is kept of what was done, and what the page is told."""

from __future__ import annotations

from dataclasses import dataclass

from .plain import JSONObject


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One dispatched call, for good. `record_id` sorts by time; `effect` is the same for every
    delivery of the call."""

    record_id: str
    at: str
    app_id: str
    fn_name: str
    action_type: str
    session_id: str
    request_id: str
    step: int
    args_hash: str
    status: str
    error_code: str = ""
    duration_ms: int = 0
    outcome: JSONObject | None = None
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """Something the page shows: `kind` is alert, fault, notification, panel_refresh, progress,
    result or turn."""

    event_id: str
    at: str
    kind: str
    data: JSONObject
