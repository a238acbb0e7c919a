"""The tasks panel: overdue, today, later; each row can be completed or deleted; a form adds one."""

from __future__ import annotations

from board import Task
from webbee_kernel.sdk import Context, ui
from wording import due_text, say

ROWS = 30


def board_panel(ctx: Context, tasks: list[Task]) -> ui.UINode:
    """The tree for these open tasks, most urgent first; at most 30 rows a group, the group's full
    number in its title."""
    groups = [
        (say(ctx, "Overdue", "Просрочено"), [t for t in tasks if t.state == "overdue"]),
        (say(ctx, "Today", "Сегодня"), [t for t in tasks if t.state == "today"]),
        (say(ctx, "Later", "Позже"), [t for t in tasks if t.state == "open"]),
    ]
    sections = [
        ui.Section(f"{name} ({len(rows)})", [ui.List([row(ctx, t) for t in rows[:ROWS]])])
        for name, rows in groups
        if rows
    ]
    return ui.Stack(
        [*(sections or [ui.Empty(say(ctx, "No open tasks", "Открытых задач нет"))]), add_form(ctx)]
    )


def row(ctx: Context, task: Task) -> ui.UINode:
    """One task with its buttons."""
    return ui.ListItem(
        task.id,
        task.title,
        meta=due_text(task.due),
        badge=ui.Badge(say(ctx, "high", "важно"), color="red") if task.priority == "high" else None,
        actions=[
            {"label": say(ctx, "Done", "Готово"), "on_click": ui.Call("complete", id=task.id)},
            {"label": say(ctx, "Delete", "Удалить"), "on_click": ui.Call("delete", id=task.id)},
        ],
    )


def add_form(ctx: Context) -> ui.UINode:
    """The form behind `add`."""
    return ui.Form(
        [
            ui.Input(
                say(ctx, "What is to be done", "Что сделать"), "title", say(ctx, "Task", "Задача")
            ),
            ui.Input(
                say(ctx, "2026-05-16 or tomorrow", "2026-05-16 или завтра"),
                "due",
                say(ctx, "Due", "Срок"),
            ),
        ],
        action="add",
        submit_label=say(ctx, "Add", "Добавить"),
    )
