"""Derives figures by the arithmetic that people do.

Candidates are sizes, sums and averages of groups of rows, and pairs of figures of which the reply
or the message has one. Kinds must agree: no sum of hours and prices. If a group of candidates is so
dense that any value would match by chance, it does not count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, combinations, islice, product

from ..language.numerals import normalise
from .groups import (
    ANY,
    BIG,
    MAX_TABLES,
    QUOTIENT,
    SIZE,
    Figure,
    Table,
    chains,
    combine,
    figure,
    is_usable,
    multiples,
    tables,
)
from .index import Index
from .places import EPSILON, MESSAGE, Number, Owner, Place

MAX_SAID, MAX_SEEN = 16, 40
"""Maximum figures of reply and message, and of other data, that are paired."""
MAX_CHANCE, WINDOW, MAX_ALIKE = 0.2, 0.1, 1000
"""Maximum expected chance hits for a derivation; relative window of similar size for estimating
them, and maximum figures in it."""
IN_LINE = 6
"""Maximum figures of a line for chains of three."""
PORTIONS = range(2, 13)
"""Numbers of people, nights or pieces."""
MAX_TIMES = 5
"""Maximum numbers of the message that say how many times an amount counts."""
REPLY = "reply"
"""The path of figures from the reply."""


class Layer:
    """Candidate figures sorted by size; `is_sure`: chance hits are not considered."""

    def __init__(self, figures: Iterable[Figure], *, is_sure: bool = False) -> None:
        self._is_sure = is_sure
        own = [f for f in figures if -BIG < f.value < BIG]
        self._figures = sorted(own, key=_size)
        self._sizes = [abs(f.value) for f in self._figures]

    def formula(self, value: Number, step: float, kinds: Sequence[str]) -> str:
        """The formula of a candidate equal to `value` within `step`, or empty if there is none or
        it is likely by chance."""
        found = self._near(value, step / 2, kinds, exact=step <= 1)
        likely = found and not self._is_sure and self._odds(value, step, kinds) > MAX_CHANCE
        return "" if likely else found

    def _near(self, value: float, slack: float, kinds: Sequence[str], *, exact: bool) -> str:
        """The formula of the first candidate that rounds or truncates to `value`; `exact`: whole
        candidates must be equal."""
        first = bisect_left(self._sizes, value - slack - EPSILON)
        # a cut figure lies up to a whole step below what it is cut from
        last = bisect_right(self._sizes, value + (slack if exact else 2 * slack) + EPSILON)
        for one in self._figures[first:last]:
            size = _size(one)
            whole = exact and size == int(size)
            off = (whole or one.kind == QUOTIENT) and abs(size - value) >= EPSILON
            if (not kinds or one.kind in kinds) and not off:
                return one.formula
        return ""

    def _odds(self, value: Number, step: float, kinds: Sequence[str]) -> float:
        """The expected number of chance hits for a value of this size."""
        first, last = (bisect_left(self._sizes, value * (1 + off)) for off in (-WINDOW, WINDOW))
        alike = self._figures[first : min(last, first + MAX_ALIKE)]
        near = {_size(f) for f in alike if not kinds or f.kind in kinds}
        return len(near) * step / max(2 * WINDOW * value, step)


def _size(one: Figure) -> Number:
    return abs(one.value)


class Arithmetic:
    """Derivations from an index; `said` are the reply's figures, `named` its records in order."""

    def __init__(
        self,
        index: Index,
        said: Sequence[Figure],
        named: tuple[Owner, ...],
        lines: Sequence[Sequence[Figure]] = (),
    ) -> None:
        self._index, self._said, self._lines = index, said, lines
        self._order, self._named = named, frozenset(named)
        self._of_owners: dict[frozenset[Owner], list[tuple[str, Number]]] = {}

    def derive(self, value: Number, step: float, kind: str, *, is_minor: bool = False) -> str:
        """The formula of a derivation, or empty. `step` is the value of one in the last digit,
        `kind` the figure's kind if known; `is_minor`: it is an amount in minor units."""
        kinds = () if not kind else (kind, "") if is_minor else (kind, ANY, "", QUOTIENT)
        # where keys tell of this kind, a figure of which they tell nothing is none of it
        own = kinds[:2] if kind in self._kinds else kinds
        layers = self._layers(own, kinds, is_minor=is_minor)
        found = (layer.formula(abs(value), step, of) for layer, of in layers)
        return next(filter(None, found), "") or self._portion(value)

    def _layers(
        self, own: Sequence[str], kinds: Sequence[str], *, is_minor: bool
    ) -> Iterator[tuple[Layer, Sequence[str]]]:
        """The layers of candidates with their kinds, most reliable first; built lazily."""
        yield self._cached("sums", self._find_sums, is_sure=True), own
        yield (
            self._cached("group sums", lambda: (f for t in self._tables for f in t.group_sums())),
            own,
        )
        yield self._cached("groups", lambda: (f for t in self._tables for f in t.by_group())), own
        yield self._cached(f"named {hash(self._order)}", self._find_named_sums), own
        yield self._multiples, own
        if not is_minor:  # no reply tells hundredths
            yield self._pairs_in_sight, kinds
        yield self._by_line, kinds

    def of_records(
        self, owners: frozenset[Owner], value: Number, step: float, kinds: Sequence[str]
    ) -> bool:
        """Whether a value can be derived from these records, row by row or together, optionally of
        certain kinds."""
        if owners not in self._of_owners:
            self._of_owners[owners] = self._figures_of(owners)
        most = max(step, EPSILON)
        given = (one for kind, one in self._of_owners[owners] if not kinds or kind in kinds)
        return any(abs(abs(one) - abs(value)) < most for one in given)

    def _figures_of(self, owners: frozenset[Owner]) -> list[tuple[str, Number]]:
        made: list[tuple[str, Number]] = []
        for table in self._tables:
            mine = sorted({n for owner in owners for n in table.within.get(owner, ())})
            for key, (kind, column) in table.columns.items() if mine else ():
                own = [column[row] for row in mine if row in column]
                made += ((kind, one) for one in _of_column(own, key in table.numbers))
                made += ((kind, one * n / m) for one, (n, m) in product(own, self._portions))
        return made

    def _find_sums(self) -> Iterator[Figure]:
        """Fields, sizes of lists and groups, combinations within a row, and sums of columns."""
        yield from (figure(p) for p in self._index.figures if p.call >= 0)
        for listed in self._index.rows:
            yield Figure(listed.size, SIZE, f"count({listed.path})")
        for table in self._tables:
            for rows, label in table.groups.items():
                yield Figure(len(rows), SIZE, f"count({table.name} {label})")
            yield from (*table.derived(), *table.totals())

    @cached_property
    def _multiples(self) -> Layer:
        """Amounts of a record, each so many times, and sums of two of them: twelve months of a
        rate, two fares and a car."""
        told = sorted({p.value for p in self._told if p.value > 1})[:MAX_TIMES]
        amounts: dict[Owner, list[Figure]] = {}
        for place in self._index.figures:
            if place.call >= 0 and self._is_in_sight(place) and figure(place).kind == "money":
                amounts.setdefault(place.owner, []).append(figure(place))
        counts, few = {*told, *PORTIONS}, {*told, *range(1, MAX_TIMES)}
        return Layer(
            made
            for owner, own in islice(amounts.items(), MAX_SAID)
            for made in multiples(own[:IN_LINE], counts, few)
        )

    def _portion(self, value: Number) -> str:
        """The formula of a figure for the portions of the message: a recipe for six of one for
        four."""
        for n, m in self._portions:
            for place in self._index.numbers.get(normalise(value * m / n), ())[:MAX_SEEN]:
                if self._may_scale(place):
                    return f"{place.path} * {n} / {m}"
        return ""

    @cached_property
    def _portions(self) -> list[tuple[Number, int]]:
        """Pairs of portions: from the message, and from the records in sight."""
        told = {p.value for p in self._told}
        held = (p for p in self._index.figures if type(p.value) is int and self._may_scale(p))
        whole = {p.value for p in held}
        return [*product(told.intersection(PORTIONS), whole.intersection(PORTIONS))][:MAX_SAID]

    def _may_scale(self, place: Place) -> bool:
        # of a recipe that is told in another language no name is known
        return place.call >= 0 and (not self._named or self._is_near(place.owner))

    @cached_property
    def _told(self) -> list[Place]:
        return [p for p in self._index.figures if p.call == MESSAGE]

    def _find_named_sums(self) -> Iterator[Figure]:
        """Sums of columns over records that the reply names one after the other."""
        for table in self._tables[:MAX_TABLES]:
            rows = [table.rows[owner] for owner in self._order if owner in table.rows][:MAX_SAID]
            for key, column in table.numbers.items():
                for total in _totals([column.get(row, 0) for row in rows]):
                    yield Figure(total, table.kinds[key], f"sum({table.name}.{key} of those named)")

    def _cached(
        self, name: str, make: Callable[[], Iterator[Figure]], *, is_sure: bool = False
    ) -> Layer:
        """A layer that does not depend on the reply, cached in the index."""
        return self._index.cached(name, lambda: Layer(make(), is_sure=is_sure))

    @cached_property
    def _pairs_in_sight(self) -> Layer:
        """Combinations of two figures of which reply or message has one, or that are of the same
        field; sums within the reply."""
        # told, and so not by chance
        return Layer((*self._pairs(), *self._runs()), is_sure=True)

    @cached_property
    def _by_line(self) -> Layer:
        """Chains of three figures of one line of the reply, and sums of three of its amounts."""
        made = [made for line in self._lines for made in chains(line[:IN_LINE])]
        for line in self._lines:
            amounts = [one.value for one in line if one.kind == "money"][:IN_LINE]
            made += (Figure(sum(of), "money", "sum(reply)") for of in combinations(amounts, 3))
        return Layer(made, is_sure=True)

    def _pairs(self) -> Iterator[Figure]:
        told = {abs(p.value) for p in self._told}
        told |= {abs(one.value) for one in self._said}
        for one, other in combinations(self._sight, 2):
            if abs(one.value) in told or abs(other.value) in told or one.key == other.key != "":
                yield from combine(one, other)

    def _runs(self) -> Iterator[Figure]:
        for first in range(len(self._said)):
            kind = self._said[first].kind
            alike = [one.value for one in self._said[first:] if one.kind == kind]
            for count, total in enumerate(accumulate(alike), 1):  # "3, 4 and 5: 12 in all"
                yield Figure(total, kind, "sum(reply)")
                if total != int(total):  # "4.6 and 4.0: 4.3 on average"
                    yield Figure(total / count, kind, "average(reply)")

    @cached_property
    def _sight(self) -> list[Figure]:
        """The distinct figures of message, reply, data outside rows, and named records with their
        parents."""
        own = [p for p in self._index.figures if p.call >= 0 and self._is_in_sight(p)]
        seen = (*map(figure, self._told[:MAX_SAID]), *self._said, *map(figure, own[:MAX_SEEN]))
        # reversed: of equal ones the first is kept
        return list({(f.value, f.kind): f for f in reversed(seen)}.values())

    def _is_in_sight(self, place: Place) -> bool:
        if not (place.key or place.path == "data") or not is_usable(place):
            return False
        return self._is_near(place.owner)

    def _is_near(self, owner: Owner) -> bool:
        """Whether a record is named, or none of a list."""
        return not self._index.is_row(owner) or owner in self._named_owners

    @cached_property
    def _named_owners(self) -> set[Owner]:
        """The named records and their parents."""
        return {one[:end] for one in self._named for end in range(len(one) + 1)}

    @property
    def _kinds(self) -> set[str]:
        own = (p for p in self._index.figures if p.call >= 0 and p.key)
        return self._index.cached("kinds", lambda: {figure(p).kind for p in own})

    @cached_property
    def _tables(self) -> list[Table]:
        return self._index.cached("tables", lambda: tables(self._index))


def _totals(column: Sequence[Number]) -> Iterator[Number]:
    """The sums of consecutive figures from any start."""
    for first in range(len(column)):
        yield from islice(accumulate(column[first:]), 1, None)


def _of_column(own: Sequence[Number], is_field: bool) -> Iterator[Number]:
    """The sum, the average and the differences of some rows' figures, and the figures themselves or
    as percentages."""
    if own:
        yield from (sum(own), sum(own) / len(own))
    yield from (a - b for a, b in combinations(own[:MAX_SAID], 2))
    yield from ((100 if is_field else 1) * one for one in own)
