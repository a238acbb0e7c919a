"""Where the e-mail addresses of a text are.

Every `@` is looked at once, outwards, so the cost is linear and bounded whatever the text: no
pattern runs over long words.
"""

import re
from functools import lru_cache

# RFC 5321 allows 64 octets; a longer local part is still taken whole rather than half left in the
# text
LOCAL_MAX = 256
DOMAIN_MAX = 255  # RFC 1035

# Letters of any script, and the vowel signs of Indic and Thai scripts, which `\w` leaves out.
_WORD = r"\w\u0300-\u036f\u0900-\u109f"
_AT = re.compile(r"@|%40")
# Both are matched against the text before the `@`, reversed: it is read from the `@` outwards.
_LOCAL = re.compile(rf"[{_WORD}.+'’%!#$*^~-]{{1,{LOCAL_MAX}}}")
_QUOTED = re.compile(r'"[^"\r\n<>]{1,64}"')
_DOMAIN = re.compile(rf"[{_WORD}.。．｡-]{{1,{DOMAIN_MAX}}}")
_DOT = re.compile("[.。．｡]")
_TOP = re.compile(
    r"xn--[a-z0-9-]{2,59}|(?:[^\W\d_]|[\u0300-\u036f\u0900-\u109f]){2,63}", re.IGNORECASE
)
_RETINA = re.compile(r"\d+(?:\.\d+)?x\.(?:png|jpe?g|gif|svg|webp|avif)\Z", re.IGNORECASE)
_REMOTE_PATH = re.compile(r":[\w.~-]+/")


@lru_cache(
    maxsize=16
)  # asked twice for each text: for itself, and for the names beside the addresses
def find_emails(text: str) -> tuple[tuple[int, int], ...]:
    """Spans `(start, end)` of the e-mail addresses in `text`, in order, not overlapping.

    Taken: any script in the local part and the domain, quoted local parts, `%40` for `@` (links).
    The domain needs a dot and a top level of letters or punycode. Left: `pkg@1.2.3`,
    `root@10.0.0.1`, `user@localhost`, `icon@2x.png`, `git@host:owner/repo`. A Message-ID is
    e-mail-shaped and is taken: its host and sometimes its local part tell who wrote.
    """
    found: list[tuple[int, int]] = []
    if "@" not in text and "%40" not in text:
        return ()
    last = 0
    for at in _AT.finditer(text):
        if at.start() < last:
            continue
        if address := _address(text, last, at):
            found.append(address)
            last = address[1]
    return tuple(found)


def _address(text: str, floor: int, at: re.Match[str]) -> tuple[int, int] | None:
    start, end = _local_start(text, floor, at.start()), _domain_end(text, at.end())
    if start is None or end is None:
        return None
    if text[start] == "_" and text[end : end + 1] == "_":
        start += 1  # Markdown emphasis round the address
    local = text[start : at.start()]
    if not local or (local.casefold() == "git" and _REMOTE_PATH.match(text, end)):
        return None
    return start, end


def email_identity(address: str) -> str:
    """What two spellings of one address share: the case-folded address. Providers that tell `A@x`
    from `a@x` are not in use."""
    return address.casefold()


def _local_start(text: str, floor: int, at: int) -> int | None:
    backwards = text[max(floor, at - LOCAL_MAX) : at][::-1]
    match = _QUOTED.match(backwards) or _LOCAL.match(backwards)
    if match is None:
        return None
    start = at - match.end()
    while start < at and not (text[start].isalnum() or text[start] in '_"'):
        start += 1  # quotes, Markdown stars and the like round the address
    return start if start < at else None


def _domain_end(text: str, start: int) -> int | None:
    match = _DOMAIN.match(text, start)
    if match is None:
        return None
    labels: list[str] = []
    for label in _DOT.split(match[0]):
        if not label:
            break
        labels.append(label)
    top = None
    while labels and top is None:
        top = _TOP.match(
            labels.pop()
        )  # a sentence may go on without a space: `example.com2`, `example.com_`
    if top is None or not labels:
        return None
    end = start + sum(map(len, labels)) + len(labels) + top.end()
    return None if _RETINA.match(text[start:end]) else end
