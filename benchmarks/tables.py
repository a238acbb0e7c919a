"""Tables as the measures print them, each share with its numerator and denominator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
ALL = "all"


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as they need to be, the first flush left."""
    cells = [list(map(str, row)) for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in cells
    ]
    return "\n".join([title, *(f"  {line}" for line in lines)])


def grouped(
    title: str,
    results: Sequence[T],
    by: tuple[str, Callable[[T], str]],
    columns: Mapping[str, Callable[[list[T]], object]],
) -> str:
    """A row for each group of the results, in order of first appearance, and one for all; `by`
    names the groups, each column is a figure of a group. Empty where there are no results."""
    name, key = by
    names = dict.fromkeys(map(key, results))
    parts = [(group, [r for r in results if key(r) == group]) for group in names]
    if len(names) > 1:
        parts.append((ALL, list(results)))
    rows = [(group, *(column(part) for column in columns.values())) for group, part in parts]
    return table(title, (name, *columns), rows) if rows else ""


def shares(part: Sequence[T], is_counted: Callable[[T], object]) -> str:
    """How many of a group are counted: `3/97`."""
    return f"{sum(bool(is_counted(r)) for r in part)}/{len(part)}"


def means(part: Sequence[T], value: Callable[[T], int]) -> str:
    """The mean of a figure over a group, two decimals, with what was divided."""
    total = sum(map(value, part))
    return f"{total / max(1, len(part)):.2f} ({total}/{len(part)})"
