"""What travels on the refresh queue: one union, told apart by `kind`.

`to_wire` and `from_wire` are each other's inverse. A message of a kind that is not known raises
`UnknownMessage`: whoever reads the queue reports it and goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from .plain import JSONObject
from .records import AuditRecord

MAX_DELAY_S = 900
"""Seconds SQS delays a message at most."""


def _named(user: JSONObject) -> JSONObject:
    if not user.get("imperal_id"):
        raise ValueError("it names no user")
    return user


Named = Annotated[dict[str, Any], AfterValidator(_named)]
"""The user a message is about."""

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

    user: Named
    queued_until: float = 0.0
    delay_s: int = 0
    correlation_id: str = ""
    kind: Literal["user_due"] = "user_due"


@dataclass(frozen=True, slots=True)
class RefreshAsked:
    """Somebody wants these sections of this user now, each for its reason."""

    user: Named
    wanted: tuple[Wanted, ...] = ()
    correlation_id: str = ""
    delay_s: ClassVar[int] = 0
    kind: Literal["refresh_asked"] = "refresh_asked"


@dataclass(frozen=True, slots=True)
class UserSeen:
    """The user was here: to be noted."""

    user: Named
    correlation_id: str = ""
    delay_s: ClassVar[int] = 0
    kind: Literal["user_seen"] = "user_seen"


@dataclass(frozen=True, slots=True)
class JobDue:
    """A job of `@ext.schedule` in the minute that began at `minute` (Unix seconds)."""

    user: Named
    app_id: str
    job: str
    minute: float
    correlation_id: str = ""
    delay_s: ClassVar[int] = 0
    kind: Literal["job_due"] = "job_due"


@dataclass(frozen=True, slots=True)
class ShardDue:
    """One partition of the due index is to be looked through; asked for at `at`, Unix seconds."""

    shard: int
    at: float
    correlation_id: str = ""
    delay_s: ClassVar[int] = 0
    kind: Literal["shard_due"] = "shard_due"


@dataclass(frozen=True, slots=True)
class EffectOpen:
    """An effect of this user that nobody waits for any longer: its record is to be written."""

    user: Named
    record: AuditRecord
    delay_s: int = 0
    correlation_id: str = ""
    kind: Literal["effect_open"] = "effect_open"


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


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[RefreshMessage]:
    return TypeAdapter(Annotated[RefreshMessage, Field(discriminator="kind")])


def to_wire(message: RefreshMessage) -> JSONObject:
    """The message as plain JSON; its delay is the queue's business."""
    plain: JSONObject = _adapter().dump_python(message, mode="json", exclude={"delay_s"})
    return plain


def from_wire(body: object) -> RefreshMessage:
    """The message of a JSON body. What it says beyond its kind's fields is left aside: a newer
    version may have sent it."""
    try:
        return _adapter().validate_python(body)
    except ValidationError as error:
        kind = body.get("kind") if isinstance(body, dict) else type(body).__name__
        raise UnknownMessage(f"message of kind {kind!r}: {error.error_count()} errors") from error
