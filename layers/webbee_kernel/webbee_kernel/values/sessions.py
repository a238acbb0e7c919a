"""What a conversation remembers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

TurnStatus = Literal["ok", "error", "confirmation"]


RING_SIZE = 5
"""Turns a session remembers (context-channels: "last 5 turns")."""


@dataclass(frozen=True, slots=True)
class ToolCallDigest:
    """One successful call as the ledger keeps it: `data_facts_json` is the JSON of
    `ActionResult.data`, empty where that was; `args_json` the arguments that it does not repeat,
    empty where there are none."""

    app_id: str
    fn_name: str
    data_facts_json: str
    args_json: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One remembered turn.

    `seq` counts from 1; slot `seq % 5` of the ring holds it. `vault` maps the placeholders that
    stand in `digests` and are still needed to their real values; nothing renders it. `masked` says
    whether `digests` were masked when stored. `response` is the whole answer, so a repeated request
    gets it from the same read. `accepted` are values that the user has said yes to in it, in the
    form in which provenance compares them. `vouched` are ids that the reply shows and that were
    known to be real when it was written, where no fact keeps them; `doubted` are values that a
    model made up for arguments, which results may repeat.
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
    accepted: tuple[str, ...] = ()
    vouched: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()


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

    @property
    def older(self) -> int:
        """How many turns the session had before those that are remembered."""
        return self.turns[0].seq - 1 if self.turns else 0

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
class HistoryItem:
    """A remembered turn as the prompt shows it: `facts` are the lines of its `digests`."""

    at: str
    status: str
    apps: tuple[str, ...]
    message: str
    reply: str
    facts: tuple[str, ...]
    digests: tuple[ToolCallDigest, ...] = ()
