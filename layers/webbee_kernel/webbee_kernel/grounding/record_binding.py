"""Binds values to records: a value next to the label of a record must be that record's.

A *label* is a text of a column of titles, names or ids that few rows share. Other values are bound
to the labels of their clause, else to the last ones before. Adjacent labels ("Ann and Bob have 5
and 7") count as one; their values may be of any of them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter

from .index import Index
from .places import Owner, Place, conflict
from .reading import Claim, Reading, has_any

TEXTUAL = frozenset(
    ("quote", "email", "url", "code", "file", "hash", "phone", "field", "name", "placeholder")
)
"""Kinds of values that are text."""
DAY_KINDS = frozenset(("date", "moment", "month", "time"))
"""Kinds of values that can label a record, such as a day of a series."""
MAX_VALUES, MAX_LABELS = 80, 12
"""Maximum values considered together; maximum adjacent labels for a value."""
MAX_BESIDE = 6
"""Maximum values before and behind another one that may explain it."""
MAX_SHARED = 12
"""Values shared by more rows do not identify one."""
MIN_FIELDS = 3
"""Minimum fields of a record for another record's label to be a wrong name."""
_TALLY = re.compile(r"\)[*_]*:|\s*[\u2013\u2014-]\s")
_CUT = re.compile(r"[,;:()]\s|\n|\s[/\u2013\u2014-]\s|\|")


Misplaced = tuple[Claim, str, frozenset[Owner]]
"""A claim, the value of the record it is bound to, and that record."""


# compared by identity: two values of a reply may read the same
@dataclass(slots=True, eq=False)
class Value:
    """A value of the reply found in rows. `is_text`: a name, title or id; `is_label`: it identifies
    its record; `keys` are its possible fields."""

    claim: Claim
    places: Sequence[Place]
    is_text: bool
    is_label: bool
    rows: frozenset[Owner] = field(init=False)
    keys: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = frozenset([place.owner for place in self.places])
        self.keys = frozenset([place.key for place in self.places])

    @property
    def tables(self) -> set[Owner]:
        """The lists of its rows."""
        return {row[:-1] for row in self.rows}


class Bound:
    """The values of a reply that belong to records, by offset."""

    def __init__(self, values: Iterable[Value]) -> None:
        self._values = sorted(values, key=lambda one: one.claim.start)
        self._starts = [value.claim.start for value in self._values]

    def between(self, start: int, end: int) -> list[Value]:
        """The values that begin between two offsets."""
        return self._values[bisect_left(self._starts, start) : bisect_left(self._starts, end)]


def fields(places: Sequence[Place]) -> Sequence[Place]:
    """The fields that are a figure themselves, rather than texts containing it."""
    # 12 as a field of its own, and not the 12 in "12 Main St"
    exact = [p for p in places if not isinstance(p.value, str)]
    told = all(p.owner or p.path == "summary" for p in places)
    return exact if exact and told else places


def bind(index: Index, told: Sequence[tuple[Claim, Sequence[Place]]]) -> Iterator[Value]:
    """The values found only in rows."""
    for claim, places in told:
        is_bound = claim.kind != "ordinal" and bool(places)  # "on the 24th" is of no one record
        if is_bound and all(map(index.is_row, map(attrgetter("owner"), places))):
            # an id of digits, kept as a text
            is_code = claim.token.isdigit() and places[0].value == claim.token
            is_text = claim.kind in TEXTUAL or is_code
            # "shopping" of `category: SHOPPING`
            is_state = claim.token.islower() and str(places[0].value).isupper()
            # a series is told by its days
            is_day = claim.kind in DAY_KINDS and _is_head(index, places[0])
            yield Value(claim, places, is_text, is_day or (is_text and not is_state))


def _is_head(index: Index, place: Place) -> bool:
    """Whether a field is the first text of its record."""
    heads = index.cached("heads", lambda: {p.owner: p.key for p in reversed(index.strings)})
    return heads.get(place.owner) == place.key


def is_count(text: str, claim: Claim) -> bool:
    """Whether a number is in words, or a count in brackets: "Failed (1):"."""
    tally = text[claim.start - 1 : claim.start] == "(" and _TALLY.match(text, claim.end)
    # an id may stand in brackets, too
    short = len(claim.token) <= 2  # longer ones are ids
    return claim.kind == "number" and bool(claim.mention.is_spelled or (tally and short))


def wrong_record(reading: Reading, index: Index, values: Bound) -> Iterator[Misplaced]:
    """The values that belong to another record than their label's, each with that record's value
    (`amount: 120.5`, or empty)."""
    for inside in filter(_labels, _by_sentence(reading, values)):
        runs, segments = _runs(inside), _segments(reading, inside)
        for place, value in enumerate(inside):
            # the last of a long row of labels
            near = _labels_for(reading, place, inside, runs, segments)[-MAX_LABELS:]
            beside = inside[max(0, place - MAX_BESIDE) : place + MAX_BESIDE + 1]
            if near and is_unrelated(value, near) and not _is_explained(value, near, beside):
                rows = frozenset[Owner]().union(*(label.rows for label in near))
                if holds := record_value(index, value, rows):  # else nothing better is known
                    yield value.claim, holds, rows


def outliers(reading: Reading, index: Index, values: Bound) -> Iterator[Misplaced]:
    """The single values of another record in a sentence that names one, whose other values all
    belong to that record, each with that record's value."""
    for inside in filter(_labels, _by_sentence(reading, values)):
        # what so many rows have tells nothing of one
        for value, owner, others in _outlier([v for v in inside if len(v.rows) <= MAX_SHARED]):
            holds = record_value(index, value, {owner})
            if (holds or value.is_label) and _is_outlier(value, others):
                yield value.claim, holds, frozenset([owner])


def _outlier(spoken: Sequence[Value]) -> Iterator[tuple[Value, Owner, Sequence[Value]]]:
    """The only value of another row than all others of a list, with that row and the others."""
    tables: dict[Owner, list[Value]] = {}
    for value in spoken:
        for table in value.tables:
            tables.setdefault(table, []).append(value)
    for table, mine in tables.items():
        owner, others = _topic(table, mine)
        apart = [v for v in mine if owner not in v.rows]
        if owner and len(apart) == 1 and apart[0].tables == {table}:
            yield apart[0], owner, others


def _topic(table: Owner, values: Sequence[Value]) -> tuple[Owner, Sequence[Value]]:
    """The only row of most values of a list, and these values; of two values the label's row. Empty
    for a tie."""
    others = _labels(values) if len(values) == 2 else values
    rows = Counter(row for v in others for row in v.rows if row[:-1] == table)
    (owner, most), (_, next_most) = [*rows.most_common(2), ((), 0), ((), 0)][:2]
    return (owner, [v for v in values if owner in v.rows]) if most > next_most else ((), ())


def _labels(values: Sequence[Value]) -> Sequence[Value]:
    return [v for v in values if v.is_label]


def _is_outlier(value: Value, others: Sequence[Value]) -> bool:
    """Whether a value is a wrong statement about the others' record rather than a comparison."""
    # "120 for the lamp": too little to judge by
    is_before = len(others) == 1 and value.claim.start < others[0].claim.start
    if is_before or any(_is_same_field(v, value) for v in others):
        return False
    if value.is_label:
        return _is_wrong_label(value, others)
    return not (value.is_text and value.claim.token.islower())


def _is_wrong_label(value: Value, others: Sequence[Value]) -> bool:
    """Whether a label is next to enough fields of another record."""
    alone = frozenset[str]().union(*(v.keys for v in others if len(v.rows) == 1))
    return len(alone) >= (2 if value.claim.kind == "code" else MIN_FIELDS)


def is_unrelated(value: Value, labels: Sequence[Value]) -> bool:
    """Whether a value cannot belong to any of the labels' records."""
    return all(conflict(value.rows, label.rows) for label in labels)


def _is_explained(value: Value, labels: Sequence[Value], beside: Sequence[Value]) -> bool:
    """Whether a value of the same field fits the labels: "3 A to 5 B", "120 to A, of that 40 in
    cash"."""
    return any(_is_same_field(v, value) and not is_unrelated(v, labels) for v in beside)


def _is_same_field(one: Value, other: Value) -> bool:
    """Whether two values may be of the same field, and not of one moment."""
    kinds = {one.claim.kind, other.claim.kind}
    return bool(one.keys & other.keys) and (len(kinds) == 1 or "time" not in kinds)


def _labels_for(
    reading: Reading,
    at: int,
    inside: Sequence[Value],
    runs: Sequence[Sequence[Value]],
    segments: Sequence[int],
) -> Sequence[Value]:
    """The labels that a value is bound to; empty if it starts a new statement."""
    value = inside[at]
    # a label of the value's own field stands beside it, not above it
    own = [r for r in runs if r[0].keys.isdisjoint(value.keys)]
    before = [r for r in own if r[0].claim.start < value.claim.start][-1:]
    near = {id(v) for v, segment in zip(inside, segments, strict=True) if segment == segments[at]}
    mine = [v for run in own if any(id(v) in near for v in run) for v in run]
    if value.is_label:
        return [v for v in mine if v.claim.start < value.claim.start]
    if mine or not before:
        return mine
    between = before[0][-1].claim.end, value.claim.start
    joined = has_any(reading.stems(*between), reading.language.words.and_)
    return () if joined else before[0]


def _runs(inside: Sequence[Value]) -> list[list[Value]]:
    """The labels of a sentence, adjacent ones of the same field grouped."""
    runs: list[list[Value]] = []
    last: Value | None = None
    for value in inside:
        if value.is_label and last and last.is_label and value.keys & last.keys:
            runs[-1].append(value)
        elif value.is_label:
            runs.append([value])
        last = value
    return runs


def _segments(reading: Reading, inside: Sequence[Value]) -> list[int]:
    """The segment number of each value; segments are separated by punctuation and words for
    "and"."""
    number, found = 0, []
    for before, value in zip([inside[0], *inside], inside, strict=False):
        between = before.claim.end, value.claim.start
        joined = has_any(reading.stems(*between), reading.language.words.and_)
        number += bool(joined or _CUT.search(reading.text, *between))
        found.append(number)
    return found


def record_value(index: Index, value: Value, owners: Collection[Owner]) -> str:
    """The value of these records in the value's field: `amount: 120.5`, or empty."""
    tables = sorted({owner[:-1] for owner in owners}, key=repr)
    for place in value.places:
        # the same field of the record that was meant, also in a list beside its own
        for other in chain.from_iterable(index.column(table, place.key) for table in tables):
            if other.owner in owners:
                return f"{other.key}: {other.value}"
    return ""


def _by_sentence(reading: Reading, values: Bound) -> Iterator[list[Value]]:
    """The values of each sentence, list item and table row."""
    for part in reading.sentences:
        yield values.between(part.start, part.end)[:MAX_VALUES]
