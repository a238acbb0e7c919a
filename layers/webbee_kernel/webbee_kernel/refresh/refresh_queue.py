"""Asking for a refresh, what a turn found stale or what it changed, and when things are due: pure
arithmetic on Unix seconds. The refresh loop itself is `due.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from ..aws.clients import BRISK_S, ClientFactory, aws_client, brisk_client, in_thread, threads
from ..catalogue import Catalogue
from ..observability import correlation_id
from ..sdk.records import User
from ..stores.codec import dumps
from ..stores.types import Section, UserState
from ..text import json_text
from ..types import AuditRecord, CallRequest, JSONObject, user_dict

TICK_S = 60
"""Seconds between two ticks: each queues what falls due before the next one."""

TOGETHER_S = 5.0
"""Sections that fall due within so many seconds of each other are refreshed together, a tenth of
their own ttl at the most: the later ones a little early, from then on at the same time."""

PUNCTUAL_S = 0.5
"""Seconds before its time at which a timer counts as due: clocks of two machines differ."""

EARLY_TICK_S = 10.0
"""Seconds a tick may come early; EventBridge keeps its minute, not its second."""

BACKOFF_S = (15, 30, 60, 120, 300, 600)
"""Seconds after a section's first, second, … failure in a row; the last one for all that follow."""

SLOW_S = 6 * 3600
"""Seconds between two refreshes of a section of a user who is away
("Sections of absent users wait" in docs/decisions.md)."""


def is_due(section: Section, now: float) -> bool:
    """Whether its own clock says so, or will within the moment in which sections go together."""
    if section.due_at is None:
        return False
    early = min(TOGETHER_S, max(PUNCTUAL_S, section.ttl / 10))
    return section.due_at <= now + early


def tick_passed(due_at: float, now: float, queued_until: float) -> bool:
    """Whether no later tick may find a timer saved now: then whoever saves it queues it.

    A tick queues what falls due within a minute of it, so what lies further away is found. Nearer,
    it depends on whether a tick came since the one that queued everything before `queued_until`:
    where one may have, the user may be queued twice, and the second message finds nothing due.
    """
    if due_at >= now + TICK_S:
        return False
    return due_at < queued_until or now > queued_until - EARLY_TICK_S


def own_due(section: Section, ttl: int, now: float) -> float:
    """When the section is due at its own pace, whatever the slower one of an absent user says.

    A failing one is left to its backoff; further away than that only the slow pace can have put it,
    and then it was due long ago.
    """
    if not section.failures:
        return (section.refreshed_at or 0.0) + ttl
    due_at = section.due_at or 0.0
    return 0.0 if due_at > now + BACKOFF_S[-1] else max(due_at, now)


STALE_GRACE_S = 60
"""Seconds past its ttl after which a section counts as stale: the loop had its chance."""

SEEN_EVERY_S = 86_400
"""Seconds after which a turn has it noted again that its user is here: one small write a user and
day."""


class RefreshQueue:
    """Where refresh requests go: nowhere, in a deployment without a refresh loop, such as a unit
    test."""

    async def ask(self, user: User, wanted: Sequence[Wanted]) -> None:
        """Send these requests at once; returns within half a second whatever the queue does, a
        failure is logged."""

    async def follow(self, request: CallRequest, record: AuditRecord) -> None:
        """Have the record of an effect that nobody waits for any longer looked after; else it
        waits for a repetition of the request."""

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        """Send all of them, each with its delay."""


def stale(
    catalogue: Catalogue, installed: Iterable[str], state: UserState, now: float
) -> list[tuple[str, str]]:
    """Sections of installed apps that were never saved or that the loop, at their own pace, would
    have refreshed a minute ago."""
    known = {(s.app_id, s.section): s for s in state.sections}
    wanted = []
    for app_id in sorted(installed):
        for info in catalogue.apps[app_id].sections:
            section = known.get((app_id, info.section))
            if section is None or (
                section.lease_until <= now
                and now - own_due(section, section.ttl, now) > STALE_GRACE_S
            ):
                wanted.append((app_id, info.section))
    return wanted


def unnoticed(state: UserState, now: float) -> bool:
    """Whether it is time to note that the user is here."""
    return state.seen_at is None or now - state.seen_at >= SEEN_EVERY_S


def after_effects(catalogue: Catalogue, app_ids: Iterable[str]) -> list[Wanted]:
    """A request for every section of apps that just changed something."""
    return [
        Wanted(a, s.section, "effect")
        for a in sorted(set(app_ids))
        if a in catalogue.apps
        for s in catalogue.apps[a].sections
    ]


MAX_DELAY_S = 900
"""Seconds SQS delays a message at most."""


def _named(user: JSONObject) -> JSONObject:
    if not user.get("imperal_id"):
        raise ValueError("it names no user")
    return user


Named = Annotated[dict[str, Any], AfterValidator(_named)]
"""The user a message is about."""

SEEN = "seen"
"""The reason of what is about no app: the user was here, and is to be noted."""

NEW = "new"
"""The reason of a turn that found nothing of its user: it alone begins anything. Whatever else
finds nothing was asked for before the user left, or was erased."""


class Wanted(NamedTuple):
    """A refresh that a turn or a call asks for; the reason is `stale`, `effect`, `NEW` or
    `SEEN`."""

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
    delay_s: int = 0
    kind: Literal["refresh_asked"] = "refresh_asked"


@dataclass(frozen=True, slots=True)
class JobDue:
    """A job of `@ext.schedule` in the minute that began at `minute` (Unix seconds)."""

    user: Named
    app_id: str
    job: str
    minute: float
    correlation_id: str = ""
    delay_s: int = 0
    kind: Literal["job_due"] = "job_due"


@dataclass(frozen=True, slots=True)
class ShardDue:
    """One partition of the due index is to be looked through; asked for at `at`, Unix seconds."""

    shard: int
    at: float
    correlation_id: str = ""
    delay_s: int = 0
    kind: Literal["shard_due"] = "shard_due"


@dataclass(frozen=True, slots=True)
class EffectOpen:
    """An effect of this user that nobody waits for any longer: its record is to be written."""

    user: Named
    record: AuditRecord
    delay_s: int = 0
    correlation_id: str = ""
    kind: Literal["effect_open"] = "effect_open"


RefreshMessage: TypeAlias = UserDue | RefreshAsked | JobDue | ShardDue | EffectOpen
"""Told apart on their way by their `kind`."""


class UnknownMessage(ValueError):
    """A message that is none of these kinds, or that lacks what its kind has."""


OPEN_S = 45
"""Seconds between two looks at an effect that nobody waits for any longer."""


def still_open(user: JSONObject, record: AuditRecord, correlation_id: str = "") -> EffectOpen:
    """The message that has it looked at next."""
    return EffectOpen({**user, "scopes": []}, record, OPEN_S, correlation_id)


def to_wire(message: RefreshMessage) -> JSONObject:
    """The message as plain JSON; its delay is the queue's business."""
    plain: JSONObject = to_jsonable_python(message)
    del plain["delay_s"]
    return plain


def from_wire(body: object) -> RefreshMessage:
    """The message of a JSON body. What it says beyond its kind's fields is left aside: a newer
    version may have sent it."""
    try:
        return _message().validate_python(body)
    except ValidationError as error:
        kind = body.get("kind") if isinstance(body, dict) else type(body).__name__
        raise UnknownMessage(f"message of kind {kind!r}: {error.error_count()} errors") from error


@cache
def _message() -> TypeAdapter[RefreshMessage]:
    return TypeAdapter(Annotated[RefreshMessage, Field(discriminator="kind")])


BATCH = 10  # messages SQS takes in one call
SENDERS = 20
"""Batches on their way at once: as many as the client holds connections."""
PATIENCE_S = BRISK_S
"""Seconds that a reply may wait for its requests for refreshes."""

_log = logging.getLogger("webbee.queue")
_SENDERS = threads(SENDERS, "sqs")


class SqsRefreshQueue(RefreshQueue):
    """Both ends that send: turns that ask for a refresh, and the tick that plans them."""

    def __init__(self, url: str, client_factory: ClientFactory = aws_client) -> None:
        self._url = url
        self._client_factory = client_factory
        self._brisk_factory = brisk_client if client_factory is aws_client else client_factory

    async def ask(self, user: User, wanted: Sequence[Wanted]) -> None:
        """One message for all of it; a queue that does not answer within half a second costs a log
        line, never the reply."""
        if not wanted:
            return
        who = {**user_dict(user), "scopes": []}
        message = RefreshAsked(who, tuple(wanted), correlation_id())
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._send([message], self._brisk_factory)
        except Exception as error:
            _log.warning(
                "error=%s sections=%d | refresh request not sent", type(error).__name__, len(wanted)
            )

    async def follow(self, request: CallRequest, record: AuditRecord) -> None:
        """One delayed message to skeleton_refresh; raises what the queue raises."""
        message = still_open(request.user, record, request.correlation_id)
        await self._send([message], self._brisk_factory)

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        """Batches of ten, twenty at once; raises RuntimeError when the queue refused some."""
        batches = [messages[i : i + BATCH] for i in range(0, len(messages), BATCH)]
        await asyncio.gather(*(self._send(batch, self._client_factory) for batch in batches))

    async def _send(self, messages: Sequence[RefreshMessage], factory: ClientFactory) -> None:
        entries = [
            {"Id": str(i), "MessageBody": json_text(to_wire(m)), "DelaySeconds": m.delay_s}
            for i, m in enumerate(messages)
        ]
        answer = await in_thread(
            lambda: factory("sqs").send_message_batch(QueueUrl=self._url, Entries=entries),
            pool=_SENDERS,
        )
        if answer.get("Failed"):
            raise RuntimeError(
                f"{len(answer['Failed'])} refresh messages were refused by the queue"
            )


class Letters:
    """A queue that takes JSON, one message at a time."""

    def __init__(self, url: str, client_factory: ClientFactory = aws_client) -> None:
        self._url = url
        self._client_factory = client_factory

    async def send(self, letter: JSONObject, delay_s: int = 0) -> None:
        """Send it, to be there in so many seconds; raises what the queue raises."""
        body = dumps(letter)
        await in_thread(
            lambda: self._client_factory("sqs").send_message(
                QueueUrl=self._url, MessageBody=body, DelaySeconds=delay_s
            ),
            pool=_SENDERS,
        )
