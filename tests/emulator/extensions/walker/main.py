"""An extension that walks through everything a context offers, so that every permission of its
function is asked for once."""

import secrets
from typing import Any

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("walker", "1.0.0", display_name="Walker", description="Asks for everything once")
chat = ChatExtension(ext, description="Asks for everything once")
ext.secret("token", "A token", required=True)


@chat.function(
    "walk", "Walk through everything", action_type="write", examples=["walk through everything"]
)
async def walk(ctx: Context) -> ActionResult:
    await ctx.cache.set("k", {"n": 1})
    found = await ctx.cache.get("k")
    await ctx.cache.delete("k")
    await ctx.cache.set("left", {"n": 2})
    one = await ctx.store.create("small", {"n": 1})
    await ctx.store.get("small", one.id)
    await ctx.store.update("small", one.id, {"n": 2}, if_match=one.etag)
    await ctx.store.query("small", where={"n": 2}, limit=5)
    await ctx.store.count("small")
    await ctx.store.set("kept/one", {"n": 1})
    large = await ctx.store.create("large", {"text": secrets.token_hex(450_000)})
    await ctx.store.update("large", large.id, {"text": secrets.token_hex(300_000)})
    await ctx.store.get("large", large.id)
    await ctx.store.list("large")
    await ctx.store.delete("large", large.id)
    await ctx.store.delete("small", one.id)
    await ctx.notify.send("walked")
    return ActionResult.success(
        {"found": found, "secret": bool(await ctx.secrets.get("token"))}, "Walked."
    )


@chat.function("drop", "Drop everything", action_type="destructive", examples=["drop everything"])
async def drop(ctx: Context) -> ActionResult:
    return ActionResult.success({"dropped": 1}, "Dropped.")


@chat.function("look", "Look around", action_type="read")
async def look(ctx: Context) -> ActionResult:
    return ActionResult.success({"seen": 1}, "Looked.")


@ext.panel("board", slot="left")
async def board(ctx: Context) -> Any:
    return ui.Text("hello")


@ext.skeleton("miles", ttl=300)
async def miles(ctx: Context) -> dict[str, Any]:
    return {"response": {"total": 0}}


@ext.skeleton("steps", alert=True, ttl=60)
async def steps(ctx: Context) -> dict[str, Any]:
    before = await ctx.skeleton.get("steps") or {}
    await ctx.skeleton.get("miles")
    return {"response": {"count": int(before.get("count", 0)) + 1}}


@ext.tool("skeleton_alert_steps")
async def alert(ctx: Context, old: dict[str, Any], new: dict[str, Any]) -> str:
    return f"{new.get('count')} steps"


@ext.schedule("hourly", cron="* * * * *")
async def hourly(ctx: Context) -> None:
    users = [user async for user in ctx.store.list_users("kept")]
    for user in users:
        await ctx.as_user(user).store.create("seen", {"n": 1})
    await ctx.store.query_all("kept", limit=5)


@ext.webhook("ping", method="POST")
async def ping(
    ctx: Context, headers: dict[str, str], body: str, query_params: dict[str, str]
) -> dict[str, Any]:
    return {"pong": True}
