"""Chat functions over documents."""

from datetime import date
from decimal import Decimal
from uuid import UUID

from app import chat, ext
from imperal_sdk import ActionResult, Context, Document, Page
from imperal_sdk.store.exceptions import StoreConflict
from models import AddBook, BookId, Receipt


@chat.function(
    "add_book", "Add a book", action_type="write", event="added", effects=["create:book"]
)
async def add_book(ctx, params: AddBook) -> ActionResult:
    assert isinstance(ctx, Context)
    made = await ctx.store.create("books", {**params.model_dump(), "out": False})
    read = await ctx.store.get("books", made.id)
    assert isinstance(made, Document)
    assert read == await ctx.store.get(f"books/{made.id}")
    told = {"id": made.id, "title": read["title"], "by": read.get("author", "-"), "etag": made.etag}
    return ActionResult.success(told, f"Added {params.title}.", refresh_panels=["board"])


@chat.function("list_books", "List the books", action_type="read")
async def list_books(ctx, **kwargs) -> ActionResult:
    asked = {"where": {"out": False}, "order_by": "title"}
    page = await ctx.store.query("books", **asked, limit=2)
    assert isinstance(page, Page)
    rest = await ctx.store.query("books", **asked, cursor=page.cursor) if page.has_more else []
    told = {"titles": [b["title"] for b in [*page, *rest]], "total": await ctx.store.count("books")}
    return ActionResult.success(told, f"{len(told['titles'])} books.")


@chat.function("lend_book", "Mark a book as lent", action_type="write", id_projection="book_id")
async def lend_book(ctx, params: BookId) -> ActionResult:
    book, lent = params.book_id, {"out": True}
    try:
        changed = await ctx.store.update("books", book, lent, if_match=params.etag)
    except StoreConflict as conflict:
        code = "CONFLICT_" + ("KNOWN" if conflict.current_etag else "UNKNOWN")
        return ActionResult.error("Somebody was faster.", retryable=True, code=code)
    told = {"out": changed["out"], "days": ctx.config.get("lend.days")}
    return ActionResult.success(told, "Lent.")


@chat.function("drop_book", "Throw a book away", action_type="destructive")
async def drop_book(ctx, params: BookId) -> ActionResult:
    first, second = [await ctx.store.delete("books", params.book_id) for _ in range(2)]
    return ActionResult.success({"gone": first, "again": second}, "Gone.")


THEME = {"theme": {"type": "string", "description": "dark or light"}}


@chat.function("settings", "Remember a setting", params=THEME, action_type="write")
async def settings(ctx, theme: str = "light") -> ActionResult:
    """The shortcuts: a bare name is collection and id; `set` merges."""
    await ctx.store.set("prefs/ui", {"theme": theme})
    await ctx.store.set("prefs/ui", {"size": 2})
    await ctx.store.set("visits", 1)
    listed = [d.data for d in await ctx.store.list("prefs")]
    visits = (await ctx.store.get("visits"))["value"]
    return ActionResult.success({"prefs": listed, "visits": visits}, "Remembered.")


@chat.function("receipt", "Show a receipt", data_model=Receipt)
async def receipt(ctx) -> ActionResult[Receipt]:
    made = Receipt(number=UUID(int=1), bought=date(2026, 5, 15), price=Decimal("12.50"))
    return ActionResult.success(made, "One receipt.")


@chat.function("late", "Import late")
async def late(ctx) -> ActionResult:
    import importlib

    import app
    import models

    found = [app.WHOSE, models.WHOSE, importlib.import_module("models").WHOSE]
    folder = importlib.import_module("handlers").__file__.split("/")[-2]
    return ActionResult.success({"whose": [*found, folder]}, "")


@ext.on_install
async def installed(ctx):
    await ctx.store.create("books", {"title": "Manual", "pages": 1, "out": False})


@ext.on_upgrade("2.1.0")
async def upgraded(ctx):
    await ctx.store.set("marks/upgrade", {"to": "2.1.0"})


@ext.on_uninstall
async def uninstalled(ctx):
    await ctx.store.set("marks/uninstall", {"done": True})
