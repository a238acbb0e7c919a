"""From a value to the fields that show it: built once a turn over all that the narrator was shown.

A `Place` is one field of one call; its `owner` is the record the field belongs to: the steps from
the call down to the innermost row, where an int is a row of a list (or of a map of rows). Two
owners that part at a row are two records; one that begins the other stands above it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeVar, cast

from .. import language
from ..language import Language
from .building import Built
from .places import DATE, Owner, Place, Rows, fold, key_words

T = TypeVar("T")
OPPOSITE = {
    "seen:read": "seen:unread",
    "seen:unread": "seen:read",
    "money:paid": "money:unpaid",
    "use:active": "use:inactive",
    "have:available": "have:unavailable",
    "life:open": "life:closed",
}
"""The state that a flag tells when it is false."""
TITLE = 48
"""Characters of a text that names its record."""
_UNSPACED = "\u2e80"  # from here on scripts put no spaces between words
CYRILLIC = "\u0400"
"""From here on letters are Cyrillic."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(slots=True)
class Index(Built):
    """What may be said, by value. `text` holds every string, one a line, folded."""

    @property
    def text(self) -> str:
        """Every string, one a line, folded."""
        return self._once("text", lambda: "\n".join(self._parts))

    def find(self, token: str, glue: str = "") -> list[Place]:
        """The fields in which a token stands with no letter, digit or character of `glue` on either
        side; at most twenty."""
        needle, text = fold(token), self.text
        found: list[Place] = []
        at = text.find(needle) if needle else -1
        while at >= 0 and len(found) < 20:
            end = at + len(needle)
            if not (
                _goes_on(text, at - 1, glue, needle[0], -1)
                or _goes_on(text, end, glue, needle[-1], 1)
            ):
                found.append(self.place(at))
            at = text.find(needle, at + 1)
        return found

    def strings(self) -> Sequence[Place]:
        """Every field that is text."""
        return self._places

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

    def titles(self, spoken: Language) -> dict[str, list[tuple[Place, int]]]:
        """The short texts of rows by the stems of their words, with how many words they have."""
        return self._once(f"titles {spoken.tag}", lambda: self._titles(spoken))

    def _titles(self, spoken: Language) -> dict[str, list[tuple[Place, int]]]:
        found: dict[str, list[tuple[Place, int]]] = {}
        for place in self._places:
            if len(str(place.value)) <= TITLE and self.is_row(place.owner):
                text = str(place.value)
                words = [w for w in _WORD.findall(fold(text)) if not w.isdigit()]
                for word in words if len(words) > 1 or text[:1].isupper() else ():
                    found.setdefault(spoken.stem(word), []).append((place, len(words)))
        return found

    @property
    def tables(self) -> list[Rows]:
        """The lists and maps of rows, and the results of a function that was called repeatedly."""
        return self._once("tables", self._tables)

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

    def word(self, word: str, spoken: language.Language) -> list[Place]:
        """The fields that hold a word: as it is, inflected, or spelled in another script."""
        known = self.words
        folded = fold(word)
        offsets = [*known.get(folded, ()), *self.stems(spoken).get(spoken.stem(word), ())]
        offsets += self._inflected(folded)
        offsets = offsets or self._sounding(folded)
        return [self.place(at) for at in dict.fromkeys(offsets[:20])]

    def _inflected(self, word: str) -> list[int]:
        """The words that agree with a Cyrillic one in all but three letters of their ends."""
        if not word[:1] > "\u0400":
            return []
        alike = self._once("prefixes", self._prefixes).get(word[:3], ())
        return [
            at
            for w in alike
            if w.startswith(_root(word)) and word.startswith(_root(w))
            for at in self.words[w]
        ]

    def _prefixes(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self.words:
            found.setdefault(word[:3], []).append(word)
        return found

    def _sounding(self, word: str) -> list[int]:
        """The words in another script that sound like one."""
        other = self._once("sounds", self._sounds)
        return other[word > CYRILLIC].get(language.sound(word), []) if word[0].isalpha() else []

    def _sounds(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """The words of the text by their sound: those in Cyrillic, and those in Latin."""
        cyrillic: dict[str, list[int]] = {}
        latin: dict[str, list[int]] = {}
        for word, offsets in self.words.items():
            if heard := word[0].isalpha() and language.sound(word):
                (cyrillic if word > CYRILLIC else latin).setdefault(heard, []).extend(offsets)
        return cyrillic, latin

    def has_key(self, word: str, spoken: Language) -> bool:
        """Whether a key of the data has a word."""
        stems = self._once("key stems", lambda: {w for key in self.keys for w in key_words(key)})
        return spoken.stem(word) in stems or language.of("en").stem(word) in stems

    def stems(self, spoken: language.Language) -> dict[str, list[int]]:
        """The words of the text by their stem in a language."""
        return self._once(f"stems {spoken.tag}", lambda: self._stems(spoken))

    def _stems(self, spoken: language.Language) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for word, offsets in self.words.items():
            found.setdefault(spoken.stem(word), []).extend(offsets)
        return found

    def place(self, offset: int) -> Place:
        """The field that stands at an offset of `text`."""
        return self._places[bisect_right(self._starts, offset) - 1]

    @property
    def words(self) -> dict[str, list[int]]:
        """Every word of the text with the offsets at which it stands."""
        return self._once("words", self._words)

    def _words(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for match in _WORD.finditer(self.text):
            found.setdefault(match.group(), []).append(match.start())
        return found

    def _once(self, name: str, make: Callable[[], T]) -> T:
        if name not in self._cache:
            self._cache[name] = make()
        return cast("T", self._cache[name])


@lru_cache(maxsize=4096)
def _state(text: str, tag: str) -> tuple[str, ...]:
    spoken = [language.of(one) for one in dict.fromkeys(("en", tag))]
    words = [t.text for t in language.tokens(text)]
    return tuple(s for one in spoken for w in words if (s := one.words.states.get(one.stem(w))))


def _root(word: str) -> str:
    return word[: max(3, len(word) - 3)]


def _goes_on(text: str, at: int, glue: str, edge: str, step: int) -> bool:
    if not 0 <= at < len(text) or not (edge.isalnum() or edge == "_"):
        return False
    if (text[at].isalnum() and text[at] < _UNSPACED) or text[at] == "_":
        return True
    beyond = at + step
    return text[at] in glue and 0 <= beyond < len(text) and text[beyond].isalnum()
