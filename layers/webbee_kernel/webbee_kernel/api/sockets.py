"""The WebSocket API: opens connections by ticket and serves their frames."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from ..bootstrap import App
from ..clock import new_id
from ..errors import BadInput, NotFound
from ..observability import bind, user_hash
from ..turn.confirmation import CardAnswer
from ..turn.kernel import TurnRequest
from ..types import JSONObject, UserKey, user_dict, user_from
from . import socket_sender
from .identity import token_ends_at
from .request_models import ConfirmFrame, HelloFrame, PingFrame, StopFrame, TurnFrame, Wire
from .router import Answer, Request, Route, json_object, kernel_error, to_response, validate
from .socket_sender import Peer, Pusher
from .turns import Turns

TICKET_S: Final = 60
CONNECTION_S: Final = 3 * 3600
"""Seconds after which API Gateway ends a connection."""
UNTIL: Final = "until"
"""The key of a ticket for the end of its token, which ends the connection, too."""

PAGE: Final = 100
MAX_PAGES: Final = 20
"""Events of one page, and pages sent after a reconnection: older ones are lost."""


FRAMES: Final[Mapping[str, type[Wire]]] = {
    "confirm": ConfirmFrame,
    "hello": HelloFrame,
    "ping": PingFrame,
    "stop": StopFrame,
    "turn": TurnFrame,
}
"""The frames of a page, by their `type`."""
_DONE: Final[JSONObject] = {"statusCode": 200}
_log = logging.getLogger("webbee.live")


class Sockets:
    """Opens and closes connections, and answers their frames."""

    def __init__(self, app: App, turns: Turns, pusher: Pusher) -> None:
        self._app = app
        self._turns = turns
        self._pusher = pusher

    @Route("POST /v1/live", answer="TicketAnswer")
    async def ticket(self, request: Request) -> Answer:
        """A ticket for one connection, to be used within 60 seconds: the address holds it, because
        a browser can send no header when it connects. What is said over it is answered in the
        language that this request asks for."""
        if not self._app.settings.live_url:
            raise NotFound("this deployment has no WebSockets: poll GET /v1/events", field="path")
        ticket = secrets.token_urlsafe(24)
        ends_at = min(token_ends_at(request.event), self._now() + CONNECTION_S)
        await self._app.stores.connections.issue(
            ticket,
            {**user_dict(request.reader), UNTIL: int(ends_at)},
            # a ticket must not outlive the token that it was given for
            expires_at=min(self._now() + TICKET_S, int(ends_at)),
        )
        url = f"{self._app.settings.live_url}?ticket={quote(ticket)}"
        return Answer({"url": url, "expires_in": TICKET_S})

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """One event of the WebSocket API: a connection opens, sends a frame, or ends."""
        context = event["requestContext"]
        connection_id = str(context["connectionId"])
        match context.get("eventType"):
            case "CONNECT":
                return await self._connect(event, connection_id)
            case "DISCONNECT":
                connections = self._app.stores.connections
                if user := await connections.find(connection_id, now=self._now()):
                    await connections.close(UserKey.of(user_from(user)), connection_id)
                return _DONE
        user = await self._app.stores.connections.find(connection_id, now=self._now())
        if user is None:
            # unknown: the page opens another one, with a new ticket
            await self._pusher.end(connection_id)
            return {"statusCode": 410}
        peer = Peer(self._pusher, connection_id, user_from(user))
        bind(user=user_hash(peer.user.tenant_id, peer.user.imperal_id))
        await self._answer(peer, str(event.get("body") or ""))
        return _DONE

    async def _connect(self, event: Mapping[str, Any], connection_id: str) -> JSONObject:
        ticket = (event.get("queryStringParameters") or {}).get("ticket") or ""
        user = await self._app.stores.connections.take(ticket, now=self._now())
        if user is None:
            return {"statusCode": 401}
        until = int(user.pop(UNTIL, self._now() + CONNECTION_S))
        await self._app.stores.connections.open(connection_id, user, expires_at=until)
        return _DONE

    async def _answer(self, peer: Peer, body: str) -> None:
        """Serve a frame of the page, or answer with the error."""
        frame: JSONObject = {}
        try:
            frame = json_object(body)
            kind = FRAMES.get(str(frame.get("type")))
            if kind is None:
                raise BadInput(f"type: must be one of {', '.join(FRAMES)}", field="type")
            await self._serve(peer, validate(kind, frame))
        except Exception as error:
            told = to_response(kernel_error(error, "frame", peer.user), peer.user)
            await peer.tell(socket_sender.error_frame(told, frame))

    async def _serve(self, peer: Peer, frame: Wire) -> None:
        turns, user = self._turns, peer.user
        match frame:
            case TurnFrame():
                ids = frame.session_id or new_id(), frame.request_id or new_id()
                ask = TurnRequest(user, ids[0], frame.message, ids[1])
                turns.follow(ask, turns.kernel.turn, peer)
            case ConfirmFrame():
                how = CardAnswer(frame.edits, frame.remember)
                ask, work = await turns.confirmation_work(
                    user, frame.confirmation_id, frame.accept, how
                )
                turns.follow(ask, work, peer)
            case StopFrame():
                await turns.stop(peer.key, frame.request_id)
            case HelloFrame():
                await self._hello(peer, frame.last_event_id)
            case PingFrame():
                await peer.tell({"type": "pong"})

    async def _hello(self, peer: Peer, last: str) -> None:
        """Send the events since the last one that the page has, and some before: an event that was
        stored late may have an earlier id. A page that has none gets none."""
        log = self._app.events
        newest = last or log.mark()
        since = log.rewind(last) if last else newest
        for _ in range(MAX_PAGES):
            found = await log.since(peer.key, since, PAGE)
            if not await peer.tell(*map(socket_sender.frame_of, found)):
                return
            newest = since = found[-1].event_id if found else since
            if len(found) < PAGE:
                break
        await peer.tell({"type": "ready", "last_event_id": max(newest, last)})

    def _now(self) -> int:
        return int(self._app.clock.now())
