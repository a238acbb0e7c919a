"""Limits: what one user, and one tenant, may ask of the models.

A request is counted by one conditional write beside the turn's reads, so that a limit holds however
many requests race, and costs no time. Tokens are known when the turn has ended: a turn that began
is finished, and the next one meets the limit. A process owes them until the user's next request,
whose write they join, or until they are a hundredth of the limit. A tenant's day is one item that
all its users share; a process adds to it in such portions too, and asks for its sum once a minute.

Marks of running turns lie with the count of their requests: a turn writes none of its own until it
has run for half a lease.
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
from ..sdk.records import User
from ..types import UserKey
from .types import Counted, Used

if TYPE_CHECKING:
    from .dynamodb.user_items import LimitStore

LEASE_S: Final = 10.0
"""Seconds for which a turn says that it runs. Whoever asks again meanwhile is told so; a turn whose
process died is begun anew after that."""

SOON_S: Final = 1.0
"""Seconds in which another delivery of a request is at the same moment: both run, to one end."""

BEGUN, GOES_ON, LEFT_NOTHING = "+=-"
_NAME: Final = 10


def mark(running: TurnWorking, now: float, what: str = BEGUN) -> str:
    """What the request of a running turn did then."""
    # hashed: ids of any length and alphabet become ten characters of a mark
    name = hashlib.sha256(f"{running.session_id} {running.request_id}".encode()).hexdigest()
    return f"{name[:_NAME]}{what}{now:.3f}"


def runs(own: str, beside: Iterable[str]) -> bool:
    """Whether the marks that stood beside this one say that its request runs. What was asked while
    it did began no turn."""
    since = until = float("-inf")
    of_it = {mark for mark in beside if mark.startswith(own[:_NAME])}
    for mark in sorted(of_it - {own}, key=lambda mark: (_moment(mark), mark)):
        if mark[_NAME] == LEFT_NOTHING:
            until = float("-inf")
        elif mark[_NAME] == GOES_ON:
            until = _moment(mark) + LEASE_S
        elif _moment(mark) >= until:
            since, until = _moment(mark), _moment(mark) + LEASE_S
    return since + SOON_S <= _moment(own) < until


def _moment(mark: str) -> float:
    return float(mark[_NAME + 1 :])


MINUTE_S, DAY_S = 60, 86_400
FRESH_S = 60.0
"""Seconds after which a process asks anew what a tenant has spent."""
PORTIONS = 100
KNOWN = 10_000
"""Users and tenants whose days a process knows at most; of more it forgets those who asked longest
ago."""

_log = logging.getLogger("webbee.limits")


@dataclass(slots=True)
class _Day:
    """What a process knows of a user's or a tenant's day: tokens that it has not added yet, and the
    sum when it last asked."""

    day: int
    owed: int = 0
    sum: int = 0
    asked_at: float = 0.0


class Limits:
    """Counts requests and tokens; says when there are too many, and which requests run. Without
    limits it counts nothing."""

    def __init__(self, store: LimitStore, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._requests = settings.user_requests_per_minute
        self._tokens = settings.user_tokens_per_day
        self._together = settings.tenant_tokens_per_day
        self._days: OrderedDict[UserKey | str, _Day] = OrderedDict()

    async def take(
        self, user: User, working: TurnWorking | None = None
    ) -> LimitReached | TurnWorking | None:
        """Count a request of this user; the refusal where a limit is used up. A table that does not
        answer refuses nobody. With `working` the same write says that the request named there
        runs; that is returned where it did already."""
        now = self._clock.now()
        told = mark(working, now) if working else ""
        taking = self._take(UserKey.of(user), now, told)
        try:
            if self._together:
                counted, spent = await asyncio.gather(taking, self._sum(user.tenant_id, now))
            else:
                counted, spent = await taking, 0
        except StorageUnavailable as error:
            _log.error("error=%s | a request was not counted", error)
            return None
        if told and runs(told, counted.beside):  # whoever asks how it goes asks for nothing new
            return working
        over = self._over(counted.refused, spent, now, user.language)
        if over:
            measure("LimitsReached")
        return over

    async def give_back(self, user: User) -> None:
        """The request that was just counted was one of a turn that runs or is done: polls count
        against no limit. What cannot be given back costs a log line."""
        if not self._requests:
            return
        try:
            minute = int(self._clock.now() // MINUTE_S)
            await self._store.give_back(UserKey.of(user), minute=minute)
        except StorageUnavailable as error:
            _log.warning("error=%s | a poll stays counted", error)

    async def say(self, user: User, working: TurnWorking, what: str) -> None:
        """Mark what became of a request that runs. One write."""
        now = self._clock.now()
        told = mark(working, now, what)
        await self._store.mark(UserKey.of(user), told, minute=int(now // MINUTE_S))

    def _over(self, used: Used | None, spent: int, now: float, tag: str) -> LimitReached | None:
        if used and self._requests and used.requests >= self._requests:
            return _reached("UserRequestsPerMinute", self._requests, MINUTE_S, now, tag)
        if used:
            return _reached("UserTokensPerDay", self._tokens, DAY_S, now, tag)
        if self._together and spent >= self._together:
            return _reached("TenantTokensPerDay", self._together, DAY_S, now, tag)
        return None

    async def spend(self, user: User, tokens: int) -> None:
        """Add what a turn has cost. Never in its way: what cannot be added costs a log line."""
        now = self._clock.now()
        try:
            await self._spend(UserKey.of(user), tokens, self._tokens, now)
            await self._spend(user.tenant_id, tokens, self._together, now)
        except StorageUnavailable as error:
            _log.error("error=%s tokens=%d | tokens were not counted", error, tokens)

    async def _take(self, user: UserKey, now: float, told: str) -> Counted:
        if not (self._requests or self._tokens or told):
            return Counted()
        known = self._known(user, now)
        # before the await: two requests at once must not both add it
        spent, known.owed = known.owed, 0
        minute, limits = int(now // MINUTE_S), {"requests": self._requests, "tokens": self._tokens}
        # as if refused until the table says otherwise: a failed write leaves the debt
        counted = Counted(refused=Used())
        try:
            counted = await self._store.take(user, minute=minute, **limits, spent=spent, mark=told)
        finally:
            if counted.refused:
                known.owed += spent
        return counted

    async def _spend(self, whose: UserKey | str, tokens: int, limit: int, now: float) -> None:
        """Add to what a user or a tenant owes; to the table once it is a portion of the limit."""
        if not (tokens and limit):
            return
        known = self._known(whose, now)
        known.owed += tokens
        if known.owed * PORTIONS >= limit:
            # the write returns the sum: nobody has to ask for it within the next minute
            owed, known.owed, known.asked_at = known.owed, 0, now
            try:
                known.sum = await self._store.spend(whose, day=known.day, tokens=owed)
            except StorageUnavailable:
                known.owed += owed
                raise

    async def _sum(self, tenant_id: str, now: float) -> int:
        """The tokens of the tenant's day, as far as this process knows."""
        known = self._known(tenant_id, now)
        if now - known.asked_at >= FRESH_S:
            # before the read, so that requests beside this one do not ask as well
            known.asked_at = now
            known.sum = await self._store.together(tenant_id, day=known.day)
        return known.sum + known.owed

    def _known(self, whose: UserKey | str, now: float) -> _Day:
        """Of those who asked last; what a day owes ends with it."""
        day = int(now // DAY_S)
        known = self._days.get(whose)
        if known is None or known.day != day:
            known = self._days[whose] = _Day(day)
        self._days.move_to_end(whose)
        while len(self._days) > KNOWN:
            self._days.popitem(last=False)
        return known


def _reached(field: str, limit: int, period_s: int, now: float, tag: str) -> LimitReached:
    """The refusal, in the user's language: free again when the minute or the day (UTC) is over."""
    # a client that is told 0 seconds would ask again at once, in the same minute
    wait = max(1, int(period_s - now % period_s))
    speaker = language.of(tag)
    if period_s == MINUTE_S:
        said = speaker.say("limit_of_requests", n=wait)
    else:
        said = speaker.say("limit_of_tokens" if field.startswith("User") else "limit_of_all")
    return LimitReached(said, field=field, limit=limit, retry_after=wait)


async def nothing() -> None:
    """Beside what is read, where nothing is counted."""
