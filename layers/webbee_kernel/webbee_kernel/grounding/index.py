"""The index from values to fields, built once a turn over everything the narrator was shown.

Numbers, dates, flags and lists are indexed in one walk; words and numbers in prose on first use.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar, cast

from .. import language
from ..language import Mention
from ..language.numerals import amount_in, normalise
from ..text import more_of
from . import places
from .places import (
    DATE,
    IDENTITY,
    MESSAGE,
    RESULT,
    Number,
    Owner,
    Place,
    Rows,
    fold,
    key_words,
    moment,
)
from .words import Words

T = TypeVar("T")
MAX_DEPTH, MAX_FIGURES = 24, 2000
"""Maximum depth; maximum figures for arithmetic (all numbers are indexed for lookup)."""
MAX_PLACES, MAX_LOOKS = 20, 2000
"""Maximum fields found for one token; maximum occurrences inspected."""
MAX_TITLE = 48
"""Maximum characters of a title."""
MAX_PHRASE = 80
"""Maximum characters of a field that a reply may repeat unquoted."""
SEPARATOR = "\n\0\n"
"""Separator of texts that are parsed together."""
_SHAPE = re.compile(
    r"(?P<month>\d{4}-(?:0\d|1[0-2]))|(?P<time>(?:[01]\d|2[0-3]):[0-5]\d)"
    r"|(?P<number>[+-]?\d+(?:[.,]\d+)?)"
    r"|(?P<opaque>(?=[\w-]*[^\W\d])[\w-]+)"
)
MAX_DETECTED = 200
"""Texts whose language is detected individually."""
_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")
_DIGITS = re.compile(r"(?<![^\W_])\d{1,9}(?!\d)")
_DIGIT = re.compile(r"\d")
_DECIMAL = re.compile(r"\d+\.\d+")
_ID = re.compile(r"(?!\d{4}-\d\d(?:-\d\d)?$)(?=.*\d)(?=.*[^\W\d]|.*[-/])\w+(?:[-/]\w+)*")
_LETTERS, _RUNS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")
_FIRST = re.compile(r"[^\W_]+")


def shape_of(word: str) -> str:
    """The shape of a word: "a" for runs of letters, "9" for digits."""
    return _RUNS.sub("9", _LETTERS.sub("a", word))


def _unix_time(value: Number, roles: Collection[str]) -> datetime | None:
    """The datetime of Unix seconds or milliseconds, or None: 2001 to 2103 under moment keys, 2017
    to 2033 under others except ids."""
    seconds = value / 1000 if value > 1e11 else value
    is_likely = 1.5e9 < seconds < 2e9 and type(value) is int and "id" not in roles
    is_time = 1e9 < seconds < 4.2e9 and ("moment" in roles or is_likely)
    return datetime.fromtimestamp(seconds, UTC) if is_time else None


class Index:
    """The data shown to the narrator, by value. `tag` is the language of prose, `zone` the user's
    time zone, in which Unix times are indexed as well."""

    def __init__(self, tag: str = "en", zone: tzinfo | None = None) -> None:
        self.tag, self.zone = tag, zone or UTC
        self.numbers: dict[Number, list[Place]] = {}
        self.dates: dict[tuple[int, int], list[tuple[int | None, Place]]] = {}
        self.days: dict[int, list[Place]] = {}
        self.years: dict[int | None, list[Place]] = {}
        self.times: dict[int, list[Place]] = {}
        self.flags: list[Place] = []
        self.rows: list[Rows] = []
        self.figures: list[Place] = []
        self.keys: set[str] = set()
        self.strings: list[Place] = []
        self._prose: list[tuple[str, Place]] = []
        self._roots: dict[int, Owner] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._calls_of: Counter[Owner] = Counter()
        self._by_value: dict[tuple[Owner, str], dict[Any, list[Place]]] = {}
        self._cache: dict[str, object] = {}

    def root(self, call: int, function: str, names: frozenset[str]) -> None:
        """Begin a call; `names` are stems of its function. Calls of the same function count as
        rows."""
        self._roots[call] = (function, call)
        self._names[call] = names

    def add(self, value: Any, call: int, path: str, *, is_apart: bool = False) -> None:
        """Index a value of a call; `is_apart`: it belongs to no record."""
        owner = () if is_apart else self._roots.get(call, ())
        if not is_apart and isinstance(value, Mapping):
            self._calls_of[owner[:1]] += 1
        self._walk(Place(call, path, "", owner, value), 0)

    def _walk(self, at: Place, depth: int) -> None:
        match at.value:
            case str() as text:
                self._string(text, at)
            # before the numbers: True is an int
            case bool():
                self.flags.append(at)
            case int() | float() as number:
                self._number(number, at)
            case (dict() | Mapping()) as mapping if depth < MAX_DEPTH:
                self._mapping(mapping, at, depth)
            case list() | tuple() as items if depth < MAX_DEPTH:
                self._list(items, at, depth)

    def _mapping(self, value: Mapping[str, Any], at: Place, depth: int) -> None:
        is_table = places.is_table(value)
        if is_table:
            self._collect(list(value.values()), at)
        lists = {key: own for key, own in value.items() if type(own) is list}
        parallel_lists = lists if len(lists) > 1 else {}
        columns = places.column_keys(parallel_lists) if parallel_lists else frozenset[str]()
        names = places.column_names(parallel_lists) if parallel_lists else {}
        for row, (key, item) in enumerate(value.items()):
            owner = (*at.owner, at.key, row) if is_table else at.owner
            child = Place(at.call, f"{at.path}.{key}", key, owner, item)
            if is_table:
                self._string(key, child._replace(value=key, key="id"))
            elif key not in self.keys:
                self.keys.add(key)
                self._digits_of_key(key, child)
            if key[:1].isdigit():  # a date, a time, an address as a key
                self._string(key, Place(at.call, child.path, "", (), key))
            if key in parallel_lists:
                self._list_of_several(child, depth, columns, names)
            else:
                self._walk(child, depth + 1)

    def _list_of_several(
        self, at: Place, depth: int, columns: Collection[str], names: Mapping[str, Sequence[str]]
    ) -> None:
        """Index one of several lists of a record; `columns` are keys of parallel columns, `names`
        the column names of lists of rows."""
        if at.key in columns:
            self._column(at)
        elif at.key in names:
            self._rows(at, names[at.key], depth)
        else:
            self._walk(at, depth + 1)

    def _column(self, at: Place) -> None:
        """Index one of several parallel lists, whose equal positions form rows."""
        self._collect(at.value, at)
        for row, item in enumerate(at.value):
            path, owner = f"{at.path}[{row}]", (*at.owner, "", row)
            self._walk(Place(at.call, path, at.key, owner, item), MAX_DEPTH)

    def _rows(self, at: Place, names: Sequence[str], depth: int) -> None:
        """Index rows of plain lists with separate column names."""
        self._collect(at.value, at)
        for row, cells in enumerate(at.value):
            for column, (name, cell) in enumerate(zip(names, cells, strict=True)):
                path, owner = f"{at.path}[{row}][{column}]", (*at.owner, at.key, row)
                self._walk(Place(at.call, path, name, owner, cell), depth + 2)

    def _digits_of_key(self, key: str, at: Place) -> None:
        for digits in _DIGITS.findall(key):
            self._number(int(digits), at._replace(key="", owner=(), value=int(digits)))

    def _list(self, items: Sequence[Any], at: Place, depth: int) -> None:
        self._collect(items, at)
        matrix = at.path.endswith("]") and not any(isinstance(i, Mapping | list) for i in items)
        for row, item in enumerate(items):
            if matrix:  # a row without names for its columns
                self._walk(Place(at.call, f"{at.path}[{row}]", f"{row}", at.owner, item), depth + 1)
                continue
            owner = (*at.owner, at.key, row) if isinstance(item, Mapping | list) else at.owner
            self._walk(Place(at.call, f"{at.path}[{row}]", at.key, owner, item), depth + 1)

    def _collect(self, items: Sequence[Any], at: Place) -> None:
        words = frozenset(key_words(at.key)) or self._names.get(at.call, frozenset())
        omission = more_of(items)
        shown, omitted = (items[:-1], omission.omitted) if omission else (items, 0)
        self.rows.append(Rows(words, at.path, at.owner, shown, omitted))

    def _string(self, value: str, at: Place) -> None:
        self.strings.append(at)
        if at.call == MESSAGE:
            self._prose.append((value, at))  # "for four people"
        if at.call in (IDENTITY, MESSAGE) or not _DIGIT.search(value):
            return  # figures of an older turn ground nothing
        if found := DATE.match(value):
            self._moment(found, at)
            # what is left is no more than a zone: there is nothing else to read
            if found.end() + 6 >= len(value):
                return
        shape = _SHAPE.fullmatch(value)
        kind = shape.lastgroup if shape else ""
        if kind == "month":
            self._date(int(value[:4]), int(value[5:]), 0, at)
        if kind == "time":
            self.times.setdefault(int(value[:2]) * 60 + int(value[3:]), []).append(at)
        elif kind == "number" and len(value) < 18:
            is_whole = value.lstrip("+-").isdigit()
            self._number(int(value) if is_whole else float(value.replace(",", ".")), at)
        elif kind != "opaque":
            self._prose.append((value, at))
            for amount in amount_in(value, language.of(self.tag)):
                self._number(amount, at._replace(value=amount, kind="money"))

    def _moment(self, found: re.Match[str], at: Place) -> None:
        year, month, day = map(int, found.group(1, 2, 3))
        self._date(year, month, day, at)
        if found.group(4):
            self.times.setdefault(int(found.group(4)) * 60 + int(found.group(5)), []).append(at)
            # with a zone of its own it may be told in the user's
            at_zone = found.end() < len(at.value) and moment(at.value)
            if at_zone and at_zone.utcoffset() != at_zone.astimezone(self.zone).utcoffset():
                self._add_moment(at_zone.astimezone(self.zone), at)

    def _number(self, value: Number, at: Place) -> None:
        # NaN, and what would make sums infinite
        if value != value or abs(value) >= 1e300:
            return
        roles = language.key_roles(at.key)
        number = normalise(value)
        self.numbers.setdefault(number, []).append(at)
        if "minor" in roles:
            number = normalise(value / 100)
            self.numbers.setdefault(number, []).append(at)
        if len(self.figures) < MAX_FIGURES:
            self.figures.append(at if number is at.value else at._replace(value=number))
        if value > 1e9 and (moment := _unix_time(value, roles)):
            self._add_moment(moment, at)
            if self.zone is not UTC:
                self._add_moment(moment.astimezone(self.zone), at)

    def _add_moment(self, moment: datetime, at: Place) -> None:
        self._date(moment.year, moment.month, moment.day, at)
        self.times.setdefault(moment.hour * 60 + moment.minute, []).append(at)

    def _date(self, year: int | None, month: int, day: int, at: Place) -> None:
        self.dates.setdefault((month, day), []).append((year, at))
        self.days.setdefault(day, []).append(at)
        self.years.setdefault(year, []).append(at)

    def read_prose(self) -> bool:
        """Index the numbers and dates in prose; half of the cost of an index, so only used when a
        check fails. Whether there were any texts."""
        prose, self._prose = self._prose, []
        by_language: dict[str, list[tuple[str, Place]]] = {self.tag: prose}
        default = language.detect(SEPARATOR.join([text for text, _ in prose]), self.tag)
        for n, one in enumerate(prose):
            tag = language.detect(one[0], default) if n < MAX_DETECTED else default
            if tag != self.tag:
                by_language.setdefault(tag, []).append(one)
        for tag, own in by_language.items():
            # read at once: a third of the cost
            self._read_prose(SEPARATOR.join([text for text, _ in own]), tag, own)
        # all of it was made before the prose was known
        self._cache.clear()
        vars(self).pop("_columns", None)
        return bool(prose)

    def _read_prose(self, text: str, tag: str, unread: Sequence[tuple[str, Place]]) -> None:
        starts = [*accumulate((len(text) + len(SEPARATOR) for text, _ in unread), initial=0)]
        rest, end = "", 0
        for found in language.dates(text, tag):
            self._prose_date(found, unread[bisect_right(starts, found.start) - 1][1])
            # "4.20" is a day of some languages, and as well a figure
            is_figure = _DECIMAL.fullmatch(found.text)
            kept = found.text if is_figure else " " * (found.end - found.start)
            rest += text[end : found.start] + kept
            end = found.end
        for number in language.numbers(rest + text[end:], tag):
            at = unread[bisect_right(starts, number.start) - 1][1]
            for value in number.readings:
                self.numbers.setdefault(normalise(value), []).append(at)
            if number.readings and at.call == MESSAGE:
                own = (at._replace(key="", value=normalise(value)) for value in number.readings)
                self.figures += own

    def _prose_date(self, found: Mention, at: Place) -> None:
        for value in found.readings:
            if found.kind in ("date", "moment"):
                self._date(*places.day_of(value), at)
            if found.kind in ("time", "moment"):
                minutes = value if isinstance(value, int) else value.hour * 60 + value.minute
                self.times.setdefault(minutes, []).append(at)

    @cached_property
    def key_words(self) -> frozenset[str]:
        """The words of all keys, folded."""
        return frozenset(
            fold(_CAPITAL.sub(r" \g<0>", " ".join(self.keys))).replace("_", " ").split()
        )

    @cached_property
    def text(self) -> str:
        """All strings, folded, one per line."""
        return fold("\n".join([place.value.replace("\n", " ") for place in self.strings]))

    def find(self, token: str, glue: str = "") -> list[Place]:
        """The fields with a token not adjacent to a letter, digit or character of `glue`; at most
        twenty."""
        return self.cached(f"find {glue} {token}", lambda: self._find(self.text, fold(token), glue))

    def _find(self, text: str, needle: str, glue: str) -> list[Place]:
        found, looks = list[Place](), 0
        at = text.find(needle) if needle else -1
        while at >= 0 and len(found) < MAX_PLACES and looks < MAX_LOOKS:
            looks += 1
            end = at + len(needle)
            if not (
                places.continues_word(text, at - 1, glue, needle[0], -1)
                or places.continues_word(text, end, glue, needle[-1], 1)
            ):
                found.append(self.place(at))
            at = text.find(needle, at + 1)
        return found

    def place(self, offset: int) -> Place:
        """The field at an offset of `text`."""
        return self.strings[bisect_right(self._starts, offset) - 1]

    @cached_property
    def _starts(self) -> list[int]:
        sizes = [len(place.value) + 1 for place in self.strings]
        return list(accumulate(sizes[:-1], initial=0))

    @cached_property
    def ids(self) -> frozenset[str]:
        """The short id-like fields of results: "2026-0311", "3b"."""
        like = (p for p in self.strings if len(p.value) <= MAX_TITLE and _ID.fullmatch(p.value))
        return frozenset(fold(p.value) for p in like if p.path.startswith(RESULT))

    @cached_property
    def shapes(self) -> frozenset[str]:
        """The shapes of words with a digit: "a-9" for "inv-2031"."""
        return frozenset(
            shape_of(w.strip(".,;:!?()")) for w in self.text.split() if _DIGIT.search(w)
        )

    @cached_property
    def phrases(self) -> dict[str, list[Place]]:
        """The short fields of results by folded text, with `_` as space."""
        found: dict[str, list[Place]] = {}
        for place in self.strings:
            short = 2 < len(place.value) <= MAX_PHRASE and _LETTER.search(place.value)
            if short and place.path.startswith(RESULT):
                found.setdefault(fold(place.value).replace("_", " "), []).append(place)
        return found

    @cached_property
    def phrase_sizes(self) -> dict[str, list[int]]:
        """The lengths of phrases by first word, longest first."""
        found: dict[str, set[int]] = {}
        for phrase in self.phrases:
            if first := _FIRST.match(phrase):
                found.setdefault(first.group(), set()).add(len(phrase))
        return {first: sorted(sizes, reverse=True) for first, sizes in found.items()}

    @cached_property
    def words(self) -> Words:
        """The words of the text."""
        return Words(self)

    def is_row(self, owner: Owner) -> bool:
        """Whether an owner is one record among several: a row, or a repeated call."""
        return len(owner) > 2 or self._calls_of[owner[:1]] > 1

    def column(self, table: Owner, key: str) -> list[Place]:
        """The fields with a key in all rows of a list."""
        return self._columns.get((table, key), [])

    def same_value(self, place: Place) -> list[Place]:
        """The fields of the column with the same value."""
        column = place.owner[:-1], place.key
        if column not in self._by_value:
            values: dict[Any, list[Place]] = {}
            for one in self.column(*column):
                values.setdefault(one.value, []).append(one)
            self._by_value[column] = values
        return self._by_value[column].get(place.value, [])

    def rows_of(self, table: Owner) -> int:
        """The number of rows of a list."""
        return len(self._columns.get((table, ""), ()))

    @cached_property
    def _columns(self) -> dict[tuple[Owner, str], list[Place]]:
        """The fields by (list, key); under the empty key one field of each row."""
        found: dict[tuple[Owner, str], list[Place]] = {}
        rows: dict[Owner, Place] = {}
        for place in (*self.strings, *self.figures):
            rows.setdefault(place.owner, place)
            found.setdefault((place.owner[:-1], place.key), []).append(place)
        for place in rows.values():
            found.setdefault((place.owner[:-1], ""), []).append(place)
        return found

    def fields(self) -> list[Place]:
        """The fields of results: texts, figures and flags."""
        return [p for p in (*self.strings, *self.figures, *self.flags) if p.owner]

    @cached_property
    def lists(self) -> list[Rows]:
        """The lists and maps of rows of results."""
        return [r for r in self.rows if r.path.startswith("data")]

    def cached(self, name: str, make: Callable[[], T]) -> T:
        """The cached result of `make` under a name."""
        if name not in self._cache:
            self._cache[name] = make()
        return cast("T", self._cache[name])
