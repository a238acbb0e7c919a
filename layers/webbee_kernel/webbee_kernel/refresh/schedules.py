"""Scheduler: `@ext.schedule` jobs, once per minute and tenant that has the app, as `__system__`.
Tick → queue → claim → run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ..catalogue import Dispatch, ScheduleInfo
from ..clock import Clock, iso
from ..sdk.records import User
from ..types import SYSTEM_USER, CallRequest, user_dict
from .due import RefreshSender
from .refresh_queue import JobDue

if TYPE_CHECKING:
    from ..stores.dynamodb.skeletons import SkeletonStore

SCHEDULE = "schedule"
JOB_S = 90.0
"""Seconds a job may take; the function's own timeout is longer."""


class Scheduler:
    """Finds what is due this minute and runs it once, however often tick and message arrive."""

    def __init__(
        self,
        dispatch: Dispatch,
        store: SkeletonStore,
        clock: Clock,
        *,
        tenants: Sequence[str],
        installed_by_default: Callable[[str], bool],
    ) -> None:
        """`tenants` have every app's jobs run, whether or not the store knows of them."""
        self._dispatch = dispatch
        self._store = store
        self._clock = clock
        self._tenants = tuple(tenants)
        self._installed_by_default = installed_by_default

    async def tick(self, sender: RefreshSender) -> int:
        """Queue the jobs of this minute and of the one before it (a tick may come late); how
        many."""
        now = datetime.fromtimestamp(self._clock.now(), UTC).replace(second=0, microsecond=0)
        messages = [
            JobDue(user_dict(system_user(tenant)), app_id, job.name, minute.timestamp())
            for app_id, app in (await self._dispatch.catalogue()).apps.items()
            for minute, job in _due(app.schedules, now)
            for tenant in await self._having(app_id)
        ]
        await sender.send(messages)
        return len(messages)

    async def _having(self, app_id: str) -> list[str]:
        """Tenants that have the app: all that are known where the deployment gives it to everybody,
        else those of which somebody installed it."""
        everybody = self._installed_by_default(app_id)
        found = await self._store.tenants("" if everybody else app_id)
        return sorted({*self._tenants, *found})

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
        if outcome.error_code in ("UNKNOWN_TOOL", "UNKNOWN_SUB_FUNCTION"):
            return "gone"
        return "skipped" if outcome.repeated else "done"


def _due(jobs: Iterable[ScheduleInfo], now: datetime) -> Iterator[tuple[datetime, ScheduleInfo]]:
    """The jobs of this minute and of the one before it."""
    for job in jobs:
        for minute in (now - timedelta(minutes=1), now):
            if is_due(job.cron, minute):
                yield minute, job


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
