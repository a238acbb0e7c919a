"""Wraps a handler of the SDK so that the kernel can call it: its context is made, sync code leaves
the loop, its result is made presentable."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel

from ...clock import iso
from ...sdk.context import Context
from . import names as sdk
from .context import Adopted, KernelContext
from .params import accepted, context_name, keywords
from .results import action_result, alert_text, presentable, webhook_answer

Handler = Callable[..., Awaitable[Any]]
Finish = Callable[[Any], Any]
_log = logging.getLogger("webbee.imperal")


async def run(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call it; a handler that is not async runs on a thread, so that it cannot block the others."""
    if inspect.iscoroutinefunction(func):
        return await func(*args, **kwargs)
    value = await asyncio.to_thread(func, *args, **kwargs)
    return await value if inspect.isawaitable(value) else value


def handler(
    app: Adopted, func: Callable[..., Any], tool_type: str = "tool", finish: Finish = presentable
) -> Handler:
    """`(ctx, **kwargs)`: panels, refreshes, schedules, signals, exposed methods, hooks."""

    async def call(ctx: Context, **kwargs: Any) -> Any:
        return finish(await run(func, KernelContext(ctx, app, tool_type), **kwargs))

    return call


def function(app: Adopted, func: Callable[..., Any], parameter: str) -> Handler:
    """A chat function: `params` is the kernel's checked model, given whole as `parameter` or,
    without one, as keywords."""

    async def call(ctx: Context, params: BaseModel | None = None, /, **kwargs: Any) -> Any:
        theirs = KernelContext(ctx, app, "chat_fn")
        if params is not None:
            kwargs = {parameter: params} if parameter else keywords(params)
        return action_result(await run(func, theirs, **kwargs))

    return call


def app_tool(app: Adopted, func: Callable[..., Any]) -> Handler:
    """A tool of a 6.x `App`: the context goes by keyword, and only to a function that has a place
    for it."""
    place = context_name(func)

    async def call(ctx: Context, params: BaseModel | None = None, /, **kwargs: Any) -> Any:
        if params is not None:
            kwargs = keywords(params)
        if place:
            kwargs[place] = KernelContext(ctx, app, "chat_fn")
        return action_result(await run(func, **kwargs))

    return call


def alert(app: Adopted, func: Callable[..., Any]) -> Handler:
    """`skeleton_alert_<section>(ctx, old=, new=)`; one that takes neither is called with
    neither."""

    async def call(ctx: Context, *, old: dict[str, Any], new: dict[str, Any]) -> Any:
        return alert_text(
            await run(
                func, KernelContext(ctx, app, "tool"), **accepted(func, {"old": old, "new": new})
            )
        )

    return call


def listener(app: Adopted, func: Callable[..., Any], event_type: str) -> Handler:
    """An event handler `(ctx, event)`, where the event is the SDK's `Event` and a dict of its data
    at once."""

    async def call(ctx: Context, data: dict[str, Any]) -> Any:
        event = event_of(event_type, data, ctx)
        return await run(func, KernelContext(ctx, app, "tool"), event)

    return call


def webhook(app: Adopted, func: Callable[..., Any], method: str) -> Handler:
    """A webhook by keyword: `headers`, `body` (text) and `query_params`, as many as it takes, or
    one `request`."""
    names = list(inspect.signature(func).parameters)[1:]
    whole = (
        names[0]
        if len(names) == 1
        and names[0] not in ("headers", "body", "query_params")
        and "kwargs" not in names
        else ""
    )

    async def call(ctx: Context, headers: dict[str, str], body: str, query: dict[str, str]) -> Any:
        theirs = KernelContext(ctx, app, "tool")
        if whole:
            request = sdk.WebhookRequest(
                method=method, headers=headers, body=body.encode(), query_params=query
            )
            return webhook_answer(await run(func, theirs, **{whole: request}))
        return webhook_answer(
            await run(
                func,
                theirs,
                **accepted(func, {"headers": headers, "body": body, "query_params": query}),
            )
        )

    return call


def event_of(event_type: str, data: dict[str, Any], ctx: Context) -> Any:
    """An event readable as `event.data["id"]`, `event["data"]["id"]` and `event["id"]`: published
    handlers do all three."""
    now = iso(ctx.time.timestamp())
    return _Event(
        event_type=event_type,
        timestamp=now,
        user_id=ctx.user.imperal_id,
        tenant_id=ctx.user.tenant_id,
        data=dict(data),
    )


class _Event(sdk.Event, dict[str, Any]):  # type: ignore[misc]
    """The SDK's `Event` that is a dict too: the data's own keys first, then the envelope's."""

    def __init__(self, **envelope: Any) -> None:
        sdk.Event.__init__(self, **envelope)
        dict.update(self, {**envelope, "type": self.event_type, **self.data})
