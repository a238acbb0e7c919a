"""Notes, on `ctx.store`: write, add to, strike from, find, read, pin, delete; totals for the
skeleton; a panel."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

import examples
from shelf import COLLECTION, Note, Top, change, every, excerpt, locate, newest, say, texts
from webbee_kernel.sdk import (
    ActionResult,
    ChatExtension,
    Context,
    Extension,
    Ident,
    SearchWords,
    titled,
    ui,
)

RECENT = 5
PANEL_ROWS = 50
TITLE_WORDS = 6
TITLE_LENGTH = 60
PANELS = ["notes"]

ext = Extension(
    "notes",
    "1.0.0",
    display_name="Notes",
    description="Notes to write, find and pin",
    icon="icon.svg",
    titles=texts("app"),
    columns={
        name: texts(f"column_{name}") for name in ("excerpt", "pinned", "lacks", "written_at")
    },
)
ext.index(COLLECTION, "written_at")
ext.index(COLLECTION, "pinned")
chat = ChatExtension(ext, description="The user's notes: write, add to, find, read, pin, delete")

LONGEST = 20_000
"""Characters of a note's text."""
UNDONE = 1_000
"""Bytes that the call may hold that takes an effect back."""

Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST)]


class WriteParams(BaseModel):
    """A new note."""

    body: Text = Field(description="Text of the note.")
    title: Title = Field("", description="Title. Empty: the first words of the text.")


class FindParams(BaseModel):
    """What to look for."""

    query: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = Field(
        "",
        description=(
            "Words of the title or the text, in any of their forms; notes with all of them come"
            " first. Empty: the newest notes."
        ),
    )
    limit: int = Field(10, ge=1, le=50, description="How many notes to return at most.")


class WhichParams(BaseModel):
    """One note: by id, or by title."""

    id: Annotated[Ident, StringConstraints(strip_whitespace=True, max_length=64)] = Field(
        "", description="Id of the note, as listed. Goes before the title."
    )
    title: Title = Field(
        "",
        description=(
            "Its title, or words that stand in no other note's title. For when there is no id."
        ),
    )


class AppendParams(WhichParams):
    """One note, and what is to stand in it besides."""

    text: Text = Field(description="What to add, behind what the note says already.")


class StrikeParams(WhichParams):
    """One note, and what is not to stand in it any more."""

    text: Text = Field(description="What to take out, as it stands in the note.")


class RewriteParams(WhichParams):
    """One note, and what it is to say."""

    text: Text = Field(description="What the note is to say.")
    instead_of: Annotated[str, titled(**texts("label_instead_of"))] = Field(
        "",
        max_length=LONGEST,
        description="The words that make room for it, as they stand in the note. Empty: all of it.",
    )


class RenameParams(WhichParams):
    """One note, and what it is to be called."""

    new_title: Annotated[Title, titled(**texts("label_new_title"))] = Field(
        min_length=1, description="What the note is to be called."
    )


class PinParams(WhichParams):
    """One note, and whether it is to be pinned."""

    pinned: Annotated[bool, titled(**texts("label_pinned"))] = Field(
        True, description="true pins it, false (unpin, unpinned, открепи, открепить) unpins it."
    )


@chat.function(
    "write",
    "Write a new note",
    action_type="write",
    examples=examples.WRITE,
    titles=texts("title_write"),
)
async def write(ctx: Context, params: WriteParams) -> ActionResult:
    """Store one note: one write."""
    title = params.title or first_words(params.body)
    doc = await ctx.store.create(
        COLLECTION,
        {"title": title, "body": params.body, "pinned": False, "written_at": ctx.time.iso()},
    )
    summary = say(ctx, "saved", title=title)
    return ActionResult.success(Note.read(doc).facts(), summary, refresh_panels=PANELS)


@chat.function(
    "append",
    "Add text to the end of a note that is there, by its id or title",
    action_type="write",
    examples=examples.APPEND,
    titles=texts("title_append"),
)
async def append(ctx: Context, params: AppendParams) -> ActionResult:
    """By id: one read, one write. By title: one pass over the notes first."""
    note = await locate(ctx, params.id, params.title)
    if isinstance(note, ActionResult):
        return note
    body = f"{note.body}\n{params.text}"
    if len(body) > LONGEST:
        room = max(0, LONGEST - len(note.body) - 1)
        return ActionResult.error(say(ctx, "full", title=note.title, room=room), code="TOO_LONG")
    changed = await change(ctx, note, {"body": body})
    if isinstance(changed, ActionResult):
        return changed
    summary = say(ctx, "appended", title=note.title, text=params.text)
    data = {**changed.facts(), "added": params.text}
    undo = undone("strike", id=note.id, text=params.text)
    return ActionResult.success(data, summary, refresh_panels=PANELS, undo=undo)


@chat.function(
    "strike",
    "Strike text out of a note that is there, by its id or title",
    action_type="destructive",
    examples=examples.STRIKE,
    titles=texts("title_strike"),
)
async def strike(ctx: Context, params: StrikeParams) -> ActionResult:
    """The last place where the text stands, in whole words. By id: one read, one write. By title:
    one pass over the notes first."""
    note = await locate(ctx, params.id, params.title)
    if isinstance(note, ActionResult):
        return note
    found = [*re.finditer(rf"(?<!\w){re.escape(params.text)}(?!\w)", note.body)]
    if not found:
        lacks = say(ctx, "lacks", title=note.title, text=params.text)
        return ActionResult.error(lacks, code="NOT_FOUND")
    before, after = note.body[: found[-1].start()], note.body[found[-1].end() :]
    gap = "\n" if before.endswith("\n") or after.startswith("\n") else " "
    body = gap.join(filter(None, (before.rstrip(), after.strip())))
    changed = await change(ctx, note, {"body": body})
    if isinstance(changed, ActionResult):
        return changed
    summary = say(ctx, "struck", title=note.title, text=params.text)
    data = {**changed.facts(), "struck": params.text}
    undo = None if after.strip() else undone("append", id=note.id, text=params.text)
    return ActionResult.success(data, summary, refresh_panels=PANELS, undo=undo)


@chat.function(
    "rewrite",
    "Change the text of a note that is there, all of it or some words, by its id or title",
    action_type="write",
    examples=examples.REWRITE,
    titles=texts("title_rewrite"),
)
async def rewrite(ctx: Context, params: RewriteParams) -> ActionResult:
    """By id: one read, one write. By title: one pass over the notes first. A title that is the
    first words of the text changes with them."""
    note = await locate(ctx, params.id, params.title)
    if isinstance(note, ActionResult):
        return note
    if params.instead_of not in note.body:
        lacks = say(ctx, "lacks", title=note.title, text=params.instead_of)
        return ActionResult.error(lacks, code="NOT_FOUND")
    body = note.body.replace(params.instead_of or note.body, params.text)
    if len(body) > LONGEST:
        room = max(0, LONGEST - len(note.body))
        return ActionResult.error(say(ctx, "full", title=note.title, room=room), code="TOO_LONG")
    is_named = note.title != first_words(note.body)
    title = note.title if is_named else first_words(body)
    changed = await change(ctx, note, {"body": body, "title": title})
    if isinstance(changed, ActionResult):
        return changed
    summary = say(ctx, "rewritten", title=note.title, text=body)
    undo = undone("rewrite", id=note.id, text=note.body)
    data = {**changed.facts(), "body": body}
    return ActionResult.success(data, summary, refresh_panels=PANELS, undo=undo)


@chat.function(
    "find",
    "Find notes by words of their title or text, or list the newest ones; also answers how many"
    " there are",
    examples=examples.FIND,
    titles=texts("title_find"),
)
async def find(ctx: Context, params: FindParams) -> ActionResult:
    """The exact count and the newest notes up to `limit`, with an excerpt each. With words one pass
    over the user's notes (see `shelf`); those that lack one stand behind those that have all."""
    words = ctx.words(params.query)
    count, rows = await (holding(ctx, words, params.limit) if words else all_of(ctx, params.limit))
    notes = [found_row(note, words) for note in rows]
    summary = say(ctx, "found" if params.query else "count", n=count, query=params.query)
    summary += say(ctx, "found_part") if notes and all("lacks" in row for row in notes) else ""
    return ActionResult.success({"count": count, "notes": notes}, summary, refresh_panels=[])


@chat.function(
    "read",
    "Read one note in full, by its id or title",
    examples=examples.READ,
    titles=texts("title_read"),
)
async def read(ctx: Context, params: WhichParams) -> ActionResult:
    """By id: one read. By title: one pass over the notes."""
    note = await locate(ctx, params.id, params.title)
    if isinstance(note, ActionResult):
        return note
    summary = say(ctx, "text", title=note.title, body=note.body)
    return ActionResult.success(
        {**note.facts(), "body": note.body, "written_at": note.written_at},
        summary,
        refresh_panels=[],
    )


@chat.function(
    "pin",
    "Pin a note, or unpin it, by its id or title",
    action_type="write",
    examples=examples.PIN,
    titles=texts("title_pin"),
)
async def pin(ctx: Context, params: PinParams) -> ActionResult:
    """By id: one read, one write. By title: one pass over the notes first. Pinning twice is no
    error."""
    note = await locate(ctx, params.id, params.title)
    if isinstance(note, ActionResult):
        return note
    changed = await change(ctx, note, {"pinned": params.pinned})
    if isinstance(changed, ActionResult):
        return changed
    summary = say(ctx, "pinned" if params.pinned else "unpinned", title=note.title)
    return ActionResult.success(changed.facts(), summary, refresh_panels=PANELS)


@chat.function(
    "rename",
    "Rename a note, by its id or title",
    action_type="write",
    examples=examples.RENAME,
    titles=texts("title_rename"),
)
async def rename(ctx: Context, params: RenameParams) -> ActionResult:
    """By id: one read, one write. By title: one pass over the notes first."""
    note = await locate(ctx, params.id, params.title)
    if isinstance(note, ActionResult):
        return note
    changed = await change(ctx, note, {"title": params.new_title})
    if isinstance(changed, ActionResult):
        return changed
    summary = say(ctx, "renamed", title=note.title, new_title=params.new_title)
    undo = ui.Call("rename", id=note.id, new_title=note.title)
    return ActionResult.success(changed.facts(), summary, refresh_panels=PANELS, undo=undo)


@chat.function(
    "delete",
    "Delete a note, by its id or title",
    action_type="destructive",
    examples=examples.DELETE,
    titles=texts("title_delete"),
)
async def delete(ctx: Context, params: WhichParams) -> ActionResult:
    """By id: one read, one delete. By title: one pass over the notes first."""
    note = await locate(ctx, params.id, params.title)
    if isinstance(note, ActionResult):
        return note
    await ctx.store.delete(COLLECTION, note.id)
    summary = say(ctx, "deleted", title=note.title)
    data = {"id": note.id, "title": note.title, "deleted": True}
    undo = undone("write", title=note.title, body=note.body)
    return ActionResult.success(data, summary, refresh_panels=PANELS, undo=undo)


def undone(function: str, **params: str) -> ui.UIAction | None:
    """The call that takes an effect back; None where it would hold too much."""
    return ui.Call(function, **params) if len(json.dumps(params)) <= UNDONE else None


def first_words(body: str) -> str:
    """A title for a note without one: its first line's first six words, at most 60 characters."""
    words = body.splitlines()[0].split()
    title = " ".join(words[:TITLE_WORDS])
    short = len(title) <= TITLE_LENGTH and len(words) <= TITLE_WORDS
    return title if short else title[: TITLE_LENGTH - 1].rstrip(" ,.;:") + "…"


async def all_of(ctx: Context, limit: int) -> tuple[int, list[Note]]:
    """How many notes there are, and the newest."""
    return await ctx.store.count(COLLECTION), await newest(ctx, limit)


async def holding(ctx: Context, words: SearchWords, limit: int) -> tuple[int, list[Note]]:
    """How many notes hold all of the words or enough of them, and the newest of them, those that
    hold all first."""
    counts, tops = Counter[frozenset[str]](), dict[frozenset[str], Top]()
    async for note in every(ctx):
        held = words.held(note.text)
        counts[held] += 1
        tops.setdefault(held, Top(limit, Note.age)).offer(note)
    best = [held for held in words.best(counts) if held in tops]
    rows = [note for held in best for note in tops[held].rows()]
    return sum(counts[held] for held in best), rows[:limit]


def found_row(note: Note, words: SearchWords) -> dict[str, Any]:
    """A note as a list shows it, with the words that it lacks."""
    lacks = [word for word in words.beginnings() if word not in words.held(note.text)]
    told = {**note.facts(), "excerpt": excerpt(note.body, words)}
    return told | ({"lacks": lacks} if lacks else {})


@ext.skeleton(
    "notes", ttl=120, description="How many notes there are, how many are pinned, the newest five"
)
async def notes_section(ctx: Context) -> dict[str, Any]:
    """Totals and the five newest: three small reads."""
    total, recent = await all_of(ctx, RECENT)
    pinned = await ctx.store.count(COLLECTION, {"pinned": True})
    listed = [{"id": note.id, "title": note.title} for note in recent]
    return {"response": {"total_notes": total, "pinned_notes": pinned, "recent_notes": listed}}


@ext.panel("notes", slot="left", icon="icon.svg")
async def notes_panel(ctx: Context, **_: Any) -> ui.UINode:
    """Pinned notes, then the newest, 50 rows at most."""
    pinned = Top(PANEL_ROWS, Note.age)
    async for note in every(ctx, pinned=True):
        pinned.offer(note)
    others = [note for note in await newest(ctx, PANEL_ROWS) if not note.pinned]
    rows = [row(ctx, note) for note in (*pinned.rows(), *others)][:PANEL_ROWS]
    return ui.List(rows) if rows else ui.Empty(say(ctx, "no_notes"))


def row(ctx: Context, note: Note) -> ui.UINode:
    """One note with its buttons."""
    pin_label = say(ctx, "unpin" if note.pinned else "pin")
    return ui.ListItem(
        note.id,
        note.title,
        subtitle=excerpt(note.body),
        meta=note.written_at,
        badge=ui.Badge(say(ctx, "is_pinned"), color="blue") if note.pinned else None,
        on_click=ui.Call("read", id=note.id),
        actions=[
            {"label": pin_label, "on_click": ui.Call("pin", id=note.id, pinned=not note.pinned)},
            {"label": say(ctx, "delete"), "on_click": ui.Call("delete", id=note.id)},
        ],
    )
