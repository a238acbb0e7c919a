"""Mail, on any IMAP and SMTP account: list, search, read, send, reply, archive, delete; unread
counts for the skeleton; a panel.

The accounts are the user's own secret; `mail_accounts` says how it is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any, TypeVar

from pydantic import BaseModel

import examples
from inbox_panel import (
    CACHE_KEY,
    CACHE_SECONDS,
    ROWS,
    InboxSnapshot,
    failure_panel,
    inbox_panel,
    message_card,
    shown_list,
)
from mail_accounts import EXAMPLE, SETTING, choose
from mail_errors import MailError
from mail_operations import (
    Criteria,
    Done,
    count_unread,
    delete_messages,
    mark_messages,
    move_messages,
    read_message,
    send_message,
    send_reply,
)
from mail_params import (
    IdsParams,
    ListParams,
    MarkParams,
    ReadParams,
    ReplyParams,
    SearchParams,
    SendParams,
)
from mail_text import cut
from user_mail import across, day_start, each_account, gathered, located, mailboxes
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui
from wording import found, listed, say, texts

SECTION = "mail_inbox_summary"
PUT_BACK, PUT_BACK_SECONDS = "put_back", 120
PANELS = ["inbox"]
SUMMARY_BODY = 1_500  # characters of a message's text in the summary of `read`

ext = Extension(
    "mail",
    "1.0.0",
    config_defaults={"private_hosts": False},
    display_name="Mail",
    description="Mail of any IMAP and SMTP account",
    icon="icon.svg",
    titles=texts("app"),
    columns={
        name: texts(f"column_{name}")
        for name in ("from", "from_name", "to", "unread", "account", "attachments", "lacks")
    },
)
chat = ChatExtension(
    ext, description="The user's e-mail: list, search, read, send, reply, archive, delete"
)
ext.secret(
    SETTING,
    f"Your mail accounts, a JSON list of one to five: {EXAMPLE}. Gmail, Yandex, Mail.ru, Yahoo,"
    " iCloud and Fastmail need no more; for others add imap_host and smtp_host. Optional:"
    " username, security (tls, starttls), imap_port, smtp_port.",
    required=True,
)
ext.cache_model("inbox_snapshot")(InboxSnapshot)

P = TypeVar("P", bound=BaseModel)
Function = Callable[[Context, P], Awaitable[ActionResult]]


def reported(function: Function[P]) -> Function[P]:
    """A `MailError` becomes the function's error, in the user's language."""

    @wraps(function)
    async def guarded(ctx: Context, params: P) -> ActionResult:
        try:
            return await function(ctx, params)
        except MailError as error:
            ctx.log.warning("mail call failed", code=error.code)
            return ActionResult.error(
                error.text(ctx.user.language), error.retryable, code=error.code
            )

    return guarded


@chat.function(
    "list_inbox",
    "List the newest messages of the inbox, all or unread or of a day, and how many are unread",
    examples=examples.LIST_INBOX,
    titles=texts("title_list_inbox"),
)
@reported
async def list_inbox(ctx: Context, params: ListParams) -> ActionResult:
    """One connection per account, all at the same time. An account that fails is named and the
    others are listed."""
    accounts = await mailboxes(ctx, params.account)
    since = day_start(ctx, ctx.time.now().date() if params.today else params.since)
    criteria: Criteria = [("UNSEEN", None)] if params.unread_only else []
    data, matched = await gathered(ctx, accounts, ["inbox"], criteria, since, params.limit)
    period = "today" if params.today else str(params.since or "")
    summary = listed(
        ctx, len(data["messages"]), matched, data["unread"], period, failed_addresses(data)
    )
    shown = shown_list(ctx, data["messages"])
    return ActionResult.success(data, summary, ui=shown, refresh_panels=[])


@chat.function(
    "search",
    "Search messages by words, sender, subject or date, in the inbox and the archive or in another"
    " folder",
    examples=examples.SEARCH,
    titles=texts("title_search"),
)
@reported
async def search(ctx: Context, params: SearchParams) -> ActionResult:
    """One connection per account, all at the same time; the servers do the searching, and compare
    letters: words go there without their endings. What lacks a word of the text stands behind what
    has all of them, with the words that it lacks."""
    accounts = await mailboxes(ctx, params.account)
    folders = ["inbox", "archive"] if params.folder == "anywhere" else [params.folder]
    wanted = (("FROM", params.sender), ("SUBJECT", params.subject))
    criteria: Criteria = [
        (key, part) for key, value in wanted for part in ctx.words(value).beginnings().values()
    ] + ([("UNSEEN", None)] if params.unread_only else [])
    since, text = day_start(ctx, params.since), ctx.words(params.text)
    data, matched = await gathered(ctx, accounts, folders, criteria, since, params.limit, text)
    listed = len(data["messages"])
    is_part = listed and all("lacks" in row for row in data["messages"])
    data = {"found": matched} | {key: value for key, value in data.items() if key != "unread"}
    words = [value for value in (params.text, params.sender, params.subject) if value]
    summary = found(ctx, listed, matched, failed_addresses(data), words, is_part=bool(is_part))
    return ActionResult.success(data, summary, refresh_panels=[])


@chat.function(
    "read",
    "Read one message: its text, recipients and attachment names, by its id",
    examples=examples.READ,
    titles=texts("title_read"),
)
@reported
async def read(ctx: Context, params: ReadParams) -> ActionResult:
    """Does not mark the message as read: that is `mark`, a write."""
    ref, account = await located(ctx, params.id)
    data = await asyncio.to_thread(read_message, account, ref, ctx.time.now().tzinfo)
    body = cut(data["body"], SUMMARY_BODY)
    summary = say(ctx, "message", subject=data["subject"], sender=data["from"], body=body)
    return ActionResult.success(data, summary, ui=message_card(ctx, data), refresh_panels=[])


@chat.function(
    "send",
    "Send a new e-mail to an address",
    action_type="write",
    examples=examples.SEND,
    titles=texts("title_send"),
)
@reported
async def send(ctx: Context, params: SendParams) -> ActionResult:
    """From the account named, or else the first one."""
    account = choose(await mailboxes(ctx), params.account)
    data = await asyncio.to_thread(
        send_message, account, params.to, params.subject, params.body, ctx.time.now()
    )
    await forget_inbox(ctx)
    return ActionResult.success(data, sent(ctx, data), refresh_panels=PANELS)


@chat.function(
    "reply",
    "Reply to a message by its id, in the same thread",
    action_type="write",
    examples=examples.REPLY,
    titles=texts("title_reply"),
)
@reported
async def reply(ctx: Context, params: ReplyParams) -> ActionResult:
    """From the account that holds the message, to its Reply-To or sender."""
    ref, account = await located(ctx, params.id)
    data = await asyncio.to_thread(send_reply, account, ref, params.body, ctx.time.now())
    await forget_inbox(ctx)
    return ActionResult.success(data, sent(ctx, data), refresh_panels=PANELS)


@chat.function(
    "archive",
    "Move messages to the archive, by their ids",
    action_type="write",
    examples=examples.ARCHIVE,
    titles=texts("title_archive"),
)
@reported
async def archive(ctx: Context, params: IdsParams) -> ActionResult:
    """The answer holds the messages' new ids, where the server tells them."""
    return await moved(ctx, params.ids, "archive", "archived")


@chat.function(
    "move_to_inbox",
    "Move messages back to the inbox from the archive or the trash, by their ids",
    action_type="write",
    examples=examples.MOVE_TO_INBOX,
    titles=texts("title_move_to_inbox"),
)
@reported
async def move_to_inbox(ctx: Context, params: IdsParams) -> ActionResult:
    """The answer holds the messages' new ids, where the server tells them."""
    return await moved(ctx, params.ids, "inbox", "moved")


@chat.function(
    "delete",
    "Delete messages by their ids: to the trash, or for good when they are in the trash already",
    action_type="destructive",
    examples=examples.DELETE,
    titles=texts("title_delete"),
)
@reported
async def delete(ctx: Context, params: IdsParams) -> ActionResult:
    """The answer holds the ids in the trash, where the server tells them."""
    done = await each_account(ctx, params.ids, delete_messages)
    n, erased = len(done.rows), done.erased
    data = {"deleted": n, "erased": erased, "messages": done.rows} | missing(done)
    summary = say(ctx, "erased" if erased else "deleted", n, erased=erased)
    return await changed(ctx, data, summary, None if erased else back(done))


@chat.function(
    "mark",
    "Mark messages as read or as unread, by their ids",
    action_type="write",
    examples=examples.MARK,
    titles=texts("title_mark"),
)
@reported
async def mark(ctx: Context, params: MarkParams) -> ActionResult:
    """Marking twice is no error."""
    done = await each_account(
        ctx, params.ids, lambda account, refs: mark_messages(account, refs, params.read)
    )
    n = len(done.rows)
    state = "read" if params.read else "unread"
    data = {"marked": n, "as": state, "messages": done.rows} | missing(done)
    undo = ui.Call("mark", ids=params.ids, read=not params.read)
    await put_back(ctx, 0 if params.read else n - done.unread)
    return await changed(ctx, data, say(ctx, f"marked_{state}", n), undo)


@ext.skeleton(
    SECTION,
    alert=True,
    ttl=60,
    description="Which accounts are connected and how many messages are unread in each",
)
async def inbox_summary(ctx: Context) -> dict[str, Any]:
    """Unread per account. One that fails is named and keeps its last count; when all fail the
    refresh fails, so the last good one stays."""
    try:
        accounts = await mailboxes(ctx)
    except MailError as error:
        if error.code == "NO_ACCOUNTS":
            return {"response": {"accounts_connected": 0, "unread_total": 0, "per_account": []}}
        raise
    counts, failed = await across(accounts, count_unread)
    unread = dict(
        zip((a.address for a in accounts if a.address not in failed), counts, strict=True)
    )
    if failed:
        unread |= {
            address: n
            for address, n in counts_by_address(await ctx.skeleton.get(SECTION) or {}).items()
            if address in failed
        }
    per_account = [
        {"id": a.number, "address": a.address}
        | ({"unread": unread[a.address]} if a.address in unread else {})
        for a in accounts
    ]
    summary = {
        "accounts_connected": len(counts),
        "unread_total": sum(unread.values()),
        "per_account": per_account,
    }
    return {
        "response": (
            summary
            | ({"accounts_failing": [f"{a} {e.code}" for a, e in failed.items()]} if failed else {})
        )
    }


@ext.tool(
    f"skeleton_alert_{SECTION}",
    description="Says by how many the unread count has risen",
)
async def inbox_alert(ctx: Context, old: dict[str, Any], new: dict[str, Any]) -> str:
    """Empty for the first snapshot and for a count that fell. An account that was not counted
    before brings no new mail either, nor does what the user put back among the unread."""
    if not old:
        return ""
    before, after = counts_by_address(old), counts_by_address(new)
    new_messages = sum(n - before[address] for address, n in after.items() if address in before)
    if new_messages > 0:
        new_messages -= await ctx.cache.get(PUT_BACK) or 0
        await ctx.cache.delete(PUT_BACK)
    if new_messages <= 0:
        return ""
    return say(ctx, "arrived", new_messages, unread=new["unread_total"])


@ext.panel("inbox", slot="left", icon="icon.svg")
async def inbox(ctx: Context, **_: Any) -> ui.UINode:
    """The 25 newest messages, at most 90 seconds old; writes by this app renew it at once."""

    async def fetch() -> InboxSnapshot:
        data, _ = await gathered(ctx, await mailboxes(ctx), ["inbox"], [], None, ROWS)
        return InboxSnapshot(
            unread=data["unread"], messages=data["messages"], failed=data.get("failed", [])
        )

    try:
        return inbox_panel(
            ctx, await ctx.cache.get_or_fetch(CACHE_KEY, InboxSnapshot, fetch, CACHE_SECONDS)
        )
    except MailError as error:
        return failure_panel(ctx, error)


async def moved(ctx: Context, ids: list[str], to: str, told: str) -> ActionResult:
    """Messages moved to the folder of this role; `told` names their number, in data and words."""
    done = await each_account(ctx, ids, partial(move_messages, to=to))
    there = say(ctx, f"{told}_already", done.unmoved) if done.unmoved else ""
    if not done.rows:
        return ActionResult.error(there, code="ALREADY_THERE")
    data = {told: len(done.rows), "messages": done.rows} | missing(done)
    undo = None if to == "inbox" else back(done)
    await put_back(ctx, done.unread if to == "inbox" else 0)
    summary = "; ".join(filter(None, (say(ctx, told, len(done.rows)), there)))
    return await changed(ctx, data, summary, undo)


async def put_back(ctx: Context, unread: int) -> None:
    """Remember how many unread messages of the inbox are no new ones, until they are counted."""
    if unread:
        unread += await ctx.cache.get(PUT_BACK) or 0
        await ctx.cache.set(PUT_BACK, unread, ttl_seconds=PUT_BACK_SECONDS)


def back(done: Done) -> ui.UIAction | None:
    """What moves messages back to the inbox; nothing where the server did not tell all new ids."""
    ids = [row["id"] for row in done.rows if "id" in row]
    return ui.Call("move_to_inbox", ids=ids) if len(ids) == len(done.rows) else None


async def changed(
    ctx: Context, data: dict[str, Any], summary: str, undo: ui.UIAction | None = None
) -> ActionResult:
    """A write's success, and what takes it back; the panel is read anew."""
    await forget_inbox(ctx)
    absent = data.get("not_found")
    tail = say(ctx, "ids_not_found", ids=", ".join(absent)) if absent else ""
    return ActionResult.success(data, summary + tail, refresh_panels=PANELS, undo=undo)


def counts_by_address(snapshot: dict[str, Any]) -> dict[str, int]:
    """Unread messages of each account that was counted."""
    return {a["address"]: a["unread"] for a in snapshot.get("per_account", []) if "unread" in a}


async def forget_inbox(ctx: Context) -> None:
    """Drop the panel's snapshot."""
    await ctx.cache.delete(CACHE_KEY)


def missing(done: Done) -> dict[str, Any]:
    """The ids that were not there and the accounts that failed, if any."""
    failed = [{"account": address, "error": error} for address, error in done.failed.items()]
    return ({"not_found": done.missing} if done.missing else {}) | (
        {"failed": failed} if failed else {}
    )


def failed_addresses(data: dict[str, Any]) -> list[str]:
    """The accounts that did not answer."""
    return [f["account"] for f in data.get("failed", [])]


def sent(ctx: Context, data: dict[str, Any]) -> str:
    """The summary of a message that went out."""
    return say(ctx, "sent", subject=data["subject"], to=data["to"])
