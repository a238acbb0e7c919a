"""Tasks with due dates, on `ctx.store`: add, list, complete, change, delete; counts for the
skeleton; a panel."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

import examples
from board import COLLECTION, Task, board_panel, change, every, locate
from due import ACCEPTED, parse_due, within_week
from webbee_kernel.sdk import (
    ActionResult,
    ChatExtension,
    Context,
    Extension,
    Ident,
    choices,
    directs,
    titled,
    ui,
)
from wording import changed, due_text, say, texts

LISTED = 50
NEXT = 5
PANELS = ["tasks"]
PRIORITIES = (
    "low (unimportant, неважная, неважно, niedrig, basse, baja), normal (обычная, normale), high"
    " (urgent, important, срочная, срочно, важная, высокий, hoch, dringend, wichtig, haute, alta,"
    " urgente, importante)"
)

STATES = {state: texts(f"choice_{state}") for state in ("open", "done", "overdue", "today", "all")}
URGENCIES = {priority: texts(f"choice_{priority}") for priority in ("low", "normal", "high")}

ext = Extension(
    "tasks",
    "1.0.0",
    display_name="Tasks",
    description="Tasks with due dates",
    icon="icon.svg",
    titles=texts("app"),
    columns={
        "state": texts("column_state"),
        "priority": texts("column_priority"),
        **{f"state.{state}": said for state, said in STATES.items()},
        **{f"priority.{priority}": said for priority, said in URGENCIES.items()},
    },
)
ext.index(COLLECTION, "state")
chat = ChatExtension(ext, description="The user's tasks: add, list, complete, change, delete")


def readable(value: str) -> str:
    """Refuse what cannot be read before anything runs."""
    if value:
        parse_due(value)
    return value


Due = Annotated[
    str,
    directs("when"),
    StringConstraints(strip_whitespace=True, max_length=40),
    AfterValidator(readable),
]

Day = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=40), AfterValidator(readable)
]

Urgent = titled(**texts("label_priority"))


class AddParams(BaseModel):
    """A new task."""

    title: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)
    ] = Field(description="What is to be done, without the words about when or how urgent.")
    due: Due = Field("", description=f"When it is due: {ACCEPTED}. UTC. Empty: no due date.")
    priority: Annotated[Literal["low", "normal", "high"], Urgent, choices(**URGENCIES)] = Field(
        "normal", description=f"How urgent: {PRIORITIES}"
    )
    done: Annotated[bool, titled(**texts("choice_done"))] = Field(
        False, description="Whether it is done already."
    )


class ListParams(BaseModel):
    """Which tasks."""

    state: Annotated[
        Literal["open", "done", "overdue", "today", "all"],
        titled(**texts("label_state")),
        choices(**STATES),
    ] = Field(
        "open",
        description=(
            "open (not done, открытые, невыполненные), done (completed, finished, выполненные,"
            " сделанные, завершенные), overdue (late, просроченные), today (still due today,"
            " сегодня), all (everything, все)."
        ),
    )
    due: Day = Field(
        "", description="Only those that are due on this day, like 2026-05-16. Empty: of any day."
    )


class WhichParams(BaseModel):
    """One task: by id, or by title."""

    id: Annotated[Ident, StringConstraints(strip_whitespace=True, max_length=64)] = Field(
        "", description="Id of the task, as listed. Goes before the title."
    )
    title: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = Field(
        "",
        description=(
            "Its title, or words that stand in no other task's title. For when there is no id."
        ),
    )


class UpdateParams(WhichParams):
    """One task, and what is to be different about it."""

    due: Due = Field(
        "",
        description=(
            f"The new day or moment it is due: {ACCEPTED}. UTC. `none` (no date, без срока) takes"
            " the date away. Empty: stays as it is."
        ),
    )
    new_title: Annotated[
        str,
        titled(**texts("label_new_title")),
        StringConstraints(strip_whitespace=True, max_length=200),
    ] = Field(
        "", description="Its new title, only where it is to be renamed. Empty: stays as it is."
    )
    priority: Annotated[Literal["", "low", "normal", "high"], Urgent, choices(**URGENCIES)] = Field(
        "", description=f"How urgent it is to be: {PRIORITIES}. Empty: stays as it is."
    )

    def changes(self) -> dict[str, Any]:
        """The fields to store."""
        told = {"title": self.new_title, "priority": self.priority}
        due = {"due": parse_due(self.due)} if self.due else {}
        return due | {k: v for k, v in told.items() if v}


@chat.function(
    "add",
    "Add a task to do, with an optional due date and priority",
    action_type="write",
    examples=examples.ADD,
    titles=texts("title_add"),
)
async def add(ctx: Context, params: AddParams) -> ActionResult:
    """Store one task: one write."""
    now = ctx.time.now()
    due = parse_due(params.due) if params.due else ""
    state = {"state": "done", "done_at": ctx.time.iso()} if params.done else {"state": "open"}
    doc = await ctx.store.create(
        COLLECTION, {"title": params.title, "due": due, "priority": params.priority, **state}
    )
    summary = say(ctx, "added_due" if due else "added", title=params.title, due=due_text(due))
    return ActionResult.success(Task.read(doc, now).facts(), summary, refresh_panels=PANELS)


@chat.function(
    "list_tasks",
    "List the user's tasks: open, done, overdue, due today, or all; also answers how many"
    " there are",
    examples=examples.LIST_TASKS,
    titles=texts("title_list_tasks"),
)
async def list_tasks(ctx: Context, params: ListParams) -> ActionResult:
    """The exact count and the 50 most urgent: one pass over the tasks of the state."""
    stored = {"all": None, "done": "done"}.get(params.state, "open")
    day = parse_due(params.due)[:10] if params.due else ""
    tasks = [
        task
        async for task in every(ctx, stored)
        if params.state in (task.state, "open", "all") and task.due.startswith(day)
    ]
    tasks.sort(key=Task.urgency)
    data = {"count": len(tasks), "tasks": [task.facts() for task in tasks[:LISTED]]}
    summary = say(ctx, "count_on" if day else f"count_{params.state}", n=len(tasks), day=day)
    return ActionResult.success(data, summary, refresh_panels=[])


@chat.function(
    "show",
    "Show one task: when it is due, how urgent it is, whether it is done, by its id or title",
    examples=examples.SHOW,
    titles=texts("title_show"),
)
async def show(ctx: Context, params: WhichParams) -> ActionResult:
    """By id: one read. By title: one pass over all tasks."""
    found = await locate(ctx, params.id, params.title)
    if isinstance(found, ActionResult):
        return found
    due = due_text(found.due)
    summary = say(ctx, "shown_due" if due else "shown", title=found.title, due=due)
    return ActionResult.success(found.facts(), summary, refresh_panels=[])


@chat.function(
    "complete",
    "Mark a task as done, by its id or title",
    action_type="write",
    examples=examples.COMPLETE,
    titles=texts("title_complete"),
)
async def complete(ctx: Context, params: WhichParams) -> ActionResult:
    """By id: one read, one write. By title: one pass over the open tasks first. Completing twice is
    no error."""
    found = await locate(ctx, params.id, params.title, "open")
    if isinstance(found, ActionResult):
        return found
    if found.state == "done":
        text, undo = say(ctx, "completed_before", title=found.title), ui.Call("reopen", id=found.id)
        return ActionResult.success(found.facts(), text, refresh_panels=[], undo=undo)
    fields = {"state": "done", "done_at": ctx.time.iso()}
    summary = say(ctx, "completed", title=found.title)
    return await stored(ctx, found, fields, summary, ui.Call("reopen", id=found.id))


@chat.function(
    "reopen",
    "Put a task that is done back among the open ones, by its id or title",
    action_type="write",
    examples=examples.REOPEN,
    titles=texts("title_reopen"),
)
async def reopen(ctx: Context, params: WhichParams) -> ActionResult:
    """By id: one read, one write. By title: one pass over the done tasks first. What is open stays
    as it is."""
    found = await locate(ctx, params.id, params.title, "done")
    if isinstance(found, ActionResult):
        return found
    if found.state == "open":
        text = say(ctx, "open_before", title=found.title)
        return ActionResult.success(found.facts(), text, refresh_panels=[])
    fields = {"state": "open", "done_at": ""}
    summary = say(ctx, "reopened", title=found.title)
    return await stored(ctx, found, fields, summary, ui.Call("complete", id=found.id))


@chat.function(
    "update",
    "Change a task, by its id or title: move it to another day, rename it, set how urgent it is",
    action_type="write",
    examples=examples.UPDATE,
    titles=texts("title_update"),
)
async def update(ctx: Context, params: UpdateParams) -> ActionResult:
    """By id: one read, one write. By title: one pass over the open tasks first."""
    wanted = params.changes()
    if not wanted:
        return ActionResult.error(say(ctx, "nothing_to_change"), code="VALIDATION_MISSING_FIELD")
    found = await locate(ctx, params.id, params.title, "open")
    if isinstance(found, ActionResult):
        return found
    before = {"new_title": found.title, "due": found.due or "none", "priority": found.priority}
    told = ("new_title" if key == "title" else key for key in wanted)
    undo = ui.Call("update", id=found.id, **{key: before[key] for key in told})
    return await stored(ctx, found, wanted, changed(ctx, found.title, wanted), undo)


async def stored(
    ctx: Context, task: Task, fields: dict[str, Any], summary: str, undo: ui.UIAction
) -> ActionResult:
    """The success of a change, and what takes it back: one write."""
    made = await change(ctx, task, fields)
    if isinstance(made, ActionResult):
        return made
    return ActionResult.success(made.facts(), summary, refresh_panels=PANELS, undo=undo)


@chat.function(
    "delete",
    "Delete a task, by its id or title",
    action_type="destructive",
    examples=examples.DELETE,
    titles=texts("title_delete"),
)
async def delete(ctx: Context, params: WhichParams) -> ActionResult:
    """By id: one read, one delete. By title: one pass over all tasks first."""
    found = await locate(ctx, params.id, params.title)
    if isinstance(found, ActionResult):
        return found
    await ctx.store.delete(COLLECTION, found.id)
    summary = say(ctx, "deleted", title=found.title)
    data = {"id": found.id, "title": found.title, "deleted": True}
    priority, done = found.priority.removeprefix("normal"), found.state == "done"
    kept = {"due": found.due, "priority": priority, "done": done}
    undo = ui.Call("add", title=found.title, **{k: v for k, v in kept.items() if v})
    return ActionResult.success(data, summary, refresh_panels=PANELS, undo=undo)


@ext.skeleton(
    "tasks",
    ttl=60,
    description="How many tasks are overdue, due today, due within a week, open; the next five",
)
async def tasks_section(ctx: Context) -> dict[str, Any]:
    """Four counts that share no task, except that open_count is all of them, and the five most
    urgent tasks: one pass over the open tasks.

    `today_count` is what is still ahead today, `upcoming_7d_count` runs from tomorrow to seven days
    from today.
    """
    now = ctx.time.now()
    tasks = [task async for task in every(ctx, "open")]
    first = sorted(tasks, key=Task.urgency)[:NEXT]
    return {
        "response": {
            "overdue_count": sum(task.state == "overdue" for task in tasks),
            "today_count": sum(task.state == "today" for task in tasks),
            "upcoming_7d_count": sum(within_week(task.due, now) for task in tasks),
            "open_count": len(tasks),
            "next_tasks": [{"id": t.id, "title": t.title} for t in first],
        }
    }


@ext.panel("tasks", slot="right", icon="icon.svg")
async def tasks_panel(ctx: Context, **_: Any) -> ui.UINode:
    """Open tasks by urgency: one pass over them."""
    return board_panel(ctx, sorted([task async for task in every(ctx, "open")], key=Task.urgency))
