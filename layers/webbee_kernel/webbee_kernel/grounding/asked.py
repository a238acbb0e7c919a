"""A message that asks for a list: its noun, and whether anything in it may pick a part."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from .. import language
from ..language import Language, fold
from .index import Index
from .picking import names, outer, plain, thing
from .places import Rows
from .reading import among

_JOINED = " *_\u00a0"
SOME_DAY = "2026-01-01"
"""When relative dates are read only to see whether there are any."""
FEW = 12
"""Words of a message that asks for a list and nothing else."""


class Asked:
    """A message in words: which lists it asks for as a whole, by which noun."""

    def __init__(self, message: str, index: Index, spoken: Language) -> None:
        self.message, self.index, self.spoken, self.words = message, index, spoken, spoken.words
        self.said = list(language.tokens(message))
        self.stems = [spoken.stem(t.text) for t in self.said]

    @cached_property
    def rows(self) -> list[Rows]:
        """The lists that the message asks for; none where it may ask for a part of one."""
        if self._at < 0 or len(self.said) > FEW or self._dated or self._picks():
            return []
        return self._of(self.noun)

    @property
    def noun(self) -> str:
        """The noun that the message has for what it asks for."""
        return self.stems[self._at] if self._at >= 0 else ""

    @cached_property
    def other(self) -> frozenset[str]:
        """What else the message says, but for words that say nothing."""
        return frozenset(self.stems[n] for n in self._others)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Words for states and flags."""
        return frozenset((self.words.states.keys() | self.words.values.keys()) - self.plain)

    def idle(self, stem: str) -> bool:
        """Whether a word says nothing of what is asked for."""
        return stem in self.plain or stem in self.words.opener

    @cached_property
    def plain(self) -> frozenset[str]:
        """Words that say nothing of what is counted."""
        return plain(self.spoken.tag)

    @cached_property
    def _at(self) -> int:
        nouns = [n for n, s in enumerate(self.stems) if self._of(s)]
        telling = (n for n in nouns if self.stems[n] not in self.plain)
        return next(telling, min(nouns, default=-1))

    @cached_property
    def _others(self) -> list[int]:
        return [n for n, s in enumerate(self.stems) if n != self._at and not self.idle(s)]

    def _of(self, stem: str) -> list[Rows]:
        """The lists that a noun names, the outer ones where it is a thing that none is called."""
        lists = outer(self.index)
        found = [r for r in lists if names(self.spoken, r, stem)]
        return found or (lists if thing(self.spoken, stem) else [])

    @property
    def _dated(self) -> bool:
        """Whether the message has a digit or a date."""
        digits = any(map(str.isdigit, self.message))
        return digits or bool(language.dates(self.message, self.spoken.tag, SOME_DAY))

    def _picks(self) -> bool:
        """Whether it says something that may pick rows: a name, a state, a value of the data, a
        limit, or what describes the noun."""
        limits = self.words.limits - self.words.function
        if any(map(self._tells, self._others)) or among(self.stems[self._at + 1 :], limits):
            return True
        return self._described_before() or self._described_behind()

    def _tells(self, at: int) -> bool:
        """Whether a word is written like a name, or tells a state or a value of the data."""
        stem = self.stems[at]
        named = at > 0 and self.said[at].text[:1].isupper() and not self._is_noun(at)
        return named or stem in self.kinds or bool(self.index.sorting(stem, self.spoken))

    def _is_noun(self, at: int) -> bool:
        """Whether a word with a capital is a noun with its article."""
        articles = self.words.forms("determiner") | self.words.forms("indefinite")
        return self.spoken.capital_nouns and fold(self.said[at - 1].text) in articles

    def _described_before(self) -> bool:
        """Whether the word right before the noun may describe it."""
        before = self._at - 1
        if before not in self._others or self._apart(before):
            return False
        verb = before == 0 and self.stems[0] in self.words.commands
        return not verb and self.spoken.describes(self.said[before].text, behind=False)

    def _described_behind(self) -> bool:
        """Whether words behind the noun may describe it."""
        unknown = [n for n in self._behind() if n in self._others]
        return bool(unknown) and not (unknown == [self._at + 1] and self._ends_request())

    def _ends_request(self) -> bool:
        """Whether the word right behind the noun belongs to the verb of a request, whose object the
        noun is: "read the mails out"."""
        word, before = self.said[self._at + 1].text, self.stems[: self._at]
        people = among(before, self.words.first_person, self.words.addressee)
        form = self.spoken.tells(word) or self.spoken.describes(word, behind=True)
        return not form and (people or not self.message.rstrip().endswith("?"))

    def _behind(self) -> Iterator[int]:
        """The words behind the noun, up to a mark."""
        for at in range(self._at, len(self.said) - 1):
            if self._apart(at):
                return
            yield at + 1

    def _apart(self, at: int) -> bool:
        """Whether a mark stands between a word and the next."""
        return bool(self.message[self.said[at].end : self.said[at + 1].start].strip(_JOINED))
