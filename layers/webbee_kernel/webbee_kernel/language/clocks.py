"""The times of day that a text mentions: minutes since midnight, in both halves of the day where
nothing says which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .calendars import DatedText
from .model import Language
from .spans import Mention, mention, tokens
from .stems import fold, folded_words

_CLOCK = re.compile(
    r"(?<![\d:.,])(?:(\d{1,2})\s?[–—-]\s?)?(\d{1,2}):(\d\d)(?::\d\d)?"
    r"(?:\s?([ap])(?:m\b|\.m\.))?(?!\d|:\d)",
    re.IGNORECASE,
)
_HALF_DAY = re.compile(
    r"(?<![\d:.,])(?:(\d{1,2})(?::\d\d)?(?:\s?[–—-]\s?|\s+to\s+))?(\d{1,2})\s?([ap])(?:m\b|\.m\.)",
    re.IGNORECASE,
)
_MARKED = re.compile(r"(?<![\d:.,])(\d{1,2})(?:\.|\s?h\s?)(\d\d)(?!\d|[.,:]\d)", re.IGNORECASE)


def clock(hour: int, minute: int, half: str | None) -> tuple[int, ...]:
    """The minutes since midnight a time can mean; without a half of the day an hour of 1–11 can be
    in either."""
    if hour > 24 or minute > 59:
        return ()
    if half and hour <= 12:
        return ((hour % 12 + (12 if half.lower() == "p" else 0)) * 60 + minute,)
    return (hour % 24 * 60 + minute,) + (((hour + 12) * 60 + minute,) if 1 <= hour <= 11 else ())


def find_times(read: DatedText) -> Iterator[Mention]:
    """The times of day of a text, in any order; both ends of a range."""
    text, language = read.text, read.language
    for match in _CLOCK.finditer(text):
        half = match[4] or _half_behind(text, match.end(), language)
        yield from _range(text, match, int(match[3]), half)
    for match in _HALF_DAY.finditer(text):
        yield from _range(text, match, 0, match[3])
    yield from _hours(read)
    yield from _marked(text, language)


def _range(text: str, match: re.Match[str], minute: int, half: str | None) -> Iterator[Mention]:
    if at := clock(int(match[2]), minute, half):
        yield mention(text, (match.start(2), match.end()), "time", at)
        if match[1] and (first := clock(int(match[1]), 0, half)):
            yield mention(text, match.span(1), "time", first)


def _marked(text: str, language: Language) -> Iterator[Mention]:
    """`9.30 Uhr`, `9h30`: hours and minutes with an hour word behind or between them."""
    hour_words = folded_words(language.calendar.hour)
    if not hour_words:
        return
    for match in _MARKED.finditer(text):
        behind = tokens(text[match.end() : match.end() + 12])[:1]
        named = "h" in match[0].lower() and "h" in hour_words
        worded = bool(behind) and behind[0].start < 2 and fold(behind[0].text) in hour_words
        if (named or worded) and (at := clock(int(match[1]), int(match[2]), None)):
            end = match.end() + (behind[0].end if worded else 0)
            yield mention(text, (match.start(), end), "time", at)


def _hours(read: DatedText) -> Iterator[Mention]:
    """`at 5 in the evening`, `um 9 Uhr`, `at noon`: an hour that a word makes one."""
    for at, word in enumerate(read.words):
        if read.is_one_of(at, read.calendar.noon):
            yield read.mention(at, at, "time", 720)
        elif read.is_one_of(at, read.calendar.midnight):
            yield read.mention(at, at, "time", 0)
        elif word.text.isdigit() and len(word.text) < 3:
            yield from _hour(read, at)


def _hour(read: DatedText, at: int) -> Iterator[Mention]:
    """The hour that the number at `at` is: by the word behind it, or the one before and a half of
    the day."""
    word = read.words[at]
    sure = at + 1 < len(read.words) and read.folded[at + 1] in _sure_hours(read.language)
    if not sure and not read.is_one_of(at - 1, read.calendar.at):  # most numbers are no hours
        return
    half = _half_behind(read.text, word.end, read.language)
    named = read.is_one_of(at + 1, read.calendar.hour)
    if (named or half or sure) and (minutes := clock(int(word.text), 0, half)):
        yield read.mention(at, at + named, "time", *minutes)


@lru_cache(maxsize=16)
def _sure_hours(language: Language) -> frozenset[str]:
    """Hour words that are no lengths of time: `Uhr`, not `heure`."""
    return frozenset(
        w
        for w in folded_words(language.calendar.hour)
        if language.words.units.get(language.stem(w)) is None
    )


def _half_behind(text: str, end: int, language: Language) -> str | None:
    """`a` or `p` where the next three words name a half of the day."""
    following = tokens(text[end : end + 40])[:4]
    for word in following:
        if any(c in text[end : end + word.start] for c in ".;\n?!,"):
            return None
        if fold(word.text) in folded_words(language.calendar.morning):
            return "a"
        if fold(word.text) in folded_words(language.calendar.evening):
            return "p"
    return None
