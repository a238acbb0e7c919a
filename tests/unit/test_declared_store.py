"""What an extension declares with `ext.index` reaches its store."""

from __future__ import annotations

import logging

import pytest

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import ExtensionHarness


def shelf() -> Extension:
    ext = Extension("shelf")
    ext.index("books", "title")
    chat = ChatExtension(ext)

    @chat.function("list_books", "List the books")
    async def list_books(ctx: Context, by: str) -> ActionResult:
        for n in range(3):
            await ctx.store.create("books", {"title": f"t{n}", "year": -n})
        page = await ctx.store.query("books", order_by=by, limit=1)
        return ActionResult.success({"first": page.data[0].data, "all": page.total}, "Listed.")

    return ext


def test_an_order_that_is_declared_costs_what_it_shows_and_another_says_what_it_cost(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbee_kernel.stores.paging.MANY", 2)
    harness = ExtensionHarness(shelf())
    with caplog.at_level(logging.WARNING, "webbee.extension"):
        told = harness.call("list_books", by="-title").data
        assert told == {"first": {"title": "t2", "year": -2}, "all": 3}
        assert not caplog.messages
        harness.call("list_books", by="year")
    assert "ext.index('books', 'year') would make it a few" in caplog.messages[-1]


def test_what_cannot_be_an_index_is_refused_where_it_is_declared() -> None:
    ext = Extension("shelf")
    for field in ("", "a b", "a#b", "a+"):
        with pytest.raises(ValueError, match="a field has"):
            ext.index("books", field)
    for n in range(4):
        ext.index("books", f"f{n}")
    ext.index("books", "f1", counted=True)
    with pytest.raises(ValueError, match="no more"):
        ext.index("books", "f4")
