"""What the shelf shows: a section, its alert, a panel, a tray item."""

from app import ext
from imperal_sdk import HealthStatus, ui


@ext.skeleton("books", alert=True, ttl=120, description="What is on the shelf")
async def books(ctx):
    before = (await ctx.skeleton.get("books") or {}).get("total", 0)
    out = await ctx.store.count("books", where={"out": True})
    return {"response": {"total": await ctx.store.count("books"), "out": out, "before": before}}


@ext.tool("skeleton_alert_books")
async def books_alert(ctx, old, new):
    return {"response": f"{new['total']} books now"} if new["total"] > old.get("total", 0) else None


@ext.tool("skeleton_refresh_plain")
async def plain(ctx):
    return {"response": {"n": 1}}


@ext.panel("board", slot="chat-sidebar", title="Books", icon="Book", refresh="on_event:shelf.added")
async def board(ctx, title="", **params):
    page = await ctx.store.query("books")
    items = [
        ui.ListItem(id=b.id, title=b["title"], on_click=ui.Call("lend_book", book_id=b.id))
        for b in page
    ]
    shown = ui.List(items=items) if items else ui.Empty(message="No books")
    return ui.Stack([ui.Header(title or "Books"), shown])


@ext.panel("peek")
async def peek(ctx):
    return ui.Text(str(await ctx.skeleton.get("books")))


@ext.tray("out", icon="BookOpen", tooltip="Books lent")
async def out(ctx, **kwargs):
    n = await ctx.store.count("books", where={"out": True})
    return ui.TrayResponse(badge=ui.Badge(str(n)), panel=ui.Text(f"{n} lent"))


@ext.widget("pages", label="Pages")
async def pages(ctx, **kwargs):
    return ui.Stat(label="Pages", value=sum(b["pages"] for b in (await ctx.store.query("books"))))


@ext.health_check
async def health(ctx):
    return HealthStatus.degraded("dusty")
