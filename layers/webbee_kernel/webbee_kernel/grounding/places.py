"""A field of a result (`Place`): its path, the kind of its figure, and whether two fields belong to
different records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from .. import language
from ..language import units
from ..language.units import Unit

Number = int | float
Owner = tuple["int | str", ...]

MESSAGE, POLICY, IDENTITY = -1, -2, -3
"""Pseudo call numbers: the user's message, the operator's policy, names and ids of older facts."""
PLAIN_TYPES, MIN_ROWS = (str, int, float, type(None)), 3
"""Cell types of parallel lists, and their minimum number of rows."""
_UNSPACED = "\u2e80"  # from here on scripts put no spaces between words
_DIGIT, _BLANK = re.compile(r"\d"), re.compile(" ")
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:[.,]\d+)?)?)?")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_FOLD = {
    "\u0451": "\u0435",
    "\u00a0": " ",
    "\u202f": " ",
    "\u2019": "'",
    "\u2011": "-",
    "\u00d7": "x",
}


def fold(text: str) -> str:
    """Text for comparison: lower case, with normalised spaces, apostrophes, hyphens and times
    signs; the length is unchanged."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    # a dotted capital I becomes two characters: all offsets behind it would move
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    for char, instead in _FOLD.items():  # a quarter of what `translate` takes
        lowered = lowered.replace(char, instead)
    return lowered


@lru_cache(maxsize=4096)
def key_words(key: str) -> tuple[str, ...]:
    """The English stems of a key or function name: `is_read`, `isRead` → "is", "read"."""
    stem = language.of("en").stem
    return tuple(stem(word.lower()) for word in _CAMEL.split(key) if word)


class Place(NamedTuple):
    """One field: call number, path, last key, record (`owner`) and value. The owner is the path
    from the call to the innermost row, where an int is a row number; a prefix of it is a parent
    record."""

    call: int
    path: str
    key: str
    owner: Owner
    value: Any
    kind: str = ""
    """The kind given by its text: `money` for "390,00 €"."""


RESULT = ("data", "arguments")
"""The beginnings of paths in a call's data or arguments."""


@dataclass(slots=True)
class Rows:
    """A list or map of rows: the words of its name, its path, its items, and the number of omitted
    ones."""

    words: frozenset[str]
    path: str
    owner: Owner
    items: Sequence[Any]
    omitted: int = 0

    @property
    def size(self) -> int:
        """The number of rows, including omitted ones."""
        return len(self.items) + self.omitted

    @property
    def is_inner(self) -> bool:
        """Whether it is inside a row of another list."""
        return any(isinstance(step, int) for step in self.owner[2:])


def conflict(some: Iterable[Owner], others: Iterable[Owner]) -> bool:
    """Whether all records `some` are other rows of the same lists than `others`: none is equal to,
    or a parent or child of, one of them."""
    return all(_is_unrelated(one, others) for one in some)


def _is_unrelated(owner: Owner, others: Iterable[Owner]) -> bool:
    related = any(owner[: len(one)] == one or one[: len(owner)] == owner for one in others)
    return not related and any(_is_other_row(owner, one) for one in others)


def _is_other_row(one: Owner, other: Owner) -> bool:
    for a, b in zip(one, other, strict=False):
        if a != b:
            # two rows of one list; two names are parts of one record
            return isinstance(a, int) and isinstance(b, int)
    return False


def moment(text: str) -> datetime | None:
    """The datetime of an ISO 8601 text, in UTC if it has no zone; None if invalid."""
    try:
        at = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at and not at.tzinfo else at


def day_of(value: Any) -> tuple[int | None, int, int]:
    """Year, month and day of a date."""
    return value if isinstance(value, tuple) else (value.year, value.month, value.day)


def continues_word(text: str, at: int, glue: str, edge: str, step: int) -> bool:
    """Whether a word continues beyond an edge."""
    if not 0 <= at < len(text) or not (edge.isalnum() or edge == "_"):
        return False
    if (text[at].isalnum() and text[at] < _UNSPACED) or text[at] == "_":
        return True
    beyond = at + step
    # a full stop or hyphen glues only where more follows; else the sentence ends
    return text[at] in glue and 0 <= beyond < len(text) and text[beyond].isalnum()


def is_table(value: Mapping[str, Any]) -> bool:
    """Whether a mapping is a map of rows rather than a record: its keys have digits or are no
    identifiers, or its values are objects with equal keys."""
    if not value:
        return False
    if {*map(type, value.values())} != {dict}:
        # names of people and things have blanks, names of fields do not
        return all(map(_BLANK.search, value))
    if any(_DIGIT.search(key) or not key.isidentifier() for key in value):
        return True
    first, *others = (frozenset(item) for item in value.values())
    return bool(others) and all(first == shape for shape in others)


def column_keys(lists: Mapping[str, Sequence[Any]]) -> frozenset[str]:
    """The keys of lists that form the columns of a table: of equal length, with plain values, at
    least one numeric."""
    plain = {key: own for key, own in lists.items() if _is_list_of(own, PLAIN_TYPES)}
    sizes = Counter(map(len, plain.values()))
    numeric = {len(own) for own in plain.values() if not {int, float}.isdisjoint(map(type, own))}
    tables = {size for size in numeric if size >= MIN_ROWS and sizes[size] > 1}
    return frozenset(key for key, own in plain.items() if len(own) in tables)


def column_names(lists: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[str]]:
    """The keys of lists of plain rows, each with its column names from another list."""
    names = {len(own): own for own in lists.values() if _is_list_of(own, str)}
    rows = {key: {*map(len, own)} for key, own in lists.items() if _is_list_of(own, list)}
    return {
        key: names[min(own)] for key, own in rows.items() if len(own) == 1 and own <= names.keys()
    }


def _is_list_of(items: Sequence[Any], kind: type | tuple[type, ...]) -> bool:
    return bool(items) and all(isinstance(item, kind) for item in items)


EPSILON = 1e-6
_AMBIGUOUS = ("min", "c", "m2", "m3", "kwh", "kg", "l", "day", "week", "month", "year")
"""Unit signs that are ambiguous in keys of amounts: minimum, cents, the unit of a price."""
_PERIODS = ("day", "week", "month", "year")
"""Periods that a figure refers to, as the last word of a key."""
_WEIGHT_WORDS = ("gross", "net")
"""Words of a key used for weights as well as amounts."""
_LETTERS = re.compile(r"[\s\u00a0-]?([^\W\d_]+)")
_KEY_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


@lru_cache(maxsize=2048)
def kind_of(key: str) -> str:
    """The kind of figure that a key implies: `rate`, `level`, `money`, a measure, or empty."""
    words, roles = [word.lower() for word in _KEY_PARTS.split(key)], language.key_roles(key)
    if currencies_of(key) or "minor" in roles:
        return "money"  # `rate_rub`, `lease_eur_month`, `rate_minor`
    if "level" in roles:
        return "level"
    price_roles = language.key_roles("_".join(word for word in words if word not in _WEIGHT_WORDS))
    if len(words) > 1 and words[-1] in _PERIODS and "money" not in price_roles:
        return kind_of("_".join(words[:-1]))  # `kwh_day`, `prev_month`
    is_measured = "per" not in words and key != "min"  # beside `max`
    measure = unit_of_key(words[-1]).measure if is_measured else ""
    if measure and not ("money" in price_roles and words[-1] in _AMBIGUOUS):
        return measure
    if "rate" in roles and "money" not in language.key_roles(words[-1]):
        return "rate"  # and not `avg_cost`
    if "money" in roles and key != "value":
        return "money"
    return measure


@lru_cache(maxsize=2048)
def currencies_of(key: str) -> frozenset[str]:
    """The currencies in a key; not a word before a unit ("top_m") or a function word ("all")."""
    words = _KEY_PARTS.split(key)
    if len(words) > 1 and unit_of_key(words[-1].lower()).measure:
        del words[0]
    plain = language.of("en").words.function
    return language.currencies_in(" ".join(w for w in words if w.lower() not in plain).upper())


def unit_of_key(word: str) -> Unit:
    """The unit of a word in a key, if any; a "size" is in bytes."""
    return units.unit_of_key("byte" if word == "size" else word)


def word_after(text: str, end: int) -> str:
    """The word directly after a number."""
    after = _LETTERS.match(text, end)
    return after.group(1) if after else ""
