"""`chat_turn`: chat, confirmations, sessions, events, the catalogue, the inspector."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from .. import __version__
from ..base.clock import Clock
from ..base.ids import new_id
from ..base.logs import bind
from ..bootstrap import App, bootstrap, make_kernel
from ..catalogue import AppInfo
from ..config import Settings
from ..errors import BadInput, NotFound
from ..events import sse
from ..llm.tools import tool_spec
from ..sdk.context import User
from ..turn.kernel import Ask, Kernel
from ..turn.memory import check_session_id
from ..values import CallRequest, SessionKey, UserKey, user_dict
from ..values.plain import JSONObject
from . import answers, wire
from .conversations import Conversations
from .health import HEALTH_CACHE_S, reachable
from .http import Answer, Request, Route, Router
from .identity import require_role
from .wire import MAX_MESSAGE, MAX_SEARCH, ChatBody, ConfirmationBody


class ChatService:
    """The routes of `chat_turn`."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        *,
        app: App | None = None,
        kernel: Kernel | None = None,
    ) -> None:
        self.app = app or bootstrap(settings, clock=clock)
        self.kernel = kernel or make_kernel(self.app)
        self._health: dict[str, tuple[float, str]] = {}
        self.router = Router(
            (
                Route("POST /v1/chat", self.chat, body=ChatBody, answer=answers.ChatAnswer),
                Route(
                    "POST /v1/confirmations/{id}",
                    self.confirm,
                    body=ConfirmationBody,
                    answer=answers.ChatAnswer,
                ),
                *Conversations(self.app.stores, self.app.clock).routes(),
                Route(
                    "GET /v1/events",
                    self.events,
                    params=wire.EVENTS_PARAMS,
                    content_type="text/event-stream",
                ),
                Route("GET /v1/extensions", self.extensions, answer=answers.ExtensionsAnswer),
                Route(
                    "GET /v1/inspect",
                    self.inspect,
                    answer=answers.InspectAnswer,
                    params=wire.INSPECT_PARAMS,
                ),
                Route("GET /v1/health", self.health, public=True, answer=answers.HealthAnswer),
                Route("GET /", self.page, public=True, content_type="text/html"),
            )
        )

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """Answer one HTTP API event."""
        return await self.router.serve(event)

    async def chat(self, request: Request) -> Answer:
        """One message, one reply."""
        body = request.body(ChatBody)
        ask = Ask(
            request.caller, body.session_id or new_id(), body.message, body.request_id or new_id()
        )
        bind(session=ask.session_id, turn=ask.request_id)
        return Answer((await self.kernel.turn(ask)).body)

    async def confirm(self, request: Request) -> Answer:
        """Accept or refuse calls that wait."""
        body = request.body(ConfirmationBody)
        confirmation_id = request.path["id"]
        session_id = await self.app.stores.sessions.find_pending(
            UserKey.of(request.caller), confirmation_id, now=self.app.clock.now()
        )
        if session_id is None:
            raise NotFound(
                "there is no such confirmation: it expired after 5 minutes or never was", field="id"
            )
        ask = Ask(request.caller, session_id, "", confirmation_id)
        bind(session=session_id, turn=confirmation_id)
        return Answer((await self.kernel.confirm(ask, confirmation_id, body.accept)).body)

    async def events(self, request: Request) -> Answer:
        """Stored events since `Last-Event-ID`, as Server-Sent Events; the browser reconnects by
        itself."""
        last = request.headers.get("last-event-id") or request.query.get("last_event_id") or ""
        if len(last) > 64:
            raise BadInput(
                "Last-Event-ID has at most 64 characters", field="Last-Event-ID", limit=64
            )
        return Answer(
            sse(await self.app.events.since(UserKey.of(request.caller), last)),
            content_type="text/event-stream",
        )

    async def extensions(self, request: Request) -> Answer:
        """The catalogue, which of it the caller has, and who the caller is."""
        catalogue = await self.kernel.dispatch.catalogue()
        state = await self.app.stores.skeleton.read(UserKey.of(request.caller))
        mine = self.kernel.installed(catalogue, state)
        who = {k: v for k, v in user_dict(request.caller).items() if k != "scopes"}
        return Answer(
            {
                "caller": who,
                "extensions": [
                    {**asdict(a), "installed": a.app_id in mine} for a in catalogue.apps.values()
                ],
            }
        )

    async def inspect(self, request: Request) -> Answer:
        """The prompt a message would get and why it is so (`inspector`); nothing is called or
        stored. Role developer, own data only."""
        from .. import inspector  # here and in `page`: a turn's cold start does not pay for it

        require_role(request.caller, "developer")
        message = request.query.get("message", "")
        if len(message) > MAX_MESSAGE:
            raise BadInput(
                f"message has {len(message)} characters; the limit is {MAX_MESSAGE}",
                field="message",
                limit=MAX_MESSAGE,
            )
        session_id = check_session_id(request.query.get("session_id") or "inspect")
        wanted = request.query.get("search", "")
        if len(wanted) > MAX_SEARCH:
            raise BadInput(
                f"search has {len(wanted)} characters; the limit is {MAX_SEARCH}",
                field="search",
                limit=MAX_SEARCH,
            )
        view = await self.kernel.view(Ask(request.caller, session_id, message, ""))
        return Answer(
            inspector.explain(view)
            | ({"search": inspector.search(view, wanted)} if wanted.strip() else {})
            | {
                "session_id": session_id,
                "system": view.prompt.system,
                "prompt": view.prompt.text,
                "sizes": view.prompt.sizes(),
                "catalogue": [asdict(tool_spec(f)) for f in view.functions],
                "pii_masked": view.gate is not None,
            }
        )

    async def page(self, request: Request) -> Answer:
        """The page: one document with its styles and script, gzip where the browser takes it, 304
        where it has it."""
        from .. import page

        document = page.document()
        known = request.headers.get("if-none-match", "")
        if document.etag in known:
            return Answer("", 304, "text/html", document.headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Answer(
                document.gzipped, 200, "text/html", {**document.headers, "content-encoding": "gzip"}
            )
        return Answer(document.html, 200, "text/html", document.headers)

    async def health(self, request: Request) -> Answer:
        """Extensions loaded, tables reachable, versions."""
        probe = UserKey("__health__", "__health__")
        stores, now = self.app.stores, self.app.clock.now()
        checks = {
            "sessions": stores.sessions.read(SessionKey(probe, "health"), now=now),
            "skeleton": stores.skeleton.read(probe),
            "events": stores.events.since(probe, "", now=now),
        }
        catalogue = await self.kernel.dispatch.catalogue()
        found, said = await asyncio.gather(
            asyncio.gather(*map(reachable, checks.values())),
            self._healths(catalogue.apps.values()),
        )
        tables, extensions = dict(zip(checks, found, strict=True)), said
        healthy = all(v == "ok" for v in tables.values())
        body = {
            "status": "ok" if healthy else "degraded",
            "version": __version__,
            "model": self.app.model.name,
            "tables": tables,
            "extensions": extensions,
        }
        return Answer(body, 200 if healthy else 503)

    async def _healths(self, apps: Collection[AppInfo]) -> dict[str, str]:
        """What every app says of itself, asked side by side; `timeout` where one has not answered
        when the answer is due."""
        asked = {
            app.app_id: asyncio.ensure_future(self._health_of(app)) for app in apps if not app.error
        }
        if asked:
            await asyncio.wait(asked.values(), timeout=HEALTH_S)
        return {app.app_id: app.error or _so_far(asked[app.app_id]) for app in apps}

    async def _health_of(self, app: AppInfo) -> str:
        """The app's own health check, asked at most once a minute per process: the route is
        public."""
        if not app.has_health_check:
            return "ok"
        now = self.app.clock.now()
        asked, answer = self._health.get(app.app_id, (0.0, ""))
        if now - asked > HEALTH_CACHE_S:
            nobody = user_dict(User("__system__", role="system"))
            outcome = await self.kernel.dispatch.call(
                CallRequest("health", nobody, app.app_id, "health", deadline_s=5.0)
            )
            answer = str((outcome.data or {}).get("status", "error")) if outcome.ok else "error"
            self._health[app.app_id] = (now, answer)
        return answer


HEALTH_S = 6.0
"""Seconds the route waits for all apps together: one has 5."""


def _so_far(asked: asyncio.Task[str]) -> str:
    """What an app has answered by now. One that has not is not waited for."""
    if not asked.done():
        asked.cancel()
        return "timeout"
    return "error" if asked.exception() else asked.result()
