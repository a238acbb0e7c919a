"""Asking for a refresh: what a turn found stale or what it changed. The refresh loop itself is `refresher.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from .catalogue import Catalogue
from .sdk.context import User
from .turn import UserState

STALE_GRACE_S = 60
"""Seconds past its ttl after which a section counts as stale: the loop had its chance."""


class RefreshQueue(Protocol):
    """Where refresh requests go. Sending never waits for a refresh."""

    async def ask(self, user: User, sections: Sequence[tuple[str, str]], reason: str) -> None:
        """Ask for these `(app_id, section)`; reason is `stale` or `effect`."""
        ...


class NoQueue:
    """A deployment without a refresh loop, such as a unit test."""

    async def ask(self, user: User, sections: Sequence[tuple[str, str]], reason: str) -> None:
        """Nothing happens."""


def stale(catalogue: Catalogue, installed: Iterable[str], state: UserState, now: float) -> list[tuple[str, str]]:
    """Sections of installed apps that were never saved or are older than their ttl and a minute."""
    known = {(s.app_id, s.section): s for s in state.sections}
    wanted = []
    for app_id in sorted(installed):
        for info in catalogue.apps[app_id].sections:
            section = known.get((app_id, info.section))
            if section is None or (
                section.lease_until <= now and now - (section.refreshed_at or 0) > section.ttl + STALE_GRACE_S and section.failures == 0
            ):
                wanted.append((app_id, info.section))
    return wanted


def touched(catalogue: Catalogue, app_ids: Iterable[str]) -> list[tuple[str, str]]:
    """Every section of apps that just changed something."""
    return [(a, s.section) for a in sorted(set(app_ids)) if a in catalogue.apps for s in catalogue.apps[a].sections]
