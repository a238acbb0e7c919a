"""Reader: the request of a turn, and all its reads in one round trip."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import NamedTuple

from ..catalogue import Catalogue, Dispatch
from ..clock import Clock, digest, iso
from ..config import Settings
from ..errors import TurnWorking
from ..observability import record_duration
from ..sdk.result import User
from ..stores import Stores
from ..stores.rate_limits import Limits, count_nothing
from ..stores.types import UserState
from ..text import squeeze
from ..types import SessionKey, UserKey
from .session_memory import detector, masker_for
from .stream import NOBODY, Follower
from .turn_context import TurnContext

RECORD_RESERVE_S = 2.0
"""Seconds reserved for recording the turn."""


class TurnRequest(NamedTuple):
    """One validated request: user, session, message, and the follower of its turn."""

    user: User
    session_id: str
    message: str
    request_id: str
    follower: Follower = NOBODY
    is_alone: bool = False
    """The client sent only this message although it could send the conversation: it may be a
    request of the client itself."""
    user_messages: tuple[str, ...] = ()
    """The user's messages that the client sends, this one last; empty if it sends no history."""
    previous_reply: str | None = None
    """The reply directly before this message in the client's history, empty if there is none; None
    if the client sends no history."""

    @property
    def work_id(self) -> str:
        """What the deliveries of a request share while its turn runs: its id, or, of a client that
        sends the conversation instead, a hash of that."""
        shown = map(squeeze, (*self.user_messages, self.previous_reply or ""))
        return digest(*shown) if self.user_messages else self.request_id

    @property
    def answer_id(self) -> str:
        """The request id for an answer to a card; derived from the history if the client sends one,
        so that the same answer to the same card has the same id."""
        return self.work_id if self.previous_reply else self.request_id

    @property
    def key(self) -> SessionKey:
        """The session's key; identity comes from the authoriser only."""
        return SessionKey(UserKey.of(self.user), self.session_id)


@dataclass(frozen=True)
class Reader:
    """Reads session, skeleton and catalogue side by side; `window` as in the TurnContext."""

    settings: Settings
    stores: Stores
    dispatch: Dispatch
    clock: Clock
    policy: str
    window: int

    @record_duration("ReadMs")
    async def read(self, ask: TurnRequest, limits: Limits | None = None) -> TurnContext:
        """Everything a turn reads, in one parallel round trip. With `limits` the request is also
        counted, and leased if its follower renews the lease."""
        started, key = time.monotonic(), ask.key
        # a second delivery of the same request sees it and waits
        working = TurnWorking(ask.work_id, ask.session_id) if ask.follower.has_lease else None
        # one phase of reads, whatever the age of the session
        catalogue, memory, stored, over = await asyncio.gather(
            self.dispatch.catalogue(),
            self.stores.sessions.read(key, now=self.clock.now()),
            self.stores.skeleton.read(key.user),
            limits.take(ask.user, working) if limits else count_nothing(),
        )
        now, settings = self.clock.now(), self.settings
        finder = detector(settings.name_detector, settings.mask_kinds, ask.user.language)
        # DynamoDB's TTL may lag by days: what is too old does not count
        memory = memory.since(iso(now - settings.session_days * 86_400))
        return TurnContext(
            ask=ask,
            request_id=ask.request_id,
            message=ask.message,
            now=now,
            memory=memory,
            user_state=stored,
            catalogue=catalogue,
            installed=self.installed(catalogue, stored),
            expose_pii=settings.expose_pii,
            # monotonic: a clock that is set back ends no turn
            deadline=started + settings.turn_seconds - RECORD_RESERVE_S,
            masker=masker_for(memory, ask.message, finder),
            policy=self.policy,
            grounding=settings.grounding,
            refusal=over,
            window=self.window,
        )

    def installed(self, catalogue: Catalogue, state: UserState) -> frozenset[str]:
        """The user's apps: the deployment's defaults, minus removed ones, plus added ones."""
        decided = {i.app_id: i.installed for i in state.installations}
        return frozenset(
            a
            for a, app in catalogue.apps.items()
            if not app.error and decided.get(a, self.settings.installed_by_default(a))
        )
