"""Numbers that are written in words: by the library text2num for the languages it knows, else by
the words that the file of the language gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from .model import Language
from .spans import Mention, Token
from .stems import fold

Number = int | float
_NO_NUMBERS = frozenset(("ones",))
"""What the library takes for numbers and people use as pronouns: "the open ones"."""
_GAPS = ("", " ", "-", "\u00a0")


def spelled(text: str, words: Sequence[Token], language: Language) -> Iterator[Mention]:
    """The numbers that `words`, tokens of `text` in order, spell: cardinal and ordinal ones, and
    rough ones such as "a dozen"."""
    yield from _rough(text, words, language)
    for run in _runs(text, words):
        if language.numerals.library:
            yield from _by_library(text, run, language)
        else:
            yield from _by_file(text, run, language)
            yield from _ordinals(text, run, language)


def _runs(text: str, words: Sequence[Token]) -> Iterator[list[Token]]:
    """Words with nothing but a space or a hyphen between them: a number ends at any other mark."""
    run: list[Token] = []
    for word in words:
        if run and text[run[-1].end : word.start] not in _GAPS:
            yield run
            run = []
        run.append(word)
    if run:
        yield run


class _Word:
    """A token as text2num wants it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self) -> str:
        return self._text

    def nt_separated(self, previous: object) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


def _by_library(text: str, run: list[Token], language: Language) -> Iterator[Mention]:
    from text_to_num import find_numbers  # type: ignore[import-untyped]

    parts = [(piece, word) for word in run for piece in fold(word.text).split("-")]
    found = find_numbers([_Word(p) for p, _ in parts], language.numerals.library, threshold=0)
    for one in found:
        first, last = parts[one.start][1], parts[one.end - 1][1]
        value = _settled(one.value)
        kind = "ordinal" if one.is_ordinal else "number"
        if fold(first.text) in _NO_NUMBERS:
            continue
        yield _mention(text, first.start, last.end, value, kind)


def _by_file(text: str, run: list[Token], language: Language) -> Iterator[Mention]:
    glue, number = language.numerals.glue.split(), _Sum()
    for word in run:
        if number.words and fold(word.text) in glue:
            continue
        longer = number.with_word(word, language)
        if longer is None:
            yield from number.mentions(text)
            longer = _Sum().with_word(word, language) or _Sum()
        number = longer
    yield from number.mentions(text)


class _Sum(NamedTuple):
    """A number as its words come in: hundreds, tens, ones, then a scale. What comes next is smaller
    than `room`, a scale smaller than `scale`."""

    words: tuple[Token, ...] = ()
    total: int = 0
    current: int = 0
    room: int = 1000
    scale: int = 10**15

    def with_word(self, word: Token, language: Language) -> _Sum | None:
        """The number that goes on with a word: `twenty` `three`, not `two` `three`."""
        table, scales = _table(language), _scales(language)
        _, total, current, room, most = self
        for part in fold(word.text).split("-"):
            if scale := scales.get(part):
                if scale >= most:
                    return None
                total, current, room, most = total + max(current, 1) * scale, 0, 1000, scale
                continue
            value = table.get(part, room)
            if value >= room or (value == 0 and self.words):
                return None
            current, room = current + value, _room_after(value)
        return _Sum((*self.words, word), total, current, room, most)

    def mentions(self, text: str) -> Iterator[Mention]:
        """The number, if there is one."""
        if self.words:
            start, end = self.words[0].start, self.words[-1].end
            yield _mention(text, start, end, self.total + self.current, "number")


def _room_after(value: int) -> int:
    """What may follow `value` within a hundred is smaller than this: tens after hundreds, ones
    after tens, nothing after ones and teens."""
    if value >= 100:
        return 100
    return 10 if value >= 20 and value % 10 == 0 else 0


def _ordinals(text: str, run: list[Token], language: Language) -> Iterator[Mention]:
    known = language.words.ordinals
    for word in run:
        position = known.get(language.stem(word.text))
        if position and int(position) > 0 and fold(word.text) not in _table(language):
            yield _mention(text, word.start, word.end, int(position), "ordinal")


def _rough(text: str, words: Sequence[Token], language: Language) -> Iterator[Mention]:
    known = _rough_words(language)
    for at, word in enumerate(words):
        size = known.get(fold(word.text))
        if size is None:
            continue
        start, count = word.start, 1.0
        gap = text[words[at - 1].end : word.start] if at else ""
        if gap in _GAPS and at and size > 1 and (times := simple(words[at - 1], language)):
            start, count = words[at - 1].start, times
        end, scale = _scale_behind(words, at, language)
        value = _settled(size * count * scale)
        whole = text[start:end]
        yield Mention(
            "number", value, start, end, whole, (value,), (0,), scale, spelled=True, about=True
        )


def _scale_behind(words: Sequence[Token], at: int, language: Language) -> tuple[int, int]:
    """`half a million`: where the scale word behind a rough one ends, and what it multiplies by."""
    scales = _scales(language)
    for following in words[at + 1 : at + 3]:
        if scale := scales.get(fold(following.text)):
            return (following.end, scale) if following.start - words[at].end < 6 else (0, 1)
    return words[at].end, 1


def simple(word: Token, language: Language) -> float:
    """The value of one number word from two to ninety-nine, else 0."""
    if not language.numerals.library:
        return float(_table(language).get(fold(word.text), 0))
    found = list(_by_library(word.text, [Token(word.text, 0, len(word.text))], language))
    return float(found[0].value) if len(found) == 1 and found[0].kind == "number" else 0


def _mention(text: str, start: int, end: int, value: Number, kind: str) -> Mention:
    return Mention(kind, value, start, end, text[start:end], (value,), (0,), spelled=True)


def _settled(value: float) -> Number:
    return int(value) if float(value).is_integer() else float(value)


@lru_cache(maxsize=16)
def _table(language: Language) -> Mapping[str, int]:
    return values(language.numerals.words)


@lru_cache(maxsize=16)
def _scales(language: Language) -> Mapping[str, int]:
    return values(language.numerals.scales)


@lru_cache(maxsize=16)
def _rough_words(language: Language) -> Mapping[str, float]:
    lists = language.numerals.rough
    return {fold(w): float(n) for n, forms in lists.items() for w in forms.split()}


def values(lists: Mapping[str, str]) -> dict[str, int]:
    """Folded words and the number under which a language's file lists each."""
    return {fold(word): int(value) for value, forms in lists.items() for word in forms.split()}
