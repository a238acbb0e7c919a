"""Aggregates of lists, computed by the kernel over all rows, so that no model counts. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from typing import Any, Final

from ..language import amount_in, currencies_in, key_roles, title_keys
from ..text import cut, dumps, more_of, one_line

MAX_VALUES: Final = 8
"""Maximum distinct values of a column that are counted."""
SAMPLE: Final = 200
"""Rows sampled to see whether a column has few distinct values."""
MAX_TEXT: Final = 400
"""Characters of one list's aggregates."""
MAX_CELLS: Final = 100_000
"""Of larger lists only the rows are counted."""
MAX_VALUE: Final = 40
"""Maximum characters of a counted value, and of a row's title."""
MAX_DEPTH: Final = 6

DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d.*)?\Z")

Cell = str | bool
Row = Mapping[str, Any]
Mask = Callable[[str, Row], str]
"""Returns the masked value of a row in a column."""
_PLAIN: Final = re.compile(r"[\w.@<>/-]+")


@dataclass(frozen=True, slots=True)
class Span:
    """A numeric column: count, sum, minimum, maximum, and the currency if known."""

    count: int
    total: float
    low: float
    high: float
    currency: str = ""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The aggregates of one list of records."""

    path: str
    rows: int
    counts: Mapping[str, Mapping[Cell, int]] = field(default_factory=dict)
    spans: Mapping[str, Span] = field(default_factory=dict)
    dates: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    examples: Mapping[tuple[str, Cell], Row] = field(default_factory=dict)
    """A sample row of each counted value, for masking."""
    ends: Mapping[str, tuple[Row | None, Row | None]] = field(default_factory=dict)
    """The rows with the minimum and maximum of a column; None if several have it."""
    title: str = ""
    """The key of the rows' titles, or empty."""

    @property
    def name(self) -> str:
        """The last key of its path: `tasks`."""
        return self.path.rpartition(".")[2].partition("[")[0]

    def text(self, mask: Mask = lambda key, row: str(row[key])) -> str:
        """`data.tasks: rows=36; status: open 20, done 16; hours: sum 120, min 1 of Milk, max 8`,
        with as many columns, then row titles, as fit."""
        texts = [f"{self.path}: rows={self.rows}"]
        room = MAX_TEXT - len(texts[0])
        parts = []
        for plain, longer_part in self._parts(mask):
            if len(plain) + 2 <= room:
                parts.append((plain, longer_part))
                room -= len(plain) + 2
        for plain, longer_part in parts:
            longer = len(longer_part) - len(plain)
            texts.append(longer_part if longer <= room else plain)
            room -= longer if longer <= room else 0
        return "; ".join(texts)

    def _parts(self, mask: Mask) -> Iterator[tuple[str, str]]:
        """The text of each column, without and with row titles."""
        for key, counts in self.counts.items():
            rows = self.examples
            values = (f"{_value(key, v, rows[key, v], mask)} {n}" for v, n in counts.items())
            yield (told := f"{key}: " + ", ".join(values)), told
        for key, span in self.spans.items():
            unit = f" {span.currency}" if span.currency else ""
            total, low, high = (f"{_figure(v)}{unit}" for v in (span.total, span.low, span.high))
            yield self._with_ends(key, f"{key}: sum {total}, min {low}", f", max {high}", mask)
        for key, (first, last) in self.dates.items():
            yield self._with_ends(key, f"{key}: first {first}", f", last {last}", mask)

    def _with_ends(self, key: str, low: str, high: str, mask: Mask) -> tuple[str, str]:
        ends = self.ends.get(key, (None, None))
        titles = (
            f" of {self._title(row, mask)}" if row and row.get(self.title) else "" for row in ends
        )
        return low + high, "".join(chain(*zip((low, high), titles, strict=True)))

    def _title(self, row: Row, mask: Mask) -> str:
        return _quoted(cut(one_line(mask(self.title, row)), MAX_VALUE))


def aggregates(data: Any) -> tuple[Aggregate, ...]:
    """The aggregates of each list of records in a result, outermost first; of a truncated list only
    its size. Linear."""
    found: list[Aggregate] = []
    for path, rows, holder in _lists(data, "data", None, 0):
        found.append(_aggregate(path, rows, holder))
    return tuple(found)


def _lists(
    value: Any, path: str, holder: Mapping[str, Any] | None, depth: int
) -> Iterator[tuple[str, Sequence[Any], Mapping[str, Any] | None]]:
    """The lists of records in a value as (path, rows, parent object); not those inside rows."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _lists(item, f"{path}.{key}", value, depth + 1)
    elif isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
        yield path, value, holder


def _aggregate(path: str, rows: Sequence[Any], holder: Mapping[str, Any] | None) -> Aggregate:
    omission = more_of(rows)
    is_plain = set(map(type, rows)) == {dict}  # one pass: a list may have thousands of rows
    records = rows if is_plain else [row for row in rows if isinstance(row, Mapping)]
    size = len(records) + (omission.omitted if omission else 0)
    if omission or len(records) < 2 or len(records) * len(records[0]) > MAX_CELLS:
        return Aggregate(path, size)
    counts: dict[str, Mapping[Cell, int]] = {}
    spans: dict[str, Span] = {}
    amounts: dict[str, list[float]] = {}
    dates: dict[str, tuple[str, str]] = {}
    columns = {k: own for k, own in _columns(records).items() if not str(k).startswith("_")}
    for key, column in columns.items():
        # before the states: a few prices written as texts would pass for some
        if told := _text_amounts(column):
            amounts[key], spans[key] = told
        elif counted := _value_counts(column, size):
            counts[key] = counted
        elif span := _span(key, columns, holder):
            spans[key] = span
        elif dated := _date_range(column):
            dates[key] = dated
    title = next((key for key in title_keys() if key in columns), "")
    values = {**columns, **amounts}
    ends = {k: _ends(records, k, values[k]) for k in (*spans, *dates) if title}
    # reversed: of each value the first row stays
    rows = records[::-1]
    examples = {(key, row[key]): row for key in counts for row in rows if key in row}
    return Aggregate(path, size, counts, spans, dates, examples, ends, title)


def _ends(records: Sequence[Row], key: str, values: Sequence[Any]) -> tuple[Row | None, Row | None]:
    """The rows with the minimum and maximum of a column; None if not unique."""
    rows = [row for row in records if row.get(key) is not None]
    ends = min(values), max(values)
    low, high = (rows[values.index(v)] if values.count(v) == 1 else None for v in ends)
    return low, high


def _columns(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of each key, without those that are null."""
    columns = {}
    for key in dict.fromkeys(chain.from_iterable(records)):  # no call a cell: lists may be long
        columns[key] = [row[key] for row in records if key in row and row[key] is not None]
    return {key: column for key, column in columns.items() if column}


def _value_counts(column: Sequence[Any], size: int) -> Mapping[Cell, int]:
    """The frequency of each value of a column of texts or booleans with few distinct ones, judged
    by a sample first; empty for other columns."""
    is_plain = set(map(type, column)) <= {bool, str}
    if not is_plain or len(set(column[:SAMPLE])) > MAX_VALUES:
        return {}
    counts = Counter(column)
    is_key = len(counts) == len(column) and size > 1
    # dates are told by the first and the last
    is_other = any(DATE.match(v) or len(v) > MAX_VALUE for v in counts if type(v) is str)
    return {} if len(counts) > MAX_VALUES or is_key or is_other else dict(counts.most_common())


def _span(
    key: str, columns: Mapping[str, Sequence[Any]], holder: Mapping[str, Any] | None
) -> Span | None:
    """The span of a numeric column; None for ids, mixed currencies and other types."""
    column = columns[key]
    if not set(map(type, column)) <= {int, float} or key_roles(key) & {"id", "paging"}:
        return None
    currency = ""
    if key_roles(key) & {"money", "minor"}:
        codes = _currencies(columns) or _currencies({k: [v] for k, v in (holder or {}).items()})
        if len(codes) > 1:
            return None
        # a sum of cents with a currency beside it would read as the amount
        currency = "" if "minor" in key_roles(key) else "".join(codes)
    return Span(len(column), round(sum(column), 6), min(column), max(column), currency)


def _text_amounts(column: Sequence[Any]) -> tuple[list[float], Span] | None:
    """Amounts and span of a column of texts that are amounts in one currency: "390,00 €"; None if
    any is ambiguous ("1.234 €")."""
    values: list[float] = []
    for text in column:
        amount = amount_in(text) if isinstance(text, str) else ()
        if len(amount) != 1:
            return None
        values += amount
    currencies = {currencies_in(text) for text in column}
    if len(currencies) > 1:
        return None
    total = round(sum(values), 6)
    return values, Span(len(values), total, min(values), max(values), *currencies.pop())


def _currencies(columns: Mapping[str, Sequence[Any]]) -> set[str]:
    """The currencies in columns named `currency`."""
    own = (column for key, column in columns.items() if "currency" in str(key).lower())
    codes = {v for column in own for v in column if isinstance(v, str) and len(v) == 3}
    return {next(iter(currencies_in(value)), value) for value in codes}


def _date_range(column: Sequence[Any]) -> tuple[str, str] | None:
    """The first and last date of a column of dates, or None."""
    if len(column) < 2 or set(map(type, column)) != {str} or not all(map(DATE.match, column)):
        return None
    first, last = min(column), max(column)
    with suppress(ValueError):
        days = [date.fromisoformat(day[:10]) for day in (first, last)]
        return (first, last) if days else None
    return None


def _value(key: str, value: Cell, row: Mapping[str, Any], mask: Mask) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _quoted(mask(key, row))


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else dumps(text)


def _figure(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
