"""An extension all of whose handlers block their thread until they are released, giving way to
nobody."""

from __future__ import annotations

import threading
from typing import Any

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("stubborn", description="Blocks")
chat = ChatExtension(ext, description="Blocks")
released = threading.Event()


def block() -> dict[str, Any]:
    """Longer than anybody waits."""
    released.wait(60)
    return {"response": {"n": 1}}


@chat.function("hold", "Blocks", action_type="write")
async def hold(ctx: Context) -> ActionResult:
    """A call."""
    block()
    await ctx.store.create("done", {})
    return ActionResult.success({"n": 1}, "Held.")


@chat.function("quick", "Answers")
async def quick(ctx: Context) -> ActionResult:
    """What has to go on working."""
    return ActionResult.success({"done": await ctx.store.count("done")}, "Quick.")


@ext.panel("board")
async def board(ctx: Context, **params: Any) -> Any:
    """A panel."""
    return block()


@ext.webhook("hook")
async def hook(
    ctx: Context, headers: dict[str, str], body: str, query_params: dict[str, str]
) -> Any:
    """A webhook."""
    return block()


@ext.skeleton("state")
async def state(ctx: Context) -> dict[str, Any]:
    """A section."""
    return block()


@ext.tool("skeleton_alert_state")
async def state_alert(ctx: Context, old: dict[str, Any], new: dict[str, Any]) -> str:
    """An alert."""
    block()
    return "text"


@ext.signal("wake")
async def wake(ctx: Context) -> None:
    """A signal."""
    block()


@ext.on_install
async def install(ctx: Context) -> None:
    """A hook."""
    block()


@ext.health_check
async def health(ctx: Context) -> dict[str, Any]:
    """A probe."""
    return block()


@ext.on_event("probe")
async def heard(ctx: Context, data: dict[str, Any]) -> None:
    """A listener."""
    block()
