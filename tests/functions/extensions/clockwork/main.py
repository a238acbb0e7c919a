"""Sections on clocks of their own; what they say is what the user set."""

import asyncio
from typing import Any

from pydantic import BaseModel

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("clockwork", "1.0.0", display_name="Clockwork")
chat = ChatExtension(ext, description="Sections for tests")


class Value(BaseModel):
    """A number to show."""

    n: int


async def value(ctx: Context) -> int:
    """What the user set."""
    doc = await ctx.store.get("values", "n")
    return int(doc.data["n"]) if doc else 0


async def note(ctx: Context, what: str) -> None:
    """Leave a trace that a test can count."""
    await ctx.store.create("trace", {"what": what})


@chat.function("set", "Set the number", action_type="write")
async def set_value(ctx: Context, params: Value) -> ActionResult:
    """A write: the app's sections are refreshed early."""
    await ctx.store.set("values/n", {"n": params.n})
    return ActionResult.success({"n": params.n}, f"Set to {params.n}.")


@chat.function("get", "Show the number")
async def get_value(ctx: Context) -> ActionResult:
    """A read: it hurries nobody."""
    n = await value(ctx)
    return ActionResult.success({"n": n}, f"It is {n}.")


@ext.skeleton("steady", ttl=30)
async def steady(ctx: Context) -> dict[str, Any]:
    await note(ctx, "steady")
    await asyncio.sleep(0.05)
    return {"response": {"n": await value(ctx)}}


@ext.skeleton("watch", alert=True, ttl=60)
async def watch(ctx: Context) -> dict[str, Any]:
    await note(ctx, "watch")
    return {"response": {"n": await value(ctx)}}


@ext.tool("skeleton_alert_watch")
async def alert(ctx: Context, old: dict[str, Any], new: dict[str, Any]) -> str:
    await note(ctx, f"alert {old} {new}")
    return f"from {old['n']} to {new['n']}" if old else ""


@ext.skeleton("broken", ttl=60)
async def broken(ctx: Context) -> dict[str, Any]:
    """Raises when the number is negative."""
    await note(ctx, "broken")
    if await value(ctx) < 0:
        raise RuntimeError("the text of this error is nobody's business")
    return {"response": {"n": await value(ctx)}}


@ext.on_install
async def installed(ctx: Context) -> None:
    await note(ctx, "on_install")


@ext.on_enable
async def enabled(ctx: Context) -> None:
    """Leaves a trace and fails: nobody may mind."""
    await note(ctx, "on_enable")
    raise RuntimeError("no matter")


@ext.on_disable
async def disabled(ctx: Context) -> None:
    await note(ctx, "on_disable")


@ext.on_uninstall
async def uninstalled(ctx: Context) -> None:
    await note(ctx, "on_uninstall")
