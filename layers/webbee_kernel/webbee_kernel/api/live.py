"""Live: turns with whoever follows them, over sockets and beside them, and events pushed to open
pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..aws.connections import sockets_at
from ..bootstrap import App
from ..clock import new_id
from ..errors import NotFound
from ..live.pushing import Pusher
from ..observability import bind
from ..sdk.user import User
from ..stores.protocols import Refused
from ..turn.kernel import Ask, Kernel
from ..turn.pending_approvals import Answered
from ..turn.replies import Reply
from ..types import JSONObject, UserKey
from . import live_answers, wire
from .http import Answer, Request, Route, checked
from .sockets import Peer, Sockets
from .stream_records import StreamRecords
from .turns import Turns, Work
from .wire import ConfirmFrame, StopFrame, TurnFrame

ASYNC: Final = "respond-async"


class Live:
    """What `chat_turn` does besides answering requests one by one."""

    def __init__(self, app: App, kernel: Kernel) -> None:
        self._app = app
        self._kernel = kernel
        self._turns = Turns(app, kernel.limits, kernel.fail)
        self._pusher = Pusher(
            sockets_at(app.settings.connections_url), app.stores.connections, app.clock
        )
        self._records = StreamRecords(app, kernel.dispatch, self._pusher)
        said = {"turn": self._turn, "confirm": self._confirm, "stop": self._stop}
        self.sockets = Sockets(app, self._pusher, self._records, said)

    def takes(self, event: Mapping[str, Any]) -> bool:
        """Whether an event is no HTTP request: a socket's, or a batch of records."""
        return "Records" in event or "connectionId" in (event.get("requestContext") or {})

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """Answer such an event."""
        if "Records" in event:
            return await self._records.handle(event)
        return await self.sockets.handle(event)

    async def answer(self, request: Request, ask: Ask, work: Work) -> Answer:
        """The turn of a request, or 202 where it takes long or `Prefer: respond-async` asks for
        that."""
        at_once = ASYNC in request.headers.get("prefer", "").lower()
        return await self._turns.answer(ask, work, at_once=at_once)

    @Route(
        "POST /v1/turns/{request_id}/stop", answer=live_answers.StopAnswer, params=wire.STOP_PARAMS
    )
    async def stop(self, request: Request) -> Answer:
        """Ask the turn of a request to stop: within a second no further call starts, and what ran
        is told in its reply."""
        if isinstance(self._app.stores.connections, Refused):
            raise NotFound("this deployment cannot stop turns", field="path")
        asked = checked(wire.StopPath, dict(request.path))
        await self._turns.stop(UserKey.of(request.caller), asked.request_id)
        return Answer({"request_id": asked.request_id, "status": "stopping"})

    async def _turn(self, peer: Peer, frame: JSONObject) -> None:
        said = checked(TurnFrame, frame)
        ask = Ask(peer.user, said.session_id or new_id(), said.message, said.request_id or new_id())
        bind(session=ask.session_id, turn=ask.request_id)
        self._turns.follow(ask, self._kernel.turn, peer)

    async def _confirm(self, peer: Peer, frame: JSONObject) -> None:
        said = checked(ConfirmFrame, frame)
        how = Answered(said.edits, said.remember)
        ask, work = await self.confirming(peer.user, said.confirmation_id, said.accept, how)
        self._turns.follow(ask, work, peer)

    async def _stop(self, peer: Peer, frame: JSONObject) -> None:
        await self._turns.stop(peer.key, checked(StopFrame, frame).request_id)

    async def confirming(
        self, user: User, confirmation_id: str, accept: bool, how: Answered
    ) -> tuple[Ask, Work]:
        """What answers a confirmation, in its session, and how; NotFound where there is none."""
        session_id = await self._app.stores.sessions.find_pending(
            UserKey.of(user), confirmation_id, now=self._app.clock.now()
        )
        if session_id is None:
            raise NotFound(
                "there is no such confirmation: it expired after 5 minutes or never was", field="id"
            )
        ask = Ask(user, session_id, "", confirmation_id)
        bind(session=ask.session_id, turn=ask.request_id)

        async def work(ask: Ask) -> Reply:
            return await self._kernel.confirm(ask, confirmation_id, accept, how)

        return ask, work
