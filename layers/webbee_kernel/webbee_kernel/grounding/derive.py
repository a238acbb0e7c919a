"""What follows from shown values: counts, sums, differences, products, averages, shares, changes.

Only plain derivations: of whole columns, of groups of rows, of two values that the reply itself
shows. Each has a formula, so the reader can see where a figure comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations

from .. import language
from .arithmetic import Arithmetic, gives, nearly, rounds_to
from .index import Index
from .places import Number, Place, Rows, key_words, settle

UNITS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "millisecond": ("time", (0.001,)),
    "second": ("time", (1,)),
    "minute": ("time", (60,)),
    "hour": ("time", (3600,)),
    "day": ("time", (86_400,)),
    "week": ("time", (604_800,)),
    "byte": ("size", (1,)),
    "kilobyte": ("size", (1000, 1024)),
    "megabyte": ("size", (1000**2, 1024**2)),
    "gigabyte": ("size", (1000**3, 1024**3)),
    "terabyte": ("size", (1000**4, 1024**4)),
    "gram": ("mass", (1,)),
    "kilogram": ("mass", (1000,)),
    "metre": ("length", (1,)),
    "kilometre": ("length", (1000,)),
}
"""Seconds, bytes, grams and metres in a unit."""
SHORT = {"s": "second", "ms": "millisecond", "g": "gram", "m": "metre"}
"""Units as keys shorten them: `duration_s`."""
NOTHING: tuple[object, ...] = (None, "", 0, [], {})
GROUPS = 12
"""Groups a column may fall into; a field with more tells rows apart and counts nothing."""
SHOWN = 12
"""Values of a reply that are combined in pairs."""
LONGEST = 400


@dataclass(slots=True)
class Derived:
    """Figures that follow from an index and from `shown`, the values that the reply shows."""

    index: Index
    now: datetime | None = None
    shown: list[Number] = field(default_factory=list)
    pairs: Arithmetic = field(init=False)
    _made: dict[Number, str] | None = None
    _means: dict[Number, str] = field(default_factory=dict)
    _shares: list[tuple[Number, Number, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pairs = Arithmetic(self.index)

    def formula(self, value: Number, decimals: int, *, means: bool = False) -> str:
        """How a figure follows, empty where it does not; `means`: also as an average of rows."""
        made = self._whole()
        if settle(value) in made:
            return made[settle(value)]
        averages = self._means if means else {}
        for exact, formula in (*averages.items(), *made.items(), *self._pairs()):
            if exact == settle(value) or (
                isinstance(exact, float) and rounds_to(exact, value, decimals)
            ):
                return formula
        return ""

    def percents(self, told: Iterable[Number]) -> None:
        """Take in the percentages that the reply tells of other figures."""
        self.pairs.percents = list(told)

    def share(self, value: Number, decimals: int, *, rough: bool = False) -> str:
        """How a percentage is a share, or a change."""
        self._whole()
        shares = self._percentages()
        found = (f for f, exact in shares if gives(exact, value, decimals, rough=rough))
        return next(found, "") or self.pairs.share(value, decimals, rough=rough)

    def _whole(self) -> dict[Number, str]:
        if self._made is None:
            self._made = {}
            for rows in self.index.tables:
                self._rows(rows, self._made)
            for path, values in self.index.tallies:
                self._column(path, values, self._made)
            sums = ((n, f) for n, f in self._made.items() if f.startswith("sum(") and " " not in f)
            self.pairs.totals = list(sums)
        return self._made

    def _rows(self, rows: Rows, made: dict[Number, str]) -> None:
        made.setdefault(rows.size, f"count({rows.path})")
        if rows.cut:  # what these rows add up to, all of them do not
            return
        items = [row for row in rows.items[:LONGEST] if isinstance(row, Mapping)]
        columns = dict.fromkeys(key for row in items[:50] for key in row)
        numeric = {k: c for k in columns if len(c := _numbers(k, items)) > 1}
        for key, column in numeric.items():
            self._column(f"{rows.path}[].{key}", list(column.values()), made)
        for key in columns:
            with_it = [n for n, row in enumerate(items) if row.get(key) not in NOTHING]
            for value, members in [*groups(key, items), ("*", with_it)]:
                where = f"where {key} = {value}"
                made.setdefault(len(members), f"count({rows.path} {where})")
                self._shares.append((len(members), len(items), f"{key} = {value}"))
                self._parts(members, numeric, f"{rows.path}[]", where, made)

    def _parts(
        self,
        members: Sequence[int],
        numeric: Mapping[str, dict[int, Number]],
        path: str,
        where: str,
        made: dict[Number, str],
    ) -> None:
        """The sums and averages of the columns over a group of rows."""
        for key, column in numeric.items():
            part = [column[i] for i in members if i in column]
            if 1 < len(part) < len(column):
                made.setdefault(settle(sum(part)), f"sum({path}.{key} {where})")
                mean = settle(sum(part) / len(part))
                self._means.setdefault(mean, f"average({key} {where})")

    def _column(self, path: str, values: list[Number], made: dict[Number, str]) -> None:
        total = settle(sum(values))
        made.setdefault(total, f"sum({path})")
        self._means.setdefault(settle(sum(values) / len(values)), f"average({path})")
        self._shares += [(value, total, path) for value in values]

    def near(self, value: Number, *, means: bool = False) -> str:
        """What a rounded figure stands for among sums and averages."""
        made = {**self._whole(), **(self._means if means else {})}
        return next((formula for exact, formula in made.items() if nearly(exact, value)), "")

    def measured(self, value: Number, decimals: int, unit: str, *, rough: bool = False) -> str:
        """How a figure with a unit is a length of time or a size of the data in that unit."""
        size = UNITS.get(unit)
        if size is None:
            return ""
        kind, ones = size
        for base, path in self._measures(kind):
            for one in ones:
                rest = (
                    base % (one * (60 if kind == "time" and one < 3600 else 24))
                    if kind == "time"
                    else base
                )
                if any(
                    gives(float(b / one), value, decimals, rough=rough) or b // one == value
                    for b in (base, rest)
                ):
                    return f"{path} in {unit}s"
        return ""

    def weighed(self, value: Number, decimals: int, unit: str, *, rough: bool) -> list[Place]:
        """The fields that give a weight or a distance in another unit."""
        kind, ones = UNITS.get(unit, ("", ()))
        if kind not in ("mass", "length"):
            return []
        known = language.of("en").words.units
        found = []
        for place in self.index.figures:
            for word in key_words(place.key):
                own, sizes = UNITS.get(known.get(word, SHORT.get(word, word)), ("", (0,)))
                exact = float(place.value * sizes[0] / ones[0]) if own == kind else None
                if exact is not None and gives(exact, value, decimals, rough=rough):
                    found.append(place)
        return found

    def _measures(self, kind: str) -> Iterator[tuple[float, str]]:
        known = language.of("en").words.units
        for place in self.index.figures:
            for word in (*key_words(place.key), "byte" if kind == "size" else ""):
                size = UNITS.get(known.get(word, SHORT.get(word, word)))
                if size and size[0] == kind:
                    yield place.value * size[1][0], place.path
        if kind == "time":
            dated = self.index.moments()
            whole = [(self.now, "now")] if self.now else []
            whole += [at for owner, held in dated.items() if len(owner) < 3 for at in held[:4]]
            for moments in dated.values():
                for (a, one), (b, other) in combinations(dict.fromkeys(moments[:8] + whole), 2):
                    yield abs((a - b).total_seconds()), f"{one} - {other}"

    def _pairs(self) -> Iterator[tuple[Number, str]]:
        shown = list(dict.fromkeys(self.shown))[:SHOWN]
        for a, b in combinations(shown, 2):
            yield settle(a + b), f"{a} + {b}"
            yield settle(abs(a - b)), f"{max(a, b)} - {min(a, b)}"
            if abs(a * b) < 1e12:
                yield settle(a * b), f"{a} * {b}"
            if a and b:
                yield float(max(a, b) / min(a, b)), f"{max(a, b)} / {min(a, b)}"
        for first, last in combinations(range(len(shown) + 1), 2):
            if last - first > 2:
                run = shown[first:last]
                yield settle(sum(run)), " + ".join(map(str, run))
        if len(shown) > 2:
            yield float(sum(shown) / len(shown)), f"average({', '.join(map(str, shown))})"

    def _percentages(self) -> Iterator[tuple[str, float]]:
        pairs = [
            (a, b, f"{a} / {b}")
            for one in combinations(self.shown[:SHOWN], 2)
            for a, b in (one, one[::-1])
        ]
        for part, whole, _name in (*self._shares, *pairs):
            if whole:
                yield f"100 * {part} / {whole}", abs(100 * part / whole)
                yield f"100 * ({part} - {whole}) / {whole}", abs(100 * (part - whole) / whole)


def _numbers(key: str, items: Sequence[Mapping[str, object]]) -> dict[int, Number]:
    if language.key_roles(key) & {"id", "rank"}:
        return {}
    scale = 100 if "minor" in language.key_roles(key) else 1
    return {
        i: settle(value / scale)
        for i, row in enumerate(items)
        if isinstance(value := row.get(key), int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e12
    }


def groups(key: str, items: Sequence[Mapping[str, object]]) -> list[tuple[object, list[int]]]:
    """The rows by the value of a field, where it sorts them into a few groups."""
    found: dict[object, list[int]] = {}
    for position, row in enumerate(items):
        value = row.get(key)
        if isinstance(value, str):
            value = value[:10] if value[4:5] == "-" and value[7:8] == "-" else value
        elif value is not None and not isinstance(value, bool | int | float):
            return []
        found.setdefault(value, []).append(position)
        if len(found) > GROUPS:
            return []
    return list(found.items()) if len(found) < len(items) or len(items) < 3 else []
