"""An extension as they were written for the SDK's version 5.0: no `App`, no scopes of secrets, a
name for every chat."""

from __future__ import annotations

from datetime import UTC, datetime

from imperal_sdk import (
    ActionResult,
    ChatExtension,
    Extension,
    HealthStatus,
    SecretNotDeclaredError,
    SkeletonAccessForbidden,
    WebhookResponse,
    ui,
)
from pydantic import BaseModel

ext = Extension(
    "another-id",
    version="1.2.0",
    capabilities=["veteran:read"],
    config_defaults={"greeting": {"word": "hello"}},
    display_name="Veteran",
    description="Written long ago.",
)
chat = ChatExtension(ext, tool_name="veteran", description="Old and well")
ext.secret("token", "A token", required=False)(lambda: None)


class Item(BaseModel):
    """What is kept."""

    name: str
    amount: int = 1


@ext.cache_model("item")
class CachedItem(BaseModel):
    """What is cached."""

    name: str


@chat.function("add", "Add an item", action_type="write", event="added")
async def add(ctx, params: Item) -> ActionResult:
    """A write."""
    doc = await ctx.store.create(
        "items", {**params.model_dump(), "at": datetime(2026, 5, 15, tzinfo=UTC).isoformat()}
    )
    await ctx.cache.set("last", CachedItem(name=params.name), ttl_seconds=60)
    await ctx.progress(50, "half")
    await ctx.notify(f"added {params.name}", priority="low")
    return ActionResult.success(
        {"id": doc.id, "name": doc.data["name"], "at": datetime(2026, 5, 15, tzinfo=UTC)},
        f"Added {params.name}.",
    )


@chat.function("look", "Look at the items")
async def look(ctx) -> ActionResult:
    """A read, and what the context is like."""
    page = await ctx.store.query("items", where={"amount": 1}, order_by="name", limit=10)
    cached = await ctx.cache.get("last", CachedItem)
    errors = []
    for call in (ctx.skeleton.get("items"), ctx.secrets.get("undeclared")):
        try:
            await call
        except (SkeletonAccessForbidden, SecretNotDeclaredError) as error:
            errors.append(type(error).__name__)
    return ActionResult.success(
        {
            "names": [d["name"] for d in page.data],
            "count": await ctx.store.count("items"),
            "cached": cached.name if cached else None,
            "errors": errors,
            "greeting": ctx.config.get("greeting.word"),
            "user": ctx.user.imperal_id,
            "hook": ctx.webhook_url("paid"),
            "token": await ctx.secrets.get("token"),
        },
        f"{len(page.data)} items.",
    )


@chat.function("drop", "Drop an item", action_type="destructive")
async def drop(ctx, item_id: str) -> ActionResult:
    """Arguments by keyword."""
    if not await ctx.store.delete("items", item_id):
        return ActionResult.error("there is no such item", retryable=False)
    return ActionResult.success({"dropped": item_id}, "Dropped.")


@ext.tool("shout", description="Say it loudly")
async def shout(ctx, text: str = "") -> dict:
    """A plain tool."""
    return {"text": text.upper()}


@ext.skeleton("items", ttl=60, alert=True, description="How many")
async def items(ctx) -> dict:
    """A section."""
    before = await ctx.skeleton.get("items") or {}
    return {"response": {"count": await ctx.store.count("items"), "before": before.get("count", 0)}}


@ext.tool("skeleton_alert_items")
async def items_alert(ctx, old, new) -> str:
    """An alert."""
    return f"{old.get('count', 0)} became {new['count']}" if new["count"] else ""


@ext.panel("board", slot="right", title="Items", icon="List")
async def board(ctx, **params):
    """A panel."""
    page = await ctx.store.query("items")
    return ui.List([ui.ListItem(id=d.id, title=d["name"]) for d in page.data])


@ext.webhook("/paid", method="POST")
async def paid(ctx, headers, body, query_params):
    """A webhook."""
    return WebhookResponse(
        status_code=202,
        body={"got": body, "who": ctx.user.imperal_id},
        headers={"X-Seen": headers.get("x-test", "")},
    )


@ext.schedule("nightly", cron="0 3 * * *")
async def nightly(ctx):
    """For every user that has something."""
    async for user_id in ctx.store.list_users("items"):
        scoped = ctx.as_user(user_id)
        await scoped.store.create(
            "visits", {"by": ctx.user.imperal_id, "items": await scoped.store.count("items")}
        )


@ext.on_event("veteran.added")
async def heard(ctx, event):
    """Its own event."""
    await ctx.store.create("heard", {"name": event.data["name"]})


@ext.expose("total")
async def total(ctx, **kwargs):
    """For other extensions."""
    return {"total": await ctx.store.count("items")}


@ext.on_install
async def installed(ctx):
    """A hook."""
    await ctx.store.create("hooks", {"what": "installed"})


@ext.health_check
async def health(ctx):
    """A probe."""
    return HealthStatus.ok() if hasattr(HealthStatus, "ok") else HealthStatus(status="ok")
