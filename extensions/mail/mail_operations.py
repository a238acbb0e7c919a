"""What the functions do on one account. Blocking; callers run it in a thread. Every failure is a
`MailError`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, tzinfo
from email.message import EmailMessage
from typing import Any

from imap_account import FETCH_BYTES, Envelope, ImapAccount, connected
from mail_accounts import MailAccount
from mail_errors import MailError, not_found
from mail_ids import MessageRef
from mail_text import addresses, body_of, cut, header, sender, valid_address
from smtp_account import compose, deliver
from webbee_kernel.sdk import SearchWords

SUBJECT_LISTED = 100  # characters
BODY_LIMIT = 4_000  # characters of a message's text that `read` returns
SUBJECT_WORDS = 8
FILING_TIMEOUT = 3.0  # seconds: the copy in Sent must not delay the answer

Criteria = Sequence[tuple[str, str | date | None]]


@dataclass(slots=True)
class Listing:
    """Rows of one account, each behind the words that it holds, its arrival and its UID; `counts`:
    how many messages there were to choose from, by the words that they hold."""

    rows: list[tuple[frozenset[str], datetime, int, dict[str, Any]]] = field(default_factory=list)
    counts: Counter[frozenset[str]] = field(default_factory=Counter)
    unread: int = 0


@dataclass(slots=True)
class Done:
    """What happened to messages; `unread` is how many of them were, `unmoved` how many lay where
    they were to go, `missing` are ids that were not there, `failed` says why by account."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    unread: int = 0
    unmoved: int = 0
    erased: int = 0
    missing: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def list_messages(
    account: MailAccount,
    folders: Sequence[str],
    criteria: Criteria,
    since: datetime | None,
    limit: int,
    zone: tzinfo | None,
    words: SearchWords | None = None,
) -> Listing:
    """Messages of these folders that meet the criteria, arrived at `since` or later and hold any of
    the words, of those that hold more the newest; `unread` counts the whole inbox."""
    listing = Listing()
    seen: set[str] = set()
    with connected(account) as imap:
        for folder in folders:
            if folder == "inbox":
                listing.unread = imap.unread()
            if not imap.select(folder):
                continue
            held, counts = _matching(imap, criteria, since, limit, words)
            listing.counts += counts
            for e in imap.envelopes([*held]):
                if _repeats(e, seen):
                    listing.counts[held[e.uid]] -= 1
                    continue
                told = row(str(imap.ref(e.uid)), e, account.address, zone)
                to = ", ".join(addresses(e.headers, "To")[:3]) if folder == "sent" else ""
                told |= {"to": to} if to else {}
                listing.rows.append((held[e.uid], e.arrived, e.uid, told))
    return listing


def count_unread(account: MailAccount) -> int:
    """Unread messages in the inbox."""
    with connected(account) as imap:
        return imap.unread()


def read_message(account: MailAccount, ref: MessageRef, zone: tzinfo | None) -> dict[str, Any]:
    """Headers and text of one message, which stays unread if it was. The text is cut at BODY_LIMIT
    with a marker."""
    with connected(account) as imap:
        envelope = _one(imap, ref)
        body = body_of(imap.source(ref.uid))
    data = row(str(ref), envelope, account.address, zone, subject_limit=400)
    headers = envelope.headers
    data |= {
        "to": addresses(headers, "To")[:20],
        "cc": addresses(headers, "Cc")[:20],
        "attachments": body.attachments[:20],
    }
    data |= {"body_chars": len(body.text), "body": body.text}
    if len(body.text) > BODY_LIMIT:
        data["body"] = (
            f"{body.text[:BODY_LIMIT].rstrip()}\n[… cut: {BODY_LIMIT} of {len(body.text)}"
            " characters]"
        )
    if envelope.size > FETCH_BYTES:
        data["partial"] = f"only the first {FETCH_BYTES} of {envelope.size} bytes were read"
    return {key: value for key, value in data.items() if value != []}


def send_message(
    account: MailAccount, to: str, subject: str, body: str, now: datetime
) -> dict[str, Any]:
    """Send, and keep a copy in Sent where the account has such a folder."""
    message = compose(account.address, to, subject or first_words(body), body, now=now)
    deliver(account, message, to)
    _file(account, message)
    return {"sent": True, "to": to, "subject": str(message["Subject"]), "account": account.address}


def send_reply(account: MailAccount, ref: MessageRef, body: str, now: datetime) -> dict[str, Any]:
    """Answer to Reply-To, or else From, in the same thread, and mark the original as answered."""
    with connected(account) as imap:
        headers = _one(imap, ref).headers
    name, address = sender(headers)
    to = next(iter(addresses(headers, "Reply-To")), address)
    if not valid_address(to):
        raise MailError("INVALID_ARGUMENT", "no_address_to_answer")
    subject = header(headers, "Subject")
    subject = subject if subject.lower().startswith("re:") else f"Re: {subject}".strip()
    original = header(headers, "Message-ID")
    references = " ".join([*header(headers, "References").split()[-10:], original])
    message = compose(
        account.address,
        to,
        cut(subject, 250),
        body,
        now=now,
        to_name=name if to == address else "",
        in_reply_to=original,
        references=references,
    )
    deliver(account, message, to)
    _file(account, message, answered=ref)
    return {
        "sent": True,
        "to": to,
        "to_name": name if to == address else "",
        "subject": str(message["Subject"]),
        "in_reply_to": str(ref),
        "account": account.address,
    }


def move_messages(account: MailAccount, refs: Sequence[MessageRef], to: str) -> Done:
    """Move messages to the folder of this role; those that lie there are only counted."""
    others = [ref for ref in refs if ref.folder != to]
    done = _each_folder(account, others, lambda imap, folder, uids, done: imap.move(uids, to))
    if here := [ref for ref in refs if ref.folder == to]:
        found = _each_folder(account, here, lambda imap, folder, uids, done: {})
        done.unmoved, done.missing = len(found.rows), done.missing + found.missing
    return done


def delete_messages(account: MailAccount, refs: Sequence[MessageRef]) -> Done:
    """Move messages to the trash; those already there are erased."""

    def discard(
        imap: ImapAccount, folder: str, uids: Sequence[int], done: Done
    ) -> dict[int, MessageRef] | None:
        if folder != "trash":
            return imap.move(uids, "trash")
        imap.erase(uids)
        done.erased += len(uids)
        return None

    return _each_folder(account, refs, discard)


def mark_messages(account: MailAccount, refs: Sequence[MessageRef], read: bool) -> Done:
    """Set or clear the mark that a message was read."""

    def mark(
        imap: ImapAccount, folder: str, uids: Sequence[int], done: Done
    ) -> dict[int, MessageRef]:
        imap.flag(uids, "\\Seen", on=read)
        return {uid: imap.ref(uid) for uid in uids}

    return _each_folder(account, refs, mark)


def row(
    message_id: str,
    envelope: Envelope,
    account: str,
    zone: tzinfo | None,
    subject_limit: int = SUBJECT_LISTED,
) -> dict[str, Any]:
    """A message as a list shows it: `from` is the bare address, `date` its arrival in `zone`."""
    name, address = sender(envelope.headers)
    subject = cut(header(envelope.headers, "Subject"), subject_limit)
    data = {"id": message_id, "from": address, "subject": subject, "from_name": cut(name, 60)}
    arrived = envelope.arrived.astimezone(zone).isoformat(timespec="minutes").replace("+00:00", "Z")
    data |= {"date": arrived, "account": account}
    shown: dict[str, Any] = {
        key: value for key, value in data.items() if value or key in ("from", "subject")
    }
    return shown | {"unread": envelope.unread}


def first_words(body: str) -> str:
    """A subject for a message without one: the first words of its first line, at most 60
    characters."""
    words = body.strip().splitlines()[0].split()
    title = cut("".join(c for c in " ".join(words[:SUBJECT_WORDS]) if c.isprintable()), 60)
    return (
        title if len(words) <= SUBJECT_WORDS or title.endswith("…") else title.rstrip(" ,.;:") + "…"
    )


def _matching(
    imap: ImapAccount,
    criteria: Criteria,
    since: datetime | None,
    limit: int,
    words: SearchWords | None,
) -> tuple[dict[int, frozenset[str]], Counter[frozenset[str]]]:
    """The last UIDs that match, each with the words that it holds, and how many match in all, by
    the words that they hold."""
    none = frozenset[str]()
    if not criteria and since is None and not words:
        return dict.fromkeys(imap.newest(limit), none), Counter({none: imap.exists})
    if not words:
        uids = _found(imap, criteria, since)
        return dict.fromkeys(uids[-limit:], none), Counter({none: len(uids)})
    held = dict[int, frozenset[str]]()
    # the server says which messages hold a word; in a subject some know letters beyond ASCII alone
    asked = [(w, "TEXT", part) for w, part in words.beginnings().items()]
    asked += [(w, "SUBJECT", part) for w, _, part in asked if not part.isascii()]
    for word, key, part in asked:
        for uid in _found(imap, [*criteria, (key, part)], since):
            held[uid] = held.get(uid, none) | {word}
    last = sorted(held, key=lambda uid: (len(held[uid]), uid))[-limit:]
    counts = Counter(held.values())
    counts[none] = max(0, imap.exists - len(held))
    return {uid: held[uid] for uid in last}, counts


def _found(imap: ImapAccount, criteria: Criteria, since: datetime | None) -> list[int]:
    return imap.search(criteria) if since is None else _since(imap, criteria, since)


def _since(imap: ImapAccount, criteria: Criteria, since: datetime) -> list[int]:
    """IMAP compares days, and those of the server's time zone: near the boundary the time of
    arrival decides."""
    candidates = imap.search([*criteria, ("SINCE", (since - timedelta(days=1)).date())])
    certain = set(imap.search([*criteria, ("SINCE", (since + timedelta(days=2)).date())]))
    arrivals = imap.arrivals([uid for uid in candidates if uid not in certain])
    return [
        uid for uid in candidates if uid in certain or (uid in arrivals and arrivals[uid] >= since)
    ]


def _repeats(envelope: Envelope, seen: set[str]) -> bool:
    """Whether another folder showed this message already, as where the archive holds all mail."""
    message_id = header(envelope.headers, "Message-ID")
    if not message_id:
        return False
    known = message_id in seen
    seen.add(message_id)
    return known


def _one(imap: ImapAccount, ref: MessageRef) -> Envelope:
    envelopes = imap.envelopes(imap.holds([ref])) if imap.select(ref.folder) else []
    if not envelopes:
        raise not_found(str(ref))
    return envelopes[0]


def _each_folder(
    account: MailAccount,
    refs: Sequence[MessageRef],
    work: Callable[[ImapAccount, str, Sequence[int], Done], dict[int, MessageRef] | None],
) -> Done:
    """Do `work` on the messages of each folder; it returns their new ids, or None where they are
    gone."""
    done = Done()
    with connected(account) as imap:
        for folder in dict.fromkeys(ref.folder for ref in refs):
            here = [ref for ref in dict.fromkeys(refs) if ref.folder == folder]
            uids = imap.holds(here) if imap.select(folder, write=True) else []
            done.missing += [str(ref) for ref in here if ref.uid not in uids]
            if not uids:
                continue
            envelopes = imap.envelopes(uids)
            done.unread += sum(envelope.unread for envelope in envelopes)
            done.rows += _outcome(envelopes, work(imap, folder, uids, done))
    return done


def _outcome(
    envelopes: Iterable[Envelope], moved: dict[int, MessageRef] | None
) -> list[dict[str, Any]]:
    rows = []
    for envelope in envelopes:
        data: dict[str, Any] = {
            "from": sender(envelope.headers)[1],
            "subject": cut(header(envelope.headers, "Subject"), SUBJECT_LISTED),
        }
        if moved and envelope.uid in moved:
            data = {"id": str(moved[envelope.uid])} | data
        rows.append(data)
    return rows


def _file(account: MailAccount, message: EmailMessage, answered: MessageRef | None = None) -> None:
    """Keep a copy in Sent and mark the original as answered. The message is out already, so a
    failure here is none of the user's."""
    with (
        suppress(MailError),
        connected(replace(account, timeout=min(account.timeout, FILING_TIMEOUT))) as imap,
    ):
        imap.append("sent", message.as_bytes())
        if answered and imap.select(answered.folder, write=True):
            imap.flag([answered.uid], "\\Answered")
