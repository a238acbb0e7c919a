"""Stored records: sessions and turns, skeleton sections, timers, and limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from ..types import JSONObject

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
class PendingConfirmation:
    """A confirmation of all effects of a turn: `conf_<12 hex>`, valid 300 s, for exact calls.

    It is stored in its turn. `values` are the keys of destinations that a yes accepts for the
    session; `hidden` names secret arguments by call number (`0.password`); `resume`: more was
    planned after it; `asks` is the card shown to the user.
    """

    confirmation_id: str
    expires_at: int
    message: str
    request_id: str
    steps: tuple[JSONObject, ...]
    summary: str = ""
    values: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    resume: bool = False
    asks: JSONObject = field(default_factory=dict)


class AcceptedDestination(NamedTuple):
    """A destination that the user has accepted for a function; `key` is its look-up form."""

    key: str
    app_id: str
    fn_name: str
    destination: str
    at: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One remembered turn; a question and its answer are one.

    `seq` counts from 1; slot `seq % 5` of the ring holds it. `vault` maps the placeholders that
    stand in `digests` and are still needed to their real values; nothing renders it. `masked` says
    whether `digests` were masked when stored. `response` is the whole answer, so a repeated request
    gets it from the same read: `request_id`, or one of `also`, the requests that answered this
    turn's questions. `waiting` are its questions that nobody has answered; `paused`, while there
    are any, what it goes on with: the calls before them with more of their results than `digests`
    keep; `accepted` the destinations that the session's user has said yes to, carried on from turn
    to turn; `vouched` are ids that the reply shows and that were known to be real
    when it was written, where no fact keeps them; `doubted` are values that a model made up for
    arguments, which results may repeat. `marks` are short hashes of the requests that it has
    answered and of their messages (`turn/record.py`); `shown` are texts that the user saw beside
    the reply, in what a call drew; `listed` is what the session has been shown of a catalogue too
    large to be shown whole (`turn/tool_retrieval.py`); up to
    `told` (a sequence number) the transcript held the session's turns when this one was recorded;
    `order` counts the answers of the session, those to cards of earlier turns among them: the turn
    with the highest is what its user was shown last. `unended` are the places in `response` of
    calls whose end was not waited for, by a hash of their arguments.
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
    response: JSONObject = field(default_factory=dict)
    accepted: tuple[str, ...] = ()
    vouched: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    waiting: tuple[PendingConfirmation, ...] = ()
    also: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    paused: tuple[ToolCallDigest, ...] = ()
    listed: str = ""
    told: int = 0
    order: int = 0
    unended: dict[str, int] = field(default_factory=dict)


class AnswerLease(NamedTuple):
    """A lease on answering a confirmation, until Unix seconds, and the answer; the first counts."""

    until: float
    yes: bool


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """What one strongly consistent query returns: at most five turns, oldest first.

    `leases` are the leases by confirmation id; `versions` by sequence number are what
    `SessionStore.replace` asks for. `past` are turns of the ring that no model sees any more, kept
    for the person alone.
    """

    turns: tuple[Turn, ...] = ()
    leases: dict[str, AnswerLease] = field(default_factory=dict)
    versions: dict[int, str] = field(default_factory=dict, compare=False)
    past: tuple[Turn, ...] = ()

    def since(self, moment: str) -> SessionMemory:
        """The same without turns before that time."""
        if not self.turns or self.turns[0].at > moment:
            return self
        kept = tuple(t for t in self.turns if t.at > moment)
        past = tuple(t for t in self.turns if t.at <= moment)
        return replace(self, turns=kept, past=(*self.past, *past))

    @property
    def ring(self) -> tuple[Turn, ...]:
        """All turns that the table holds, oldest first."""
        return (*self.past, *self.turns)

    @property
    def last_seq(self) -> int:
        """The highest sequence number, 0 for a new session."""
        # what is past is older than all that is remembered
        newest = self.turns or self.past
        return newest[-1].seq if newest else 0

    @property
    def archived_seq(self) -> int:
        """The sequence number of the last archived turn."""
        return max((t.told for t in self.ring), default=0)

    @property
    def earlier(self) -> int:
        """How many turns the session had before the remembered ones."""
        return self.turns[0].seq - 1 if self.turns else self.last_seq

    @property
    def last(self) -> Turn | None:
        """The newest turn; None where there is none yet."""
        return self.turns[-1] if self.turns else None

    @property
    def next_order(self) -> int:
        """The number of the next answer."""
        return max((t.order for t in self.ring), default=0) + 1

    @property
    def last_shown(self) -> Turn | None:
        """The turn answered last: the newest, or one whose card was answered since."""
        return max(self.turns, key=lambda t: (t.order, t.seq), default=None)

    def turn_of(self, request_id: str) -> Turn | None:
        """The remembered turn that already answered this request."""
        return next(
            (t for t in self.turns if request_id == t.request_id or request_id in t.also), None
        )

    def question(self, confirmation_id: str) -> tuple[Turn, PendingConfirmation] | None:
        """The pending confirmation of this id and its turn; None where it is not pending."""
        return next(
            ((t, p) for t in self.turns for p in t.waiting if p.confirmation_id == confirmation_id),
            None,
        )


TurnPlace = tuple[str, int]
"""A turn's time and number, which order a conversation."""


class SessionSummary(NamedTuple):
    """A row of the session list."""

    session_id: str
    title: str
    touched_at: str
    turns: int


class HistoryItem(NamedTuple):
    """A remembered turn as the prompt shows it: `facts` are the lines of its `digests`."""

    at: str
    status: str
    apps: tuple[str, ...]
    message: str
    reply: str
    facts: tuple[str, ...]
    digests: tuple[ToolCallDigest, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One stored skeleton section, the kernel's bookkeeping included.

    `data` is the handler's inner dict; None until the first refresh succeeded. Times are Unix
    seconds. `version` counts changes of the data; `alerted` is the version whose alert was dealt
    with. `previous` is what the data was before its last change, and is filled under a lease only.
    """

    app_id: str
    section: str
    data: JSONObject | None = None
    refreshed_at: float | None = None
    ttl: int = 300
    due_at: float | None = None
    lease_until: float = 0.0
    failures: int = 0
    last_error: str = ""
    version: int = 0
    alerted: int = 0
    previous: JSONObject | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.app_id, self.section


@dataclass(frozen=True, slots=True)
class Installation:
    """Whether a user has an app; without a record the deployment's default holds. `owed` are hooks
    that did not run: the next installation calls them."""

    app_id: str
    installed: bool
    version: str = ""
    at: str = ""
    owed: tuple[str, ...] = ()


class UserState(NamedTuple):
    """One query over the skeleton table: every section and every installation record of a user.

    `seen_at` is when a turn was last noted (Unix seconds), to a day; None where nobody asks for it
    or never was.
    """

    sections: tuple[Section, ...] = ()
    installations: tuple[Installation, ...] = ()
    seen_at: float | None = None

    def has(self, app_id: str, default: bool) -> bool:
        """Whether the user has the app: their own decision, else the deployment's default."""
        return next((i.installed for i in self.installations if i.app_id == app_id), default)


class Lease(NamedTuple):
    """A lease on a user's timer, with the user's state when it was taken.

    `until` is the fencing token of each save. `requested` are sections requested while another
    consumer held the timer. `known` is the stored bookkeeping, to notice concurrent changes.
    """

    until: float
    state: UserState
    requested: frozenset[tuple[str, str]] = frozenset()
    known: str = ""


class SaveResult(NamedTuple):
    """The timer's next due time after a save; None with no section on it."""

    due_at: float | None


class DueUser(NamedTuple):
    """An entry of the due index: the user as messages need it, and the due time."""

    user: JSONObject
    due_at: float


@dataclass(frozen=True, slots=True)
class ShardMark:
    """The tick's progress in one shard of the due index (Unix seconds): everything due before
    `queued_until` is queued; `swept_at` is the last sweep; `lease` is its consumer's token."""

    queued_until: float = 0.0
    swept_at: float = 0.0
    lease: float = 0.0


class LimitUsage(NamedTuple):
    """Stored requests of this minute and model tokens of this day."""

    requests: int = 0
    tokens: int = 0


class CountResult(NamedTuple):
    """The result of counting a request: `used_up` where it was refused; `marks_before` are the
    earlier marks of this minute and the one before."""

    used_up: LimitUsage | None = None
    marks_before: frozenset[str] = frozenset()
