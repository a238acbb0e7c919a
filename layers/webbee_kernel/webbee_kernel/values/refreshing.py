"""What travels on the refresh queue: six kinds of message, each a type, one tagged JSON form.

`to_wire` and `from_wire` are each other's inverse. A message of a kind that is not known raises
`UnknownMessage`: whoever reads the queue reports it and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from .plain import JSONObject, made
from .records import AuditRecord

MAX_DELAY_S = 900
"""Seconds SQS delays a message at most."""

SEEN = ("", "")
"""Stands for a section in the request to note the user: it is about none."""


class Wanted(NamedTuple):
    """A refresh that a turn or a call asks for; the reason is `stale` or `effect`, or `seen`, which
    is about no section: the user is noted."""

    app_id: str
    section: str
    reason: str


@dataclass(frozen=True, slots=True)
class UserDue:
    """Sections of this user fall due in `delay_s` seconds. The tick that sent it had then queued
    everything due before `queued_until` (Unix seconds; 0 where no tick sent it)."""

    user: JSONObject
    queued_until: float = 0.0
    delay_s: int = 0
    correlation_id: str = ""


@dataclass(frozen=True, slots=True)
class RefreshAsked:
    """Somebody wants these sections of this user now, each for its reason."""

    user: JSONObject
    wanted: tuple[Wanted, ...] = ()
    correlation_id: str = ""
    delay_s: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class UserSeen:
    """The user was here: to be noted."""

    user: JSONObject
    correlation_id: str = ""
    delay_s: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class JobDue:
    """A job of `@ext.schedule` in the minute that began at `minute` (Unix seconds)."""

    user: JSONObject
    app_id: str
    job: str
    minute: float
    correlation_id: str = ""
    delay_s: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class ShardDue:
    """One partition of the due index is to be looked through; asked for at `at`, Unix seconds."""

    shard: int
    at: float
    correlation_id: str = ""
    delay_s: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class EffectOpen:
    """An effect of this user that nobody waits for any longer: its record is to be written."""

    user: JSONObject
    record: AuditRecord
    delay_s: int = 0
    correlation_id: str = ""


RefreshMessage: TypeAlias = UserDue | RefreshAsked | UserSeen | JobDue | ShardDue | EffectOpen


class UnknownMessage(ValueError):
    """A message that is none of these kinds, or that lacks what its kind has."""


OPEN_S = 45
"""Seconds between two looks at an effect that nobody waits for any longer."""


def still_open(user: JSONObject, record: AuditRecord, correlation_id: str = "") -> EffectOpen:
    """The message that has it looked at next."""
    return EffectOpen({**user, "scopes": []}, record, OPEN_S, correlation_id)


def asked(
    user: JSONObject, wanted: Iterable[Wanted], correlation_id: str = ""
) -> list[RefreshMessage]:
    """The messages that ask for all of this: one for the sections, one to note the user."""
    sections = tuple(w for w in wanted if (w.app_id, w.section) != SEEN)
    noted = any((w.app_id, w.section) == SEEN for w in wanted)
    messages: list[RefreshMessage] = []
    if sections:
        messages.append(RefreshAsked(user, sections, correlation_id))
    if noted:
        messages.append(UserSeen(user, correlation_id))
    return messages


def to_wire(message: RefreshMessage) -> JSONObject:
    """The message as plain JSON, its kind first; its delay is the queue's business."""
    plain: JSONObject = {f.name: getattr(message, f.name) for f in fields(message)}
    plain.pop("delay_s", None)
    if isinstance(message, RefreshAsked):
        plain["wanted"] = [list(wanted) for wanted in message.wanted]
    if isinstance(message, EffectOpen):
        plain["record"] = asdict(message.record)
    return {"kind": _TAGS[type(message)], **plain}


def from_wire(body: object) -> RefreshMessage:
    """The message of a JSON body. What it says beyond its kind's fields is left aside: a newer
    version may have sent it."""
    if not isinstance(body, dict):
        raise UnknownMessage(f"a message is an object, not {type(body).__name__}")
    try:
        if "kind" not in body:
            return _of_the_release_before(body)
        kind = _KINDS[str(body["kind"])]
        known = (f.name for f in fields(kind) if f.name in body and f.name in _READ)
        return kind(**{name: _READ[name](body[name]) for name in known})
    except (KeyError, TypeError, ValueError) as error:
        raise UnknownMessage(f"message of kind {body.get('kind')!r}: {error!r}") from error


def _of_the_release_before(body: Mapping[str, Any]) -> RefreshMessage:
    """Its five messages in one: told apart by `reason`; without one it was `due`."""
    user, correlation_id = _user(body["user"]), str(body.get("correlation_id", ""))
    app_id, section = str(body["app_id"]), str(body["section"])
    match body.get("reason", "due"):
        case "due":
            return UserDue(user, 0.0, 0, correlation_id)
        case "seen":
            return UserSeen(user, correlation_id)
        case "schedule":
            return JobDue(user, app_id, section, float(body["due_at"]), correlation_id)
        case "stale" | "effect" as reason:
            return RefreshAsked(user, (Wanted(app_id, section, reason),), correlation_id)
    raise ValueError("its reason is none of due, stale, effect, seen, schedule")


def _user(given: object) -> JSONObject:
    if not isinstance(given, dict) or not given.get("imperal_id"):
        raise ValueError("it names no user")
    return dict(given)


_KINDS: Final[Mapping[str, type[RefreshMessage]]] = {
    "user_due": UserDue,
    "refresh_asked": RefreshAsked,
    "user_seen": UserSeen,
    "job_due": JobDue,
    "shard_due": ShardDue,
    "effect_open": EffectOpen,
}
_TAGS: Final = {kind: tag for tag, kind in _KINDS.items()}
_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "user": _user,
    "queued_until": float,
    "wanted": lambda given: tuple(Wanted(*map(str, entry)) for entry in given),
    "app_id": str,
    "job": str,
    "minute": float,
    "shard": int,
    "at": float,
    "record": partial(made, AuditRecord),
    "correlation_id": str,
}
"""What travels, by name, and how it is read."""
