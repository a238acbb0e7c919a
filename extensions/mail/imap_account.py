"""One IMAP connection: folders by role, search, fetch, flags, move. Blocking; callers run it in a
thread.

Messages are named by UID, never by sequence number, and nothing is marked as read by looking at it
(BODY.PEEK).
"""

from __future__ import annotations

import base64
import imaplib
import re
import socket
import ssl
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any

from mail_accounts import MailAccount
from mail_errors import MailError, auth_failed, foreign_errors, tls_failed
from mail_hosts import check_host
from mail_ids import MessageRef, check_letters
from mail_text import parse_headers

FETCH_BYTES = 2_000_000  # of one message; a larger one is read up to here
BATCH = 500  # UIDs in one command: servers refuse lines that are too long
HEADERS = "FROM TO CC SUBJECT DATE REPLY-TO MESSAGE-ID REFERENCES IN-REPLY-TO"

# The names that servers and mail programs use where the server does not say which folder is which
# (RFC 6154).
_NAMES: dict[str, tuple[str, ...]] = {
    "archive": ("archive", "archives", "all mail", "архив", "вся почта"),
    "trash": (
        "trash",
        "deleted",
        "deleted items",
        "deleted messages",
        "bin",
        "корзина",
        "удаленные",
        "удалённые",
    ),
    "sent": ("sent", "sent items", "sent messages", "sent mail", "отправленные"),
}
_SPECIAL_USE = {"archive": ("\\archive", "\\all"), "trash": ("\\trash",), "sent": ("\\sent",)}


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a list shows of a message. `arrived` is the server's own clock, time zone included."""

    uid: int
    headers: Message
    arrived: datetime
    unread: bool
    size: int


class ImapAccount:
    """A logged-in connection. Use `with connected(account) as imap:`; every failure is a
    `MailError`."""

    def __init__(self, account: MailAccount, connection: imaplib.IMAP4) -> None:
        self.account = account
        self._imap = connection
        self._folders: list[tuple[list[str], str, str]] | None = (
            None  # flags, delimiter, name in modified UTF-7
        )
        self._validity: dict[str, int] = {}
        self._selected = ""
        self.exists = 0  # messages in the selected folder

    def select(self, folder: str, *, write: bool = False) -> bool:
        """Open the folder of this role; False when the account has none."""
        name = self.folder_name(folder)
        if name is None:
            return False
        count = self._ok(self._imap.select(quoted(name), readonly=not write))
        self.exists = int(count[0] or 0)
        _, values = self._imap.response("UIDVALIDITY")
        self._validity[folder] = int(values[0]) if values and values[0] else 0
        self._selected = folder
        return True

    def ref(self, uid: int, folder: str = "") -> MessageRef:
        """The id of a message in the selected folder."""
        folder = folder or self._selected
        return MessageRef(self.account.number, folder, uid, self._check(folder))

    def holds(self, refs: Iterable[MessageRef]) -> list[int]:
        """The UIDs of those messages that the selected folder still holds, in the order given."""
        wanted = [
            r.uid
            for r in refs
            if r.folder == self._selected and r.check == self._check(self._selected)
        ]
        present = set(self.search([("UID", uid_set(wanted))])) if wanted else set()
        return [uid for uid in wanted if uid in present]

    def search(self, criteria: Sequence[tuple[str, str | date | None]]) -> list[int]:
        """UIDs that meet all criteria, ascending. Text that is not ASCII goes as a literal, one
        search per text: imaplib sends only one."""
        plain: list[str] = ["UNDELETED"]
        wide: list[tuple[str, str]] = []
        for key, value in criteria:
            if value is None:
                plain.append(key)
            elif isinstance(value, date):
                plain.append(f"{key} {imap_date(value)}")
            elif key == "UID":
                plain.append(f"UID {value}")
            elif value.isascii():
                plain.append(f"{key} {quoted(value)}")
            else:
                wide.append((key, value))
        found = self._search(*plain)
        for key, value in wide:
            # Not every server folds the case of letters beyond ASCII.
            forms = {value, value.lower(), value.upper(), value.capitalize()}
            found &= set().union(
                *(self._search(*plain, key, literal=form.encode()) for form in sorted(forms))
            )
        return sorted(found)

    def newest(self, limit: int) -> list[int]:
        """UIDs of the last messages, ascending. Its cost does not grow with the folder, as that of
        searching for all would."""
        if not self.exists:
            return []
        answer = self._ok(self._imap.fetch(f"{max(1, self.exists - limit + 1)}:*", "(UID FLAGS)"))
        found = [
            (re.search(rb"\bUID (\d+)", line), line) for line in answer if isinstance(line, bytes)
        ]
        return sorted(
            int(uid.group(1)) for uid, line in found if uid and b"\\deleted" not in line.lower()
        )

    def unread(self) -> int:
        """Unread messages in the inbox; asked without selecting it."""
        answer = self._ok(self._imap.status("INBOX", "(UNSEEN)"))
        count = re.search(rb"UNSEEN (\d+)", answer[-1] or b"")
        return int(count.group(1)) if count else 0

    def arrivals(self, uids: Sequence[int]) -> dict[int, datetime]:
        """When each message arrived."""
        batches = [uids[start : start + BATCH] for start in range(0, len(uids), BATCH)]
        return {
            uid: internal_date(meta)
            for batch in batches
            for uid, meta, _ in self._fetch(batch, "(UID INTERNALDATE)")
        }

    def envelopes(self, uids: Sequence[int]) -> list[Envelope]:
        """The envelopes of these messages; those gone meanwhile are left out."""
        found = []
        for uid, meta, raw in self._fetch(
            uids, f"(UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[HEADER.FIELDS ({HEADERS})])"
        ):
            size = re.search(rb"RFC822\.SIZE (\d+)", meta)
            flags = re.search(rb"FLAGS \(([^)]*)\)", meta)
            unread = flags is None or b"\\seen" not in flags.group(1).lower()
            found.append(
                Envelope(
                    uid,
                    parse_headers(raw),
                    internal_date(meta),
                    unread,
                    int(size.group(1)) if size else 0,
                )
            )
        return found

    def source(self, uid: int) -> bytes:
        """A message as it was sent, at most FETCH_BYTES of it."""
        return next(
            (raw for _, _, raw in self._fetch([uid], f"(UID BODY.PEEK[]<0.{FETCH_BYTES}>)")), b""
        )

    def flag(self, uids: Sequence[int], flag: str, *, on: bool = True) -> None:
        """Set or clear a flag such as `\\Seen`."""
        self._ok(
            self._imap.uid(
                "STORE", uid_set(uids), "+FLAGS.SILENT" if on else "-FLAGS.SILENT", f"({flag})"
            )
        )

    def move(self, uids: Sequence[int], folder: str) -> dict[int, MessageRef]:
        """Move messages to the folder of this role, made when there is none. Returns the new ids,
        where the server tells them."""
        name = self.folder_name(folder) or self._create(folder)
        self._imap.response("COPYUID")  # forget an older answer
        if self._can("MOVE"):
            self._ok(self._imap.uid("MOVE", uid_set(uids), quoted(name)))
        else:
            self._ok(self._imap.uid("COPY", uid_set(uids), quoted(name)))
        moved = self._copied(folder)
        if not self._can("MOVE"):
            self.erase(uids)
        return moved

    def erase(self, uids: Sequence[int]) -> None:
        """Remove messages for good, and only these: without UIDPLUS, others marked as deleted are
        unmarked for the moment."""
        self.flag(uids, "\\Deleted")
        if self._can("UIDPLUS"):
            self._ok(self._imap.uid("EXPUNGE", uid_set(uids)))
            return
        others = sorted(self._search("DELETED") - set(uids))
        if others:
            self.flag(others, "\\Deleted", on=False)
        try:
            self._ok(self._imap.expunge())
        finally:
            if others:
                self.flag(others, "\\Deleted")

    def append(self, folder: str, message: bytes) -> bool:
        """Store a message, as read, in the folder of this role; False when the account has none."""
        name = self.folder_name(folder)
        if name is None:
            return False
        self._ok(self._imap.append(quoted(name), "(\\Seen)", "", message))
        return True

    def folder_name(self, folder: str) -> str | None:
        """The server's name for `inbox`, `archive`, `trash` or `sent`."""
        if folder == "inbox":
            return "INBOX"
        if self._folders is None:
            self._folders = list(folders_of(self._ok(self._imap.list())))
        for flag in _SPECIAL_USE[folder]:
            for flags, _, name in self._folders:
                if flag in flags:
                    return name
        for wanted in _NAMES[folder]:
            for _, delimiter, name in self._folders:
                if from_utf7(name).split(delimiter or "/")[-1].lower() == wanted:
                    return name
        return None

    def _create(self, folder: str) -> str:
        name = folder.capitalize()
        self._ok(self._imap.create(quoted(name)))
        with suppress(imaplib.IMAP4.error):
            self._imap.subscribe(quoted(name))
        self._folders = None
        return name

    def _copied(self, folder: str) -> dict[int, MessageRef]:
        _, values = self._imap.response("COPYUID")
        parts = values[-1].decode().split() if values and values[-1] else []
        if len(parts) != 3:
            return {}
        self._validity[folder] = int(parts[0])
        return {
            old: self.ref(new, folder)
            for old, new in zip(uids_of(parts[1]), uids_of(parts[2]), strict=False)
        }

    def _check(self, folder: str) -> str:
        return check_letters(self.account.address, folder, self._validity[folder])

    def _can(self, capability: str) -> bool:
        return capability in self._imap.capabilities

    def _search(self, *criteria: str, literal: bytes | None = None) -> set[int]:
        if literal is None:
            answer = self._ok(self._imap.uid("SEARCH", *criteria))
        else:
            self._imap.literal = literal  # type: ignore[assignment]  # typeshed says str; imaplib sends bytes
            answer = self._ok(self._imap.uid("SEARCH", "CHARSET", "UTF-8", *criteria))
        return {int(uid) for line in answer if line for uid in line.split()}

    def _fetch(self, uids: Sequence[int], what: str) -> Iterator[tuple[int, bytes, bytes]]:
        """UID, the answer without its literal, the literal."""
        if not uids:
            return
        answer = self._ok(self._imap.uid("FETCH", uid_set(uids), what))
        meta, literal = b"", b""
        for part in [*answer, b""]:
            if isinstance(part, tuple):
                meta, literal = meta + part[0], part[1]
                continue
            meta += part or b""
            uid = re.search(rb"\bUID (\d+)", meta)
            if uid and int(uid.group(1)) in uids:
                yield int(uid.group(1)), meta, literal
            meta, literal = b"", b""

    def _ok(self, answer: tuple[str, list[Any]]) -> list[Any]:
        if answer[0] != "OK":
            raise imaplib.IMAP4.error("refused")
        return answer[1]


@contextmanager
def connected(account: MailAccount) -> Iterator[ImapAccount]:
    """Connect and log in, within the account's timeout for each step; log out at the end."""
    with foreign_errors(account.address, account.imap_host, "IMAP"):
        connection = _connect(account)
        # A literal and its line end are two packets: the second would wait for the first's ACK.
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            _login(connection, account)
            yield ImapAccount(account, connection)
        finally:
            with suppress(OSError, imaplib.IMAP4.error):
                connection.logout()


def _connect(account: MailAccount) -> imaplib.IMAP4:
    check_host(account.imap_host, private=account.private)
    if account.imap_security == "tls":
        return imaplib.IMAP4_SSL(
            account.imap_host,
            account.imap_port,
            ssl_context=ssl.create_default_context(),
            timeout=account.timeout,
        )
    connection = imaplib.IMAP4(account.imap_host, account.imap_port, timeout=account.timeout)
    if account.imap_security == "starttls":
        try:
            if "STARTTLS" not in connection.capabilities:
                raise tls_failed(f"{account.imap_host} (IMAP, {account.address})")
            connection.starttls(ssl.create_default_context())
        except BaseException:
            with suppress(OSError):  # a failed handshake has taken the socket along
                connection.shutdown()
            raise
    return connection


def _login(connection: imaplib.IMAP4, account: MailAccount) -> None:
    refused: MailError | None = None
    try:
        if account.username.isascii() and account.password.isascii():
            connection.login(account.username, account.password)
        else:  # LOGIN is ASCII only
            plain = f"\0{account.username}\0{account.password}".encode()
            connection.authenticate("PLAIN", lambda _: plain)
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error:
        refused = auth_failed(account.address, "IMAP")
    if refused:
        raise refused
    _, capabilities = connection.capability()  # a server may offer more after the login
    if capabilities and capabilities[-1]:
        connection.capabilities = tuple(capabilities[-1].decode("ascii", "replace").upper().split())


_LIST = re.compile(
    rb'\((?P<flags>[^)]*)\) (?:"(?P<sep>(?:\\.|[^"]))"|NIL) (?P<name>.+)', re.DOTALL | re.IGNORECASE
)
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def imap_date(day: date) -> str:
    """`15-May-2026`, whatever the process's locale."""
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}"


def quoted(text: str) -> str:
    """A quoted string of the protocol; a line break in it would begin a second command."""
    return (
        '"' + re.sub(r"[\x00-\x1f\x7f]+", " ", text).replace("\\", "\\\\").replace('"', '\\"') + '"'
    )


def uid_set(uids: Sequence[int]) -> str:
    """`1,2,5`."""
    return ",".join(map(str, uids))


def uids_of(written: str) -> list[int]:
    """The UIDs of a set such as `1:3,7`."""
    found: list[int] = []
    for part in written.split(","):
        first, _, last = part.partition(":")
        found += range(int(first), int(last or first) + 1)
    return found


def internal_date(meta: bytes) -> datetime:
    """The arrival in a FETCH answer; the epoch where the server cannot tell."""
    match = re.search(rb'INTERNALDATE "([^"]+)"', meta)
    try:
        return parsedate_to_datetime(match.group(1).decode("ascii").strip() if match else "")
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def folders_of(answer: Iterable[Any]) -> Iterator[tuple[list[str], str, str]]:
    """Flags, delimiter and name, as sent, of each folder in a LIST answer."""
    for line in answer:
        head, literal = line if isinstance(line, tuple) else (line, None)
        match = _LIST.match(head or b"")
        if match is None:
            continue
        name = literal if literal is not None else match["name"].strip()
        if name.startswith(b'"'):
            name = re.sub(rb"\\(.)", rb"\1", name[1:-1])
        flags = match["flags"].decode("ascii", "replace").lower().split()
        yield (
            flags,
            (match["sep"] or b"").decode("ascii", "replace")[-1:],
            name.decode("utf-8", "replace"),
        )


def from_utf7(name: str) -> str:
    """Modified UTF-7 of RFC 3501, in which servers name folders with letters beyond ASCII."""

    def letters(match: re.Match[str]) -> str:
        coded = match.group(1)
        if not coded:
            return "&"
        padded = coded.replace(",", "/") + "=" * (-len(coded) % 4)
        return base64.b64decode(padded).decode("utf-16-be", "replace")

    try:
        return re.sub(r"&([A-Za-z0-9+,]*)-", letters, name)
    except ValueError:
        return name
