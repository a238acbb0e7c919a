"""How IMAP writes things: strings, dates, UID sets, folder names. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

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
