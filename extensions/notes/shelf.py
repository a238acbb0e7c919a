"""The notes of one user, read from and found in `ctx.store`.

The store keeps the notes by the time of writing and counts those pinned (the indexes that `main`
declares), so the newest, the pinned and the totals cost what they show. What looks for words is one
pass over all of the user's notes, bodies included: a read unit per 4 KB and one round trip per 100
notes. Only what is kept is held in memory.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from webbee_kernel.sdk import (
    ActionResult,
    Context,
    Document,
    SearchWords,
    Sentences,
    StoreConflict,
)

sentences = Sentences(__file__)
say, texts = sentences.say, sentences.texts

COLLECTION = "notes"
PAGE = 100
CANDIDATES = 5
EXCERPT = 120
SAME_SECOND = 20
"""Notes read beyond a page: the store has those of one second as they were made."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note. `written_at` is ISO 8601 in UTC."""

    id: str
    title: str
    body: str
    pinned: bool
    written_at: str
    etag: str

    @staticmethod
    def read(doc: Document) -> Note:
        """The note in a stored document."""
        written_at = str(doc.get("written_at") or doc.created_at)
        return Note(
            doc.id,
            str(doc.get("title") or ""),
            str(doc.get("body") or ""),
            bool(doc.get("pinned")),
            written_at,
            doc.etag,
        )

    def facts(self) -> dict[str, Any]:
        """What the user, and the next turn, are told of a note in a list or after a write."""
        return {"id": self.id, "title": self.title, "pinned": self.pinned}

    def age(self) -> tuple[str, ...]:
        """Sort key: the newest note has the greatest."""
        return (self.written_at, self.id)

    @property
    def text(self) -> str:
        """What is searched: title and body."""
        return f"{self.title}\n{self.body}"


class Top:
    """The `size` greatest notes of those offered, in constant memory."""

    def __init__(self, size: int, key: Callable[[Note], tuple[str, ...]]) -> None:
        self.size = size
        self.key = key
        self._heap: list[tuple[tuple[str, ...], str, Note]] = []

    def offer(self, note: Note) -> None:
        """Take the note into account."""
        if len(self._heap) < self.size:
            heapq.heappush(self._heap, (self.key(note), note.id, note))
        else:
            heapq.heappushpop(self._heap, (self.key(note), note.id, note))

    def rows(self) -> list[Note]:
        """The notes kept, greatest first."""
        return [
            note for _, _, note in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)
        ]


async def newest(ctx: Context, size: int) -> list[Note]:
    """The newest notes first; of those of one second the last written."""
    page = await ctx.store.query(COLLECTION, order_by="-written_at", limit=size + SAME_SECOND)
    top = Top(size, Note.age)
    for doc in page:
        top.offer(Note.read(doc))
    return top.rows()


async def every(ctx: Context, *, pinned: bool = False) -> AsyncIterator[Note]:
    """All notes, or those pinned, oldest first."""
    where = {"pinned": True} if pinned else None
    cursor: str | None = None
    while True:
        page = await ctx.store.query(COLLECTION, where=where, limit=PAGE, cursor=cursor)
        for doc in page:
            yield Note.read(doc)
        cursor = page.cursor
        if not page.has_more or cursor is None:
            return


async def by_id(ctx: Context, note_id: str) -> Note | None:
    """One note: a single read."""
    doc = await ctx.store.get(COLLECTION, note_id)
    return Note.read(doc) if doc else None


async def locate(ctx: Context, note_id: str, title: str) -> Note | ActionResult:
    """The note of this id, or the only one of this title: exact (letter case aside) first, else
    holding all its words.

    An ActionResult is the error to return: NOT_FOUND, AMBIGUOUS (with the candidates),
    VALIDATION_MISSING_FIELD.
    """
    if note_id:
        if note := await by_id(ctx, note_id):
            return note
        return ActionResult.error(say(ctx, "no_such_id", id=note_id), code="NOT_FOUND")
    if not title:
        return ActionResult.error(say(ctx, "which"), code="VALIDATION_MISSING_FIELD")
    wanted, words = folded(title), ctx.words(title)
    found = [note async for note in every(ctx) if words.are_in(note.title)]
    found = [note for note in found if folded(note.title) == wanted] or found
    if len(found) == 1:
        return found[0]
    if not found:
        return ActionResult.error(say(ctx, "no_such_title", title=title), code="NOT_FOUND")
    listed = ", ".join(
        say(ctx, "one", title=n.title, day=n.written_at[:10], id=n.id) for n in found[:CANDIDATES]
    )
    dots = ", …" if len(found) > CANDIDATES else ""
    fitting = [
        {"id": n.id, "title": n.title, "written": n.written_at[:10]} for n in found[:CANDIDATES]
    ]
    refused = ActionResult.error(say(ctx, "several", notes=listed + dots), code="AMBIGUOUS")
    refused.data = {"notes": fitting}
    return refused


async def change(ctx: Context, note: Note, fields: dict[str, Any]) -> Note | ActionResult:
    """The note with these fields, as stored: one write. An ActionResult is the error to return,
    where somebody else was faster."""
    try:
        return Note.read(await ctx.store.update(COLLECTION, note.id, fields, if_match=note.etag))
    except StoreConflict:
        return ActionResult.error(say(ctx, "changed_meanwhile"), retryable=True, code="CONFLICT")


def folded(text: str) -> str:
    """For comparing: no letter case, ё as е, single spaces."""
    return " ".join(text.casefold().replace("ё", "е").split())


def excerpt(body: str, words: SearchWords | None = None) -> str:
    """At most 120 characters of the body on one line, around the first of the words that stands in
    it."""
    line = " ".join(body.split())
    place = words.place_in(line) if words else None
    start = max(0, place[0] - EXCERPT // 3) if place else 0
    cut = line[start : start + EXCERPT]
    return ("…" if start else "") + cut + ("…" if start + EXCERPT < len(line) else "")
