"""Aggregates: what people ask about a list, computed by the kernel over all of its rows, so that
no model has to count. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from ..language import currencies_in, key_roles
from ..text import dumps, more_of

FEW_VALUES: Final = 8
"""Different values up to which those of a column are counted."""
MAX_TEXT: Final = 400
"""Characters of one list's aggregates."""
MAX_CELLS: Final = 100_000
"""Cells of one result that are computed over; of a larger list only its rows are counted."""
LONGEST_VALUE: Final = 40
"""Characters of a value that is counted: longer ones are texts."""
DEEPEST: Final = 6

DATED: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d.*)?\Z")

Cell = str | bool
Mask = Callable[[str, Mapping[str, Any]], str]
"""Of a column and a row, the row's value there as a model may see it."""
_PLAIN: Final = re.compile(r"[\w.@<>/-]+")


@dataclass(frozen=True, slots=True)
class Span:
    """A numeric column: how many numbers it has, their sum, the lowest and the highest, and the
    currency where its list names one."""

    count: int
    total: float
    low: float
    high: float
    currency: str = ""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One list of records: where it lies, how many rows it has, and its columns."""

    path: str
    rows: int
    counts: Mapping[str, Mapping[Cell, int]] = field(default_factory=dict)
    spans: Mapping[str, Span] = field(default_factory=dict)
    dates: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    examples: Mapping[tuple[str, Cell], Mapping[str, Any]] = field(default_factory=dict)
    """A row of each value that is counted: what a value is, its row tells."""

    @property
    def name(self) -> str:
        """The last key of its path: `tasks`."""
        return self.path.rpartition(".")[2].partition("[")[0]

    def text(self, mask: Mask = lambda key, row: str(row[key])) -> str:
        """`data.tasks: rows=36; status: open 20, done 16; hours: sum 120, min 1, max 8`, as many
        columns as have room."""
        told = f"{self.path}: rows={self.rows}"
        for part in self._parts(mask):
            if len(told) + len(part) + 2 <= MAX_TEXT:
                told += f"; {part}"
        return told

    def _parts(self, mask: Mask) -> Iterator[str]:
        for key, counts in self.counts.items():
            rows = self.examples
            values = (f"{_value(key, v, rows[key, v], mask)} {n}" for v, n in counts.items())
            yield f"{key}: " + ", ".join(values)
        for key, span in self.spans.items():
            unit = f" {span.currency}" if span.currency else ""
            figures = ("sum", span.total), ("min", span.low), ("max", span.high)
            yield f"{key}: " + ", ".join(f"{n} {_figure(v)}{unit}" for n, v in figures)
        for key, (first, last) in self.dates.items():
            yield f"{key}: first {first}, last {last}"


def aggregates(data: Any) -> tuple[Aggregate, ...]:
    """The aggregates of each list of records in a result, outermost first; of a list that was cut,
    only what it says of its own size. Linear."""
    found: list[Aggregate] = []
    for path, rows, holder in _lists(data, "data", None, 0):
        found.append(_aggregate(path, rows, holder))
    return tuple(found)


def _lists(
    value: Any, path: str, holder: Mapping[str, Any] | None, depth: int
) -> Iterator[tuple[str, Sequence[Any], Mapping[str, Any] | None]]:
    """The lists of records of a value with their paths and the objects that hold them; not those
    inside rows, which are many."""
    if depth > DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _lists(item, f"{path}.{key}", value, depth + 1)
    elif isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
        yield path, value, holder


def _aggregate(path: str, rows: Sequence[Any], holder: Mapping[str, Any] | None) -> Aggregate:
    said = more_of(rows)
    records = [row for row in rows if isinstance(row, Mapping)]
    size = len(records) + (said.gone if said else 0)
    if said or len(records) < 2 or len(records) * len(records[0]) > MAX_CELLS:
        return Aggregate(path, size)
    counts: dict[str, Mapping[Cell, int]] = {}
    spans: dict[str, Span] = {}
    dates: dict[str, tuple[str, str]] = {}
    columns = {k: own for k, own in _columns(records).items() if not str(k).startswith("_")}
    for key, column in columns.items():
        if counted := _counted(column, size):
            counts[key] = counted
        elif span := _span(key, column, records, holder):
            spans[key] = span
        elif dated := _dated(column):
            dates[key] = dated
    return Aggregate(path, size, counts, spans, dates, _examples(records, counts))


def _examples(
    records: Sequence[Mapping[str, Any]], keys: Collection[str]
) -> dict[tuple[str, Cell], Mapping[str, Any]]:
    """The first row of each value of these columns."""
    found: dict[tuple[str, Cell], Mapping[str, Any]] = {}
    for row in records:
        for key in keys:
            if (value := row.get(key)) is not None:
                found.setdefault((key, value), row)
    return found


def _columns(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for row in records:
        for key, value in row.items():
            if value is not None:
                columns.setdefault(key, []).append(value)
    return columns


def _counted(column: Sequence[Any], size: int) -> Mapping[Cell, int]:
    """How often each value of a column of few values stands there; empty for any other column, and
    for one whose values all differ."""
    if not all(type(v) is bool or (type(v) is str and len(v) <= LONGEST_VALUE) for v in column):
        return {}
    counted = Counter(column)
    if len(counted) > FEW_VALUES or (len(counted) == len(column) and size > 1):
        return {}
    return {} if any(DATED.match(str(v)) for v in counted) else dict(counted.most_common())


def _span(
    key: str,
    column: Sequence[Any],
    records: Sequence[Mapping[str, Any]],
    holder: Mapping[str, Any] | None,
) -> Span | None:
    """The sum, the lowest and the highest of a column of numbers; none of ids, of amounts in
    several currencies, or of a column with anything else in it."""
    if not all(type(v) in (int, float) for v in column) or key_roles(key) & {"id", "paging"}:
        return None
    currency = ""
    if key_roles(key) & {"money", "minor"}:
        named = {_currency(row) for row in records} - {""} or {_currency(holder or {})}
        if len(named) > 1:
            return None
        currency = "" if "minor" in key_roles(key) else named.pop()
    return Span(len(column), round(sum(column), 6), min(column), max(column), currency)


def _currency(record: Mapping[str, Any]) -> str:
    """The currency that a record names in a field of its own."""
    for key, value in record.items():
        if isinstance(value, str) and len(value) == 3 and "currency" in str(key).lower():
            return next(iter(currencies_in(value)), value)
    return ""


def _dated(column: Sequence[Any]) -> tuple[str, str] | None:
    """The first and the last of a column of dates."""
    found = [v for v in column if isinstance(v, str) and _is_date(v)]
    return (min(found), max(found)) if len(found) == len(column) > 1 else None


def _is_date(text: str) -> bool:
    match = DATED.match(text)
    try:
        return bool(match and date(int(match[1]), int(match[2]), int(match[3])))
    except ValueError:
        return False


def _value(key: str, value: Cell, row: Mapping[str, Any], mask: Mask) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = mask(key, row)
    return text if _PLAIN.fullmatch(text) else dumps(text)


def _figure(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
