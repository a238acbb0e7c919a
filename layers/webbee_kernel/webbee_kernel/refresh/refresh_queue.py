"""Refresh requests, their queue messages, and due times in Unix seconds. The refresh loop itself is
`due.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import Field, TypeAdapter
from pydantic_core import to_jsonable_python

from ..aws.clients import BRISK_S, ClientFactory, aws_client, brisk_client, in_thread, threads
from ..catalogue import Catalogue
from ..observability import correlation_id
from ..sdk.result import User
from ..stores.codec import exact
from ..stores.types import Section, UserState
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
    """Whether it is due now, or so soon that it is refreshed together with others."""
    if section.due_at is None:
        return False
    early = min(TOGETHER_S, max(PUNCTUAL_S, section.ttl / 10))
    return section.due_at <= now + early


def tick_passed(due_at: float, now: float, queued_until: float) -> bool:
    """Whether the next tick may miss a timer saved now, so that its writer has to queue it.

    A tick queues what is due within a minute. A timer nearer than that may lie behind the last
    tick's `queued_until`; if a user is queued twice, the second message finds nothing due.
    """
    if due_at >= now + TICK_S:
        return False
    return due_at < queued_until or now > queued_until - EARLY_TICK_S


def ttl_due_at(section: Section, ttl: int, now: float) -> float:
    """When the section is due by its ttl, ignoring the slower pace of an absent user.

    A failing section keeps its backoff; a later due time can only come from the slow pace, and
    counts as due long ago.
    """
    if not section.failures:
        return (section.refreshed_at or 0.0) + ttl
    due_at = section.due_at or 0.0
    return 0.0 if due_at > now + BACKOFF_S[-1] else max(due_at, now)


STALE_GRACE_S = 60
"""Seconds past its ttl after which a section counts as stale."""

PRESENCE_S = 86_400
"""Seconds between two records of a user's presence: one small write a user and day."""


class RefreshQueue:
    """A queue that drops refresh requests, for deployments without a refresh loop and tests."""

    async def ask(self, user: User, wanted: Sequence[RefreshItem]) -> None:
        """Send these requests; returns within half a second, failures are logged."""

    async def follow(self, request: CallRequest, record: AuditRecord) -> None:
        """Queue a check of an effect whose caller stopped waiting, so that its record is
        completed."""

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        """Send all of them, each with its delay."""


def stale(
    catalogue: Catalogue, installed: Iterable[str], state: UserState, now: float
) -> list[tuple[str, str]]:
    """Sections of installed apps that were never saved or are a minute past their ttl."""
    by_key = {(s.app_id, s.section): s for s in state.sections}
    wanted = []
    for app_id in sorted(installed):
        for info in catalogue.apps[app_id].sections:
            section = by_key.get((app_id, info.section))
            if section is None or (
                section.lease_until <= now
                and now - ttl_due_at(section, section.ttl, now) > STALE_GRACE_S
            ):
                wanted.append((app_id, info.section))
    return wanted


def is_presence_due(state: UserState, now: float) -> bool:
    """Whether the user's presence should be recorded again."""
    return state.seen_at is None or now - state.seen_at >= PRESENCE_S


def after_effects(catalogue: Catalogue, app_ids: Iterable[str]) -> list[RefreshItem]:
    """A request for every section of apps that just changed something."""
    return [
        RefreshItem(a, s.section, "effect")
        for a in sorted(set(app_ids))
        if a in catalogue.apps
        for s in catalogue.apps[a].sections
    ]


MAX_DELAY_S = 900
"""Seconds SQS delays a message at most."""


PRESENCE = "seen"
"""The reason for recording only the user's presence; without an app."""

NEW = "new"
"""The reason of a turn that found no data of its user. It alone creates a timer: other requests
without one come from before the user left or was erased."""


class RefreshItem(NamedTuple):
    """A section to refresh; the reason is `stale`, `effect`, `NEW` or `PRESENCE`."""

    app_id: str
    section: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What every message has: the seconds by which it is delayed, and the id that the logs of those
    who send and handle it share."""

    delay_s: int = 0
    correlation_id: str = field(default_factory=correlation_id)


@dataclass(frozen=True, slots=True)
class UserDue(Message):
    """Sections of this user fall due in `delay_s` seconds. `queued_until` is the shard's mark when
    it was sent (Unix seconds; 0 where no tick sent it)."""

    user: JSONObject
    queued_until: float = 0.0
    kind: Literal["user_due"] = "user_due"


@dataclass(frozen=True, slots=True)
class RefreshRequest(Message):
    """A request to refresh these sections of this user now."""

    user: JSONObject
    wanted: tuple[RefreshItem, ...] = ()
    kind: Literal["refresh_asked"] = "refresh_asked"


@dataclass(frozen=True, slots=True)
class JobDue(Message):
    """A job of `@ext.schedule` in the minute that began at `minute` (Unix seconds)."""

    user: JSONObject
    app_id: str
    job: str
    minute: float
    kind: Literal["job_due"] = "job_due"


@dataclass(frozen=True, slots=True)
class ShardDue(Message):
    """One shard of the due index is to be queued; sent at `at`, Unix seconds."""

    shard: int
    at: float
    kind: Literal["shard_due"] = "shard_due"


@dataclass(frozen=True, slots=True)
class OpenEffect(Message):
    """An effect whose caller stopped waiting: its audit record is to be completed."""

    user: JSONObject
    record: AuditRecord
    kind: Literal["effect_open"] = "effect_open"


RefreshMessage: TypeAlias = UserDue | RefreshRequest | JobDue | ShardDue | OpenEffect
"""A queue message; `kind` is the discriminator."""


OPEN_S = 45
"""Seconds between two checks of an open effect."""


def open_effect(user: JSONObject, record: AuditRecord) -> OpenEffect:
    """The message for the next check of an open effect."""
    return OpenEffect({**user, "scopes": []}, record, delay_s=OPEN_S)


def to_wire(message: RefreshMessage) -> JSONObject:
    """The message as plain JSON, without its delay."""
    plain: JSONObject = to_jsonable_python(message)
    del plain["delay_s"]
    return plain


def from_wire(body: object) -> RefreshMessage:
    """The message of a JSON body; newer fields are ignored. A ValueError for others."""
    return _message().validate_python(body)


@cache
def _message() -> TypeAdapter[RefreshMessage]:
    return TypeAdapter(Annotated[RefreshMessage, Field(discriminator="kind")])


BATCH = 10  # messages SQS takes in one call
SENDERS = 20
"""Concurrent batches: as many as the client has connections."""
PATIENCE_S = BRISK_S
"""Most seconds that a reply waits for sending refresh requests."""

_log = logging.getLogger("webbee.queue")
_SENDERS = threads(SENDERS, "sqs")


class SqsRefreshQueue(RefreshQueue):
    """The SQS queue of refresh messages, used by turns and by the tick."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def ask(self, user: User, wanted: Sequence[RefreshItem]) -> None:
        """Send one message; failures and half a second without an answer are only logged."""
        if not wanted:
            return
        message = RefreshRequest({**user_dict(user), "scopes": []}, tuple(wanted))
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._send([message], brisk_client)
        except Exception as error:
            _log.warning(
                "error=%s sections=%d | refresh request not sent", type(error).__name__, len(wanted)
            )

    async def follow(self, request: CallRequest, record: AuditRecord) -> None:
        """One delayed message to skeleton_refresh; raises what the queue raises."""
        await self._send([open_effect(request.user, record)], brisk_client)

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        """Batches of ten, twenty at once; raises RuntimeError when the queue refused some."""
        batches = [messages[i : i + BATCH] for i in range(0, len(messages), BATCH)]
        await asyncio.gather(*(self._send(batch, aws_client) for batch in batches))

    async def _send(self, messages: Sequence[RefreshMessage], factory: ClientFactory) -> None:
        entries = [
            {"Id": str(i), "MessageBody": exact(to_wire(m)), "DelaySeconds": m.delay_s}
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


class JsonQueue:
    """A queue that takes JSON, one message at a time."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def send(self, message: JSONObject, delay_s: int = 0) -> None:
        """Send it with a delay in seconds; raises what the queue raises."""
        body = exact(message)
        await in_thread(
            lambda: aws_client("sqs").send_message(
                QueueUrl=self._url, MessageBody=body, DelaySeconds=delay_s
            ),
            pool=_SENDERS,
        )
