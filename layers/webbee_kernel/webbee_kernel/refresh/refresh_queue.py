"""Asking for a refresh, what a turn found stale or what it changed, and when things are due: pure
arithmetic on Unix seconds. The refresh loop itself is `refresher.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ..catalogue import Catalogue
from ..sdk.user import User
from ..values import AuditRecord, CallRequest, Section, UserState, Wanted

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


def pause_after(failures: int) -> int:
    """Seconds to wait after so many failures in a row before this one."""
    return BACKOFF_S[min(failures, len(BACKOFF_S) - 1)]


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


class RefreshQueue(Protocol):
    """Where refresh requests go."""

    async def ask(self, user: User, wanted: Sequence[Wanted]) -> None:
        """Send these requests at once; returns within half a second whatever the queue does, a
        failure is logged."""
        ...

    async def follow(self, request: CallRequest, record: AuditRecord) -> None:
        """Have the record of an effect that nobody waits for any longer looked after."""
        ...


class NoQueue:
    """A deployment without a refresh loop, such as a unit test."""

    async def ask(self, user: User, wanted: Sequence[Wanted]) -> None:
        """Nothing happens."""

    async def follow(self, request: CallRequest, record: AuditRecord) -> None:
        """The record waits for a repetition of the request."""


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


def touched(catalogue: Catalogue, app_ids: Iterable[str]) -> list[tuple[str, str]]:
    """Every section of apps that just changed something."""
    return [
        (a, s.section)
        for a in sorted(set(app_ids))
        if a in catalogue.apps
        for s in catalogue.apps[a].sections
    ]


def after_effects(catalogue: Catalogue, app_ids: Iterable[str]) -> list[Wanted]:
    """A request for every section of apps that just changed something."""
    return [Wanted(*section, "effect") for section in touched(catalogue, app_ids)]
