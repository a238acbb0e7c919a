"""Sends events to their user's open WebSocket connections, by API Gateway's `@connections`. And the
batches that trigger `chat_turn` for it: the stream of the events table and the queue of late
results.

An event is pushed to its user's open pages; a page that misses it asks for it later. A late result
must reach its turn: until that is recorded, or if a step fails, it goes through the queue again.
Records that cannot be read go to the dead-letter queue.
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
from ..sdk.result import User
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


_log = logging.getLogger("webbee.live")


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
    return {"type": "event", **_event_fields(event)}


def _event_fields(event: Event) -> JSONObject:
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


PAUSES_S: Final = (5, 10, 20, 40, 60)
"""Seconds before each attempt to add a late result; the last value repeats."""


class StreamRecords:
    """Handles records of the stream and of the queue."""

    def __init__(self, app: App, dispatch: Dispatch, pusher: Pusher) -> None:
        settings = app.settings
        self._late = LateResults(settings, app.stores, dispatch, app.clock)
        self._pusher = pusher
        self._clock = app.clock
        self._queue = JsonQueue(settings.late_queue_url) if settings.late_queue_url else None
        self._dead = JsonQueue(settings.dead_letter_url) if settings.dead_letter_url else None

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """The partial batch response: the records to be delivered again."""
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
                # also of a repeated record: pages know events by their id
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
        """Add a late result to its turn, now or later. Raises where neither works: the record is
        delivered again."""
        if self._queue is None:
            start(self._late.take(user, event), f"late-{event.event_id}")
        elif not await self._is_done(user, event):
            await self._queue.send(_queue_message(user, event, 0), PAUSES_S[0])

    async def _retry(self, record: JSONObject) -> None:
        """A message of the queue. Raises where it can neither be settled nor sent again."""
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
        pause = next((p for p in PAUSES_S if p > waited_s), PAUSES_S[-1])
        assert self._queue
        await self._queue.send(_queue_message(user, event, waited_s + pause), pause)

    async def _is_done(self, user: UserKey, event: Event) -> bool:
        """Whether the result is settled; False also after an error."""
        try:
            return await self._late.look(user, event) != "absent"
        except Exception as error:
            _log.warning("error=%s | a late result is looked at again", type(error).__name__)
            return False

    async def _dead_letter(self, record: JSONObject, error: Exception) -> None:
        """Send a record to the dead-letter queue; raises where that is missing or fails."""
        _log.error("error=%s | a record cannot be read", type(error).__name__)
        if self._dead is None:
            raise error
        await self._dead.send({"record": record, "error": str(error)})


async def _each(
    event: Mapping[str, Any],
    kind: Literal["SQS", "DynamoDBStreams"],
    handle: Callable[[JSONObject], Coroutine[Any, Any, None]],
) -> JSONObject:
    """Handle the records concurrently; powertools' partial batch response."""
    # 80 ms of CPU that a process which only answers requests does not need
    from aws_lambda_powertools.utilities.batch import AsyncBatchProcessor, EventType

    class Records(AsyncBatchProcessor):
        """Uses the running loop; the base class runs one of its own."""

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
    """User and event of a new item; None for another change. ValueError for an item that is no
    event."""
    image = record["dynamodb"].get("NewImage")
    if record.get("eventName") != "INSERT" or not image:
        return None
    try:
        return user_of(image["pk"]["S"]), event_from(image["body"]["S"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"an item of the events table is no event: {error!r}") from error
