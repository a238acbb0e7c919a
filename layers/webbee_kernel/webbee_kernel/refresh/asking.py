"""Asking for a refresh: what a turn found stale or what it changed. The refresh loop itself is
`refresher.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ..catalogue import Catalogue
from ..sdk.context import User
from ..values import AuditRecord, CallRequest, UserState, Wanted
from .pace import own_due

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
