"""A text whose dates are looked for, beside the names of months and weekdays: CLDR's, and further
forms of the language's file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .model import Language
from .resources import locale
from .spans import Mention, mention, tokens
from .stems import fold, folded_words

_Widths = Mapping[str, Mapping[str, Mapping[int, str]]]


@dataclass(frozen=True, slots=True)
class Names:
    """Folded forms → number: months 1–12, weekdays 0 (Monday) to 6. The short ones, and the
    doubtful ones (words of another meaning too), count only beside a date."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    short_months: frozenset[str]
    short_weekdays: frozenset[str]
    doubtful: frozenset[str]
    capitals: bool  # months are written with a capital


class DatedText:
    """A text in words, folded, of one language. Places are those of its words; behind its end there
    are none."""

    def __init__(self, text: str, language: Language) -> None:
        self.text, self.language = text, language
        self.calendar, self.names = language.calendar, names(language)
        self.words = tokens(text)
        self.folded = [fold(w.text) for w in self.words]

    def is_one_of(self, at: int, words: str) -> bool:
        """Whether the word at a place stands in a list as the language's file has it."""
        return 0 <= at < len(self.folded) and self.folded[at] in folded_words(words)

    def gap(self, at: int) -> str:
        """What stands between a word and the next one."""
        end = self.words[at].end
        return self.text[end : self.words[at + 1].start] if at + 1 < len(self.words) else ""

    def mention(self, first: int, last: int, kind: str, *readings: Any) -> Mention:
        """What the words from one place to another mention."""
        return mention(self.text, (self.words[first].start, self.words[last].end), kind, readings)


@lru_cache(maxsize=16)
def names(language: Language) -> Names:
    """The names of a language; CLDR's locale is 20 ms of reading."""
    cldr, calendar = locale(language.tag), language.calendar
    months, short_months = _together(cldr.months, calendar.months)
    weekdays, short_weekdays = _together(cldr.days, calendar.weekdays)
    doubtful = folded_words(calendar.doubtful).union(map(fold, language.vocabulary))
    return Names(
        months,
        weekdays,
        short_months,
        short_weekdays,
        doubtful.intersection(months),
        str(cldr.months["format"]["wide"][1])[0].isupper(),
    )


def _together(cldr: _Widths, own: Mapping[str, str]) -> tuple[dict[str, int], frozenset[str]]:
    """All forms, and the short ones: abbreviations, and forms of the file that begin a name."""
    wide, short = dict(_forms(cldr, "wide")), dict(_forms(cldr, "abbreviated"))
    more = {fold(w): int(number) for number, forms in own.items() for w in forms.split()}
    begins = {w for w in more if any(name.startswith(w) for name in wide)}
    return {**short, **more, **wide}, frozenset(begins.union(short).difference(wide))


def _forms(names: _Widths, width: str) -> Iterable[tuple[str, int]]:
    for context in ("format", "stand-alone"):
        for number, name in names[context][width].items():
            yield fold(str(name)).rstrip("."), int(number)
