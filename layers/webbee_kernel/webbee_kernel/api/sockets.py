"""The WebSocket API: opens connections by ticket, serves their frames, and sends frames by API
Gateway's `@connections`. A page that misses an event asks for it later."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from ..aws.clients import aws_client, error_code, in_thread
from ..background import start
from ..bootstrap import App
from ..clock import Clock, new_id
from ..errors import BadInput, KernelError, NotFound
from ..observability import bind, user_hash
from ..sdk.result import User
from ..text import json_text
from ..turn.confirmation import CardAnswer
from ..turn.kernel import TurnRequest
from ..types import Event, JSONObject, UserKey, user_dict, user_from
from .identity import token_ends_at
from .request_models import ConfirmFrame, HelloFrame, PingFrame, StopFrame, TurnFrame, Wire
from .router import Answer, Request, Route, json_object, kernel_error, to_response, validate
from .turns import Turns

if TYPE_CHECKING:
    from ..stores.dynamodb.user_items import ConnectionStore

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


MAX_FRAME_BYTES: Final = 120_000
"""API Gateway takes 128 KB a message."""

_GONE_ERRORS: Final = ("GoneException", "410")
"""Error codes for a connection that has ended."""


class Pusher:
    """Sends frames through the WebSocket API at `url`
    (`https://<api>.execute-api.<region>.amazonaws.com/<stage>`), empty without one. A connection
    that is gone raises nothing."""

    def __init__(self, url: str, connections: ConnectionStore, clock: Clock) -> None:
        self._url = url
        self._connections = connections
        self._clock = clock

    async def push(self, user: UserKey, frames: Sequence[JSONObject]) -> None:
        """Send frames in order to each of the user's open connections, concurrently."""
        found = await self._connections.of_user(user, now=self._clock.now())
        await asyncio.gather(*(self.send(user, connection, frames) for connection in found))

    async def end(self, connection_id: str) -> None:
        """End a connection."""
        await self._ask("delete_connection", connection_id)

    async def send(self, user: UserKey, connection_id: str, frames: Sequence[JSONObject]) -> bool:
        """Send frames in order to one connection; whether it is still there."""
        for frame in frames:
            if not await self._ask("post_to_connection", connection_id, Data=encode_frame(frame)):
                # not every end comes as an event
                await self._connections.close(user, connection_id)
                return False
        return True

    async def _ask(self, operation: str, connection_id: str, **request: Any) -> bool:
        """One request; False where the connection is gone. Other errors are only logged: the page
        can ask for events again."""

        def ask() -> None:
            client = aws_client("apigatewaymanagementapi", attempts=2, address=self._url)
            getattr(client, operation)(ConnectionId=connection_id, **request)

        try:
            if self._url:
                await in_thread(ask)
            return bool(self._url)
        except Exception as error:
            code = error_code(error) or type(error).__name__
            if code not in _GONE_ERRORS:
                _log.warning("error=%s | %s failed", code, operation)
            return code not in _GONE_ERRORS


class Peer:
    """The page at the other end of a connection, with a queue of frames.

    Waiting text frames are merged, so a slow connection gets fewer frames, not later ones. Frames
    are sent on the event loop that made it.
    """

    def __init__(self, pusher: Pusher, connection_id: str, user: User) -> None:
        self._pusher = pusher
        self._connection_id = connection_id
        self.user = user
        self.key = UserKey.of(user)
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._frames: list[JSONObject] = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_open = True

    async def tell(self, *frames: JSONObject) -> bool:
        """Send frames now; whether the page is still there."""
        return await self._pusher.send(self.key, self._connection_id, frames)

    def put(self, frame: JSONObject) -> None:
        """Queue a frame, from any thread."""
        if threading.get_ident() == self._thread:
            self._add(frame)
        else:
            self._loop.call_soon_threadsafe(self._add, frame)

    def _add(self, frame: JSONObject) -> None:
        if not self._is_open:
            return
        if not _merge_text(self._frames, frame):
            self._frames.append(frame)
        if self._idle.is_set():
            self._idle.clear()
            start(self._send(), "frames")

    async def sent(self) -> None:
        """Wait until the queue is sent, or the connection is gone."""
        await self._idle.wait()

    async def _send(self) -> None:
        try:
            while self._frames and self._is_open:
                now, self._frames = self._frames, []
                self._is_open = await self.tell(*now)
        except KernelError as error:  # the turn is worth more than its frames
            _log.warning("code=%s | frames of a turn not sent", error.code)
            self._is_open = False
        finally:
            self._idle.set()


def _merge_text(frames: list[JSONObject], frame: JSONObject) -> bool:
    """Append a text frame to the last one if that is text, too; whether it was."""
    last = frames[-1] if frames else {}
    if not last.get("type") == frame["type"] == "text":
        return False
    frames[-1] = {**last, "text": last["text"] + frame["text"]}
    return True


def frame_of(event: Event) -> JSONObject:
    """An event as `GET /v1/events` has it, as a frame."""
    return {"type": "event", **event_fields(event)}


def event_fields(event: Event) -> JSONObject:
    return {"id": event.event_id, "at": event.at, "kind": event.kind, "data": event.data}


def error_frame(error: JSONObject, request: JSONObject) -> JSONObject:
    """The answer to a frame that could not be served; `error` is an API error's body."""
    request_id = request.get("request_id")
    ids = {"request_id": request_id[:128]} if isinstance(request_id, str) else {}
    return {"type": "error", **ids, **error}


def encode_frame(frame: JSONObject) -> bytes:
    """The frame as it is sent. One that is too large has only its ids and `fetch`: the page then
    reads the session, or `GET /v1/events`."""
    raw = json_text(frame).encode()
    if len(raw) <= MAX_FRAME_BYTES:
        return raw
    keys = ("type", "id", "at", "kind", "request_id", "session_id", "turn", "status")
    return json_text({**{k: frame[k] for k in keys if k in frame}, "fetch": True}).encode()


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
            await peer.tell(error_frame(told, frame))

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
            if not await peer.tell(*map(frame_of, found)):
                return
            newest = since = found[-1].event_id if found else since
            if len(found) < PAGE:
                break
        await peer.tell({"type": "ready", "last_event_id": max(newest, last)})

    def _now(self) -> int:
        return int(self._app.clock.now())
