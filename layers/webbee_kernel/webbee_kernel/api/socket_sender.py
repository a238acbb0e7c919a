"""Sends a user's events to the user's open connections, as API Gateway's `@connections` serves
them, and forgets those that are gone; and the batches that wake `chat_turn` for it: the stream of
the events table, and the queue of late results.

Each record counts by itself. An event is pushed to its user's open pages; a page that misses it
asks for it later. A result that outlived its turn must reach the turn: where that is not recorded
yet, or a step fails, it goes to the queue and is looked at again until it has. What cannot be read
goes to the dead-letter queue.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from ..aws.clients import aws_client, error_code, in_thread
from ..background import start
from ..bootstrap import App
from ..catalogue import Dispatch
from ..clock import Clock
from ..errors import KernelError
from ..refresh.refresh_queue import JsonQueue
from ..sdk.records import User
from ..stores.codec import event_from, loads
from ..stores.item_keys import user_of
from ..text import json_text
from ..turn.late import KIND, WAIT_S, LateResults
from ..types import Event, JSONObject, UserKey

if TYPE_CHECKING:
    from ..stores.dynamodb.user_items import ConnectionStore

MAX_FRAME_BYTES: Final = 120_000
"""API Gateway takes 128 KB a message."""

_GONE_ERRORS: Final = ("GoneException", "410")
"""What a connection that has ended is called, by name and by status."""


class Pusher:
    """Sends frames to open connections by the WebSocket API at `url`,
    `https://<api>.execute-api.<region>.amazonaws.com/<stage>`; to none in a deployment without one.
    Nothing here raises for a connection that is gone."""

    def __init__(self, url: str, connections: ConnectionStore, clock: Clock) -> None:
        self._url = url
        self._connections = connections
        self._clock = clock

    async def push(self, user: UserKey, frames: Sequence[JSONObject]) -> None:
        """The frames, in order, to each of the user's open connections, side by side."""
        found = await self._connections.of_user(user, now=self._clock.now())
        await asyncio.gather(*(self.send(user, connection, frames) for connection in found))

    async def end(self, connection_id: str) -> None:
        """End a connection that speaks for nobody any more."""
        await self._ask("delete_connection", connection_id)

    async def send(self, user: UserKey, connection_id: str, frames: Sequence[JSONObject]) -> bool:
        """The frames, in order, to one connection; whether it is still there."""
        for frame in frames:
            if not await self._ask("post_to_connection", connection_id, Data=encode_frame(frame)):
                # API Gateway does not promise to tell of every end
                await self._connections.close(user, connection_id)
                return False
        return True

    async def _ask(self, operation: str, connection_id: str, **request: Any) -> bool:
        """One signed request; False where the connection is gone. What else fails is logged: a
        frame is never worth more than what it tells of, and events are found again."""

        def ask() -> None:
            # few attempts: a frame that comes late is worth little
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


_log = logging.getLogger("webbee.live")


class Peer:
    """The page at the other end of a connection.

    Frames that are put wait here for the one before them; the turn waits for none. Pieces of text
    that wait together are sent together, so a slow connection gets fewer frames and not later ones.
    It sends on the event loop it is made on, whoever puts a frame in.
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
        """Send this after what was put before. Safe from any thread: what code on another loop puts
        in takes its place at this loop's next turn."""
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
        """Wait until everything put so far has left, or the connection is gone."""
        await self._idle.wait()

    async def _send(self) -> None:
        try:
            while self._frames and self._is_open:
                # what comes while these are sent is joined for the next time
                now, self._frames = self._frames, []
                self._is_open = await self.tell(*now)
        except KernelError as error:  # the turn is worth more than its frames
            _log.warning("code=%s | frames of a turn not sent", error.code)
            self._is_open = False
        finally:
            self._idle.set()


def _merge_text(frames: list[JSONObject], frame: JSONObject) -> bool:
    """Whether the frame went into the one before it: both are text of the same turn."""
    last = frames[-1] if frames else {}
    if not last.get("type") == frame["type"] == "text":
        return False
    frames[-1] = {**last, "text": last["text"] + frame["text"]}
    return True


def frame_of(event: Event) -> JSONObject:
    """An event of the user's: what `GET /v1/events` tells, over the socket."""
    return {"type": "event", **_event_fields(event)}


def _event_fields(event: Event) -> JSONObject:
    return {"id": event.event_id, "at": event.at, "kind": event.kind, "data": event.data}


def error_frame(error: JSONObject, request: JSONObject) -> JSONObject:
    """A frame of the page that could not be served; `error` is an API error's body."""
    request_id = request.get("request_id")
    ids = {"request_id": request_id[:128]} if isinstance(request_id, str) else {}
    return {"type": "error", **ids, **error}


def encode_frame(frame: JSONObject) -> bytes:
    """The frame as it is sent. One that is larger than a message may be loses what makes it so,
    and says that it has to be fetched: a turn by its session, an event by `GET /v1/events`."""
    raw = json_text(frame).encode()
    if len(raw) <= MAX_FRAME_BYTES:
        return raw
    keys = ("type", "id", "at", "kind", "request_id", "session_id", "turn", "status")
    return json_text({**{k: frame[k] for k in keys if k in frame}, "fetch": True}).encode()


PAUSES_S: Final = (5, 10, 20, 40, 60)
"""Seconds after which a late result is looked at for the first, second, … time; the last one for
all that follow."""


class StreamRecords:
    """What `chat_turn` does with records of the stream and of the queue."""

    def __init__(self, app: App, dispatch: Dispatch, pusher: Pusher) -> None:
        settings = app.settings
        self._late = LateResults(settings, app.stores, dispatch, app.clock)
        self._pusher = pusher
        self._clock = app.clock
        self._queue = JsonQueue(settings.late_queue_url) if settings.late_queue_url else None
        self._dead = JsonQueue(settings.dead_letter_url) if settings.dead_letter_url else None

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """The partial batch response: the records that have to come again."""
        if (event.get("Records") or [{}])[0].get("eventSource") != "aws:dynamodb":
            return await _each(event, "SQS", self._retry)
        by_user: dict[UserKey, list[JSONObject]] = {}

        async def one(record: JSONObject) -> None:
            try:
                found = event_from_record(record)
            except ValueError as error:
                await self._dead_letter(record, error)
                return
            if found:
                user, told = found
                # also of a record that comes again: pages know events by their id
                by_user.setdefault(user, []).append(frame_of(told))
                if told.kind == KIND:
                    await self._take(user, told)

        answer = await _each(event, "DynamoDBStreams", one)
        for user, told in by_user.items():
            try:
                await self._pusher.push(user, told)
            except Exception as error:  # not repeated: the page asks by its last event's id
                _log.warning("error=%s events=%d | not pushed", type(error).__name__, len(told))
        return answer

    async def _take(self, user: UserKey, event: Event) -> None:
        """A result that outlived its turn becomes a part of it, now or later. Raises where neither
        can be: the record comes again."""
        if self._queue is None:
            start(self._late.take(user, event), f"late-{event.event_id}")
        elif not await self._is_done(user, event):
            await self._queue.send(_queue_message(user, event, 0), PAUSES_S[0])

    async def _retry(self, record: JSONObject) -> None:
        """A letter of the queue. Raises where it can neither be settled nor sent on."""
        try:
            user, event, waited_s = _event_of_message(loads(record["body"]))
        except (KeyError, TypeError, ValueError) as error:
            await self._dead_letter(record, error)
            return
        if await self._is_done(user, event):
            return
        if waited_s >= WAIT_S:
            _log.warning("kind=%s | a late result found no turn", event.kind)
            return
        # what was waited in all lies between two pauses, so it tells which one is next
        pause = next((p for p in PAUSES_S if p > waited_s), PAUSES_S[-1])
        assert self._queue
        await self._queue.send(_queue_message(user, event, waited_s + pause), pause)

    async def _is_done(self, user: UserKey, event: Event) -> bool:
        """Whether nothing is left to be done for it, now; whatever fails is tried again later."""
        try:
            return await self._late.look(user, event) != "absent"
        except Exception as error:
            _log.warning("error=%s | a late result is looked at again", type(error).__name__)
            return False

    async def _dead_letter(self, record: JSONObject, error: Exception) -> None:
        """A record that nobody can read goes to the dead-letter queue, whole; raises where there is
        none or it takes nothing."""
        _log.error("error=%s | a record cannot be read", type(error).__name__)
        if self._dead is None:
            raise error
        await self._dead.send({"record": record, "error": str(error)})


async def _each(
    event: Mapping[str, Any],
    kind: Literal["SQS", "DynamoDBStreams"],
    handle: Callable[[JSONObject], Coroutine[Any, Any, None]],
) -> JSONObject:
    """powertools' partial batch response: each record is handled, in order of their beginning."""
    # imported late: 80 ms of CPU that a process which only answers requests need not pay
    from aws_lambda_powertools.utilities.batch import AsyncBatchProcessor, EventType

    class Records(AsyncBatchProcessor):
        """Handles them on the loop that runs: by itself it runs one of its own to its end."""

        async def handle(self) -> None:
            await asyncio.gather(*map(self._async_process_record, self.records))

    async def one(record: Any) -> None:
        try:
            await handle(record.raw_event)
        except Exception as error:
            name = error.code if isinstance(error, KernelError) else type(error).__name__
            _log.error("error=%s | a record comes again", name)
            raise

    processor = Records(EventType[kind], raise_on_entire_batch_failure=False)
    with processor(list(event["Records"]), one):
        await processor.handle()
    return dict(processor.response())


def _queue_message(user: UserKey, event: Event, waited_s: float) -> JSONObject:
    return {"user": user._asdict(), "event": _event_fields(event), "waited_s": waited_s}


def _event_of_message(message: JSONObject) -> tuple[UserKey, Event, float]:
    owner, fields = message["user"], message["event"]
    user = UserKey(str(owner["tenant_id"]), str(owner["imperal_id"]))
    event = Event(str(fields["id"]), str(fields["at"]), str(fields["kind"]), dict(fields["data"]))
    return user, event, float(message["waited_s"])


def event_from_record(record: Mapping[str, Any]) -> tuple[UserKey, Event] | None:
    """User and event of an item that was written; None for what is no new event, such as one that
    expired. Raises ValueError for an item that is no event of a user."""
    image = record["dynamodb"].get("NewImage")
    if record.get("eventName") != "INSERT" or not image:
        return None
    try:
        return user_of(image["pk"]["S"]), event_from(image["body"]["S"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"an item of the events table is no event: {error!r}") from error
