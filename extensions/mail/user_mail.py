"""The user's accounts, one or all: found, asked at the same time, their answers put together."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from typing import Any, TypeVar

from mail_accounts import SETTING, MailAccount, choose, parse_accounts
from mail_errors import MailError, not_found
from mail_hosts import PRIVATE_HOSTS
from mail_ids import MessageRef, parse_id
from mail_operations import Criteria, Done, Listing, list_messages
from webbee_kernel.sdk import Context, SearchWords

R = TypeVar("R")


async def mailboxes(ctx: Context, wanted: str = "") -> Sequence[MailAccount]:
    """The user's accounts, or the one wanted."""
    accounts = parse_accounts(
        await ctx.secrets.get(SETTING), private=bool(ctx.config.get(PRIVATE_HOSTS))
    )
    return [choose(accounts, wanted)] if wanted else accounts


async def located(ctx: Context, message_id: str) -> tuple[MessageRef, MailAccount]:
    """The parts of an id, and the account it belongs to."""
    ref = parse_id(message_id)
    account = next((a for a in await mailboxes(ctx) if a.number == ref.account), None)
    if account is None:
        raise not_found(message_id)
    return ref, account


async def across(
    accounts: Sequence[MailAccount], work: Callable[[MailAccount], R]
) -> tuple[list[R], dict[str, MailError]]:
    """Do `work` on all accounts at once: the results, and the failures by address. Raises the first
    failure when there is nothing else."""
    outcomes = await asyncio.gather(
        *(asyncio.to_thread(work, a) for a in accounts), return_exceptions=True
    )
    failed: dict[str, MailError] = {}
    results: list[R] = []
    for account, outcome in zip(accounts, outcomes, strict=True):
        if isinstance(outcome, MailError):
            failed[account.address] = outcome
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            results.append(outcome)
    if not results:
        raise next(iter(failed.values()))
    return results, failed


async def gathered(
    ctx: Context,
    accounts: Sequence[MailAccount],
    folders: Sequence[str],
    criteria: Criteria,
    since: datetime | None,
    limit: int,
    words: SearchWords | None = None,
) -> tuple[dict[str, Any], int]:
    """The newest messages of these accounts together, those that hold all words first, as
    `{"unread", "messages", …}`, and how many matched in all."""
    zone = ctx.time.now().tzinfo

    def work(account: MailAccount) -> Listing:
        return list_messages(account, folders, criteria, since, limit, zone, words)

    listings, failed = await across(accounts, work)
    counts = sum((listing.counts for listing in listings), Counter[frozenset[str]]())
    best = words.best(counts) if words else [frozenset[str]()]
    found = (r for listing in listings for r in listing.rows if r[0] in best)
    rows = sorted(found, key=lambda r: (len(r[0]), *r[1:3]), reverse=True)[:limit]
    matched = sum(counts[held] for held in best)
    for held, *_, message in rows:
        lacks = [word for word in words.beginnings() if word not in held] if words else []
        message |= {"lacks": lacks} if lacks else {}
    data: dict[str, Any] = {
        "unread": sum(listing.unread for listing in listings),
        "messages": [message for *_, message in rows],
    }
    if matched > len(rows):
        data["more"] = matched - len(rows)
    if failed:
        data["failed"] = [
            {"account": address, "error": error.text(ctx.user.language)}
            for address, error in failed.items()
        ]
    return data, matched


async def each_account(
    ctx: Context, ids: Sequence[str], work: Callable[[MailAccount, Sequence[MessageRef]], Done]
) -> Done:
    """Do `work` on the messages of each account. Raises `MailError` when nothing was done at all.

    What was done on one account stands although another failed; the messages of that one count as
    `missing`, with the reason.
    """
    refs, total = _parsed(ids)
    accounts = await mailboxes(ctx)
    by_account = {a: [r for r in refs if r.account == a.number] for a in accounts}
    total.missing += [str(r) for r in refs if r.account not in {a.number for a in accounts}]
    concerned = [a for a, mine in by_account.items() if mine]
    if not concerned:
        raise not_found(", ".join(total.missing))
    results, failed = await across(concerned, lambda account: work(account, by_account[account]))
    for done in results:
        total.rows += done.rows
        total.unread += done.unread
        total.unmoved += done.unmoved
        total.erased += done.erased
        total.missing += done.missing
    for account in concerned:
        if account.address in failed:
            total.missing += [str(r) for r in by_account[account]]
            total.failed[account.address] = failed[account.address].text(ctx.user.language)
    if not (total.rows or total.unmoved):
        raise next(iter(failed.values())) if failed else not_found(", ".join(total.missing))
    return total


def _parsed(ids: Sequence[str]) -> tuple[list[MessageRef], Done]:
    """The ids that have the shape of one; the others are missing from the start."""
    refs: list[MessageRef] = []
    done = Done()
    for message_id in dict.fromkeys(ids):
        try:
            refs.append(parse_id(message_id))
        except MailError:
            done.missing.append(message_id)
    return refs, done


def day_start(ctx: Context, day: date | None) -> datetime | None:
    """Midnight of a day on the user's clock; None for no day."""
    if day is None:
        return None
    return datetime.combine(day, time.min, ctx.time.now().tzinfo)
