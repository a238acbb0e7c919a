"""The minute tick: due users by shard of the due index, and due jobs (`@ext.schedule`) once per
minute and tenant that has the app, run as `__system__`.

A shard stores how far it is queued, page by page, so a backlog never multiplies messages and the
next consumer continues there. A timer saved behind that mark is queued by its writer
(`tick_passed`). Lost messages are found by a sweep behind the mark every half hour.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ..catalogue import Dispatch
from ..clock import Clock, iso
from ..config import Settings
from ..errors import DispatchRefused, StorageUnavailable
from ..observability import flush, measure
from ..sdk.result import User
from ..stores import EventLog, Stores
from ..stores.dynamodb.document_store import write_copy
from ..stores.types import Installation, Section, ShardMark
from ..types import SYSTEM_USER, CallRequest, JSONObject, UserKey, user_dict, user_from
from .refresh_queue import (
    MAX_DELAY_S,
    NEW,
    TICK_S,
    JobDue,
    RefreshMessage,
    RefreshQueue,
    RefreshRequest,
    ShardDue,
    UserDue,
    after_effects,
    tick_passed,
)
from .refresh_user import RefreshResult, UserRefresher, user_fields

if TYPE_CHECKING:
    from ..stores.dynamodb.skeletons import SkeletonStore

PAGE = 500
"""Users read from the index at once: about 75 KB."""
SHARD_LEASE_S = 55.0
"""Seconds of a consumer's lease on a shard."""
SWEEP_S = 1_800.0
"""Seconds between two sweeps behind the mark, and the least lateness of a user they queue."""
BEHIND_S = 300.0
"""Most seconds a tick's message waits while consumers keep up; later ones make no sweep, since
their users are late and not lost."""


def due_message(
    user: UserKey, who: JSONObject, due_at: float, now: float, queued_until: float
) -> UserDue:
    """The message that refreshes the user at `due_at`, never earlier."""
    fields = {**who, "imperal_id": user.imperal_id, "tenant_id": user.tenant_id}
    # SQS delays 900 s at most; whole seconds, rounded up
    return UserDue(fields, queued_until, delay_s=min(MAX_DELAY_S, max(0, math.ceil(due_at - now))))


class Refresher:
    """The refresh loop: `tick` queues the shards, `refresh` handles a message."""

    def __init__(
        self,
        dispatch: Dispatch,
        store: SkeletonStore,
        events: EventLog,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._store = store
        self._clock = clock
        self._shards = settings.due_shards
        self._user = UserRefresher(dispatch, store, events, clock, settings)

    async def tick(self, sender: RefreshQueue) -> int:
        """Queue one message for each shard; their number."""
        now = self._clock.now()
        await sender.send([ShardDue(shard, now) for shard in range(self._shards)])
        return self._shards

    async def refresh(self, message: RefreshMessage, sender: RefreshQueue | None = None) -> str:
        """Handle one message; its result: saved, failed, skipped, busy, carried or gone for a
        user's sections, seen, or queued. A second delivery saves nothing.

        `sender` takes the user's next message where no tick will find it in time.
        """
        match message:
            case UserDue():
                result, queued_until = await self._user.due(message), message.queued_until
            case RefreshRequest():
                result, queued_until = await self._refresh_requested(message), 0.0
            case ShardDue() if sender is not None:
                await self._queue_shard(message, sender)
                return "queued"
            case _:
                return "gone"
        if sender is not None:
            await self._queue_next(message, result, queued_until, sender)
        return result.outcome

    async def _refresh_requested(self, message: RefreshRequest) -> RefreshResult:
        key = UserKey.of(user_from(message.user))
        await self._store.add_tenant(key.tenant_id)
        sections = tuple(w for w in message.wanted if w.app_id)
        if not sections or len(sections) < len(message.wanted):
            begins = any(w.reason == NEW for w in message.wanted)
            await self._store.mark_seen(key, self._clock.now(), begins=begins)
        if not sections:
            return RefreshResult("seen")
        return await self._user.requested(replace(message, wanted=sections))

    async def _queue_shard(self, message: ShardDue, sender: RefreshQueue) -> None:
        """Queue every user of this shard due within the next minute, each message delayed to its
        second; nobody while another consumer holds the shard."""
        now = self._clock.now()
        first, _ = await self._store.due(message.shard, now, limit=1)
        measure("OldestDueSeconds", round(now - first[0][1].due_at, 1) if first else 0.0)
        flush()  # a shard that fails must still report its lag
        # one consumer a shard: a lease that expires by itself
        mark = await self._store.begin_shard(message.shard, now=now, until=now + SHARD_LEASE_S)
        if mark is None:
            return
        count = 0
        # not while consumers are behind: what is late is not lost
        if now - mark.swept_at >= SWEEP_S and now - message.at < BEHIND_S:
            before = min(mark.queued_until, now - SWEEP_S)
            count += await self._queue(message.shard, (0.0, before), mark, sender)
            mark = replace(mark, swept_at=now)
        ahead = (mark.queued_until, now + TICK_S)
        count += await self._queue(message.shard, ahead, mark, sender, moves=True)
        # never back: a clock that runs behind would queue all of it again
        mark = replace(mark, queued_until=max(ahead))
        await self._store.move_shard(message.shard, mark, done=True)
        measure("UsersQueued", count)

    async def _queue(
        self,
        shard: int,
        span: tuple[float, float],
        mark: ShardMark,
        sender: RefreshQueue,
        *,
        moves: bool = False,
    ) -> int:
        """Queue users due in this span (Unix seconds), page by page; how many."""
        since, before = span
        # another consumer has queued it
        if since >= before:
            return 0
        count, cursor = 0, None
        while True:
            page, cursor = await self._store.due(
                shard, before, since=since, limit=PAGE, cursor=cursor
            )
            # the earlier of two: a timer that moves while pages are read may be seen twice
            users = dict(reversed(page))
            if users:
                due = [(user, users[user]) for user in reversed(users)]
                now = self._clock.now()
                await sender.send([due_message(u, d.user, d.due_at, now, before) for u, d in due])
            count += len(users)
            if moves and page:
                mark = replace(mark, queued_until=page[-1][1].due_at)
                # the lease was lost: its new holder continues from this mark
                if not await self._store.move_shard(shard, mark):
                    return count
            if cursor is None:
                return count

    async def _queue_next(
        self,
        message: UserDue | RefreshRequest,
        result: RefreshResult,
        queued_until: float,
        sender: RefreshQueue,
    ) -> None:
        """Queue the user's next time, if the tick has passed it."""
        now = self._clock.now()
        # the next tick finds them
        if result.due_at is None or result.due_at >= now + TICK_S:
            return
        user = user_from(message.user)
        key = UserKey.of(user)
        queued_until = queued_until or await self._store.queued_until(key)
        if tick_passed(result.due_at, now, queued_until):
            await sender.send(
                [due_message(key, user_fields(user), result.due_at, now, queued_until)]
            )


SCHEDULE = "schedule"
JOB_S = 90.0
"""Seconds a job may take; the function's own timeout is longer."""


class Scheduler:
    """Runs the jobs due this minute, once, however often tick and message arrive."""

    def __init__(
        self, dispatch: Dispatch, store: SkeletonStore, clock: Clock, settings: Settings
    ) -> None:
        self._dispatch = dispatch
        self._store = store
        self._clock = clock
        self._settings = settings

    async def tick(self, sender: RefreshQueue) -> int:
        """Queue the jobs of this minute and the one before (ticks may come late); how many."""
        # jobs are named by their minute, which makes them repeatable
        now = datetime.fromtimestamp(self._clock.now(), UTC).replace(second=0, microsecond=0)
        messages = [
            JobDue(user_dict(system_user(tenant)), app_id, job.name, minute.timestamp())
            for app_id, app in (await self._dispatch.catalogue()).apps.items()
            for job in app.schedules
            for minute in (now - timedelta(minutes=1), now)
            if is_due(job.cron, minute)
            for tenant in await self._tenants_with(app_id)
        ]
        await sender.send(messages)
        return len(messages)

    async def _tenants_with(self, app_id: str) -> list[str]:
        """Tenants that have the app: all known ones where it is installed by default, else those
        with a user who installed it; tenants of the settings have every app."""
        everybody = self._settings.installed_by_default(app_id)
        tenants = await self._store.tenants("" if everybody else app_id)
        return sorted({*self._settings.tenant_ids, *tenants})

    async def run(self, message: JobDue) -> str:
        """Run one job for one minute; `done`, `skipped` when another delivery has it, `gone` when
        there is no such job."""
        minute = iso(message.minute)
        request = CallRequest(
            SCHEDULE,
            user_dict(system_user(str(message.user["tenant_id"]))),
            message.app_id,
            message.job,
            {"minute": minute},
            request_id=minute,
            deadline_s=JOB_S,
        )
        outcome = await self._dispatch.call(request)
        # the app was deployed anew without this job
        if outcome.error_code in ("UNKNOWN_TOOL", "UNKNOWN_SUB_FUNCTION"):
            return "gone"
        return "skipped" if outcome.repeated else "done"


def system_user(tenant_id: str) -> User:
    """Who jobs and signals run as."""
    return User(SYSTEM_USER, role="system", tenant_id=tenant_id, scopes=("*",))


def is_due(cron: str, minute: datetime) -> bool:
    """Whether a 5-field UTC cron expression fires at this minute. An expression that cannot be read
    never fires."""
    from cronsim import (  # most deployments have no schedule, and no process should pay for that
        CronSim,
        CronSimError,
    )

    try:
        return bool(next(CronSim(cron, minute - timedelta(seconds=1))) == minute)
    except (CronSimError, StopIteration):
        return False


HOOK_S = 10
_log = logging.getLogger("webbee.refresh")


class Installer:
    """Installs and uninstalls apps; both are repeatable."""

    def __init__(
        self, dispatch: Dispatch, stores: Stores, clock: Clock, queue: RefreshQueue
    ) -> None:
        self._dispatch = dispatch
        self._stores = stores
        self._clock = clock
        self._queue = queue

    async def install(self, user: User, app_id: str, *, refresh: bool = False) -> None:
        """Record it; refresh its sections at once or with the user's next message."""
        await self._install(user, app_id)
        if refresh:
            catalogue = await self._dispatch.catalogue()
            await self._queue.ask(user, after_effects(catalogue, [app_id]))
            return
        try:  # no tick looks at the user's timer before it falls due again
            await self._queue.send([UserDue({**user_dict(user), "scopes": []})])
        except Exception as error:
            _log.warning("error=%s | the first refresh has to wait", type(error).__name__)

    async def _install(self, user: User, app_id: str) -> None:
        """Record it, call `on_install` and `on_enable` the first time, and put its sections on the
        user's timer, due now.

        Of two concurrent requests, the one whose record is written first calls the hooks. Hooks
        that certainly did not run are called by the next request.
        """
        key = UserKey.of(user)
        now = self._clock.now()
        app = (await self._dispatch.catalogue()).apps[app_id]
        # the conditional write decides who was first
        before = await self._write(key, Installation(app_id, True, app.version))
        hooks = _hooks_of(before, app.version)
        for number, name in enumerate(hooks):
            try:
                await self._hook(user, app_id, name, app.version)
            except (DispatchRefused, StorageUnavailable):
                owed = hooks[number:]
                await self._write(key, Installation(app_id, True, app.version, owed=owed))
                raise
        sections = [Section(app_id, s.section, ttl=s.ttl, due_at=now) for s in app.sections]
        if sections:
            await self._stores.skeleton.register(key, sections, who=user_fields(user))

    async def uninstall(self, user: User, app_id: str) -> dict[str, int]:
        """Call the hooks, then purge skeleton, due rows and cache of this app and user; how many
        went. No one else is touched."""
        key = UserKey.of(user)
        if (await self._stores.skeleton.read(key)).has(app_id, default=True):
            for name in ("on_disable", "on_uninstall"):
                await self._hook(user, app_id, name)
        await self._write(key, Installation(app_id, False))
        return {
            "sections": await self._stores.skeleton.purge(key, app_id),
            "cache": await self._stores.cache.purge(key, app_id),
        }

    async def _write(self, key: UserKey, record: Installation) -> Installation | None:
        """Write both records; the previous installation."""
        at = iso(self._clock.now())
        # the copy first: who repeats a record that stands finds no hook left to call
        await write_copy(self._stores.documents, key, record.app_id, record.installed, at)
        return await self._stores.skeleton.put_installation(key, replace(record, at=at))

    async def _hook(self, user: User, app_id: str, name: str, version: str = "") -> None:
        """Call a hook; its failure is logged where it runs and is ignored."""
        request = CallRequest("hook", user_dict(user), app_id, name, {"version": version})
        await self._dispatch.call(replace(request, deadline_s=HOOK_S))


def _hooks_of(before: Installation | None, version: str) -> tuple[str, ...]:
    """The hooks to call on installing."""
    if before is None or not before.installed:
        return "on_install", "on_enable"
    # installed before, and deployed anew since
    return before.owed or (("on_upgrade",) if before.version != version else ())
