"""`webbee new`: a small extension that works, with tests that pass."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ..paint import paint
from ..project import COMMAND
from .show import CliError, put_json

APP_ID = re.compile(r"[a-z][a-z0-9_-]{0,63}")

MAIN = '''"""$title: what it keeps and what it can do, in one sentence."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("$app", "0.1.0", display_name="$title", description="Keeps short texts", icon="icon.svg")
chat = ChatExtension(ext, description="The user's short texts: add, list, delete")

PANELS = ["$app"]


class AddParams(BaseModel):
    """A new text."""

    text: str = Field(min_length=1, max_length=200, description="The text to keep, word for word.")


class DeleteParams(BaseModel):
    """Which one."""

    id: str = Field(min_length=1, max_length=64, description="Id of the text, as listed.")


class NoParams(BaseModel):
    """Nothing to say."""


@chat.function("add", "Keep a short text", action_type="write", examples=["add {text} to $app", "$app: keep {text}"])
async def add(ctx: Context, params: AddParams) -> ActionResult:
    """One write. The data is what the next turns remember: ids and values, no prose."""
    doc = await ctx.store.create("texts", {"text": params.text})
    return ActionResult.success({"id": doc.id, "text": params.text}, f"Kept: {params.text}", refresh_panels=PANELS)


@chat.function("list_texts", "List the texts that were kept", examples=["show my $app texts", "list the texts of $app"])
async def list_texts(ctx: Context, params: NoParams) -> ActionResult:
    """The newest 50 and how many there are."""
    page = await ctx.store.query("texts", limit=50)
    texts = [{"id": d.id, "text": d["text"]} for d in page.data]
    return ActionResult.success({"count": len(texts), "texts": texts}, f"{len(texts)} texts.", refresh_panels=[])


@chat.function("delete", "Delete a text for good", action_type="destructive", examples=["delete {id} of my $app", "delete {id}"])
async def delete(ctx: Context, params: DeleteParams) -> ActionResult:
    """One delete. Destructive functions run after the user's yes only."""
    if not await ctx.store.delete("texts", params.id):
        return ActionResult.error("There is no such text.", code="NOT_FOUND")
    return ActionResult.success({"id": params.id, "deleted": True}, "Deleted.", refresh_panels=PANELS)


@ext.skeleton("$section", ttl=120, description="How many texts there are")
async def section(ctx: Context) -> dict[str, Any]:
    """What every turn knows without a call: counts and flags, six fields at most."""
    return {"response": {"count": await ctx.store.count("texts")}}


@ext.panel("$app", slot="right", title="$title")
async def panel(ctx: Context, **_: Any) -> ui.UINode:
    """The texts, each with a button; a form for one more."""
    page = await ctx.store.query("texts", limit=50)
    rows = [ui.ListItem(d.id, d["text"], actions=[{"label": "Delete", "on_click": ui.Call("delete", id=d.id)}]) for d in page.data]
    form = ui.Form([ui.Input("A short text", "text", "Text")], action="add", submit_label="Keep")
    return ui.Stack([ui.List(rows) if rows else ui.Empty("Nothing kept yet"), form])
'''

TEST = '''"""The $app extension on the kernel's own test doubles: no AWS, no network."""

from pathlib import Path

import pytest

from webbee_kernel.testing import ExtensionHarness, TestKernel

FOLDER = Path(__file__).parents[1]


@pytest.fixture
def $section() -> ExtensionHarness:
    return ExtensionHarness(FOLDER)


def test_what_was_kept_is_listed_and_counted($section: ExtensionHarness) -> None:
    $section.call("add", text="Buy bread")
    assert $section.call("list_texts").data["texts"][0]["text"] == "Buy bread"
    assert $section.skeleton("$section") == {"count": 1}


def test_a_text_can_be_deleted_by_the_id_it_returned($section: ExtensionHarness) -> None:
    kept = $section.call("add", text="Buy bread")
    assert $section.call("delete", id=kept.data["id"]).ok
    assert $section.call("delete", id=kept.data["id"]).error_code == "NOT_FOUND"


def test_an_empty_text_is_refused_before_anything_runs($section: ExtensionHarness) -> None:
    assert $section.call("add", text="").error_code == "VALIDATION_TYPE_ERROR"


def test_the_panel_shows_the_texts($section: ExtensionHarness) -> None:
    $section.call("add", text="Buy bread")
    assert "Buy bread" in str($section.panel("$app"))


def test_a_message_reaches_the_function() -> None:
    kernel = TestKernel([FOLDER])
    assert [c["fn_name"] for c in kernel.chat("show my $app texts").body["calls"]] == ["list_texts"]
'''

UTTERANCES = """# What people say and what is meant: `webbee eval $app` says it all and tells what was not understood.

[[case]]
say = "add “buy bread” to $app"
call = "add"
arguments = { text = "buy bread" }

[[case]]
say = "show my $app texts"
call = "list_texts"

[[case]]
say = "thanks, that was all"
call = ""
"""

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor"'
    ' stroke-width="1.5"><path d="M12 3l8 4.5v9L12 21l-8-4.5v-9z"/></svg>\n'
)


def files(app: str) -> dict[str, str]:
    """The scaffold's files by path."""
    section = app.replace("-", "_")
    title = app.replace("-", " ").replace("_", " ").capitalize()

    def made(text: str) -> str:
        return text.replace("$app", app).replace("$section", section).replace("$title", title)

    return {
        "main.py": made(MAIN),
        f"tests/test_{section}.py": made(TEST),
        "utterances.toml": made(UTTERANCES),
        "icon.svg": ICON,
    }


def new(options: argparse.Namespace) -> int:
    """Write the scaffold into `<into>/<extension>`; nothing is overwritten."""
    app = str(options.extension)
    if not APP_ID.fullmatch(app):
        raise CliError(
            f"{app!r} cannot be an extension's id: 1 to 64 characters of a-z 0-9 _ -, the first a"
            " letter"
        )
    folder = Path(options.into) / app
    if folder.exists():
        raise CliError(f"{folder} is there already: choose another name, or remove it")
    for name, text in files(app).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    written = [str(folder / name) for name in files(app)]
    if options.json:
        put_json({"extension": app, "files": written})
    else:
        print("\n".join(written))
        todo = ("dev", f"check {folder}", f"test {app}", f"eval {app}")
        print(paint("next: " + ", ".join(f"{COMMAND} {what}" for what in todo), "dim"))
    return 0
