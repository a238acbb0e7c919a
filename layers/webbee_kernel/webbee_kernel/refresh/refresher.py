"""Refresher: the refresh loop's entrance. A tick, or a message of the queue, to whoever deals with
it."""

from __future__ import annotations

from collections.abc import Callable

from ..catalogue import Dispatch
from ..clock import Clock
from ..stores.event_log import EventLog
from ..stores.skeleton_protocol import SkeletonStore
from ..types import UserKey, user_from
from .alerts import Alerts
from .due import DueUsers, RefreshSender, due_message
from .refresh_queue import (
    TICK_S,
    RefreshAsked,
    RefreshMessage,
    ShardDue,
    UserDue,
    UserSeen,
    tick_passed,
)
from .refresh_user import Done, OneUser, who_of


class Refresher:
    """The refresh loop: `tick` asks who is due, `refresh` deals with a message."""

    def __init__(
        self,
        dispatch: Dispatch,
        sections: SkeletonStore,
        events: EventLog,
        clock: Clock,
        *,
        shards: int = 4,
        installed_by_default: Callable[[str], bool] = lambda _: True,
        absent_after_days: int = 0,
    ) -> None:
        self._sections = sections
        self._clock = clock
        self._due = DueUsers(sections, clock, shards)
        self._user = OneUser(
            dispatch,
            sections,
            Alerts(dispatch, events),
            clock,
            installed_by_default=installed_by_default,
            absent_after_s=absent_after_days * 86_400,
        )

    async def tick(self, sender: RefreshSender) -> int:
        """Queue one message for each shard of the due index; how many."""
        return await self._due.tick(sender)

    async def refresh(self, message: RefreshMessage, sender: RefreshSender | None = None) -> str:
        """Deal with one message; what came of it: saved, failed, skipped, busy, carried or gone for
        a user's sections, seen, or queued. Delivered twice, it saves once.

        `sender` takes the user's next message where no tick will find them in time.
        """
        match message:
            case UserDue():
                done, queued_until = await self._user.due(message), message.queued_until
            case RefreshAsked():
                await self._sections.know(UserKey.of(user_from(message.user)).tenant_id)
                done, queued_until = await self._user.asked(message), 0.0
            case UserSeen():
                key = UserKey.of(user_from(message.user))
                await self._sections.know(key.tenant_id)
                await self._sections.mark_seen(key, self._clock.now())
                return "seen"
            case ShardDue() if sender is not None:
                await self._due.shard(message, sender)
                return "queued"
            case _:
                return "gone"
        if sender is not None:
            await self._again(message, done, queued_until, sender)
        return done.outcome

    async def _again(
        self,
        message: UserDue | RefreshAsked,
        done: Done,
        queued_until: float,
        sender: RefreshSender,
    ) -> None:
        """Queue the user's next time, if the tick has passed it."""
        now = self._clock.now()
        if done.due_at is None or done.due_at >= now + TICK_S:
            return
        user = user_from(message.user)
        key = UserKey.of(user)
        queued_until = queued_until or await self._sections.queued_until(key)
        if tick_passed(done.due_at, now, queued_until):
            await sender.send([due_message(key, who_of(user), done.due_at, now, queued_until)])
