"""The plain values that travel between the rooms: frozen, JSON-shaped, no I/O.

May import: base, sdk. Entrance: this module has them all; each file is one noun.
"""

from __future__ import annotations

from .calls import (
    NOT_RUN,
    RUNNING,
    CallOutcome,
    CallRequest,
    Plan,
    Step,
    failed,
    outcome_from,
    sent,
    succeeded,
)
from .keys import SessionKey, UserKey
from .limits import Counted, Used
from .plain import JSON, JSONObject
from .records import AuditRecord, Event
from .refreshing import (
    EffectOpen,
    JobDue,
    RefreshAsked,
    RefreshMessage,
    ShardDue,
    UnknownMessage,
    UserDue,
    UserSeen,
    Wanted,
)
from .sections import DueUser, Installation, Lease, Saved, Section, ShardMark, UserState
from .sessions import (
    RING_SIZE,
    Accepted,
    Answering,
    HistoryItem,
    PendingConfirmation,
    SessionMemory,
    SessionSummary,
    ToolCallDigest,
    Turn,
    TurnStatus,
)
from .users import user_dict, user_from

__all__ = [
    "JSON",
    "NOT_RUN",
    "RING_SIZE",
    "RUNNING",
    "Accepted",
    "Answering",
    "AuditRecord",
    "CallOutcome",
    "CallRequest",
    "Counted",
    "DueUser",
    "EffectOpen",
    "Event",
    "HistoryItem",
    "Installation",
    "JSONObject",
    "JobDue",
    "Lease",
    "PendingConfirmation",
    "Plan",
    "RefreshAsked",
    "RefreshMessage",
    "Saved",
    "Section",
    "SessionKey",
    "SessionMemory",
    "SessionSummary",
    "ShardDue",
    "ShardMark",
    "Step",
    "ToolCallDigest",
    "Turn",
    "TurnStatus",
    "UnknownMessage",
    "Used",
    "UserDue",
    "UserKey",
    "UserSeen",
    "UserState",
    "Wanted",
    "failed",
    "outcome_from",
    "sent",
    "succeeded",
    "user_dict",
    "user_from",
]
