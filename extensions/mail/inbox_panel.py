"""The inbox panel: what it caches and how it looks."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from mail_errors import MailError
from webbee_kernel.sdk import Context, ui
from wording import say

ROWS = 25
CACHE_KEY = "inbox"
CACHE_SECONDS = 90


class InboxSnapshot(BaseModel):
    """What the panel shows; well under the cache's 64 KB: 25 rows of at most some 400
    characters."""

    unread: int
    messages: list[dict[str, Any]]
    failed: list[dict[str, str]] = []


def inbox_panel(ctx: Context, snapshot: InboxSnapshot) -> ui.UINode:
    """The newest messages of all accounts, each with its buttons; accounts that failed on top."""
    warnings = [
        ui.Text(f"{f['account']}: {f['error']}", variant="muted", tone="warning")
        for f in snapshot.failed
    ]
    rows = [row(ctx, m) for m in snapshot.messages]
    listing = ui.List(rows) if rows else ui.Empty(say(ctx, "inbox_empty"))
    return ui.Stack(
        [
            ui.Stats([ui.Stat(say(ctx, "unread"), snapshot.unread)]),
            *warnings,
            listing,
        ]
    )


def shown_list(ctx: Context, messages: list[dict[str, Any]]) -> ui.UINode | None:
    """What a listing shows beside the reply: subject, sender with address, date."""
    rows: list[ui.UINode] = [
        ui.ListItem(
            m["id"],
            m["subject"] or say(ctx, "no_subject"),
            subtitle=f"{m.get('from_name', '')} {m.get('from', '')}".strip(),
            meta=m.get("date", ""),
            on_click=ui.Call("read", id=m["id"]),
        )
        for m in messages
    ]
    return ui.List(rows) if rows else None


def message_card(ctx: Context, data: dict[str, Any]) -> ui.UINode:
    """One message as a mail is read: who, to whom, when, its text."""
    sender = f"{data.get('from_name', '')} <{data['from']}>".strip()
    fields = [
        (say(ctx, "from"), sender),
        (say(ctx, "to"), ", ".join(data.get("to", []))),
        (say(ctx, "copy"), ", ".join(data.get("cc", []))),
        (say(ctx, "date"), data.get("date", "")),
    ]
    return ui.Stack(
        [
            ui.KeyValue([{"key": key, "value": value} for key, value in fields if value]),
            ui.Divider(),
            ui.Text(data["body"] or say(ctx, "no_text")),
        ]
    )


def failure_panel(ctx: Context, error: MailError) -> ui.UINode:
    """Why there is nothing to show and what to do about it."""
    title = say(ctx, "not_set_up" if error.code == "NO_ACCOUNTS" else "no_mail_now")
    return ui.Stack([ui.Empty(title), ui.Text(error.text(ctx.user.language), variant="muted")])


def row(ctx: Context, message: dict[str, Any]) -> ui.UINode:
    """One message: a click reads it."""
    message_id = message["id"]
    return ui.ListItem(
        message_id,
        message["subject"] or say(ctx, "no_subject"),
        subtitle=message.get("from_name") or message.get("from", ""),
        meta=message.get("date", ""),
        badge=ui.Badge(say(ctx, "new"), color="blue") if message["unread"] else None,
        on_click=ui.Call("read", id=message_id),
        actions=[
            {"label": say(ctx, "archive"), "on_click": ui.Call("archive", ids=[message_id])},
            {"label": say(ctx, "delete"), "on_click": ui.Call("delete", ids=[message_id])},
        ],
    )
