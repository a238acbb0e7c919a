"""Pending approvals: answering a card exactly once, and permanently accepted destinations."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ..catalogue import Catalogue
from ..clock import Clock, iso, new_id
from ..errors import BadInput, CallError, Gone, KernelError, StorageUnavailable, not_installed
from ..guards.ids import check_placeholders
from ..guards.sinks import GuardedCall, Sink
from ..stores.types import (
    AcceptedDestination,
    AnswerLease,
    PendingConfirmation,
    SessionMemory,
    Turn,
)
from ..text import cut
from ..types import AuditRecord, SessionKey, Step, UserKey
from .cards import LIFETIME_S, edited, own_card, steps
from .confirmation import PLAIN_ANSWER, CardAnswer
from .session_memory import recall
from .turn_context import TurnContext

if TYPE_CHECKING:
    from ..stores.dynamodb.sessions import AcceptedStore, SessionStore
    from ..stores.dynamodb.user_items import AuditStore

MAX_RACES = 20
"""Maximum retries of a turn's conditional write."""
POLL_S = 0.2
RENEW_SHARE = 0.4
"""Share of a lease after which it is renewed; one renewal may fail."""
WAIT_S = 10.0
"""Seconds a request waits for another one with the same answer."""


class AnsweredProposal(NamedTuple):
    """A leased card in its turn; without a card it is the turn's form. `until` is the end of the
    lease in Unix seconds."""

    memory: SessionMemory
    turn: Turn
    card: PendingConfirmation | None = None
    is_yes: bool = False
    until: float = 0.0

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.card.confirmation_id,) if self.card else ()

    @property
    def is_carried(self) -> bool:
        """Whether the turn only carries the card of a turn that was overwritten."""
        return self.card is not None and own_card(self.turn, [self.card]) is None

    @property
    def message(self) -> str:
        """The message that the card belongs to."""
        return self.card.message if self.card and self.is_carried else self.turn.message

    @property
    def accepted(self) -> PendingConfirmation | None:
        """The card if the answer is yes."""
        return self.card if self.is_yes else None


@dataclass(frozen=True)
class Proposals:
    """Leases cards of a session store; `lease_s` seconds each, a written turn `turn_s`."""

    sessions: SessionStore
    clock: Clock
    accepted: AcceptedDestinations
    lease_s: float
    turn_s: int

    @asynccontextmanager
    async def answering(
        self, state: TurnContext, name: str, is_yes: bool, how: CardAnswer = PLAIN_ANSWER
    ) -> AsyncIterator[TurnContext]:
        """The card's turn, with the card leased for the duration of the block; if another request
        was faster, the state with fresh memory and no card. A crash leaves a claim that a retry
        finds, without a second effect.

        Raises NotAllowed if an app was removed since, Gone for an unknown or expired card, BadInput
        for invalid edits, StorageUnavailable (`being_answered`) if another answer takes long.
        """
        if is_yes and (asked := state.memory.question(name)):
            for step in steps(asked[1]):
                if step.app_id not in state.installed:
                    raise not_installed(step.app_id)
        memory, proposal = await self.take(state.ask.key, state.memory, name, is_yes)
        if proposal is None:
            yield replace(state, memory=memory)
            return
        async with self.hold_lease(state.ask.key, proposal):
            yield reopen(state, await self._apply_answer(state, proposal, how))

    async def take(
        self, key: SessionKey, memory: SessionMemory, name: str, is_yes: bool
    ) -> tuple[SessionMemory, AnsweredProposal | None]:
        """The latest session, and the leased card with the answer that counts, or None if it is
        gone. Waits for a concurrent answer."""
        until = time.monotonic() + WAIT_S
        # a turn may still carry what another one has answered
        while (found := memory.question(name)) and not memory.turn_of(name):
            turn, pending = found
            lease, now = memory.leases.get(name), self.clock.now()
            # with a lease it was answered in time, and may be carried out behind its end
            if lease is None and pending.expires_at <= now:
                raise gone_error()
            if lease is None or lease.until < now:
                # a lease that ran out leaves its answer: the first one counts
                ours = AnswerLease(now + self.lease_s, lease.yes if lease else is_yes)
                if await self.sessions.take_pending(key, turn.seq, name, now=now, lease=ours):
                    return memory, AnsweredProposal(memory, turn, pending, ours.yes, ours.until)
            elif time.monotonic() >= until:
                raise StorageUnavailable(
                    "this answer is being carried out: ask again in a minute", code="being_answered"
                )
            else:
                await asyncio.sleep(POLL_S)
            memory = await self.sessions.read(key, now=self.clock.now())
        return memory, None

    @asynccontextmanager
    async def hold_lease(self, key: SessionKey, proposal: AnsweredProposal) -> AsyncIterator[None]:
        """Renew the lease during the block; on KernelError it is released, so that the answer can
        be repeated."""
        renewing = asyncio.ensure_future(self._renew(key, proposal))
        try:
            yield
        except KernelError:
            # first, or a renewal would take again what is given back
            renewing.cancel()
            with suppress(StorageUnavailable):
                # read anew: edits of its texts were stored since, which stay
                memory = await self.sessions.read(key, now=self.clock.now())
                if found := memory.question(proposal.ids[0]):
                    await self._write(key, memory, found[0], proposal.ids)
            raise
        finally:
            renewing.cancel()

    async def _renew(self, key: SessionKey, proposal: AnsweredProposal) -> None:
        [name], until = proposal.ids, proposal.until
        while True:
            await asyncio.sleep(self.lease_s * RENEW_SHARE)
            to = self.clock.now() + self.lease_s
            with suppress(StorageUnavailable):  # the next round tries again
                if await self.sessions.keep_pending(
                    key, proposal.turn.seq, name, was=until, until=to
                ):
                    until = to

    async def _apply_answer(
        self, state: TurnContext, proposal: AnsweredProposal, how: CardAnswer
    ) -> AnsweredProposal:
        """Apply edits and permanent acceptance of a yes. Edited texts are stored before anything
        runs, so that a repeated yes finds the same calls."""
        if proposal.accepted and how.edits:
            mine = _edited_card(proposal.accepted, how.edits, state.catalogue)
            proposal = await self._store_card(state.ask.key, proposal, mine)
        if proposal.accepted and how.remember:
            key = state.ask.key
            await self.accepted.put(key.user, proposal.accepted, state.catalogue, key.session_id)
            # kept where they can be taken back, and not in the session beside it
            proposal = proposal._replace(card=replace(proposal.accepted, values=()))
        return proposal

    async def _store_card(
        self, key: SessionKey, proposal: AnsweredProposal, card: PendingConfirmation
    ) -> AnsweredProposal:
        """Store this card in place of the one with its id, with retries on concurrent writes."""
        memory = proposal.memory
        for _ in range(MAX_RACES):
            found = memory.question(card.confirmation_id)
            if found is None:
                raise gone_error()
            turn, stored = found
            if stored == card:
                return proposal._replace(memory=memory, turn=turn, card=card)
            cards = tuple(card if p is stored else p for p in turn.waiting)
            await self._write(key, memory, replace(turn, waiting=cards))
            # in any case: what was stored has a new version, which the next write names
            memory = await self.sessions.read(key, now=self.clock.now())
        raise StorageUnavailable("the turn of this card is written all the time: retry")

    async def _write(
        self, key: SessionKey, memory: SessionMemory, turn: Turn, answered: Sequence[str] = ()
    ) -> bool:
        return await self.sessions.replace(
            key,
            turn,
            version=memory.versions[turn.seq],
            answered=answered,
            expires_at=int(self.clock.now()) + self.turn_s,
        )


def _edited_card(
    pending: PendingConfirmation, edits: Mapping[str, Mapping[str, str]], catalogue: Catalogue
) -> PendingConfirmation:
    """The card with edited texts and the remaining consent keys. Raises BadInput."""
    try:
        card = edited(pending, edits)
        check_placeholders(dict(edits))
    except (ValueError, CallError) as error:
        raise BadInput(str(error), field="edits") from None
    before, after = (
        {key for _, sink, key in _destinations(p, catalogue) if key} for p in (pending, card)
    )
    if after - before:
        raise BadInput(
            "this text now says where to: that cannot be edited; say no and ask for it anew",
            field="edits",
        )
    return replace(card, values=tuple(v for v in card.values if v not in before - after))


def gone_error() -> Gone:
    """The error for an unknown, answered or expired card."""
    return Gone(
        "this confirmation expired, was answered or never was: ask again",
        field="id",
        limit=LIFETIME_S,
    )


def reopen(state: TurnContext, proposal: AnsweredProposal) -> TurnContext:
    """The state of the card's turn when it asked: message, results, and accepted destinations."""
    turn = proposal.turn
    values = proposal.accepted.values if proposal.accepted else ()
    earlier = list(recall(turn, state.catalogue, state.masker))
    # it goes on: it must not stand in its own history as one that ended
    others = tuple(t for t in proposal.memory.turns if t.seq != turn.seq)
    state = replace(
        state,
        message=proposal.message,
        proposal=proposal,
        memory=replace(proposal.memory, turns=others),
        accepted=tuple(dict.fromkeys([*turn.accepted, *values])),
        earlier_calls=frozenset(o.step for o in earlier),
        tool_list=turn.listed,
    )
    return state.with_outcomes(earlier)


MAX_LABEL = 200
"""Characters of a destination in the list of accepted ones."""
ACCEPTED, REVOKED = "accepted", "revoked"
"""Statuses of the audit's records of consent."""


@dataclass(frozen=True)
class AcceptedDestinations:
    """Destinations that a user has accepted permanently; acceptance and revocation are audited, for
    so many days."""

    store: AcceptedStore
    audit: AuditStore
    clock: Clock
    days: int

    async def put(
        self, user: UserKey, pending: PendingConfirmation, catalogue: Catalogue, session_id: str
    ) -> None:
        """Store the destinations of a card permanently, except those of destructive calls.
        Idempotent."""
        at = iso(self.clock.now())
        found = [
            AcceptedDestination(key, step.app_id, step.fn_name, _label(sink) or step.fn_name, at)
            for step, sink, key in _destinations(pending, catalogue)
            if key and step.action_type != "destructive"
        ]
        await self.store.put(user, found)
        await self._audit_records(user, found, ACCEPTED, session_id, pending.confirmation_id)

    async def list(self, user: UserKey) -> tuple[AcceptedDestination, ...]:
        """All accepted destinations, newest first."""
        return tuple(sorted(await self.store.list(user), key=lambda a: a.at, reverse=True))

    async def forget(
        self, user: UserKey, keys: Iterable[str] | None = None, *, app_id: str = ""
    ) -> int:
        """Revoke these, or all, optionally of one app; returns their number."""
        wanted = None if keys is None else set(keys)
        kept = [a for a in await self.store.list(user) if app_id in ("", a.app_id)]
        # only what is there: the audit must not tell of a revocation that took nothing back
        gone = [a for a in kept if wanted is None or a.key in wanted]
        await self.store.delete(user, [a.key for a in gone])
        await self._audit_records(user, gone, REVOKED)
        return len(gone)

    async def _audit_records(
        self,
        user: UserKey,
        changed: Iterable[AcceptedDestination],
        status: str,
        session_id: str = "",
        request_id: str = "",
    ) -> None:
        now = self.clock.now()
        for accepted in changed:
            # a key ends in the hash of its destination, which the audit does not hold in clear
            hashed = accepted.key.rpartition("#")[2]
            record = AuditRecord(
                record_id=new_id(),
                at=iso(now),
                app_id=accepted.app_id,
                fn_name=accepted.fn_name,
                action_type="consent",
                session_id=session_id,
                request_id=request_id,
                step=0,
                args_hash=hashed,
                status=status,
            )
            await self.audit.append(user, record, expires_at=int(now) + self.days * 86_400)


def _destinations(
    pending: PendingConfirmation, catalogue: Catalogue
) -> Iterator[tuple[Step, Sink, str]]:
    """The destinations of a card as (call, sink, consent key)."""
    for step in steps(pending):
        if function := catalogue.function(step.app_id, step.fn_name):
            known = replace(step, action_type=function.action_type)
            call = GuardedCall(function, step.arguments)
            yield from ((known, sink, key) for sink, key in call.destinations)


def _label(sink: Sink) -> str:
    """The label of a destination; for an app sink its argument values."""
    if sink.kind != "app":
        return sink.value
    return cut(", ".join(str(value) for _, value in json.loads(sink.value)), MAX_LABEL)
