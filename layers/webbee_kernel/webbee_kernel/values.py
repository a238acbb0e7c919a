"""The values a turn is made of. Plain, frozen, JSON-shaped; no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

JSON = Any
"""A JSON value: dict, list, str, int, float, bool or None."""

TurnStatus = Literal["ok", "error", "confirmation"]
RING_SIZE = 5
"""Turns a session remembers (context-channels: "last 5 turns")."""


@dataclass(frozen=True, slots=True)
class UserKey:
    """Whose data it is. Both parts come from the authoriser; neither may hold `#`."""

    tenant_id: str
    imperal_id: str

    def __str__(self) -> str:
        return f"{self.tenant_id}#{self.imperal_id}"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """One conversation of one user."""

    user: UserKey
    session_id: str

    def __str__(self) -> str:
        return f"{self.user}#{self.session_id}"


@dataclass(frozen=True, slots=True)
class ToolCallDigest:
    """One successful call as the ledger keeps it: `data_facts_json` is the JSON of
    `ActionResult.data`."""

    app_id: str
    fn_name: str
    data_facts_json: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One remembered turn.

    `seq` counts from 1; slot `seq % 5` of the ring holds it. `vault` maps the placeholders that
    stand in `digests` and are still needed to their real values; nothing renders it. `masked` says
    whether `digests` were masked when stored. `response` is the whole answer, so a repeated request
    gets it from the same read.
    """

    seq: int
    at: str
    status: TurnStatus
    message: str
    reply: str
    request_id: str
    apps: tuple[str, ...] = ()
    digests: tuple[ToolCallDigest, ...] = ()
    vault: dict[str, str] = field(default_factory=dict)
    masked: bool = True
    response: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PendingConfirmation:
    """Calls that wait for the user's yes: `conf_<12 hex>`, 300 s, the exact arguments."""

    confirmation_id: str
    expires_at: int
    message: str
    request_id: str
    steps: tuple[dict[str, Any], ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """What one strongly consistent query returns: at most five turns, oldest first, and what
    waits."""

    turns: tuple[Turn, ...] = ()
    pending: PendingConfirmation | None = None

    @property
    def last_seq(self) -> int:
        """The highest sequence number, 0 for a new session."""
        return self.turns[-1].seq if self.turns else 0

    def answered(self, request_id: str) -> Turn | None:
        """The remembered turn that already answered this request."""
        return next((t for t in self.turns if t.request_id == request_id), None)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A row of the session list."""

    session_id: str
    title: str
    touched_at: str
    turns: int


@dataclass(frozen=True, slots=True)
class Section:
    """One stored skeleton section, the kernel's bookkeeping included.

    `data` is the handler's inner dict; None until the first refresh succeeded. Times are Unix
    seconds. `version` counts saves; `alerted` is the version whose alert was dealt with.
    """

    app_id: str
    section: str
    data: dict[str, Any] | None = None
    refreshed_at: float | None = None
    ttl: int = 300
    due_at: float | None = None
    lease_until: float = 0.0
    failures: int = 0
    last_error: str = ""
    version: int = 0
    alerted: int = 0
    previous: dict[str, Any] | None = None
    user: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Installation:
    """Whether a user has an app. Without a record the deployment's default holds."""

    app_id: str
    installed: bool
    version: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class UserState:
    """One query over the skeleton table: every section and every installation record of a user.

    `seen_at` is when a turn was last noted (Unix seconds), to a day; None where nobody asks for it
    or never was.
    """

    sections: tuple[Section, ...] = ()
    installations: tuple[Installation, ...] = ()
    seen_at: float | None = None


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
    outcome: dict[str, Any] | None = None
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """Something the page shows: `kind` is panel_refresh, notification, alert, progress, result or
    confirmation."""

    event_id: str
    at: str
    kind: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """A remembered turn as the prompt shows it."""

    at: str
    status: str
    apps: tuple[str, ...]
    message: str
    reply: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One planned call. `arguments` may hold references to earlier steps: `{{steps.0.data.id}}`."""

    index: int
    app_id: str
    fn_name: str
    arguments: dict[str, Any]
    action_type: str = "read"

    @property
    def has_effect(self) -> bool:
        """Whether it changes something."""
        return self.action_type != "read"


@dataclass(frozen=True, slots=True)
class Plan:
    """What the classifier decided: steps in order, or a plain answer."""

    steps: tuple[Step, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One call on its way to extension code. Everything is plain JSON: it may travel to another
    function.

    `kind` is function, check (validate only), panel, skeleton, alert, hook, webhook or schedule.
    `nth` counts the calls of this function in its turn where a model chose the arguments; None
    where a person or a program did.
    """

    kind: str
    user: dict[str, Any]
    app_id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    session_id: str = ""
    request_id: str = ""
    step: int = 0
    deadline_s: float = 20.0
    correlation_id: str = ""
    nth: int | None = None


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended. `data` is ActionResult.data as plain JSON; `problems` names rejected
    arguments."""

    app_id: str
    fn_name: str
    status: str
    data: Any = None
    summary: str = ""
    error: str = ""
    error_code: str = ""
    retryable: bool = False
    ui: Any = None
    panels: tuple[str, ...] = ()
    duration_ms: int = 0
    action_type: str = "read"
    step: int = 0
    repeated: bool = False
    problems: tuple[dict[str, str], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.status == "ok"
