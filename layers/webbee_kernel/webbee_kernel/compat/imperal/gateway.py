"""Clients an extension builds by hand, out of `ctx.store._gateway_url` and `_auth_token`, as some did before `for_user` came.

There is no gateway to call. The address is a mark and the token belongs to one call: while that call's context lives, the SDK's
`StoreClient` and `NotifyClient` that carry both reach the kernel's clients, for the same app and tenant, and for another user only
where the kernel's own `for_user` would. The methods of those two classes are wrapped once for that; a client with any other address
behaves as the SDK made it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import secrets
import weakref
from collections.abc import Callable
from typing import Any

from . import names as sdk

ADDRESS = "webbee-kernel:"
STORE = ("create", "get", "set", "list", "query", "update", "delete", "count", "list_users", "query_all")
NOTIFY = ("__call__", "send")

_calls: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def open_for(ctx: Any, *clients: Any) -> None:
    """Give the context and its clients the private attributes that hand-built clients are made of; good for as long as the context lives."""
    token = secrets.token_urlsafe(16)
    _calls[token] = ctx
    ctx._gateway_url, ctx._service_token = ADDRESS, token
    for client in clients:
        client._gateway_url, client._auth_token = ADDRESS, token
        client._extension_id, client._user_id, client._tenant_id = ctx._extension_id, ctx.user.imperal_id, ctx.user.tenant_id


def _kernel_client(theirs: Any, name: str) -> Any:
    """The kernel's client a hand-built one stands for; the SDK's AuthError where its call is over or its app or tenant is another."""
    ctx = _calls.get(theirs._auth_token)
    if ctx is None:
        raise sdk.AuthError("the call this client was made in is over")
    kernel = ctx._kernel
    tenant = getattr(theirs, "_tenant_id", kernel.user.tenant_id)
    if getattr(theirs, "_extension_id", "") not in ("", kernel.app_id) or tenant not in ("default", kernel.user.tenant_id):
        raise sdk.AuthError("a client of one app and tenant cannot act for another")
    client = ctx.own_clients[name]
    return client if theirs._user_id == kernel.user.imperal_id else client.for_user(theirs._user_id)


def _reroute(name: str, module: str, cls: str, methods: tuple[str, ...]) -> None:
    theirs = getattr(importlib.import_module(f"imperal_sdk.{module}"), cls)
    for method in methods:
        if original := getattr(theirs, method, None):
            setattr(theirs, method, _either(original, name, method))


def _either(original: Callable[..., Any], name: str, method: str) -> Callable[..., Any]:
    """The method with the kernel's client behind it; a coroutine function stays one, for whoever asks."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._gateway_url != ADDRESS:
            return original(self, *args, **kwargs)
        return getattr(_kernel_client(self, name), method)(*args, **kwargs)

    async def awaited(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await call(self, *args, **kwargs)

    return functools.wraps(original)(awaited if inspect.iscoroutinefunction(original) else call)


_reroute("store", "store.client", "StoreClient", STORE)
_reroute("notify", "notify.client", "NotifyClient", NOTIFY)
