"""The tasks of one user, read from and found in `ctx.store`.

The store keeps the tasks by state (the index that `main` declares), so open ones cost what they
are, however many are done: a read unit per 4 KB, about 12 tasks, and one round trip per 100.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from due import TaskState, state_of
from webbee_kernel.sdk import ActionResult, Context, Document, StoreConflict, ui
from wording import due_text, say

COLLECTION = "tasks"
PAGE = 100
CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Task:
    """One task and where it stands now. `due` is in stored form, empty when there is none."""

    id: str
    title: str
    due: str
    priority: str
    state: TaskState
    etag: str

    @staticmethod
    def read(doc: Document, now: datetime) -> Task:
        """The task in a stored document."""
        due = str(doc.get("due") or "")
        state = state_of(str(doc.get("state")), due, now)
        return Task(
            doc.id,
            str(doc.get("title") or ""),
            due,
            str(doc.get("priority") or "normal"),
            state,
            doc.etag,
        )

    def facts(self) -> dict[str, Any]:
        """What the user, and the next turn, are told: id, title, due (None when there is none),
        state; priority unless normal."""
        told: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "due": self.due or None,
            "state": self.state,
        }
        return told if self.priority == "normal" else {**told, "priority": self.priority}

    def urgency(self) -> tuple[str, int, str]:
        """Sort key: earliest due first (a day counts as its end, none last), then priority, then
        age."""
        return (
            self.due if "T" in self.due else f"{self.due or '9999'}T24",
            {"high": 0, "normal": 1, "low": 2}.get(self.priority, 1),
            self.id,
        )


async def every(ctx: Context, state: str | None = None) -> AsyncIterator[Task]:
    """All tasks, or those stored as `open` or `done`, in the order of their creation."""
    now = ctx.time.now()
    where = {"state": state} if state else None
    cursor: str | None = None
    while True:
        page = await ctx.store.query(COLLECTION, where=where, limit=PAGE, cursor=cursor)
        for doc in page:
            yield Task.read(doc, now)
        cursor = page.cursor
        if not page.has_more or cursor is None:
            return


async def by_id(ctx: Context, task_id: str) -> Task | None:
    """One task: a single read."""
    doc = await ctx.store.get(COLLECTION, task_id)
    return Task.read(doc, ctx.time.now()) if doc else None


async def locate(
    ctx: Context, task_id: str, title: str, state: str | None = None
) -> Task | ActionResult:
    """The task of this id, or the only one of this title: exact (letter case aside) first, else
    holding all its words.

    An ActionResult is the error to return: NOT_FOUND, AMBIGUOUS (with the candidates),
    VALIDATION_MISSING_FIELD.
    """
    if task_id:
        if task := await by_id(ctx, task_id):
            return task
        return ActionResult.error(say(ctx, "no_such_id", id=task_id), code="NOT_FOUND")
    if not title:
        return ActionResult.error(say(ctx, "which"), code="VALIDATION_MISSING_FIELD")
    tasks = [task async for task in every(ctx, state)]
    wanted, words = folded(title), ctx.words(title)
    found = [t for t in tasks if folded(t.title) == wanted] or [
        t for t in tasks if words.are_in(t.title)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        return ActionResult.error(say(ctx, "no_such_title", title=title), code="NOT_FOUND")
    listed = ", ".join(
        say(ctx, "one_due" if t.due else "one", title=t.title, due=due_text(t.due), id=t.id)
        for t in found[:CANDIDATES]
    )
    dots = ", …" if len(found) > CANDIDATES else ""
    fitting = [{"id": t.id, "title": t.title, "due": t.due} for t in found[:CANDIDATES]]
    refused = ActionResult.error(say(ctx, "several", tasks=listed + dots), code="AMBIGUOUS")
    refused.data = {"tasks": fitting}
    return refused


async def change(ctx: Context, task: Task, fields: dict[str, Any]) -> Task | ActionResult:
    """The task with these fields, as stored: one write. An ActionResult is the error to return,
    where somebody else was faster."""
    try:
        doc = await ctx.store.update(COLLECTION, task.id, fields, if_match=task.etag)
    except StoreConflict:
        return ActionResult.error(say(ctx, "changed_meanwhile"), retryable=True, code="CONFLICT")
    return Task.read(doc, ctx.time.now())


def folded(text: str) -> str:
    """For comparing: no letter case, ё as е, single spaces."""
    return " ".join(text.casefold().replace("ё", "е").split())


ROWS = 30


def board_panel(ctx: Context, tasks: list[Task]) -> ui.UINode:
    """The tree for these open tasks, most urgent first; at most 30 rows a group, the group's full
    number in its title."""
    groups = [
        (say(ctx, "overdue"), [t for t in tasks if t.state == "overdue"]),
        (say(ctx, "today"), [t for t in tasks if t.state == "today"]),
        (say(ctx, "later"), [t for t in tasks if t.state == "open"]),
    ]
    sections = [
        ui.Section(f"{name} ({len(rows)})", [ui.List([row(ctx, t) for t in rows[:ROWS]])])
        for name, rows in groups
        if rows
    ]
    return ui.Stack([*(sections or [ui.Empty(say(ctx, "no_open_tasks"))]), add_form(ctx)])


def row(ctx: Context, task: Task) -> ui.UINode:
    """One task with its buttons."""
    return ui.ListItem(
        task.id,
        task.title,
        meta=task.due,
        badge=ui.Badge(say(ctx, "high"), color="red") if task.priority == "high" else None,
        actions=[
            {"label": say(ctx, "done"), "on_click": ui.Call("complete", id=task.id)},
            {"label": say(ctx, "delete"), "on_click": ui.Call("delete", id=task.id)},
        ],
    )


def add_form(ctx: Context) -> ui.UINode:
    """The form behind `add`."""
    return ui.Form(
        [
            ui.Input(say(ctx, "task_hint"), "title", say(ctx, "task")),
            ui.Input(say(ctx, "due_hint"), "due", say(ctx, "due")),
        ],
        action="add",
        submit_label=say(ctx, "add"),
    )
