"""The SDK's `Context` for one call: an instance of the SDK's class over the kernel's context and
clients."""

from __future__ import annotations

import copy
from collections.abc import Coroutine
from dataclasses import dataclass, fields
from typing import Any

from pydantic import BaseModel

from .. import compat as sdk
from ..sdk.context import Context
from .conversion import in_their_words, presentable
from .handbuilt import HTTP, Gateway, HandBuilt
from .platform_clients import (
    AI,
    Billing,
    Cache,
    Extensions,
    Notify,
    Secrets,
    Skeleton,
    Storage,
    Store,
    deliver,
)


@dataclass(frozen=True, slots=True)
class Adopted:
    """An extension of the SDK under the kernel's id for it."""

    app_id: str
    ext: Any
    secrets: dict[str, Any]
    cache_models: dict[str, type[BaseModel]]


class KernelContext(HandBuilt, sdk.Context):  # type: ignore[misc]
    """The context that a handler of the SDK gets. `tool_type` is skeleton, panel, chat_fn or tool,
    as in the SDK."""

    def __init__(
        self,
        ctx: Context,
        app: Adopted,
        tool_type: str,
        *,
        scoped_from: str = "",
        parent: Gateway | None = None,
    ) -> None:
        store = Store(ctx.store, app.app_id, ctx.user.tenant_id)
        given: dict[str, Any] = {
            "user": _user(ctx, scoped_from),
            "tenant": sdk.TenantContext(tenant_id=ctx.user.tenant_id, name=ctx.user.tenant_id),
            "store": store,
            "ai": AI(ctx.ai, app.app_id),
            "skeleton": Skeleton(ctx.skeleton, app.app_id),
            "billing": Billing(app.app_id),
            "notify": Notify(ctx.notify, app.app_id),
            "storage": Storage(store),
            "http": HTTP(ctx.http),
            # a copy, so that nothing an extension changes outlives its call
            "config": sdk.ConfigClient(copy.deepcopy(ctx.config.all())),
            "extensions": Extensions(ctx.extensions, app.app_id),
            "time": _time(ctx),
            "_extension_id": app.app_id,
            "_tool_type": tool_type,
        }
        # not every version of the SDK has all of these fields
        known = {f.name for f in fields(sdk.Context)}
        super().__init__(**{name: value for name, value in given.items() if name in known})
        self._extension = app.ext
        self._cache = Cache(ctx.cache, app.app_id, app.cache_models)
        self.secrets = Secrets(ctx.secrets, app.app_id, app.secrets)
        self.ext_id = self.extension_id = app.app_id
        self._declared_secrets = app.secrets
        self._kernel = ctx
        self._app = app
        gateway = Gateway(ctx, app.app_id, _serve, parent)
        for holder in (self, self.store, self.notify, self.ai, self.http):
            holder._enter(gateway, ctx.user.imperal_id)

    @property
    def cache(self) -> Cache:
        """Short-lived typed values of this user and app."""
        return self._cache

    async def progress(self, percent: float, message: str = "") -> None:
        """Tell the user how far it is."""
        await self._kernel.progress(percent, message)

    async def background_task(
        self, coro: Coroutine[Any, Any, Any], *, long_running: bool = False, name: str = ""
    ) -> str:
        """Go on past the turn; the result reaches the user as an event."""

        async def presented() -> Any:
            return presentable(await coro)

        return await self._kernel.background_task(
            presented(), long_running=long_running, name=name or "background"
        )

    async def deliver_chat_message(
        self, text: str, *, msg_type: str = "response", refresh_panels: list[str] | None = None
    ) -> None:
        """A message outside a turn, at most 64 KB, as an event the page shows."""
        await deliver(self._kernel, text, msg_type, refresh_panels or ())

    async def log(self, message: str, level: str = "info") -> None:
        """One line of the app's log."""
        self._kernel.log(message, level)

    def webhook_url(self, path: str) -> str:
        """The public address of this app's webhook."""
        return self._kernel.webhook_url(path or "")

    async def oauth_authorize_url(self, provider: str, *, login_hint: str | None = None) -> str:
        """The address a user opens to connect an account; the SDK's ExtensionError where the
        operator has not configured the provider."""
        with in_their_words(self._app.app_id):
            return await self._kernel.oauth_authorize_url(provider, login_hint=login_hint)

    def _gw_namespace(self, name: str, cls: Any) -> Any:
        """`ctx.users`, `ctx.apps`, `ctx.rbac`, `ctx.conversations`: the platform's own, so refused
        as the SDK does without a gateway."""
        raise RuntimeError(f"ctx.{name} is not available: this deployment has no platform gateway")

    def as_user(self, user_id: str) -> KernelContext:
        """This context for another user; RuntimeError outside system context, ValueError for nobody
        and for the system itself."""
        with in_their_words(self._app.app_id):
            other = self._kernel.as_user(user_id)
        # after the kernel's own refusal: in a user's call that comes first, whoever is named
        if not user_id or user_id.startswith("__"):
            raise ValueError(f"as_user wants a user's id, not {user_id!r}")
        scoped = KernelContext(
            other,
            self._app,
            self._tool_type,
            scoped_from=self._kernel.user.imperal_id,
            parent=self._gateway,
        )
        for kept in ("agency_id", "agency_theme", "_metadata"):
            setattr(scoped, kept, getattr(self, kept, None))
        return scoped


def _serve() -> str:
    """Start the gateway; its modules are imported when an extension first asks for the address."""
    from .loopback_gateway import serve

    return serve()


class _User(sdk.UserContext):  # type: ignore[misc]
    """The SDK's user, whose id is also called `id`: published extensions read either."""

    @property
    def id(self) -> str:
        """Another name of `imperal_id`."""
        return str(self.imperal_id)


def _user(ctx: Context, scoped_from: str) -> Any:
    """The user in the SDK's frozen model, made anew for each call, so that what a handler does to
    it ends with the call."""
    user = ctx.user
    attributes: dict[str, Any] = {"language": user.language} | (
        {"scoped_from": scoped_from} if scoped_from else {}
    )
    return _User(
        imperal_id=user.imperal_id,
        email=user.email,
        tenant_id=user.tenant_id,
        role=user.role,
        scopes=list(user.scopes),
        attributes=attributes,
    )


def _time(ctx: Context) -> Any:
    """The kernel's clock in the SDK's terms. The kernel knows no user's timezone: local time is
    UTC."""
    now = ctx.time.now()
    return sdk.TimeContext(
        timezone="UTC",
        utc_offset="+00:00",
        now_utc=ctx.time.iso(),
        now_local=now.strftime("%Y-%m-%dT%H:%M:%S"),
        hour_local=now.hour,
        is_business_hours=now.weekday() < 5 and 9 <= now.hour < 18,
    )
