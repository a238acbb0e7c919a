"""Scheduler: `@ext.schedule` jobs, once per minute and fleet, as `__system__`. Tick → queue → claim
→ run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ..base.clock import Clock, iso
from ..base.system import SYSTEM_USER
from ..dispatch import Dispatch
from ..sdk.context import User
from ..values import CallRequest, JobDue, user_dict
from .due import RefreshSender

SCHEDULE = "schedule"
JOB_S = 90.0
"""Seconds a job may take; the function's own timeout is longer."""


class Scheduler:
    """Finds what is due this minute and runs it once, however often tick and message arrive."""

    def __init__(self, dispatch: Dispatch, clock: Clock, tenants: Sequence[str]) -> None:
        self._dispatch = dispatch
        self._clock = clock
        self._tenants = tuple(tenants)

    async def tick(self, sender: RefreshSender) -> int:
        """Queue the jobs of this minute and of the one before it (a tick may come late); how
        many."""
        now = datetime.fromtimestamp(self._clock.now(), UTC).replace(second=0, microsecond=0)
        messages = [
            JobDue(user_dict(system_user(tenant)), app_id, job.name, minute.timestamp())
            for app_id, app in (await self._dispatch.catalogue()).apps.items()
            for job in app.schedules
            for minute in (now - timedelta(minutes=1), now)
            if is_due(job.cron, minute)
            for tenant in self._tenants
        ]
        await sender.send(messages)
        return len(messages)

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
