"""A panel whose drawing fails says so, and is drawn again once its file is mended."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .conftest import served

Visit = Callable[..., Any]

APP = '''"""One panel."""

from typing import Any

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("board", display_name="Board", description="A board")
chat = ChatExtension(ext, description="A board")


@chat.function("read_board", "Read the board", examples=["read the board"])
async def read_board(ctx: Context) -> ActionResult:
    """What stands on it."""
    return ActionResult.success({"text": "hello"}, "hello")


@ext.panel("board", slot="right", title="Board")
async def board(ctx: Context, **_: Any) -> ui.UINode:
    """The board."""
    return DRAWN
'''
FAILS = APP.replace("DRAWN", "ui.Text(str(1 / 0))")


def test_a_failing_panel_tells_why_and_is_drawn_again_when_its_file_is_mended(
    visit: Visit, tmp_path: Path
) -> None:
    main = tmp_path / "board/main.py"
    main.parent.mkdir()
    main.write_text(FAILS, "utf-8")
    with served(tmp_path, WEBBEE_DEVELOP="true") as [address]:
        developer, person = (
            visit("dev developer", at=address, expected=""),
            visit("bob", at=address),
        )
        [theirs, own] = [page.locator("[data-panel='board.board']") for page in (person, developer)]
        own.get_by_text(
            re.compile(r"ZeroDivisionError: division by zero \(.*main.py:20\)")
        ).wait_for()
        theirs.get_by_text("something in its app is broken").wait_for()
        assert "ZeroDivision" not in theirs.inner_text()

        for text in ("mended", "edited"):
            main.write_text(APP.replace("DRAWN", f"ui.Text('it is {text}')"), "utf-8")
            own.get_by_text(f"it is {text}").wait_for()
            theirs.get_by_text(f"it is {text}").wait_for()
        assert developer.locator(".toast.error").count() == 0
        developer.get_by_role("button", name="Notifications").click()
        notes = developer.get_by_role("region", name="Notifications")
        notes.get_by_text(re.compile("panel board.*: ZeroDivisionError")).first.wait_for()
        assert notes.locator("li").count() == notes.get_by_text("saved anew since").count()

        main.write_text(APP.replace("DRAWN", "ui.Text(").replace("read_board", "look"), "utf-8")
        notes.get_by_text("SyntaxError").wait_for()
        assert own.get_by_text("it is edited").is_visible()
        for page in (developer, person):
            page.context.close()
