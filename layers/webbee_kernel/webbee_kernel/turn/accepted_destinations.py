"""Accepted destinations: what a person keeps with a yes and takes back; both are in the audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..catalogue import Catalogue
from ..clock import Clock, iso, new_id
from ..guards.consent import destinations
from ..guards.sinks import Sink
from ..stores.types import Accepted, PendingConfirmation
from ..text import cut
from ..types import AuditRecord, UserKey
from . import confirmation

if TYPE_CHECKING:
    from ..stores.dynamodb.sessions import AcceptedStore
    from ..stores.dynamodb.user_items import AuditStore

LONGEST_TOLD = 200
"""Characters of a destination as the list of the accepted tells it."""
ACCEPTED, REVOKED = "accepted", "revoked"
"""Statuses of the audit's records of consent."""


class AcceptedDestinations:
    """What a person does not want to be asked about again."""

    def __init__(self, store: AcceptedStore, audit: AuditStore, clock: Clock, days: int) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock
        self._seconds = days * 86_400

    async def keep(
        self, user: UserKey, card: PendingConfirmation, catalogue: Catalogue, session_id: str
    ) -> None:
        """Remember the destinations of a card for good. Repeatable."""
        found = list(_destinations(card, catalogue, iso(self._clock.now())))
        await self._store.put(user, found)
        await self._tell(user, found, ACCEPTED, session_id, card.confirmation_id)

    async def list(self, user: UserKey) -> tuple[Accepted, ...]:
        """All of them, the latest first."""
        return tuple(sorted(await self._store.list(user), key=lambda a: a.at, reverse=True))

    async def forget(
        self, user: UserKey, keys: Iterable[str] | None = None, *, app_id: str = ""
    ) -> int:
        """Take these back, or all, of one app or of any; how many there were."""
        wanted = None if keys is None else set(keys)
        kept = [a for a in await self._store.list(user) if app_id in ("", a.app_id)]
        # only what is there: the audit must not tell of a revocation that took nothing back
        gone = [a for a in kept if wanted is None or a.key in wanted]
        await self._store.delete(user, [a.key for a in gone])
        await self._tell(user, gone, REVOKED)
        return len(gone)

    async def _tell(
        self,
        user: UserKey,
        changed: Iterable[Accepted],
        status: str,
        session_id: str = "",
        request_id: str = "",
    ) -> None:
        for accepted in changed:
            record = AuditRecord(
                record_id=new_id(),
                at=iso(self._clock.now()),
                app_id=accepted.app_id,
                fn_name=accepted.fn_name,
                action_type="consent",
                session_id=session_id,
                request_id=request_id,
                step=0,
                # a key ends in the hash of its destination, which the audit does not hold in clear
                args_hash=accepted.key.rpartition("#")[2],
                status=status,
            )
            expires = int(self._clock.now()) + self._seconds
            await self._audit.append(user, record, expires_at=expires)


def keys_of(card: PendingConfirmation, catalogue: Catalogue) -> set[str]:
    """What the destinations of a card's calls are looked up by."""
    known = ((s, catalogue.function(s.app_id, s.fn_name)) for s in confirmation.steps(card))
    return {key for s, f in known if f for _, key in destinations(f, s.arguments) if key}


def _destinations(card: PendingConfirmation, catalogue: Catalogue, at: str) -> Iterator[Accepted]:
    for step in confirmation.steps(card):
        if function := catalogue.function(step.app_id, step.fn_name):
            if function.action_type == "destructive":
                continue  # that is asked about each time
            for sink, key in destinations(function, step.arguments):
                if key:
                    yield Accepted(key, step.app_id, step.fn_name, _told(sink) or step.fn_name, at)


def _told(sink: Sink) -> str:
    """A destination as the list of the accepted tells it; what no argument names by its values."""
    if sink.kind != "app":
        return sink.value
    return cut(", ".join(str(value) for _, value in json.loads(sink.value)), LONGEST_TOLD)
