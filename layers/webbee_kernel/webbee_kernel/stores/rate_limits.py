"""Rate limits of users and tenants: requests a minute, tokens a day.

A request is counted by one conditional write in parallel with the turn's reads. Tokens are known
when the turn has ended, so the next turn meets the limit. A process saves them with the user's next
request, or once they are a hundredth of the limit; a tenant's sum is read once a minute.

Marks of running turns are stored with the count of their requests.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .. import language
from ..clock import Clock
from ..config import Settings
from ..errors import LimitReached, StorageUnavailable, TurnWorking
from ..observability import measure
from ..sdk.result import User
from ..types import UserKey
from .types import CountResult, LimitUsage

if TYPE_CHECKING:
    from .dynamodb.user_items import LimitStore

LEASE_S: Final = 10.0
"""Seconds for which a mark says that a turn runs; after that a repeated request starts it again."""

SOON_S: Final = 1.0
"""Seconds within which two deliveries count as simultaneous and both run."""

STARTED, CONTINUES, NO_RESULT = "+=-"
_NAME: Final = 10


def mark(running: TurnWorking, now: float, what: str = STARTED) -> str:
    """A mark: the request's hash, its state and the time."""
    # hashed: ids of any length and alphabet become ten characters of a mark
    name = hashlib.sha256(f"{running.session_id} {running.request_id}".encode()).hexdigest()
    return f"{name[:_NAME]}{what}{now:.3f}"


def is_running(mark_: str, others: Iterable[str]) -> bool:
    """Whether other marks of the same request say that its turn runs already."""
    since = until = float("-inf")
    same_request = {mark for mark in others if mark.startswith(mark_[:_NAME])}
    for mark in sorted(same_request - {mark_}, key=lambda mark: (_moment(mark), mark)):
        if mark[_NAME] == NO_RESULT:
            until = float("-inf")
        elif mark[_NAME] == CONTINUES:
            until = _moment(mark) + LEASE_S
        elif _moment(mark) >= until:
            since, until = _moment(mark), _moment(mark) + LEASE_S
    return since + SOON_S <= _moment(mark_) < until


def _moment(mark: str) -> float:
    return float(mark[_NAME + 1 :])


MINUTE_S, DAY_S = 60, 86_400
FRESH_S = 60.0
"""Seconds between reads of a tenant's sum."""
PORTIONS = 100
MAX_DAYS = 10_000
"""Users and tenants cached in a process; the least recently used are dropped."""

_log = logging.getLogger("webbee.limits")


@dataclass(slots=True)
class _Day:
    """A user's or tenant's day in this process: tokens not saved yet, and the sum last read."""

    day: int
    unsaved: int = 0
    sum: int = 0
    read_at: float = 0.0


class Limits:
    """Counts requests and tokens, refuses above the limits, and tracks running requests. Without
    limits it counts nothing."""

    def __init__(self, store: LimitStore, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._requests = settings.user_requests_per_minute
        self._tokens = settings.user_tokens_per_day
        self._tenant_tokens = settings.tenant_tokens_per_day
        self._days: OrderedDict[UserKey | str, _Day] = OrderedDict()

    async def take(
        self, user: User, working: TurnWorking | None = None
    ) -> LimitReached | TurnWorking | None:
        """Count a request of this user; the refusal where a limit is used up. Where the table does
        not answer, nobody is refused. With `working` the same write marks that request as running;
        `working` is returned, and nothing counted, where it runs already."""
        now = self._clock.now()
        own_mark = mark(working, now) if working else ""
        taking = self._take(UserKey.of(user), now, own_mark)
        try:
            if self._tenant_tokens:
                counted, spent = await asyncio.gather(taking, self._sum(user.tenant_id, now))
            else:
                counted, spent = await taking, 0
        except StorageUnavailable as error:
            _log.error("error=%s | a request was not counted", error)
            return None
        if own_mark and is_running(own_mark, counted.marks_before):  # a poll
            if not counted.used_up:
                await self.give_back(user)
            return working
        refusal = self._refusal_for(counted.used_up, spent, now, user.language)
        if refusal:
            measure("LimitsReached")
        return refusal

    async def give_back(self, user: User) -> None:
        """Uncount a counted request: polls of a running or finished turn count against no limit.
        Failures are logged."""
        if not self._requests:
            return
        try:
            minute = int(self._clock.now() // MINUTE_S)
            await self._store.give_back(UserKey.of(user), minute=minute)
        except StorageUnavailable as error:
            _log.warning("error=%s | a poll stays counted", error)

    async def update_mark(self, user: User, working: TurnWorking, what: str) -> None:
        """Write a new state of a running request. One write."""
        now = self._clock.now()
        new_mark = mark(working, now, what)
        await self._store.mark(UserKey.of(user), new_mark, minute=int(now // MINUTE_S))

    def _refusal_for(
        self, used: LimitUsage | None, spent: int, now: float, tag: str
    ) -> LimitReached | None:
        if used and self._requests and used.requests >= self._requests:
            return _refusal("UserRequestsPerMinute", self._requests, MINUTE_S, now, tag)
        if used:
            return _refusal("UserTokensPerDay", self._tokens, DAY_S, now, tag)
        if self._tenant_tokens and spent >= self._tenant_tokens:
            return _refusal("TenantTokensPerDay", self._tenant_tokens, DAY_S, now, tag)
        return None

    async def spend(self, user: User, tokens: int) -> None:
        """Add a turn's tokens; failures are logged."""
        now = self._clock.now()
        try:
            await self._spend(UserKey.of(user), tokens, self._tokens, now)
            await self._spend(user.tenant_id, tokens, self._tenant_tokens, now)
        except StorageUnavailable as error:
            _log.error("error=%s tokens=%d | tokens were not counted", error, tokens)

    async def _take(self, user: UserKey, now: float, own_mark: str) -> CountResult:
        if not (self._requests or self._tokens or own_mark):
            return CountResult()
        state = self._day_of(user, now)
        # before the await: two requests at once must not both add it
        spent, state.unsaved = state.unsaved, 0
        minute, limits = int(now // MINUTE_S), {"requests": self._requests, "tokens": self._tokens}
        # as if refused until the table says otherwise: a failed write leaves the debt
        counted = CountResult(used_up=LimitUsage())
        try:
            counted = await self._store.take(
                user, minute=minute, **limits, spent=spent, mark=own_mark
            )
        finally:
            if counted.used_up:
                state.unsaved += spent
        return counted

    async def _spend(self, owner: UserKey | str, tokens: int, limit: int, now: float) -> None:
        """Add to the unsaved tokens; write them once they are a portion of the limit."""
        if not (tokens and limit):
            return
        state = self._day_of(owner, now)
        state.unsaved += tokens
        if state.unsaved * PORTIONS >= limit:
            # the write returns the sum: nobody has to ask for it within the next minute
            unsaved, state.unsaved, state.read_at = state.unsaved, 0, now
            try:
                state.sum = await self._store.spend(owner, day=state.day, tokens=unsaved)
            except StorageUnavailable:
                state.unsaved += unsaved
                raise

    async def _sum(self, tenant_id: str, now: float) -> int:
        """The tokens of the tenant's day, as far as this process knows."""
        state = self._day_of(tenant_id, now)
        if now - state.read_at >= FRESH_S:
            # before the read, so that requests beside this one do not ask as well
            state.read_at = now
            state.sum = await self._store.tenant_tokens(tenant_id, day=state.day)
        return state.sum + state.unsaved

    def _day_of(self, owner: UserKey | str, now: float) -> _Day:
        """The cached day; unsaved tokens of an earlier day are dropped."""
        day = int(now // DAY_S)
        state = self._days.get(owner)
        if state is None or state.day != day:
            state = self._days[owner] = _Day(day)
        self._days.move_to_end(owner)
        while len(self._days) > MAX_DAYS:
            self._days.popitem(last=False)
        return state


def _refusal(field: str, limit: int, period_s: int, now: float, tag: str) -> LimitReached:
    """The refusal, in the user's language: free again when the minute or the day (UTC) is over."""
    # a client that is told 0 seconds would ask again at once, in the same minute
    wait = max(1, int(period_s - now % period_s))
    speaker = language.of(tag)
    if period_s == MINUTE_S:
        text = speaker.say("limit_of_requests", n=wait)
    else:
        text = speaker.say("limit_of_tokens" if field.startswith("User") else "limit_of_all")
    return LimitReached(text, field=field, limit=limit, retry_after=wait)


async def count_nothing() -> None:
    """Stands for `take` where nothing is counted."""
