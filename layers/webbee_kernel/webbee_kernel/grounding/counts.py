"""Checks numbers that count: rows of a list, and rows in a state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from .. import language
from ..language import Token
from .figures import SMALL, Figures
from .index import Index
from .places import Owner, Place, Rows, key_words
from .reading import Claim, Reading, Sentence, has_any

MAX_NOUNS, MAX_DISTANCE = 2, 40
"""Maximum words, and characters, after a number for its noun."""
_BETWEEN = " \u00a0*_"
MAX_GROUP_DISTANCE = 60
"""Maximum characters between a number of rows and the word for their state."""
_SEPARATOR = re.compile(r"[.(|\n]")
MAX_LISTS = 3
"""Maximum lists whose sizes are named in a mark."""


class Counts:
    """Checks the counts in one reply."""

    def __init__(self, reading: Reading, index: Index, figures: Figures, message: str) -> None:
        self._reading, self._index, self._figures = reading, index, figures
        self._message = message
        self._states: dict[int, tuple[set[Owner], int]] = {}
        self._lists = [r for r in index.lists if not _is_plain(r) and not r.is_inner]

    def list_sizes(self, claim: Claim, places: Sequence[Place] = ()) -> str:
        """The true sizes if a number is a wrong count of the list that its noun names, or repeats a
        large number of the message; empty if it is right or a field (`places`) has it."""
        if not self._figures.is_quantity(claim) or claim.mention.is_approximate:
            return ""
        nouns = self._nouns(claim)
        if any(not self._index.is_row(p.owner) or nouns & {*key_words(p.key)} for p in places):
            return ""
        # a larger list may be told of in part: false is only more than there are
        rows = [r for r in self._lists if r.words & nouns and 1 < r.size < claim.mention.value]
        if not rows and not places and self._is_in_message(claim.mention.value):
            rows = [r for r in self._lists if r.size > 1]
        return ", ".join(
            f"{n}: {size}" for n, size in [*{_name(r): r.size for r in rows}.items()][:MAX_LISTS]
        )

    def _is_in_message(self, value: float) -> bool:
        tag = self._reading.language.tag
        return value > SMALL and any(n.value == value for n in language.numbers(self._message, tag))

    def _nouns(self, claim: Claim) -> set[str]:
        """The stems of the words after a number, in the reply's language and in English."""
        spoken, english, at = self._reading.language, language.of("en"), claim.end
        words: list[Token] = self._reading.words(at, at + MAX_DISTANCE)[:MAX_NOUNS]
        stems: set[str] = set()
        for token in words:
            is_joint = has_any([spoken.stem(token.text)], spoken.words.function)
            if is_joint or self._reading.text[at : token.start].strip(_BETWEEN):
                break  # "139 a day"
            stems |= {spoken.stem(token.text), english.stem(token.text.lower())}
            at = token.end
        return stems | {english.stem(spoken.words.objects.get(s, s)) for s in stems}

    def wrong_group_counts(
        self, word: Claim, rows: Sequence[Place], shown: Mapping[int, Sequence[Place]]
    ) -> Iterator[tuple[Claim, str]]:
        """The number before a word for a state, if fewer rows are in it (or others of "two of the
        six"), with the true counts. `shown` are the fields by number: it may name a row, "no. 4 is
        free"."""
        if id(rows) not in self._states:
            self._states[id(rows)] = self._state_rows(rows)
        owners, size = self._states[id(rows)]
        numbers = self._numbers_before(word)
        is_part = len(numbers) > 1 and numbers[-1].mention.value == size
        least = 0 if is_part else len(owners)
        for number in numbers[-2:-1] if is_part else numbers[-1:]:
            said, named = number.mention.value, {p.owner for p in shown.get(number.start, ())}
            if least < said <= size and said != len(owners) and owners.isdisjoint(named):
                yield number, f"{rows[0].key} {rows[0].value}: {len(owners)}/{size}"

    def _state_rows(self, rows: Sequence[Place]) -> tuple[set[Owner], int]:
        """The rows in a state and the size of their list; empty for several lists. A state is a
        flag or a lower-case text."""
        owners = {p.owner for p in rows if self._index.is_row(p.owner)}
        tables = {owner[:-1] for owner in owners}
        is_state = isinstance(rows[0].value, bool) or str(rows[0].value)[:1].islower()
        if len(tables) != 1 or len(owners) < len(rows) or not is_state:
            return set(), 0
        return owners, self._index.rows_of(tables.pop())

    def _numbers_before(self, word: Claim) -> list[Claim]:
        """The whole numbers before a word in its clause, without separators between."""
        start = max(self._reading.clause(word.start).start, word.start - MAX_GROUP_DISTANCE)
        found: list[Claim] = []
        for one in self._reading.claims_in(Sentence(start, word.start, "")):
            plain = one.kind == "number" and self._figures.is_quantity(one)
            # a value of another kind parts the numbers before it from the word
            found = [*found, one] if plain and not one.mention.is_approximate else []
        text = self._reading.text
        return [n for n in found if not _SEPARATOR.search(text, n.end, word.start)]


def _is_plain(rows: Rows) -> bool:
    return bool(rows.items) and all(type(v) in (int, float, bool) for v in rows.items)


def _name(rows: Rows) -> str:
    last = rows.path.rpartition(".")[2].partition("[")[0]
    return last if last != "data" else " ".join(sorted(rows.words)) or "data"
