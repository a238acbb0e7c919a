"""An extension all of whose handlers block their thread until they are released, giving way to
nobody."""

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
    block()
    await ctx.store.create("done", {})
    return ActionResult.success({"n": 1}, "Held.")


@chat.function("quick", "Answers")
async def quick(ctx: Context) -> ActionResult:
    return ActionResult.success({"done": await ctx.store.count("done")}, "Quick.")


@ext.panel("board")
async def board(ctx: Context, **params: Any) -> Any:
    return block()


@ext.webhook("hook")
async def hook(
    ctx: Context, headers: dict[str, str], body: str, query_params: dict[str, str]
) -> Any:
    return block()


@ext.skeleton("state")
async def state(ctx: Context) -> dict[str, Any]:
    return block()


@ext.tool("skeleton_alert_state")
async def state_alert(ctx: Context, old: dict[str, Any], new: dict[str, Any]) -> str:
    block()
    return "text"


@ext.signal("wake")
async def wake(ctx: Context) -> None:
    block()


@ext.on_install
async def install(ctx: Context) -> None:
    block()


@ext.health_check
async def health(ctx: Context) -> dict[str, Any]:
    return block()


@ext.on_event("probe")
async def heard(ctx: Context, data: dict[str, Any]) -> None:
    block()
