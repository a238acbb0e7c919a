"""Builds the `Context` of one handler call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any

from ...aws.parameters import UNKNOWN, mark_of
from ...background import start
from ...channels.cache import CacheClient, InFlight
from ...channels.skeleton import SkeletonForbidden
from ...clock import Clock, new_id
from ...config import Settings
from ...errors import CallError
from ...invariants import breach
from ...llm.protocol import Model
from ...sdk.context import Context, SkeletonClient, User
from ...sdk.exceptions import SystemContextRequired
from ...stores.deployment import is_installed
from ...stores.event_log import EventLog, panel_refresh
from ...stores.protocols import Stores
from ...text import one_line
from ...types import WEBHOOK_USER, CallRequest, JSONObject, UserKey
from ..containment import contained
from ..error_mapping import Faults
from ..outcomes import asked_by, background_result
from ..redaction import secret_fields, seen, warn_of_cached_secrets
from ..registry import Registry, config_layers, secret_fallbacks
from .http_client import HttpClient
from .services import (
    AIClient,
    ConfigClient,
    ExtensionsClient,
    Log,
    NotifyClient,
    SecretsClient,
    TimeContext,
)
from .store_client import StoreClient

webhook_mark: ContextVar[str] = ContextVar("webbee_webhooks", default="")
"""How the addresses of this call's webhooks name its tenant, as its caller signed it."""

_log = logging.getLogger("webbee.context")


class ContextFactory:
    """Knows every port; gives each call only what its app and user may reach."""

    def __init__(
        self,
        registry: Registry,
        stores: Stores,
        settings: Settings,
        clock: Clock,
        model: Model,
        events: EventLog,
        in_flight: InFlight,
    ) -> None:
        self.registry = registry
        self.stores = stores
        self.settings = settings
        self.clock = clock
        self._model = model
        self.events = events
        self._in_flight = in_flight
        self.http: Callable[[], HttpClient] = self._http
        """Makes the client behind `ctx.http`; the harness puts another in its place."""
        self.faults = Faults(registry, events, show=settings.develop)

    def _http(self) -> HttpClient:
        return HttpClient(allow_private=self.settings.private_http)

    def make(
        self,
        user: User,
        app_id: str,
        *,
        skeleton: SkeletonClient | None = None,
        system: bool = False,
        stack: tuple[str, ...] = (),
        asked: CallRequest | None = None,
    ) -> Context:
        """A context for one call. `system` opens the methods that reach other users; `skeleton` is
        given to refreshes only; `asked` is the call that a turn made."""
        ext = self.registry.loaded[app_id].ext
        key = UserKey.of(user)
        hooks = _Hooks(self, user, app_id, system, stack, asked)
        revealed = seen()
        return Context(
            user=user,
            app_id=app_id,
            store=StoreClient(
                self.stores.documents, key, app_id, self.clock, system=system, indexes=ext.indexes
            ),
            cache=CacheClient(
                self.stores.cache,
                key,
                app_id,
                ext.cache_models,
                self.clock,
                self._in_flight,
                partial(warn_of_cached_secrets, app_id) if self.settings.develop else None,
            ),
            skeleton=skeleton or SkeletonForbidden(),
            secrets=self.secrets(key, app_id, system=system, revealed=revealed),
            http=self.http(),
            config=ConfigClient(
                ext.config_defaults, *config_layers(self.settings, user.tenant_id, app_id)
            ),
            notify=NotifyClient(self.events, key, app_id, system=system),
            ai=AIClient(self._model, user),
            extensions=ExtensionsClient(app_id, stack, hooks.call, hooks.emit),
            time=TimeContext(self.clock),
            log=Log(app_id, revealed, secret_fields, develop=self.settings.develop),
            kernel=hooks,
        )

    def secrets(
        self, key: UserKey, app_id: str, *, system: bool = False, revealed: set[str] | None = None
    ) -> SecretsClient:
        return SecretsClient(
            self.stores.secrets,
            key,
            app_id,
            self.registry.loaded[app_id].ext.secrets,
            system=system,
            revealed=revealed,
            fallbacks=secret_fallbacks(self.settings, app_id),
        )

    async def has_app(self, key: UserKey, app_id: str) -> bool:
        """Whether the user has an app; the system's own users have them all."""
        if key.imperal_id.startswith("__"):
            return True
        return await is_installed(self.stores.documents, self.settings, key, app_id)

    async def begin_signin(
        self, user: User, app_id: str, provider: str, login_hint: str | None
    ) -> str:
        """The provider's address for `ctx.oauth_authorize_url`."""
        from ..oauth import SignIns  # imported late: most processes never begin one

        ext, secrets = self.registry.loaded[app_id].ext, self.secrets(UserKey.of(user), app_id)
        signins = SignIns(self.stores.cache, self.settings, self.clock)
        return await signins.begin(user, app_id, provider, ext.oauth_providers, secrets, login_hint)


class _Hooks:
    """What a `Context`'s methods delegate to."""

    def __init__(
        self,
        factory: ContextFactory,
        user: User,
        app_id: str,
        system: bool,
        stack: tuple[str, ...],
        asked: CallRequest | None,
    ) -> None:
        self._asked = asked
        self._factory = factory
        self._user = user
        self._app = app_id
        self._system = system
        self._stack = stack
        self._key = UserKey.of(user)
        self._mark = webhook_mark.get()

    async def progress(self, percent: float, message: str) -> None:
        """An event the page shows while the turn runs."""
        data = {
            "app_id": self._app,
            "percent": max(0.0, min(100.0, float(percent))),
            "text": one_line(message, 500),
            **asked_by(self._asked),
        }
        await self._factory.events.emit(self._key, "progress", data)

    async def background_task(
        self, coro: Coroutine[Any, Any, Any], *, long_running: bool, name: str
    ) -> str:
        """Run on; its result becomes an event, and a part of the turn that asked."""
        task_id = f"task_{new_id()}"
        asked = self._asked or CallRequest("function", {}, self._app, name or task_id)

        async def work() -> None:
            try:
                data = background_result(await contained(coro), asked)
            except Exception as error:
                fault = self._factory.faults.tell(error, self._app, f"task {name or task_id}")
                data = {"status": "error", "error": fault.error, "incident": fault.incident}
            await self._factory.events.deliver(
                self._key,
                "result",
                {
                    "app_id": self._app,
                    "task_id": task_id,
                    "name": name,
                    **asked_by(self._asked),
                    **data,
                },
            )

        start(work(), task_id)
        return task_id

    async def deliver(self, text: str, msg_type: str, panels: tuple[str, ...]) -> None:
        """A message of the app outside a turn, whole and with its line breaks, and the panels to
        fetch again."""
        data = {"app_id": self._app, "text": text, "channel": "chat", "msg_type": msg_type}
        await self._factory.events.emit(self._key, "notification", data)
        for event in panel_refresh(self._factory.events, self._app, panels):
            await self._factory.events.emit(self._key, event.kind, event.data)

    def as_user(self, user_id: str) -> Context:
        """I-AS-USER-1; the app's own partition of its webhooks is open to every call of it."""
        if not self._system and user_id != WEBHOOK_USER:
            raise SystemContextRequired(
                breach("I-AS-USER-1", "It was called for an ordinary user's request.")
            )
        made = self._factory.make(
            replace(self._user, imperal_id=user_id, email=""),
            self._app,
            system=self._system,
            stack=self._stack,
        )
        if not self._system:  # other apps are asked as the user who calls, not as the webhooks
            made.extensions = ExtensionsClient(self._app, self._stack, self.call, self.emit)
        return made

    def webhook_url(self, path: str) -> str:
        """`{public url}/v1/ext/{app_id}/webhook/{tenant}/{path}`, the tenant signed; a deployment
        without a key for that has one tenant, and no tenant in it."""
        settings = self._factory.settings
        if self._mark == UNKNOWN:
            raise CallError("BACKEND_5XX", "the address of a webhook cannot be told now: retry")
        own = settings.webhook_key.get_secret_value().split()
        mark = self._mark or mark_of(self._user.tenant_id, own[0] if own else "")
        where = "/".join(part for part in (mark, path.strip("/")) if part)
        return f"{settings.public_url}/v1/ext/{self._app}/webhook/{where}"

    async def oauth_authorize_url(self, provider: str, login_hint: str | None) -> str:
        """A sign-in of this user with a provider, begun."""
        return await self._factory.begin_signin(self._user, self._app, provider, login_hint)

    async def call(
        self, app_id: str, method: str, params: JSONObject, stack: tuple[str, ...]
    ) -> Any:
        """Run another extension's exposed method as the same user."""
        loaded = self._factory.registry.loaded.get(app_id)
        exposed = loaded.ext.exposed.get(method) if loaded else None
        if exposed is None:
            raise CallError("UNKNOWN_SUB_FUNCTION", f"{app_id} exposes no method {method!r}")
        if not await self._factory.has_app(self._key, app_id):
            raise CallError("PERMISSION_DENIED", f"{app_id} is not installed for this user")
        ctx = self._factory.make(self._user, app_id, stack=stack, system=self._system)
        return await contained(exposed.func(ctx, **params))

    async def emit(self, event_type: str, data: JSONObject, stack: tuple[str, ...]) -> None:
        """Call every listener; a failing one is logged and the others still hear. Then open pages
        fetch the panels again that wait for such an event."""
        for app_id, loaded in self._factory.registry.loaded.items():
            for wanted, handler in loaded.ext.event_handlers:
                if wanted in (event_type, "*") and await self._factory.has_app(self._key, app_id):
                    try:
                        ctx = self._factory.make(
                            self._user, app_id, stack=stack, system=self._system
                        )
                        await contained(handler(ctx, data))
                    except Exception as error:
                        self._factory.faults.tell(error, app_id, f"event {event_type}")
        if not self._key.imperal_id.startswith("__"):
            await self._show(event_type)

    async def _show(self, event_type: str) -> None:
        for app_id, loaded in self._factory.registry.loaded.items():
            panels = [p.panel_id for p in loaded.ext.panels.values() if p.hears(event_type, app_id)]
            if panels and await self._factory.has_app(self._key, app_id):
                for event in panel_refresh(self._factory.events, app_id, tuple(panels)):
                    await self._factory.events.put(self._key, event)
