"""What a remembered turn shows of the user's long message: its beginning, and the data that stands
after it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base.text import ARROW, ELLIPSIS, cut, one_line

MESSAGE_PREVIEW = 500
"""Characters of a remembered message: facts carry the data, prose only the thread."""

ALSO = 300
"""Further characters for what looks like data after the cut: some twenty ids or ten addresses."""

_LONGEST = 80
_DATA = re.compile(
    r"""
      "[^"]{2,80}" | «[^»]{2,80}» | “[^”]{2,80}” | „[^“”]{2,80}[“”] | (?<!\w)'[^']{2,80}'(?!\w)
    | \d{1,2}\.?\ [^\W\d_]{3,12}\.?,?\ \d{4}\b                  # 5 May 2026
    | [^\W\d_]{3,12}\ \d{1,2}(?:st|nd|rd|th)?,?\ \d{4}\b          # May 5th, 2026
    | \d[\d.,\ ]*\d?\ ?(?:[$€£₽¥%]|[A-Z]{3}\b)                      # 1 250,00 EUR
    | (?P<token>(?:[^\s,;"«»“”„]|(?<=\d),(?=\d))+)
    """,
    re.VERBOSE,
)
_TELLING = re.compile(r"[\d@_/\\#]|\w\.[A-Za-z]\w{1,4}$")
"""What makes a word data: ids, addresses, amounts, dates, paths, `plan.docx`."""

_EDGES = ".,;:!?()[]{}"


def preview(message: str) -> str:
    """The message on one line: its first 500 characters, and as `… [also: …]` ids, addresses,
    amounts, dates and quoted text that stand only after them, 300 characters of them at most."""
    text = one_line(message.replace(ARROW.strip(), "->"))
    shown = cut(text, MESSAGE_PREVIEW)
    if shown == text:
        return text
    told = ""
    for piece in _data_after(text, len(shown.removesuffix(ELLIPSIS))):
        longer = f"{told}, {piece}" if told else f" [also: {piece}"
        if len(f"{longer}]") > ALSO:
            break
        told = longer
    return f"{shown}{told}]" if told else shown


def _data_after(text: str, start: int) -> Iterator[str]:
    """What looks like data and ends after `start`, each once; what stands before is known."""
    told: set[str] = set()
    for match in _DATA.finditer(text, start - _LONGEST):
        piece = match[0].strip(_EDGES + " ")
        if match["token"] and not _TELLING.search(piece):
            continue
        known = piece.casefold() in told or piece in text[:start]
        if not known and 2 <= len(piece) <= _LONGEST:
            told.add(piece.casefold())
            yield piece
