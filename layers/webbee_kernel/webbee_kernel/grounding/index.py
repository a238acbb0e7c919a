"""From a value to the fields that show it: built once a turn over all that the narrator was shown.

A `Place` is one field of one call; its `owner` is the record the field belongs to: the steps from
the call down to the innermost row, where an int is a row of a list (or of a map of rows). Two
owners that part at a row are two records; one that begins the other stands above it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from .. import language
from ..language import Language

Number = int | float
Owner = tuple["int | str", ...]
Json = object
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
MESSAGE, POLICY, IDENTITY = -1, -2, -3
"""Calls that are none: the user's words, the operator's policy, names and ids of older facts."""
DEEPEST = 24
FIGURES = 2000
"""Numbers that are kept to be rounded, converted and added; every number is kept to be repeated."""
LONGEST_PHRASE = 80
"""Characters of a field that a reply may repeat as a whole, unquoted."""
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:[.,]\d+)?)?)?")
_MONTH = re.compile(r"(\d{4})-(0\d|1[0-2])")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"(?<!\w)\d{1,9}(?!\w)")
_OPAQUE = re.compile(r"(?=[\w-]*[^\W\d])[\w-]+")
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_UNSPACED = "\u2e80"  # from here on scripts put no spaces between words
_FOLD = str.maketrans(
    {"\u0451": "\u0435", "\u00a0": " ", "\u202f": " ", "\u2019": "'", "\u2011": "-"}
)


def fold(text: str) -> str:
    """Text as it is compared: lower case, one kind of space, apostrophe and hyphen; same length."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return lowered.translate(_FOLD)


@lru_cache(maxsize=4096)
def key_words(key: str) -> tuple[str, ...]:
    """The English stems of a key or a function's name: `is_read` and `isRead` → `("is", "read")`."""
    stem = language.of("en").stem
    return tuple(stem(word.lower()) for word in _CAMEL.split(key) if word)


class Place(NamedTuple):
    """One field: the call's number, the path in it, the last key, the record, the value."""

    call: int
    path: str
    key: str
    owner: Owner
    value: Any


@dataclass(slots=True)
class Rows:
    """A list or a map of rows: the words that name it, where it lies, its items."""

    words: frozenset[str]
    path: str
    owner: Owner
    call: int
    items: Sequence[Json]


@dataclass(slots=True)
class Index:
    """What may be said, by value; `tag`: the language of prose in the data."""

    tag: str = "en"
    numbers: dict[Number, list[Place]] = field(default_factory=dict)
    dates: dict[tuple[int, int], list[tuple[int | None, Place]]] = field(default_factory=dict)
    times: dict[int, list[Place]] = field(default_factory=dict)
    phrases: dict[str, list[tuple[str, Place]]] = field(default_factory=dict)
    flags: list[Place] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    keys: dict[str, None] = field(default_factory=dict)
    figures: list[Place] = field(default_factory=list)
    names: dict[int, frozenset[str]] = field(default_factory=dict)
    _parts: list[str] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _places: list[Place] = field(default_factory=list)
    _size: int = 0
    _unread: list[tuple[str, Place]] = field(default_factory=list)
    _roots: dict[int, Owner] = field(default_factory=dict)
    _same: dict[str, list[tuple[Owner, Mapping[str, Json]]]] = field(default_factory=dict)
    _cache: dict[str, object] = field(default_factory=dict)

    # ---- building

    def root(self, call: int, function: str, names: frozenset[str]) -> None:
        """Open a call; `names`: stems that say what it is about. Calls of one function are rows."""
        self._roots[call] = (function, call)
        self.names[call] = names

    def add(self, value: Json, call: int, path: str, *, apart: bool = False) -> None:
        """Take in one value of a call; `apart`: it belongs to no record."""
        owner = () if apart else self._roots.get(call, ())
        if not apart and isinstance(value, Mapping):
            self._same.setdefault(str(owner[:1]), []).append((owner, value))
        self._walk(value, Place(call, path, "", owner, None), 0)

    def _walk(self, value: Json, at: Place, depth: int) -> None:
        if isinstance(value, str):
            self._string(value, Place(*at[:4], value))
        elif isinstance(value, bool):
            self.flags.append(Place(*at[:4], value))
        elif isinstance(value, (int, float)):
            self._number(value, Place(*at[:4], value))
        elif depth >= DEEPEST:
            return
        elif isinstance(value, Mapping):
            self._mapping(value, at, depth)
        elif isinstance(value, (list, tuple)):
            self._list(value, at, depth)

    def _mapping(self, value: Mapping[str, Json], at: Place, depth: int) -> None:
        table = _is_table(value)
        if table:
            self._collect(list(value.values()), at)
        for row, (key, item) in enumerate(value.items()):
            if key not in self.keys and not table:
                self.keys[key] = None
                for digits in _DIGITS.findall(key):
                    self.numbers.setdefault(int(digits), []).append(
                        Place(at.call, f"{at.path}.{key}", "", (), key)
                    )
            owner = (*at.owner, at.key, row) if table else at.owner
            below = Place(at.call, f"{at.path}.{key}", key, owner, None)
            if table:
                self._string(key, below._replace(value=key, key="id"))
            self._walk(item, below, depth + 1)

    def _list(self, items: Sequence[Json], at: Place, depth: int) -> None:
        self._collect(items, at)
        for row, item in enumerate(items):
            owner = (*at.owner, at.key, row) if isinstance(item, Mapping) else at.owner
            self._walk(item, Place(at.call, f"{at.path}[{row}]", at.key, owner, None), depth + 1)

    def _collect(self, items: Sequence[Json], at: Place) -> None:
        words = frozenset(key_words(at.key)) or self.names.get(at.call, frozenset())
        self.rows.append(Rows(words, at.path, at.owner, at.call, items))

    def _string(self, value: str, at: Place) -> None:
        folded = fold(value)
        self._starts.append(self._size)
        self._places.append(at)
        self._parts.append(folded)
        self._size += len(folded) + 1
        if (
            len(value) <= LONGEST_PHRASE
            and (first := _WORD.search(folded))
            and not folded.isdigit()
        ):
            self.phrases.setdefault(first.group(), []).append((folded, at))
        if not _DIGIT.search(value):
            return
        if found := _MONTH.fullmatch(value):
            self.dates.setdefault((int(found.group(2)), 0), []).append((int(found.group(1)), at))
        if found := DATE.match(value):
            self._moment(found, at)
            if found.end() + 6 >= len(value):
                return
        if _NUMBER.fullmatch(value) and len(value) < 18:
            self._number(
                float(value.replace(",", ".")) if not value.lstrip("+-").isdigit() else int(value),
                at,
            )
        elif not _OPAQUE.fullmatch(value):
            self._unread.append((value, at))

    def _moment(self, found: re.Match[str], at: Place) -> None:
        year, month, day = (int(found.group(i)) for i in (1, 2, 3))
        self.dates.setdefault((month, day), []).append((year, at))
        if found.group(4):
            self.times.setdefault(int(found.group(4)) * 60 + int(found.group(5)), []).append(at)

    def _number(self, value: Number, at: Place) -> None:
        if value != value or abs(value) >= 1e300:
            return
        number = settle(value)
        self.numbers.setdefault(number, []).append(at)
        if len(self.figures) < FIGURES:
            self.figures.append(Place(*at[:4], number))
        if 1e9 < value < 4.2e12 and "moment" in language.key_roles(at.key):
            moment = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
            self.dates.setdefault((moment.month, moment.day), []).append((moment.year, at))
            self.times.setdefault(moment.hour * 60 + moment.minute, []).append(at)

    def read_prose(self) -> bool:
        """Take in the numbers and dates of sentences, half the cost of an index: done only when a
        reply does not stand without them. Whether there were any."""
        unread, self._unread = self._unread, []
        for text, at in unread:
            self._prose(text, at)
        return bool(unread)

    def _prose(self, text: str, at: Place) -> None:
        for found in language.dates(text, self.tag):
            for value in found.readings:
                if found.kind in ("date", "moment"):
                    year, month, day = _day(value)
                    self.dates.setdefault((month, day), []).append((year, at))
                if found.kind in ("time", "moment"):
                    minutes = value if isinstance(value, int) else value.hour * 60 + value.minute
                    self.times.setdefault(minutes, []).append(at)
        for found in language.numbers(text, self.tag):
            for value in found.readings:
                self.numbers.setdefault(settle(value), []).append(at)
                if len(self.figures) < FIGURES:
                    self.figures.append(at._replace(key="", value=settle(value)))

    # ---- asking

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
        offsets = (
            known.get(folded)
            or self.stems(spoken).get(spoken.stem(word))
            or self._inflected(folded)
        )
        return [self.place(at) for at in offsets[:20]]

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


def settle(value: Number) -> Number:
    """The value as it is compared: ints exact at any size, floats to six decimals."""
    if isinstance(value, int):
        return value
    return int(value) if value.is_integer() and abs(value) < 2**53 else round(value, 6)


def conflict(some: Sequence[Place], others: Sequence[Place]) -> bool:
    """Whether two values can only be of two different records: no pair of their fields lies in one
    record or in one above the other, and none lies apart from all rows."""
    return (
        bool(some) and bool(others) and all(_parted(a.owner, b.owner) for a in some for b in others)
    )


def _root(word: str) -> str:
    return word[: max(3, len(word) - 3)]


def _parted(one: Owner, other: Owner) -> bool:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return isinstance(a, int) and isinstance(b, int)
    return False


def _day(value: Any) -> tuple[int | None, int, int]:
    return value if isinstance(value, tuple) else (value.year, value.month, value.day)


def _is_table(value: Mapping[str, Json]) -> bool:
    """Whether the keys of a mapping name its rows, so that it is no record with fields of its
    own: they hold digits or spaces, or the rows are alike."""
    if not value or not all(isinstance(item, Mapping) for item in value.values()):
        return bool(value) and all(" " in key for key in value)
    if any(_DIGIT.search(key) or " " in key for key in value):
        return True
    first, *others = (frozenset(item) for item in value.values() if isinstance(item, Mapping))
    return bool(others) and all(first == shape for shape in others)


def _goes_on(text: str, at: int, glue: str, edge: str, step: int) -> bool:
    if not 0 <= at < len(text) or not (edge.isalnum() or edge == "_"):
        return False
    if (text[at].isalnum() and text[at] < _UNSPACED) or text[at] == "_":
        return True
    beyond = at + step
    return text[at] in glue and 0 <= beyond < len(text) and text[beyond].isalnum()
