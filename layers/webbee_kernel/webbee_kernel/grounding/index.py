"""From a value to the fields that show it: built once a turn over all that the narrator was shown.

A `Place` is one field of one call; its `owner` is the record the field belongs to: the steps from
the call down to the innermost row, where an int is a row of a list (or of a map of rows). Two
owners that part at a row are two records; one that begins the other stands above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from .. import language
from ..language import Language
from .places import DATE, Owner, Place, Rows, fold, key_words
from .tables import Table, tables
from .wording import Worded

OPPOSITE = {
    "seen:read": "seen:unread",
    "seen:unread": "seen:read",
    "money:paid": "money:unpaid",
    "use:active": "use:inactive",
    "have:available": "have:unavailable",
    "life:open": "life:closed",
    "life:closed": "life:open",
}
"""The state that a flag tells when it is false."""
NAME = 5
"""Letters of a text in lower case that names its record."""
TITLE = 48
"""Characters of a text that names its record."""
_WORD = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


@dataclass(slots=True)
class Index(Worded):
    """What may be said, by value."""

    def is_row(self, owner: Owner) -> bool:
        """Whether an owner is a record among others: a row, or one of several calls of a
        function."""
        return len(owner) > 2 or len(self._same.get(str(owner[:1]), ())) > 1

    def common(self, places: Sequence[Place]) -> bool:
        """Whether fields are the same one of every row, so that they tell none apart."""
        owners = {p.owner for p in places}
        if len(owners) < 2 or len({p.key for p in places}) > 1:
            return False
        rows = next(iter(owners))[:-1]
        return len(owners) == len(self._columns.get((rows, ""), ()))

    def tells_apart(self, place: Place) -> bool:
        """Whether a field is another one in every row: a title, no status."""
        held = self._columns.get((place.owner[:-1], place.key), [])
        return len(held) == len({str(p.value) for p in held})

    @property
    def _columns(self) -> dict[tuple[Owner, str], list[Place]]:
        """The fields of one key over the rows of a list; of no key, a field of each row."""
        return self._once("columns", self._by_column)

    def _by_column(self) -> dict[tuple[Owner, str], list[Place]]:
        found: dict[tuple[Owner, str], list[Place]] = {}
        rows: dict[Owner, Place] = {}
        for place in (*self._places, *self.figures):
            rows.setdefault(place.owner, place)
            found.setdefault((place.owner[:-1], place.key), []).append(place)
        for place in rows.values():
            found.setdefault((place.owner[:-1], ""), []).append(place)
        return found

    def titles(self, stem: str, spoken: Language) -> list[tuple[Place, int]]:
        """The short texts of rows that have a word of a stem, with how many words they have."""
        return self._once(f"title {spoken.tag} {stem}", lambda: self._titles(stem, spoken))

    def _titles(self, stem: str, spoken: Language) -> list[tuple[Place, int]]:
        found = []
        for place in self.containing(stem, spoken) if len(stem) > 1 else ():
            text = place.value
            named = len(text) <= TITLE and (len(text) >= NAME or text[:1].isupper())
            if named and self.is_row(place.owner):
                words = _WORD.findall(fold(text))
                found.append((place, len([w for w in words if len(w) > 1 and not w.isdigit()])))
        return found

    def fields(self) -> Iterator[Place]:
        """The fields of results: texts, figures and flags."""
        for place in (*self._places, *self.figures, *self.flags):
            if place.owner:
                yield place

    def grouped(self) -> list[Table]:
        """The lists as tables, whose rows fall into groups."""
        return self._once("grouped", lambda: tables(self.fields(), self.is_row))

    def owners(self, rows: Rows) -> frozenset[Owner]:
        """The rows of a list, as records."""
        named = self._once("owners", lambda: {p.owner for p in self.fields()})
        step = (*rows.owner, rows.key) if rows.call >= 0 else rows.owner
        depth = len(step)
        return frozenset(own[: depth + 1] for own in named if own[:depth] == step != own)

    @property
    def tables(self) -> list[Rows]:
        """The lists and maps of rows, and the results of a function that was called repeatedly."""
        return self._once("tables", self._tables)

    @property
    def outer(self) -> list[Rows]:
        """The lists that no row of another holds."""
        return self._once("outer", lambda: [r for r in self.tables if not _inner(r)])

    def _tables(self) -> list[Rows]:
        repeated = [
            Rows(
                self.names.get(int(same[0][0][1]), frozenset()),
                "data",
                same[0][0][:1],
                -1,
                [v for _, v in same],
            )
            for same in self._same.values()
            if len(same) > 1 and all(v.keys() == same[0][1].keys() for _, v in same)
        ]
        return [*(r for r in self.rows if r.path.startswith("data")), *repeated]

    def moments(self) -> dict[Owner, list[tuple[datetime, str]]]:
        """The dates with times, by record, with their paths."""
        return self._once("moments", self._moments)

    def _moments(self) -> dict[Owner, list[tuple[datetime, str]]]:
        found: dict[Owner, list[tuple[datetime, str]]] = {}
        for place in self._places:
            if len(str(place.value)) <= 35 and DATE.match(str(place.value)):
                with suppress(ValueError):
                    at = datetime.fromisoformat(str(place.value))
                    found.setdefault(place.owner, []).append(
                        (at if at.tzinfo else at.replace(tzinfo=UTC), place.path)
                    )
        return found

    @property
    def states(self) -> dict[str, list[Place]]:
        """The fields by the state that they tell: words for states, and flags under such keys."""
        return self._once("states", self._states)

    def of_group(self, group: str) -> list[Place]:
        """The fields that tell a state of a group."""
        held = (places for state, places in self.states.items() if state.startswith(f"{group}:"))
        return [place for places in held for place in places]

    def _states(self) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for place in self._places:
            if place.path.startswith("data") and len(str(place.value)) <= 24:
                for state in _state(str(place.value), self.tag):
                    found.setdefault(state, []).append(place)
        for place in self.flags:
            found.setdefault("answer:yes" if place.value else "answer:no", []).append(place)
            for state in _state(" ".join(key_words(place.key)), "en"):
                state = state if place.value else OPPOSITE.get(state, f"{state}-not")
                found.setdefault(state, []).append(place)
        return found

    def flagged(self, spoken: Language) -> dict[str, list[Place]]:
        """The flags by the stem of the word that their key ends in."""
        return self._once(f"flags {spoken.tag}", lambda: self._flagged(spoken))

    def _flagged(self, spoken: Language) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for place in self.flags:
            word = _PARTS.split(place.key)[-1].lower() if place.owner else ""
            whole = word == place.key
            if len(word) > 3 and (whole or spoken.tells(word) or language.of("en").tells(word)):
                for stem in {spoken.stem(word), language.of("en").stem(word)}:
                    found.setdefault(stem, []).append(place)
        return found

    def sorting(self, stem: str, spoken: Language) -> list[Place]:
        """The texts of one word of a stem that several rows share."""
        if stem not in self.stems(spoken):
            return []
        return self._once(f"sorting {spoken.tag} {stem}", lambda: self._sorting(stem, spoken))

    def _sorting(self, stem: str, spoken: Language) -> list[Place]:
        words = (w for w in self.stems(spoken)[stem] if len(w) > 3 and w.isalpha())
        return [p for word in words for p in self.whole(word) if p.key and self.shares(p)]

    def shares(self, place: Place) -> bool:
        """Whether several rows have one text of a column."""
        column = [p.value for p in self.column(place) if isinstance(p.value, str)]
        texts = [text for text in column if len(text) <= TITLE]
        return len({*texts}) < len(texts)

    def column(self, place: Place) -> list[Place]:
        """The fields of the same key over the rows of a list."""
        return self._columns.get((place.owner[:-1], place.key), [])

    @property
    def effects(self) -> dict[str, list[Place]]:
        """The fields by the effect that they tell of: words such as "sent", keys such as
        `sent_at`."""
        return self._once("effects", self._effects)

    def _effects(self) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        known = language.of("en").words.effects
        for place in (*self._places, *self.figures, *(f for f in self.flags if f.value)):
            if place.path.startswith(("data", "summary")):
                said = key_words(str(place.value)) if len(str(place.value)) <= 80 else ()
                for word in {*key_words(place.key), *said}:
                    if word in known:
                        found.setdefault(known[word], []).append(place)
        return found

    @property
    def currencies(self) -> frozenset[str]:
        """The currencies that the text names, as ISO 4217 codes."""
        return self._once(
            "currencies",
            lambda: language.currencies_in("\n".join(str(p.value) for p in self._places)),
        )


def _inner(rows: Rows) -> bool:
    """Whether a list lies in a row of another."""
    return any(isinstance(step, int) for step in rows.owner[2:])


@lru_cache(maxsize=4096)
def _state(text: str, tag: str) -> tuple[str, ...]:
    spoken = [language.of(one) for one in dict.fromkeys(("en", tag))]
    words = [t.text for t in language.tokens(text)]
    return tuple(s for one in spoken for w in words if (s := one.words.states.get(one.stem(w))))
