"""What `ctx` offers a handler: the `Context` of one call and what builds it; its clients beside."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import reduce
from types import MappingProxyType
from typing import Any

from ...aws.parameters import UNKNOWN, mark_of
from ...background import start
from ...channels.cache import CacheClient
from ...channels.skeleton import Snapshots
from ...clock import Clock, new_id
from ...config import Settings
from ...errors import CallError, StorageUnavailable
from ...invariants import breach
from ...llm.protocol import Model
from ...sdk.context import ConfigClient, Context, SearchWords, SkeletonClient, User
from ...sdk.exceptions import SystemContextRequired
from ...stores import EventLog, Stores, panel_refresh
from ...stores.dynamodb.document_store import is_installed
from ...text import one_line
from ...types import WEBHOOK_USER, CallRequest, JSONObject, UserKey
from ..error_mapping import Faults, run_contained
from ..outcomes import background_result, request_fields
from ..redaction import trace
from ..registry import Registry, config_layers
from .http_client import HttpClient
from .services import (
    AIClient,
    ExtensionsClient,
    Log,
    NotifyClient,
    SecretsClient,
    TimeContext,
    merge,
)
from .store_client import StoreClient

webhook_mark: ContextVar[str] = ContextVar("webbee_webhooks", default="")
"""The tenant's signed mark for webhook URLs, from the caller."""

_log = logging.getLogger("webbee.context")


@dataclass(slots=True)
class ContextFactory:
    """Builds contexts that reach only the call's app and user. `http` creates the client behind
    `ctx.http`; tests replace it."""

    registry: Registry
    stores: Stores
    settings: Settings
    clock: Clock
    model: Model
    events: EventLog
    faults: Faults = field(init=False)
    http: Callable[[], HttpClient] = field(init=False)

    def __post_init__(self) -> None:
        self.faults = Faults(self.registry, self.events, show=self.settings.develop)
        self.http = lambda: HttpClient(allow_private=self.settings.private_http)

    def make(self, user: User, app_id: str, **more: Any) -> CallContext:
        """The context of a call."""
        return CallContext(self, user, app_id, **more)


class CallContext(Context):
    """The context of one call; each client is made when the handler first asks for it."""

    def __init__(
        self,
        factory: ContextFactory,
        user: User,
        app_id: str,
        *,
        skeleton: SkeletonClient | None = None,
        system: bool = False,
        stack: tuple[str, ...] = (),
        request: CallRequest | None = None,
        effect: str = "destructive",
    ) -> None:
        """`system` opens the methods that reach other users; `skeleton` is given to refreshes only;
        `request` is the call that a turn made, `effect` what its function is declared as."""
        self.user = self._user = user
        self.app_id = self._app = app_id
        # clients use the private attributes: a handler may change the public ones
        self._factory = factory
        self._stores, self._settings = factory.stores, factory.settings
        self._faults = factory.faults
        self._ext = factory.registry.loaded[app_id].ext
        self._skeleton = skeleton
        self._system = system
        self._stack = stack
        self._request = request
        self._effect = effect
        self._key = UserKey.of(user)
        self._mark = webhook_mark.get()
        self._now = factory.clock.now
        # one set for the call and nested calls: hidden in every log line
        self._secrets_read = trace().secrets

    def __getattr__(self, name: str) -> Any:
        """One of the clients, made when the handler first asks for it."""
        if name not in _CLIENTS:
            raise AttributeError(f"a context has no {name!r}")
        client = self.__dict__[name] = _CLIENTS[name](self)
        return client

    @property
    def created(self) -> tuple[str, ...]:
        """Ids of the first documents that the call has created."""
        return getattr(self.__dict__.get("store"), "created", ())

    async def progress(self, percent: float, message: str = "") -> None:
        """An event the page shows while the turn runs."""
        percent = max(0.0, min(100.0, float(percent)))
        data = {"percent": percent, "text": one_line(message, 500), **request_fields(self._request)}
        try:
            await self._emit("progress", data)
        except StorageUnavailable:  # the handler goes on
            _log.warning("app=%s | progress was not told", self._app)

    async def background_task(
        self, coro: Coroutine[Any, Any, Any], *, long_running: bool = False, name: str = ""
    ) -> str:
        """Run it in the background; its result becomes an event and joins its turn."""
        task_id = f"task_{new_id()}"
        request = self._request or CallRequest("function", {}, self._app, name or task_id)

        async def work() -> None:
            try:
                data = background_result(await run_contained(coro), request)
            except Exception as error:
                fault = self._faults.report(error, self._app, f"task {name or task_id}")
                data = {"status": "error", "error": fault.error, "incident": fault.incident}
            task = {"app_id": self._app, "task_id": task_id, "name": name}
            event_data = {**task, **request_fields(self._request), **data}
            await self._factory.events.deliver(self._key, "result", event_data)

        start(work(), task_id)
        return task_id

    async def deliver(self, text: str, msg_type: str, panels: tuple[str, ...]) -> None:
        """Send a message of the app outside a turn, line breaks included, and refresh panels."""
        await self._emit("notification", {"text": text, "channel": "chat", "msg_type": msg_type})
        for event in panel_refresh(self._factory.events, self._app, panels):
            await self._factory.events.emit(self._key, event.kind, event.data)

    def words(self, text: str) -> SearchWords:
        """The words of a text in the user's language, and in the one that they are in."""
        from ...language.search import SearchWords  # imported late: most calls look for none

        return SearchWords(text, self._user.language)

    async def _emit(self, kind: str, data: JSONObject) -> None:
        """An event of the app for the user; none from system context for who removed the app."""
        if not self._system or await self._has_app(self._app):
            await self._factory.events.emit(self._key, kind, {"app_id": self._app, **data})

    def as_user(self, user_id: str) -> Context:
        """I-AS-USER-1; the app's own partition of its webhooks is open to every call of it."""
        return self._for_user(user_id, "I-AS-USER-1", "as_user")

    def _for_user(self, user_id: str, invariant: str, method: str) -> CallContext:
        """The context of another user of the tenant, or of the app's webhooks."""
        if user_id != WEBHOOK_USER:
            self._need_system(invariant, method)
        other = replace(self._user, imperal_id=user_id, email="")
        ctx = self._factory.make(other, self._app, system=self._system, stack=self._stack)
        ctx._secrets_read = self._secrets_read
        if not self._system:  # other apps are asked as the user who calls, not as the webhooks
            ctx.extensions = ExtensionsClient(self)
        return ctx

    def _of_app(self, app_id: str, stack: tuple[str, ...]) -> CallContext:
        """The context of another app that this one calls, for the same user."""
        more = {"system": self._system, "effect": self._effect}
        return self._factory.make(self._user, app_id, stack=stack, **more)

    async def _has_app(self, app_id: str, owner: UserKey | None = None) -> bool:
        """Whether the user, or another one, has an app; the system's own users have them all."""
        factory, user = self._factory, owner or self._key
        is_system = user.imperal_id.startswith("__")
        return is_system or await is_installed(
            factory.stores.documents, factory.settings, user, app_id
        )

    def _need_system(self, invariant: str, method: str) -> None:
        """SystemContextRequired outside a system context."""
        if not self._system:
            why = f"{method} was called for an ordinary user's request: use @ext.schedule or a"
            raise SystemContextRequired(breach(invariant, f"{why} signal."))

    def webhook_url(self, path: str) -> str:
        """`{public url}/v1/ext/{app_id}/webhook/{tenant}/{path}`, the tenant signed; a deployment
        without a key for that has one tenant, and no tenant in it."""
        settings = self._settings
        if self._mark == UNKNOWN:
            raise CallError("BACKEND_5XX", "the address of a webhook cannot be told now: retry")
        keys = settings.webhook_key.get_secret_value().split()
        mark = self._mark or mark_of(self._user.tenant_id, keys[0] if keys else "")
        where = "/".join(part for part in (mark, path.strip("/")) if part)
        return f"{settings.public_url}/v1/ext/{self._app}/webhook/{where}"

    async def oauth_authorize_url(self, provider: str, *, login_hint: str | None = None) -> str:
        """Begin a sign-in of this user; the authorize URL."""
        from .. import oauth  # imported late: most processes never begin one

        return await oauth.begin_sign_in(self, provider, login_hint)

    async def oauth_token(self, provider: str, account: str = "") -> str:
        """The token of a connected account, renewed where it expires."""
        from .. import oauth

        return await oauth.access_token(self, provider, account)

    def _cache(self) -> CacheClient:
        factory, models = self._factory, self._ext.cache_models
        return CacheClient(factory.stores.cache, self._key, self._app, models, factory.clock)

    def _config(self) -> ConfigClient:
        layers = config_layers(self._settings, self._user.tenant_id, self._app)
        return ConfigClient(reduce(merge, layers, self._ext.config_defaults))


_CLIENTS: Mapping[str, Callable[[CallContext], Any]] = MappingProxyType(
    {
        "store": StoreClient,
        "cache": CallContext._cache,
        "skeleton": lambda ctx: ctx._skeleton or Snapshots(None),
        "secrets": SecretsClient,
        "http": lambda ctx: ctx._factory.http(),
        "config": CallContext._config,
        "notify": NotifyClient,
        "ai": AIClient,
        "extensions": ExtensionsClient,
        "time": TimeContext,
        "log": Log,
    }
)
