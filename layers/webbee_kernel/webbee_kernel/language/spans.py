"""Where things stand in a text: its words, and what else the readers of this room find."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

_LETTER = "(?:[^\\W_]|[\u0300-\u036f\u0900-\u109f])"  # with the vowel signs that `\\w` leaves out
_WORD = re.compile(rf"{_LETTER}+(?:[-'\u2019]{_LETTER}+)*")
_IDEOGRAPHS = (
    ("\u0e00", "\u0e7f"),
    ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7af"),
)
"""Scripts without spaces between words: Thai, Kana, Han and Hangul."""
UNSPACED: Final = f"[{''.join(f'{first}-{last}' for first, last in _IDEOGRAPHS)}]"
"""A character of theirs: a pattern that is compiled with its first use, for it costs 3 ms."""


class Token(NamedTuple):
    """A word or a run of digits as written; inner hyphens and apostrophes belong to it."""

    text: str
    start: int
    end: int


class Mention(NamedTuple):
    """A number, date or time that a text mentions, and every sensible way to read it.

    `kind`: `number`, `percent`, `money`, `ordinal`; `date`, `time`, `moment`, `month`, `weekday`,
    `period`. `value` is the first of `readings`. Of numbers a reading is an int or float; of dates
    `(year | None, month, day)`; of times minutes since midnight; of moments a `datetime`; of months
    `(year | None, month)`; of weekdays 0 (Monday) to 6; of periods `(first, last)` dates.
    `decimals` belong to the reading in the same place, `scale` is 1000 for "12.5 thousand" (the
    value has it applied), `unit` an ISO 4217 code or empty, `spelled` says that words were used,
    `relative` that the value was counted from `now`, `about` that it is a rough one ("a dozen").
    """

    kind: str
    value: Any
    start: int
    end: int
    text: str
    readings: tuple[Any, ...] = ()
    decimals: tuple[int, ...] = ()
    scale: int = 1
    unit: str = ""
    spelled: bool = False
    relative: bool = False
    about: bool = False


def mention(text: str, span: tuple[int, int], kind: str, readings: tuple[Any, ...]) -> Mention:
    """What stands at `span` of `text`, the first of its readings the likeliest."""
    return Mention(kind, readings[0], *span, text[slice(*span)], readings)


@lru_cache(maxsize=64)  # several readers of one text ask in turn
def tokens(text: str) -> tuple[Token, ...]:
    """The words and runs of digits of `text`, in any script, in order; Han, Kana, Hangul and Thai
    characters are tokens of one character. Linear."""
    words = (Token(m[0], *m.span()) for m in _WORD.finditer(text))
    if text.isascii() or not re.search(UNSPACED, text):
        return tuple(words)
    return tuple(piece for word in words for piece in _pieces(word))


def _pieces(word: Token) -> Iterator[Token]:
    """The characters of scripts without spaces one by one, and what stands between them."""
    for found in re.finditer(rf"{UNSPACED}|(?:(?!{UNSPACED}).)+", word.text):
        yield Token(found[0], word.start + found.start(), word.start + found.end())


def apart(found: Iterable[Mention]) -> tuple[Mention, ...]:
    """What was found, in order; of those that overlap the one that begins first, then the
    longer."""
    kept: list[Mention] = []
    for one in sorted(found, key=lambda m: (m.start, -m.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)
