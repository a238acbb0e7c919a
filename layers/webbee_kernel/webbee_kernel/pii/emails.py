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

_MARKS = r"\u0300-\u036f\u0900-\u109f"  # vowel signs of Indic and Thai scripts, no `\w`
_AT = re.compile(r"@|%40")
# Matched against the text before the `@`, reversed: it is read from the `@` outwards.
_LOCAL = re.compile(rf'"[^"\r\n<>]{{1,64}}"|[\w{_MARKS}.+\'’%!#$*^~-]{{1,{LOCAL_MAX}}}')
# A sentence may go on without a space: `example.com2`, `example.com_`.
_DOMAIN = re.compile(
    rf"(?:[\w{_MARKS}-]+[.。．｡])+(?:xn--[a-z0-9-]{{2,59}}|(?:[^\W\d_]|[{_MARKS}]){{2,63}})",
    re.IGNORECASE,
)
_RETINA = re.compile(r"\d+(?:\.\d+)?x\.(?:png|jpe?g|gif|svg|webp|avif)", re.IGNORECASE)
_REMOTE_PATH = re.compile(r":[\w.~-]+/")


@lru_cache(maxsize=16)  # asked twice for each text: for itself, and for the names beside
def find_emails(text: str) -> tuple[tuple[int, int], ...]:
    """Spans `(start, end)` of the e-mail addresses in `text`, in order, not overlapping.

    Taken: any script in the local part and the domain, quoted local parts, `%40` for `@` (links).
    The domain needs a dot and a top level of letters or punycode. Left: `pkg@1.2.3`,
    `root@10.0.0.1`, `user@localhost`, `icon@2x.png`, `git@host:owner/repo`. A Message-ID is
    e-mail-shaped and is taken: its host and sometimes its local part tell who wrote.
    """
    if "@" not in text and "%40" not in text:
        return ()
    found: list[tuple[int, int]] = []
    last = 0
    for at in _AT.finditer(text):
        if at.start() >= last and (address := _address(text, last, at)):
            found.append(address)
            last = address[1]
    return tuple(found)


def _address(text: str, floor: int, at: re.Match[str]) -> tuple[int, int] | None:
    start = _local_start(text, floor, at.start())
    domain = _DOMAIN.match(text, at.end(), at.end() + DOMAIN_MAX)
    if domain is None or _RETINA.fullmatch(domain[0]):
        return None
    end = domain.end()
    if text[start] == "_" and text[end : end + 1] == "_":
        start += 1  # Markdown emphasis round the address
    local = text[start : at.start()].casefold()
    is_address = local and not (local == "git" and _REMOTE_PATH.match(text, end))
    return (start, end) if is_address else None


def _local_start(text: str, floor: int, at: int) -> int:
    """Where the part before the `@` begins; `at` where there is none."""
    match = _LOCAL.match(text[max(floor, at - LOCAL_MAX) : at][::-1])
    start = at - (match.end() if match else 0)
    while start < at and not (text[start].isalnum() or text[start] in '_"'):
        start += 1  # quotes, Markdown stars and the like round the address
    return start
