"""Accepting: destinations that a person accepts for good, and takes back; both in the audit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..base.clock import Clock, iso
from ..base.ids import new_id
from ..catalogue import Catalogue
from ..guards.consent import destinations
from ..stores.protocols import AcceptedStore, AuditStore
from ..values import Accepted, AuditRecord, PendingConfirmation, UserKey
from . import confirmation

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

    async def forget(self, user: UserKey, keys: Iterable[str] | None = None) -> int:
        """Take these back, or all; how many there were."""
        wanted = None if keys is None else set(keys)
        gone = [a for a in await self._store.list(user) if wanted is None or a.key in wanted]
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
                args_hash=accepted.key.rpartition("#")[2],
                status=status,
            )
            expires = int(self._clock.now()) + self._seconds
            await self._audit.append(user, record, expires_at=expires)


def _destinations(card: PendingConfirmation, catalogue: Catalogue, at: str) -> Iterator[Accepted]:
    for step in confirmation.steps(card):
        if function := catalogue.function(step.app_id, step.fn_name):
            if function.action_type == "destructive":
                continue  # that is asked about each time
            for sink, key in destinations(function, step.arguments):
                if key:
                    yield Accepted(key, step.app_id, step.fn_name, sink.value, at)
