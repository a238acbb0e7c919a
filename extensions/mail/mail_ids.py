"""Message ids: short, stable, and refused once they no longer mean the same message.

`1-1042-kfxd`: account 1, UID 1042 of its inbox, four letters that stand for account address, folder
and UIDVALIDITY. `1-t17-hbqz`: UID 17 of the same account's trash. A server that renumbers a folder
changes its UIDVALIDITY, and a user may reorder the accounts; either way the letters differ and the
id is unknown, instead of naming another message. The letters hold no vowel, so they form no word,
and no digit, so an id does not look like a phone number.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from mail_errors import not_found

FOLDERS = {"": "inbox", "a": "archive", "t": "trash", "s": "sent"}
_PREFIXES = {folder: prefix for prefix, folder in FOLDERS.items()}
_LETTERS = "bcdfghjkmnpqrstvwxz"
_ID = re.compile(r"(\d{1,2})-([ats]?)(\d{1,10})-([a-z]{4})")


@dataclass(frozen=True, slots=True)
class MessageRef:
    """One message of one folder: `folder` is inbox, archive, trash or sent."""

    account: int
    folder: str
    uid: int
    check: str

    def __str__(self) -> str:
        return f"{self.account}-{_PREFIXES[self.folder]}{self.uid}-{self.check}"


def parse_id(message_id: str) -> MessageRef:
    """The parts of an id. Raises `MailError` NOT_FOUND when it has not the shape of one."""
    match = _ID.fullmatch(message_id.strip())
    if match is None:
        raise not_found(repr(message_id.strip()[:40]))
    account, prefix, uid, check = match.groups()
    return MessageRef(int(account), FOLDERS[prefix], int(uid), check)


def check_letters(address: str, folder: str, uidvalidity: int) -> str:
    """The four letters of this folder's present numbering."""
    rest = zlib.crc32(f"{address.lower()}|{folder}|{uidvalidity}".encode())
    letters = ""
    for _ in range(4):
        rest, index = divmod(rest, len(_LETTERS))
        letters += _LETTERS[index]
    return letters
