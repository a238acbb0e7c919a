"""Plain values shared by all packages: JSON-shaped, no I/O."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import orjson

from .sdk.result import UNSTRUCTURED, User

T = TypeVar("T")

JSON: TypeAlias = Any
"""A JSON value: dict, list, str, int, float, bool or None. A recursive type would have to be
narrowed at every step."""

JSONObject: TypeAlias = dict[str, JSON]
"""A JSON object."""


def object_of(value: JSON) -> JSONObject:
    """The value, where it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def token_of(value: JSON) -> str:
    """The value as a text that can stand in an address or a header: JSON as base64url."""
    return base64.urlsafe_b64encode(orjson.dumps(value)).decode()


def from_token(token: str) -> JSON:
    """The inverse, padded or not; ValueError for what is none."""
    return orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))


def to_dict(value: Any) -> JSONObject:
    """The fields of a dataclass by name; unlike `dataclasses.asdict`, values (plain JSON already)
    are not copied."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def from_dict(kind: type[T], data: Mapping[str, JSON], **overrides: Any) -> T:
    """A dataclass from its plain JSON form: lists become tuples, objects nested dataclasses;
    `overrides` are used as they are. Unknown fields are ignored: two kernel versions run side by
    side during a deployment."""
    shape: Any = kind
    readers = _readers(shape).items()
    found = {n: read(data[n]) if read else data[n] for n, read in readers if n in data}
    return kind(**found | overrides)


@cache
def _readers(kind: type) -> dict[str, Callable[[JSON], Any] | None]:
    hints = get_type_hints(kind)
    return {f.name: _reader(hints[f.name]) for f in fields(kind)}


def _reader(hint: Any) -> Callable[[JSON], Any] | None:
    """A converter for values of this type; None where none is needed."""
    if get_origin(hint) is tuple:
        each = _reader(get_args(hint)[0])
        return lambda rows: tuple(map(each, rows or ()) if each else rows or ())
    if is_dataclass(hint) and isinstance(hint, type):
        return lambda row: from_dict(hint, row)
    return None


class UserKey(NamedTuple):
    """Whose data it is. Both parts come from the authoriser; neither may hold `#`."""

    tenant_id: str
    imperal_id: str

    @classmethod
    def of(cls, user: User) -> UserKey:
        return cls(user.tenant_id, user.imperal_id)

    def __str__(self) -> str:
        return f"{self.tenant_id}#{self.imperal_id}"


class SessionKey(NamedTuple):
    """One conversation of one user."""

    user: UserKey
    session_id: str

    def __str__(self) -> str:
        return f"{self.user}#{self.session_id}"


def user_from(data: Mapping[str, Any]) -> User:
    """A user from its plain form; the authoriser's claims were checked before it was made."""
    return User(**{**data, "scopes": tuple(data.get("scopes") or ())})


def user_dict(user: User) -> JSONObject:
    """The plain form of a user, as it travels between functions."""
    return {**to_dict(user), "scopes": list(user.scopes)}


SYSTEM_USER = "__system__"
"""Jobs, signals and health checks run as this user of a tenant."""

WEBHOOK_USER = "__webhook__"
"""Webhooks run as this one."""

SIGNIN_USER = "__oauth__"
"""Pending OAuth sign-ins are stored under this one."""


@dataclass(frozen=True, slots=True)
class Step:
    """One planned call. `arguments` may hold references to earlier steps: `{{steps.0.data.id}}`."""

    index: int
    app_id: str
    fn_name: str
    arguments: JSONObject
    action_type: str = "read"

    @property
    def has_effect(self) -> bool:
        """Whether it changes something."""
        return self.action_type != "read"


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One call on its way to extension code. Everything is plain JSON: it may travel to another
    function.

    `kind` is function, check (validate only), panel, skeleton, skeletons (several in one call),
    alert, hook, webhook or schedule.
    `nth` counts the calls of this function in its turn where a model chose the arguments; None
    where a person or a program did.
    `webhooks` is how the addresses of webhooks name the user's tenant: only the caller can sign it.
    """

    kind: str
    user: JSONObject
    app_id: str
    name: str
    arguments: JSONObject = field(default_factory=dict)
    session_id: str = ""
    request_id: str = ""
    step: int = 0
    deadline_s: float = 20.0
    correlation_id: str = ""
    nth: int | None = None
    effect: str = ""
    """The claim under which an effect runs: whoever runs it keeps its outcome under that name."""
    webhooks: str = ""


NOT_RUN: Final = "not_run"
"""Completion status of a call that was refused before its handler was called."""

RUNNING: Final = "running"
"""Completion status of a call that timed out: its handler may still be running."""


RAN: Final = "ran"
"""Completion status of a call whose handler ran but returned no valid result."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended. `data` is ActionResult.data as plain JSON; `problems` names rejected
    arguments.

    `arguments` are those the handler got; the turn adds them, they do not travel back with the
    answer. `repeated` marks an outcome reused from another delivery or from earlier in the turn.
    """

    app_id: str
    fn_name: str
    status: str
    data: JSON = None
    summary: str = ""
    error: str = ""
    error_code: str = ""
    retryable: bool = False
    ui: Any = None
    panels: tuple[str, ...] = ()
    panels_named: bool = False
    """Whether the handler named the panels itself; otherwise they are all of the app's."""
    duration_ms: int = 0
    action_type: str = "read"
    step: int = 0
    repeated: bool = False
    fate: str = ""
    """Empty for a call that ended, else NOT_RUN, RUNNING or RAN."""
    problems: tuple[dict[str, str], ...] = ()
    arguments: JSONObject = field(default_factory=dict)
    incident: str = ""
    """The number under which the log has the error that extension code raised."""
    created: tuple[str, ...] = ()
    """Ids of the documents that it created in its user's own store: one, or two where there are
    more."""
    undo: JSONObject = field(default_factory=dict)
    """`function` and `params` of the call that reverses it, if the handler named one."""
    fault: str = ""
    """That error itself, for a developer on the author's own machine. No model reads it."""

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.status == "ok"

    @property
    def has_changed(self) -> bool:
        """Whether an effect succeeded."""
        return self.ok and self.action_type != "read"


NO_UNDO: Final[JSONObject] = {"function": "", "params": {}}
"""A placeholder for an undo that is never offered."""

MAX_ERROR = 1_000
"""Characters of an error text; a longer one is cut."""


def failed_outcome(request: CallRequest, code: str, error: str, **more: Any) -> CallOutcome:
    """An outcome of a call that did not succeed; `more` are further fields of it. A missing code
    becomes EXT_UNSTRUCTURED_ERROR."""
    error, code = error[:MAX_ERROR], code or UNSTRUCTURED
    more |= {"step": request.step, "error": error, "error_code": code}
    return CallOutcome(request.app_id, request.name, "error", **more)


def unfinished_outcome(request: CallRequest) -> CallOutcome:
    """The outcome of a call that ran out of its time and may still do what it was asked; it names
    the setting that gives a function more."""
    text = f"{request.name} did not finish in {request.deadline_s:g} s"
    if request.kind == "function":
        text = f"{text}: a call has WEBBEE_CALL_SECONDS, all calls of a turn WEBBEE_TURN_SECONDS"
    return failed_outcome(request, "BACKEND_TIMEOUT", text, retryable=True, fate=RUNNING)


def ok_outcome(request: CallRequest, data: Any = None, **more: Any) -> CallOutcome:
    """An outcome of a call that did; `more` are further fields of it."""
    return CallOutcome(request.app_id, request.name, "ok", data, step=request.step, **more)


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
