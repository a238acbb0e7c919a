"""Slots: a table's cell or the value behind a label, in a line that names one record. What stands
there is that record's: a field of it, or worked out from its own figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .index import Index
from .places import Owner, Place
from .reading import Claim, Reading, among

Told = tuple[Claim, Sequence[Place]]
_WORD = re.compile(r"[^\W\d_]+")
SIGN = "[^\\w\\s.,;!?'\"()*`#&+%/\u00ab\u00bb\u201c-\u201e-]{1,2}"
_LABEL = re.compile(
    '[^\\W_][*_`"\u00bb\u201c\u201d)]*\\s?'
    f'(?:[:=\u2026(\\[]|{SIGN}|\\s-)[\\s*_`"\u00ab\u201e\u201c(\\[]*$'
)
"""A word with a sign behind that is none of a sentence: what follows is what the word names."""
_WORDS = "\\s*((?:[^\\W_][\\w-]*\\s?){1,6})$"
_ITEM = re.compile("\\s*(?:[-*\u2022\u2013]|\\d+[.)])\\s.*(?:[,;:]\\s|[|(])" + _WORDS)
_INSIDE = re.compile(".*(?::\\s|[(])" + _WORDS)  # in prose what follows a comma is a clause
_NAME = re.compile("[^,;|(\\[:=]*$")
_MARKS = '[\\s*_`"\u00bb\u201d]*'
_END = re.compile(
    f"{_MARKS}(?:[^\\W\\d_]+|%|[\u20ac$\u00a3])?{_MARKS}(?:[,;.)|\\n\\]]|[\u00b7\u2013\u2014]\\s|$)"
)
_AROUND = " *_~\u2248$\u20ac\u00a3"
_SIGNS = f'{_AROUND}:=-\u2026\u00b7\u2013\u2014\u2192\u279c\u25b8([\u201c\u201e"`'


def is_slot(reading: Reading, start: int, end: int) -> bool:
    """Whether a value fills a cell, or is all that stands behind a label; with a unit."""
    text = reading.text
    first, last = line(text, start, end)
    start = _behind_about(reading, start)
    if text[first:last].lstrip().startswith("|"):
        left, right = text.rfind("|", first, start) + 1, text.find("|", end, last)
        beside = f"{text[left:start]} {text[end:right]}"
        return len(_WORD.findall(beside)) < 2 and not any(map(str.isdigit, beside))
    before = text[first:start].rstrip(_AROUND)
    named = _ITEM.match(before) or _INSIDE.match(before)
    words = reading.language.words
    whole = words.total | words.plural_reference  # "both together 200" is of no one record
    own = named and not among(reading.stems(first + named.start(1), start), whole)
    return bool((_LABEL.search(before) or own) and _END.match(text, end, last))


def column(reading: Reading, start: int) -> str:
    """In which column of a table a value stands, or behind which label."""
    text, start = reading.text, _behind_about(reading, start)
    first = text.rfind("\n", 0, start) + 1
    if text[first:start].lstrip().startswith("|"):
        return "|" * text.count("|", first, start)
    named = _NAME.search(text[first:start].rstrip(_SIGNS))
    return named[0].strip(_AROUND).casefold() if named else ""


def column_keys(reading: Reading, claim: Claim, told: Iterable[Told]) -> set[str]:
    """The field that all other values of a value's column show, or of those behind its label."""
    own = column(reading, claim.start)
    beside = [{p.key for p in places} for c, places in told if column(reading, c.start) == own]
    return set.intersection(*beside) if own and len(beside) > 1 else set()


def _behind_about(reading: Reading, start: int) -> int:
    """Where a value begins with the words that say that it is rounded."""
    for token in reversed(reading.words(start - 24, start)):
        if reading.text[token.end : start].strip(_AROUND):
            break
        if reading.language.stem(token.text) not in reading.language.words.about:
            break
        start = token.start
    return start


def line(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the line around a value begins and ends."""
    last = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if last < 0 else last


class Lines:
    """The lines of a reply; `told`: its names, each with the fields that show it."""

    def __init__(self, reading: Reading, index: Index, told: Iterable[Told]) -> None:
        rows = ((c.start, [p.owner for p in ps if index.is_row(p.owner)]) for c, ps in told)
        self.reading, self.named = reading, [(at, frozenset(own)) for at, own in rows if own]

    def record(self, claim: Claim) -> Owner | None:
        """The one record that the line of a slot names; none where a value is in no slot, or where
        its line names no record or several."""
        if not is_slot(self.reading, claim.start, claim.end):
            return None
        first, last = line(self.reading.text, claim.start, claim.end)
        named = [owners for at, owners in self.named if first <= at < last]
        records = frozenset.intersection(*named) if named else frozenset()
        return next(iter(records)) if len(records) == 1 else None
