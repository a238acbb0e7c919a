"""Pending approvals: what waits for a person's yes, and how it is answered."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from .. import clock
from ..clock import Clock
from ..errors import BadInput, CallError, Gone, KernelError, StorageUnavailable
from ..guards.ids import no_placeholders
from ..guards.proposals import card
from ..stores.types import Answering, PendingConfirmation, SessionMemory, Turn
from ..types import SessionKey, Step
from .accepted_destinations import AcceptedDestinations, keys_of
from .confirmation import LIFETIME_S, PLAINLY, Answered, edited, still_installed
from .session_memory import asked_in, recalled, undone_by
from .turn_context import TurnContext

if TYPE_CHECKING:
    from ..stores.dynamodb.sessions import SessionStore

MAX_RACES = 20
"""Writes of others that one write of a turn may meet."""
POLL_S = 0.2
RENEWED_AFTER = 0.4
"""Of a lease, after which it is renewed: one renewal may fail."""
WAIT_S = 10.0
"""Seconds a delivery waits for another one that carries out the same answer."""


class AnsweredProposals(NamedTuple):
    """Questions of one turn that are ours to answer, and how. Without any, what is answered is the
    turn's form."""

    memory: SessionMemory
    turn: Turn
    answers: tuple[tuple[PendingConfirmation, bool], ...] = ()
    until: Mapping[str, float] = MappingProxyType({})
    """When the lease of each ends (Unix seconds), by confirmation id."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(p.confirmation_id for p, _ in self.answers)

    @property
    def is_carried(self) -> bool:
        """Whether their turn only carries them on, for one that the ring has overwritten."""
        return bool(self.answers) and not asked_in(self.turn, [p for p, _ in self.answers])

    @property
    def message(self) -> str:
        """The message that was asked about."""
        return self.answers[0][0].message if self.is_carried else self.turn.message

    @property
    def accepted(self) -> tuple[PendingConfirmation, ...]:
        """Those that the user said yes to."""
        return tuple(p for p, yes in self.answers if yes)


class Proposals:
    """Takes questions of one store of sessions; a lease lasts `lease_s` seconds, a turn that is
    written `turn_s`."""

    def __init__(
        self,
        sessions: SessionStore,
        clock: Clock,
        kept: AcceptedDestinations,
        *,
        lease_s: float,
        turn_s: int,
    ) -> None:
        self._sessions = sessions
        self._clock = clock
        self._kept = kept
        self._lease_s = lease_s
        self._turn_s = turn_s

    @asynccontextmanager
    async def answering(
        self, state: TurnContext, chosen: Mapping[str, bool], how: Answered = PLAINLY
    ) -> AsyncIterator[TurnContext]:
        """The turn that asked, the questions of `chosen` (confirmation id → yes) ours alone for as
        long as the block lasts; its memory is read anew, and nothing is answered, where somebody
        else was faster. A crash inside leaves a claim that a retry finds, and no second effect.

        Raises NotAllowed where an app was removed since the card, Gone where nobody waits for one,
        BadInput for what cannot be edited, StorageUnavailable (`being_answered`) where somebody
        else's answer takes long.
        """
        still_installed(state.memory, chosen, state.installed)
        memory, taken = await self.take(state.key, state.memory, chosen)
        if taken is None:
            yield replace(state, memory=memory)
            return
        async with self.held(state.key, taken):
            taken = await self._settled(state, taken, how)
            yield reopened(state, taken)

    async def _settled(
        self, state: TurnContext, taken: AnsweredProposals, how: Answered
    ) -> AnsweredProposals:
        """What was said yes to as it will run, whoever carries it out: texts that were rewritten
        are stored before anything runs, so that a repeated yes finds the same calls."""
        if not taken.accepted:
            return taken
        if how.edits:
            taken = await self._edited(state, taken, how.edits)
        if how.remember:
            key = state.key
            for card in taken.accepted:
                await self._kept.keep(key.user, card, state.catalogue, key.session_id)
            # kept where they can be taken back, and not in the session beside it
            taken = taken._replace(
                answers=tuple((replace(p, values=()), y) for p, y in taken.answers)
            )
        return taken

    async def _edited(
        self, state: TurnContext, taken: AnsweredProposals, edits: Mapping[str, Mapping[str, str]]
    ) -> AnsweredProposals:
        """What was taken with its first card rewritten, and stored so. A yes to it accepts what is
        still a destination."""
        [card, *_] = taken.accepted
        try:
            mine = edited(card, edits)
            no_placeholders(dict(edits))
        except (ValueError, CallError) as error:
            raise BadInput(str(error), field="edits") from None
        before, after = keys_of(card, state.catalogue), keys_of(mine, state.catalogue)
        if after - before:
            raise BadInput(
                "this text now says where to: that cannot be edited; say no and ask for it anew",
                field="edits",
            )
        mine = replace(mine, values=tuple(v for v in mine.values if v not in before - after))
        memory, turn = await self._rewritten(state.key, taken, mine)
        answers = tuple(
            (mine if p.confirmation_id == mine.confirmation_id else p, y) for p, y in taken.answers
        )
        return taken._replace(memory=memory, turn=turn, answers=answers)

    async def _rewritten(
        self, key: SessionKey, taken: AnsweredProposals, mine: PendingConfirmation
    ) -> tuple[SessionMemory, Turn]:
        """The session and the turn with this card in the place of the one of its id, whoever else
        writes to the turn."""
        memory = taken.memory
        for _ in range(MAX_RACES):
            asked = memory.asked(mine.confirmation_id)
            if asked is None:
                raise gone()
            turn, held = asked
            written = replace(turn, waiting=tuple(mine if p is held else p for p in turn.waiting))
            stored = await self._write(key, memory, written)
            # in any case: what was stored has a new version, which the next write names
            memory = await self._sessions.read(key, now=self._clock.now())
            if stored:
                break
        found = memory.asked(mine.confirmation_id)
        if found is None:
            raise gone()
        return memory, found[0]

    async def take(
        self, key: SessionKey, memory: SessionMemory, chosen: Mapping[str, bool]
    ) -> tuple[SessionMemory, AnsweredProposals | None]:
        """The session as it was read last, and the questions of `chosen` that are still to be
        answered. Waits for whoever is answering one."""
        found: list[tuple[PendingConfirmation, bool]] = []
        leases: dict[str, float] = {}
        turn: Turn | None = None
        until = time.monotonic() + WAIT_S
        for confirmation_id, yes in chosen.items():
            memory, mine = await self._one(key, memory, confirmation_id, yes, until)
            if mine is not None and (asked := memory.asked(confirmation_id)):
                turn = asked[0]
                found.append((asked[1], mine.yes))
                leases[confirmation_id] = mine.until
        return memory, AnsweredProposals(memory, turn, tuple(found), leases) if turn else None

    async def _one(
        self, key: SessionKey, memory: SessionMemory, name: str, yes: bool, until: float
    ) -> tuple[SessionMemory, Answering | None]:
        """The memory with the question in it, and our lease with the answer that counts; None where
        it is gone."""
        while asked := memory.asked(name):
            turn, pending = asked
            held, now = memory.taken.get(name), self._clock.now()
            # with a lease it was answered in time, and may be carried out behind its end
            if held is None and pending.expires_at <= now:
                raise gone()
            if held is None or held.until < now:
                # a lease that ran out leaves its answer: the first one counts
                lease = Answering(now + self._lease_s, held.yes if held else yes)
                if await self._sessions.take_pending(key, turn.seq, name, now=now, lease=lease):
                    return memory, lease
            elif time.monotonic() >= until:
                raise StorageUnavailable(
                    "this answer is being carried out: ask again in a minute",
                    code="being_answered",
                )
            else:
                await asyncio.sleep(POLL_S)
            memory = await self._sessions.read(key, now=self._clock.now())
        return memory, None

    @asynccontextmanager
    async def held(self, key: SessionKey, taken: AnsweredProposals) -> AsyncIterator[None]:
        """The leases last as long as the block does, however long its calls run. They end at once
        where what was begun has failed: the answer may be given again."""
        renewing = asyncio.ensure_future(self._renew(key, taken))
        try:
            yield
        except KernelError:
            # first, or a renewal would take again what is given back
            renewing.cancel()
            await self._give_back(key, taken)
            raise
        finally:
            renewing.cancel()

    async def _give_back(self, key: SessionKey, taken: AnsweredProposals) -> None:
        with suppress(StorageUnavailable):
            await self._write(key, taken.memory, taken.turn, taken.ids)

    async def _write(
        self, key: SessionKey, memory: SessionMemory, turn: Turn, answered: Sequence[str] = ()
    ) -> bool:
        return await self._sessions.replace(
            key,
            turn,
            version=memory.versions[turn.seq],
            answered=answered,
            expires_at=int(self._clock.now()) + self._turn_s,
        )

    async def _renew(self, key: SessionKey, taken: AnsweredProposals) -> None:
        until = dict(taken.until)
        while until:
            await asyncio.sleep(self._lease_s * RENEWED_AFTER)
            for name, was in list(until.items()):
                to, seq = self._clock.now() + self._lease_s, taken.turn.seq
                with suppress(StorageUnavailable):  # the next round tries again
                    kept = await self._sessions.keep_pending(key, seq, name, was=was, until=to)
                    until.update({name: to} if kept else {})


def card_of(
    state: TurnContext, steps: Sequence[Step], *, resume: bool = False
) -> PendingConfirmation:
    """The card of exactly these calls, arguments already real, valid for 300 seconds. The same
    calls of the same request have the same id, however often the request is delivered."""
    which = [(s.app_id, s.fn_name, json.dumps(s.arguments, sort_keys=True)) for s in steps]
    restores = _restores(state, steps)
    made = card(steps, state.catalogue, state.titles(), state.language, restores=restores)
    return PendingConfirmation(
        confirmation_id=clock.confirmation_id(str(state.key), state.request_id, *which),
        expires_at=int(state.now) + LIFETIME_S,
        message=state.message,
        request_id=state.request_id,
        steps=tuple(asdict(s) for s in steps),
        summary=made.summary,
        values=made.keys,
        hidden=made.hidden,
        resume=resume,
        asks=made.asks(),
    )


def shown_now(state: TurnContext, card: PendingConfirmation) -> PendingConfirmation:
    """A card that waited to be picked, as the one of this turn."""
    return replace(
        card,
        confirmation_id=clock.confirmation_id(
            str(state.key), state.request_id, card.confirmation_id
        ),
        request_id=state.request_id,
        expires_at=int(state.now) + LIFETIME_S,
    )


def _restores(state: TurnContext, steps: Sequence[Step]) -> bool:
    """Whether the one call takes back a remembered effect that destroyed something."""
    undone = undone_by(state.memory, steps[0]) if len(steps) == 1 else []
    known = [state.catalogue.function(*one["of"]) for one in undone]
    return any(function and function.action_type == "destructive" for function in known)


def gone() -> Gone:
    """What is said of a confirmation that nobody waits for."""
    return Gone(
        "this confirmation expired, was answered or never was: ask again",
        field="id",
        limit=LIFETIME_S,
    )


def reopened(state: TurnContext, taken: AnsweredProposals) -> TurnContext:
    """The turn that asked, as it stood when it asked: the message that was asked about, the results
    it had, and what the user has said yes to since."""
    turn = taken.turn
    values = [v for p in taken.accepted for v in p.values]
    outcomes = list(recalled(turn, state.catalogue, state.masker))
    earlier = [(Step(i, o.app_id, o.fn_name, {}, o.action_type), o) for i, o in outcomes]
    # it goes on: it must not stand in its own history as one that ended
    others = tuple(t for t in taken.memory.turns if t.seq != turn.seq)
    state = replace(
        state,
        message=taken.message,
        answered=taken,
        memory=replace(taken.memory, turns=others),
        accepted=tuple(dict.fromkeys([*turn.accepted, *values])),
        recalled=frozenset(i for i, _ in outcomes),
        listed=turn.listed,
    )
    return state.with_outcomes(earlier) if earlier else state
