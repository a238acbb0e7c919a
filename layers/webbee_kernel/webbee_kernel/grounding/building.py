"""An index as it is built: one walk over everything that the narrator was shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .. import language
from ..base.cuts import more_of
from .places import (
    DATE,
    IDENTITY,
    Json,
    Number,
    Owner,
    Place,
    Rows,
    key_words,
    settle,
)

DEEPEST = 24
FIGURES = 2000
"""Numbers that are kept to be rounded, converted and added; every number is kept to be repeated."""
_MINOR = "_cents"
"""What the key of an amount is taken for whose record says that its unit is one of these."""
_SHAPE = re.compile(
    r"(?P<month>\d{4}-(?:0\d|1[0-2]))|(?P<number>[+-]?\d+(?:[.,]\d+)?)"
    r"|(?P<opaque>(?=[\w-]*[^\W\d])[\w-]+)"
)
_DIGITS = re.compile(r"(?<![^\W_])\d{1,9}(?!\d)")
_DIGIT = re.compile(r"\d")
_FIGURES = "0123456789"


@dataclass(slots=True)
class Built:
    """What the narrator was shown, by value; `tag`: the language of prose in the data;
    `minor`: the keys whose whole amounts are hundredths."""

    tag: str = "en"
    minor: frozenset[str] = frozenset()
    numbers: dict[Number, list[Place]] = field(default_factory=dict)
    dates: dict[tuple[int, int], list[tuple[int | None, Place]]] = field(default_factory=dict)
    times: dict[int, list[Place]] = field(default_factory=dict)
    flags: list[Place] = field(default_factory=list)
    tallies: list[tuple[str, list[Number]]] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    keys: dict[str, None] = field(default_factory=dict)
    figures: list[Place] = field(default_factory=list)
    names: dict[int, frozenset[str]] = field(default_factory=dict)
    _places: list[Place] = field(default_factory=list)
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
        self._walk(Place(call, path, "", owner, value), 0)

    def _walk(self, at: Place, depth: int) -> None:
        match at.value:
            case str() as text:
                self._string(text, at)
            case bool():
                self.flags.append(at)
            case int() | float() as number:
                self._number(number, at)
            case (dict() | Mapping()) as mapping if depth < DEEPEST:
                self._mapping(mapping, at, depth)
            case list() | tuple() as items if depth < DEEPEST:
                self._list(items, at, depth)

    def _mapping(self, value: Mapping[str, Json], at: Place, depth: int) -> None:
        table = _is_table(value)
        if table:
            self._collect(list(value.values()), at)
        self._tally(list(value.values()), at)
        told = f"{at.key} {value.get('unit', '')}"  # `{"price_cents": {"wash": 250}}`
        minor = _MINOR if "minor" in language.key_roles(told) else ""
        for row, (key, item) in enumerate(value.items()):
            if key not in self.keys and not table:
                self.keys[key] = None
                if key[:1] in _FIGURES:
                    self._unread.append((key, Place(at.call, f"{at.path}.{key}", "", (), key)))
                for digits in _DIGITS.findall(key):
                    named = Place(at.call, f"{at.path}.{key}", "", (), int(digits))
                    self.numbers.setdefault(int(digits), []).append(named)
                    self.figures.append(named)
            owner = (*at.owner, at.key, row) if table else at.owner
            cents = minor or (_MINOR if key in self.minor and type(item) is int else "")
            below = Place(at.call, f"{at.path}.{key}", key + cents, owner, item)
            if key[:1] in _FIGURES and (found := DATE.match(key)):
                self._moment(found, below)
            if table:
                self._string(key, below._replace(value=key, key="id"))
            self._walk(below, depth + 1)

    def _tally(self, values: Sequence[Json], at: Place) -> None:
        """Note numbers side by side, in a list or a map of nothing else, which may be added up."""
        numbers = [v for v in values if type(v) is int or type(v) is float]
        if len(numbers) == len(values) > 2:
            scale = 100 if "minor" in language.key_roles(at.key) else 1
            self.tallies.append((at.path, [settle(n / scale) for n in numbers]))

    def _list(self, items: Sequence[Json], at: Place, depth: int) -> None:
        self._collect(items, at)
        self._tally(items, at)
        for row, item in enumerate(items):
            owner = (*at.owner, at.key, row) if isinstance(item, Mapping | list) else at.owner
            self._walk(Place(at.call, f"{at.path}[{row}]", at.key, owner, item), depth + 1)

    def _collect(self, items: Sequence[Json], at: Place) -> None:
        words = frozenset(key_words(at.key)) or self.names.get(at.call, frozenset())
        if (said := more_of(items)) is not None:
            items = items[:-1]
        gone = said.gone if said else 0
        self.rows.append(
            Rows(words, at.path, at.owner, at.call, items, gone, said is not None, at.key)
        )

    def _string(self, value: str, at: Place) -> None:
        self._places.append(at)
        if at.call == IDENTITY or not _DIGIT.search(value):
            return  # figures of an older turn ground nothing
        if value[:1] in _FIGURES and (found := DATE.match(value)):
            self._moment(found, at)
            if found.end() + 6 >= len(value):
                return
        shape = _SHAPE.fullmatch(value)
        self._shaped(value, at, shape.lastgroup if shape else "")

    def _shaped(self, value: str, at: Place, kind: str | None) -> None:
        """Take in a text with digits: a month, a number, or prose."""
        if kind == "month":
            self.dates.setdefault((int(value[5:]), 0), []).append((int(value[:4]), at))
        if kind == "number" and len(value) < 18:
            whole = value.lstrip("+-").isdigit()
            self._number(int(value) if whole else float(value.replace(",", ".")), at)
        elif kind != "opaque":
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
        if "minor" in language.key_roles(at.key):
            number = settle(value / 100)
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
        dates = language.dates(text, self.tag)
        for found in dates:
            for value in found.readings:
                if found.kind in ("date", "moment"):
                    year, month, day = _day(value)
                    self.dates.setdefault((month, day), []).append((year, at))
                if found.kind in ("time", "moment"):
                    minutes = value if isinstance(value, int) else value.hour * 60 + value.minute
                    self.times.setdefault(minutes, []).append(at)
        for found in language.numbers(text, self.tag):
            if any(d.start <= found.start < d.end for d in dates):
                continue
            for value in found.readings:
                for one in (value, value / 100)[: 1 + bool(self.minor)]:  # "the floor of 3600"
                    self.numbers.setdefault(settle(one), []).append(at)
                if len(self.figures) < FIGURES:
                    self.figures.append(at._replace(key="", value=settle(value)))


def _day(value: Any) -> tuple[int | None, int, int]:
    return value if isinstance(value, tuple) else (value.year, value.month, value.day)


def _is_table(value: Mapping[str, Json]) -> bool:
    """Whether the keys of a mapping name its rows, so that it is no record with fields of its
    own: they hold digits or what no name of a field does, or the rows are alike."""
    if not all(type(item) is dict or isinstance(item, Mapping) for item in value.values()):
        return all(" " in key for key in value)
    if not value:
        return False
    if any(_DIGIT.search(key) or not key.isidentifier() for key in value):
        return True
    first, *others = (frozenset(item) for item in value.values() if isinstance(item, Mapping))
    return bool(others) and all(first == shape for shape in others)
