"""Where the e-mail addresses of a text are."""

import re
from functools import lru_cache

_MARKS = r"\u0300-\u036f\u0900-\u109f"  # vowel signs of Indic and Thai scripts, no `\w`
_SIGNS = "+'\u2019%!#$*^~.-"
_LOCAL = rf"[\w{_MARKS}{_SIGNS}]"
# A whole word, with what makes it an address where that follows: nothing is read twice, so the cost
# is linear whatever the text. A sentence may go on without a space: `example.com2`, `example.com_`.
_WORD = re.compile(
    rf"""(?P<local>"[^"\r\n<>]{{1,64}}"(?=@)|{_LOCAL}++)(?:@{{1,3}}"""
    rf"(?P<domain>(?:[\w{_MARKS}-]++[.\u3002\uff0e\uff61])+"
    rf"(?:xn--[a-z0-9-]{{2,59}}|(?:[^\W\d_]|[{_MARKS}]){{2,63}})))?",
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
    found: list[tuple[int, int]] = []
    spelled = text.replace("%40", "@@@")  # as long
    for match in _WORD.finditer(spelled) if "@" in spelled else ():
        if not match["domain"] or _RETINA.fullmatch(match["domain"]):
            continue
        end = match.end()
        start = end - len(match[0].lstrip(_SIGNS))  # quotes, Markdown stars and the like
        if text[start] == "_" and text[end : end + 1] == "_":
            start += 1  # Markdown emphasis round the address
        local = spelled[start : match.end("local")]
        if local and not (local.casefold() == "git" and _REMOTE_PATH.match(text, end)):
            found.append((start, end))
    return tuple(found)
