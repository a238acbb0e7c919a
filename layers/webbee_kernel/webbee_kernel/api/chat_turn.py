"""`chat_turn`: every route, and the batches that trigger it: the stream of the events table and the
queue of late results. Extension code runs in `tool_dispatch`.

An event is pushed to its user's open pages. A late result must reach its turn: until that is
recorded, or if a step fails, it goes through the queue again. Records that cannot be read go to the
dead-letter queue.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from ..background import CachedValue, start
from ..bootstrap import App, bootstrap, make_installs, make_kernel, make_queue
from ..catalogue import Dispatch
from ..clock import Clock, new_id
from ..config import Settings
from ..errors import BadInput, KernelError
from ..refresh.refresh_queue import JsonQueue
from ..stores import sse
from ..stores.codec import event_from, loads
from ..stores.dynamodb.transcripts import dropped_turns, other_sessions
from ..stores.item_keys import user_of
from ..turn.confirmation import CardAnswer
from ..turn.kernel import Kernel, TurnRequest, warm_up, warm_up_catalogue
from ..turn.late import KIND, WAIT_S, LateResults
from ..types import Event, JSONObject, SessionKey, UserKey, user_dict
from .identity import require_role
from .request_models import (
    EVENT_ID,
    ChatBody,
    ConfirmationBody,
    EventsParams,
    InspectParams,
    StopPath,
)
from .router import Answer, Group, Request, Route, Router, Services, unavailable_reason
from .sockets import Pusher, Sockets, event_fields, frame_of
from .turns import Turns, Work

if TYPE_CHECKING:
    from ..bootstrap import Installs

ASYNC: Final = "respond-async"
OPENAPI: Final = Path(__file__).with_name("openapi.json")
"""Written from the routes, as docs/openapi.json is."""
_log = logging.getLogger("webbee.live")


def _others(services: Services) -> Iterator[Group]:
    """The routes that no turn needs, by the prefixes of their paths."""

    def of(module: str) -> Any:
        return import_module(f".{module}", __package__)

    yield Group(lambda: of("conversations").Conversations(services), "/v1/sessions", "/v1/search")
    yield Group(lambda: of("me").Me(services), "/v1/me")
    yield Group(lambda: of("callbacks").Health(services), "/v1/health")
    yield Group(lambda: of("extension_routes").Apps(services), "/v1/extensions")
    yield Group(lambda: of("extension_routes").AppSecrets(services), "/v1/extensions")
    yield Group(lambda: of("callbacks").Webhooks(services), "/v1/ext")
    yield Group(lambda: of("callbacks").SignInPages(services), "/v1/ext")
    yield Group(lambda: of("chat_completions").OpenAI(services), "/v1/openai")
    yield Group(lambda: of("mcp_server").Mcp(services), "/v1/mcp", "/.well-known")


class ChatService:
    """Routes of chat, confirmations, events, catalogue, inspector and page; and the events of the
    WebSocket API and of streams."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        *,
        app: App | None = None,
        kernel: Kernel | None = None,
        installs: Installs | None = None,
    ) -> None:
        self.app = app or bootstrap(settings, role="chat_turn", clock=clock)
        self.kernel = kernel or make_kernel(self.app)
        dispatch = self.kernel.dispatch
        installs = installs or make_installs(self.app, dispatch)
        services = Services(self.app, self.kernel, make_queue(self.app), installs)
        self.turns = Turns(self.app, self.kernel)
        url, connections = self.app.settings.connections_url, self.app.stores.connections
        pusher = Pusher(url, connections, self.app.clock)
        self.records = StreamRecords(self.app, dispatch, pusher)
        self.sockets = Sockets(self.app, self.turns, pusher)
        # one table of routes, whoever serves them
        own = (Group(lambda: self), Group(lambda: self.sockets))
        self.router = Router(*own, *_others(services))

    async def ready(self) -> None:
        """Read the catalogue during init, with a whole processor."""
        params = self.kernel.dispatch.catalogue
        if isinstance(params, CachedValue) and (catalogue := await params.peek()):
            warm_up_catalogue(catalogue)

    @staticmethod
    def warm() -> None:
        """Load and compile what the first turn would."""
        warm_up()

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """Answer one event of the HTTP API, of the WebSocket API, or of the stream of events."""
        # DynamoDB's stream of the events table
        if "Records" in event:
            return await self.records.handle(event)
        if "connectionId" in (event.get("requestContext") or {}):
            return await self.sockets.handle(event)
        return await self.router.serve(event)

    @Route("POST /v1/chat", body=ChatBody, answer="ChatAnswer", accepted="WorkingAnswer")
    async def chat(self, request: Request) -> Answer:
        """One message, one reply."""
        body = request.body(ChatBody)
        ask = TurnRequest(
            request.reader, body.session_id or new_id(), body.message, request.key(body.request_id)
        )
        return await self._answer(request, ask, self.kernel.turn)

    @Route(
        "POST /v1/confirmations/{id}",
        body=ConfirmationBody,
        answer="ChatAnswer",
        accepted="WorkingAnswer",
    )
    async def confirm(self, request: Request) -> Answer:
        """Accept or refuse calls that wait."""
        body = request.body(ConfirmationBody)
        how = CardAnswer(body.edits, body.remember)
        ask, work = await self.turns.confirmation_work(
            request.reader, request.path["id"], body.accept, how
        )
        return await self._answer(request, ask, work)

    async def _answer(self, request: Request, ask: TurnRequest, work: Work) -> Answer:
        """The turn of a request; 202 if it takes long or for `Prefer: respond-async` (RFC 7240)."""
        at_once = ASYNC in request.headers.get("prefer", "").lower()
        return await self.turns.answer(ask, work, at_once=at_once)

    @Route("POST /v1/turns/{request_id}/stop", answer="StopAnswer", params=StopPath)
    async def stop(self, request: Request) -> Answer:
        """Ask the turn of a request to stop: within a second no further call starts, and what ran
        is told in its reply."""
        params = request.query_model(StopPath)
        await self.turns.stop(UserKey.of(request.caller), params.request_id)
        return Answer({"request_id": params.request_id, "status": "stopping"})

    @Route("GET /v1/events", params=EventsParams, content_type="text/event-stream")
    async def events(self, request: Request) -> Answer:
        """Events since `Last-Event-ID`, as Server-Sent Events; browsers reconnect by themselves."""
        last = request.headers.get("last-event-id") or request.query.get("last_event_id") or ""
        if not re.fullmatch(EVENT_ID, last):
            raise BadInput("Last-Event-ID takes the id of an event", field="Last-Event-ID")
        return Answer(
            sse(await self.app.events.since(UserKey.of(request.caller), last)),
            content_type="text/event-stream",
        )

    @Route("GET /v1/extensions", answer="ExtensionsAnswer")
    async def extensions(self, request: Request) -> Answer:
        """The catalogue, which of it the caller has, and who the caller is."""
        from .extension_routes import offers

        # before the catalogue: what changes meanwhile is an event after this mark
        now, settings = self.app.events.mark(), self.kernel.settings
        catalogue, _, mine = await self.kernel.apps_of(request.caller)
        who = {k: v for k, v in user_dict(request.caller).items() if k != "scopes"}
        return Answer(
            {
                "caller": who,
                "extensions": [
                    {
                        **asdict(a),
                        "display_name": catalogue.name(a.app_id, request.reader.language),
                        "error": unavailable_reason(a, request.caller),
                        "installed": a.app_id in mine,
                        "offers": offers(a),
                    }
                    for a in catalogue.apps.values()
                ],
                "last_event_id": now,
                # without the server's address, which is the operator's alone
                "model": settings.model.rpartition("#")[2],
            }
        )

    @Route("GET /v1/inspect", answer=JSONObject, params=InspectParams)
    async def inspect(self, request: Request) -> Answer:
        """The prompt a message would get and why it is so (`inspector`); nothing is called or
        stored. Role developer, own data only."""
        # here and in `page`: a turn's cold start does not pay for it
        from .inspector import explain
        from .value_search import search

        require_role(request.caller, "developer")
        params = request.query_model(InspectParams)
        session_id, wanted = params.session_id, params.search
        # reads what a turn would read, and records nothing
        view = await self.kernel.view(TurnRequest(request.caller, session_id, params.message, ""))
        found: JSONObject = {}
        if wanted.strip():
            key = SessionKey(UserKey.of(request.caller), session_id)
            past = await dropped_turns(self.app.stores, key, view.memory, now=view.now)
            found["search"] = search(view, wanted, past)
            # another conversation may have it: it is named
            if not found["search"]["seen"]:
                others = await other_sessions(self.app.stores, key, now=view.now)
                found["search"] = search(view, wanted, past, others)
        return Answer({"session_id": session_id, **explain(view), **found})

    @Route("GET /v1/openapi.json", public=True, answer=JSONObject)
    async def openapi(self, request: Request) -> Answer:
        """This document: every route, what it takes and answers, for people and generators."""
        return Answer(json.loads(OPENAPI.read_bytes()))

    @Route("GET /", public=True, content_type="text/html")
    async def page(self, request: Request) -> Answer:
        """The page: one document with its styles and script, gzip where the browser takes it, 304
        where it has it."""
        from . import page

        settings = self.app.settings
        where = settings.issuer, settings.sign_in_client, settings.sign_in_origin
        sign_in = page.SignIn(*where) if all(where[:2]) else None
        document = page.document(settings.live_url, sign_in)
        # the browser has this very document
        if document.etag in request.headers.get("if-none-match", ""):
            return Answer("", 304, "text/html", document.headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Answer(
                document.gzipped, 200, "text/html", {**document.headers, "content-encoding": "gzip"}
            )
        return Answer(document.html, 200, "text/html", document.headers)


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
    return {"user": user._asdict(), "event": event_fields(event), "waited_s": waited_s}


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
