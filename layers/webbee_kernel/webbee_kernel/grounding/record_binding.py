"""A value belongs to its record: what is told beside the label of one record must be that record's.

A *label* is a text of a column of titles, names or ids, that few rows share. Each other value is
bound to the labels of its own clause, else to those told last before it. Labels in a row ("Ann and
Bob have 5 and 7") are one: what is told of them may be any one's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .. import language
from .index import Index
from .places import Owner, Place, conflict
from .reading import Claim, Reading, has_any

TEXTUAL = frozenset(
    ("quote", "email", "url", "code", "file", "hash", "phone", "field", "name", "placeholder")
)
"""Kinds of values that are text."""
DATE_KINDS = frozenset(("date", "moment", "month", "time"))
"""Kinds of values that name a record where its first text is one: a day of a series."""
PART_KINDS = frozenset(("time", "weekday"))
"""Kinds of values that are a part of a moment."""
MAX_VALUES, MAX_LABELS = 80, 12
"""Values that are read as one, and labels in a row that a value is held against."""
MAX_SHARED = 12
"""Rows up to which a value that they share tells of one."""
MIN_ROWS = 3
"""Rows that may all be in other states."""
MIN_FIELDS = 3
"""Fields of one record beside which the name of another is its name told wrongly."""
MIN_DISTINCT = 0.6
"""Share of a column's texts that differ where it holds names."""
_ITEM = re.compile(r"[ ]{0,3}(?:[-*+\u2022\u2013]|\d{1,3}[.)])\s")
_TALLY = re.compile(r"\)[*_]*:")
_CUT = re.compile(r"[,;:()]\s|\n|\s[/\u2013\u2014-]\s|\|")


Misplaced = tuple[Claim, str, frozenset[Owner]]
"""A value, what the record that it is told of holds instead, and that record."""


# compared by identity: two values of a reply may read the same
@dataclass(slots=True, eq=False)
class Value:
    """A value of the reply that rows show; `is_text` tells a name, title or id from a figure or a
    state, `is_label` what names its record, `keys` the fields that it may be."""

    claim: Claim
    places: Sequence[Place]
    is_text: bool
    is_label: bool
    rows: frozenset[Owner]
    keys: frozenset[str]

    @property
    def is_name(self) -> bool:
        """Whether it is a text, or names its record otherwise."""
        return self.is_text or self.is_label

    @property
    def tables(self) -> set[Owner]:
        """The lists that its rows are of."""
        return {row[:-1] for row in self.rows}

    def of(self, table: Owner) -> list[Owner]:
        """Its rows in a list."""
        return [row for row in self.rows if row[:-1] == table]


class Bound:
    """The values of a reply that belong to records, in order."""

    def __init__(self, values: Iterable[Value]) -> None:
        self._values = sorted(values, key=lambda one: one.claim.start)
        self._starts = [value.claim.start for value in self._values]

    def __iter__(self) -> Iterator[Value]:
        return iter(self._values)

    def between(self, start: int, end: int) -> list[Value]:
        """The values that begin between two offsets."""
        return self._values[bisect_left(self._starts, start) : bisect_left(self._starts, end)]


def fields(places: Sequence[Place]) -> Sequence[Place]:
    """The fields that are a figure, where others of rows are texts that have it somewhere."""
    # 12 as a field of its own, and not the 12 in "12 Main St"
    exact = [p for p in places if not isinstance(p.value, str)]
    told = all(p.owner or p.path == "summary" for p in places)
    return exact if exact and told else places


def bind(index: Index, told: Sequence[tuple[Claim, Sequence[Place]]]) -> Iterator[Value]:
    """The values that belong to records: shown by rows alone."""
    for claim, places in told:
        rows = frozenset([p.owner for p in places])
        keys = frozenset([p.key for p in places])
        if places and all(map(index.is_row, rows)):
            # an id of digits, kept as a text
            code = claim.token.isdigit() and places[0].value == claim.token
            apart = (claim.kind in TEXTUAL or code) and _is_naming(index, places[0])
            text = claim.kind in TEXTUAL or (code and apart)
            if claim.token.islower() and str(places[0].value).isupper():
                apart = False  # "shopping" of `category: SHOPPING`
            # a series is told by its days
            day = claim.kind in (*DATE_KINDS, "weekday") and _is_day_of(index, places[0])
            yield Value(claim, places, text, day or (text and apart), rows, keys)


def _is_naming(index: Index, place: Place) -> bool:
    """Whether a text names its record: its column holds another one in every row, or names that few
    rows share; a status in lower case is none."""

    def share() -> float:
        held = index.column(place)
        return len({str(p.value) for p in held}) / max(len({p.owner for p in held}), 1)

    telling = index.cached(f"telling {place.owner[:-1]} {place.key}", share)
    text, names = str(place.value), place.key in language.title_keys()
    names = names or "id" in language.key_roles(place.key) or not text.isalpha()
    # each row another one: the column names its rows, where it is no state of a few
    is_name = telling == 1 and (names or len(index.column(place)) > MIN_ROWS)
    return is_name or (telling > MIN_DISTINCT and not text.islower())


def _is_day_of(index: Index, place: Place) -> bool:
    """Whether a day is the first text of its record, and nothing else names that."""
    if not _is_head(index, place):
        return False
    texts = index.cached("texts", lambda: _by_owner(index))
    others = (p for p in texts[place.owner] if p.key != place.key and str(p.value)[:1].isupper())
    return not any(not str(p.value).isupper() and _is_naming(index, p) for p in others)


def _by_owner(index: Index) -> dict[Owner, list[Place]]:
    found: dict[Owner, list[Place]] = {}
    for place in index.strings:
        found.setdefault(place.owner, []).append(place)
    return found


def _is_head(index: Index, place: Place) -> bool:
    """Whether a field is the first text of its record, and names it."""
    heads = index.cached("heads", lambda: {p.owner: p.key for p in reversed(index.strings)})
    return heads.get(place.owner) == place.key and _is_naming(index, place)


def is_count(text: str, claim: Claim) -> bool:
    """Whether a number is written in words, and may count anything, or says in brackets how many
    follow: "Failed (1):"."""
    tally = text[claim.start - 1 : claim.start] == "(" and _TALLY.match(text, claim.end)
    # an id may stand in brackets, too
    short = len(claim.token) <= 2  # longer ones are ids
    return claim.kind == "number" and bool(claim.mention.is_spelled or (tally and short))


def wrong_record(reading: Reading, index: Index, values: Bound) -> Iterator[Misplaced]:
    """The values of another record than the label that they are bound to, each with what that
    record holds: `amount: 120.5`; empty where it has no such field."""
    for inside, head in _with_headings(reading, values):
        apart = ((v, _common(head)) for v in inside if head and is_unrelated(v, head))
        for value, rows in apart if head else _wrongly_bound(reading, inside):
            yield value.claim, record_value(index, value, rows), rows


def _wrongly_bound(
    reading: Reading, inside: Sequence[Value]
) -> Iterator[tuple[Value, frozenset[Owner]]]:
    """The values of a unit that are of other records than the labels beside them, with these."""
    if not any(v.is_label for v in inside):
        return
    runs, segments = _runs(inside), _segments(reading, inside)
    for place, value in enumerate(inside):
        # the last of a long row of labels
        near = _labels_for(reading, place, inside, runs, segments)[-MAX_LABELS:]
        if near and is_unrelated(value, near) and not _is_explained(value, near, inside):
            yield value, frozenset[Owner]().union(*(_rows_of(one, near) for one in near))


def outliers(reading: Reading, index: Index, values: Bound) -> Iterator[Misplaced]:
    """The values of a record that the reply names nowhere else, in a sentence whose other values
    are all of one that has another in that field; each with what that one holds."""
    # rows of which more is told are spoken of on purpose
    told = Counter(row for v in values if len(v.rows) == 1 for row in v.rows)
    before: Sequence[Value] = ()
    for inside in filter(None, _by_sentence(reading, values)):
        before = _with_previous(reading, index, before, inside)
        # what so many rows have tells nothing of one
        for value, owner, others in _outlier([v for v in before if len(v.rows) <= MAX_SHARED]):
            holds = record_value(index, value, {owner})
            is_odd = _is_alone(value, told) and (holds or value.is_label)
            opens = value is inside[0] or value not in inside
            if is_odd and _is_outlier(index, value, others, is_first=opens):
                yield value.claim, holds, frozenset([owner])


def _is_alone(value: Value, told: Mapping[Owner, int]) -> bool:
    """Whether nothing else is told of the rows that a value may be of."""
    return sum(told[row] for row in value.rows) <= (len(value.rows) == 1)


def _with_previous(
    reading: Reading, index: Index, before: Sequence[Value], inside: Sequence[Value]
) -> Sequence[Value]:
    """The values of a sentence, with those of the ones before on its line where it names no
    record."""
    if any(_is_name(index, v) for v in _labels(inside)):
        return inside
    near = before and "\n" not in reading.text[before[-1].claim.end : inside[0].claim.start]
    return [*before, *inside][-MAX_VALUES:] if near else inside


def _outlier(spoken: Sequence[Value]) -> Iterator[tuple[Value, Owner, Sequence[Value]]]:
    """The one value that is of another row than all others of a list, with the row and the
    others."""
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
    """The one row of a list that all values but one are of, of two the one that names a row, and
    these; none where two rows are."""
    others = _labels(values) if len(values) == 2 else values
    rows = Counter(row for v in others for row in v.of(table))
    most = max(rows.values(), default=0)
    owner, *other = [row for row, n in rows.items() if n == most] or [()]
    if other:
        return (), ()
    return owner, [v for v in values if owner in v.rows]


def _labels(values: Sequence[Value]) -> Sequence[Value]:
    return [v for v in values if v.is_label]


def _is_outlier(index: Index, value: Value, others: Sequence[Value], *, is_first: bool) -> bool:
    """Whether a value that others leave alone is told of their record, and is not compared with
    theirs. A text that names rows has to stand behind two values of the record, or beside more."""
    # "120 for the lamp": too little to judge by
    is_before = len(others) == 1 and value.claim.start < others[0].claim.start
    if is_before or any(_is_same_field(v, value) for v in others):
        return False
    if value.is_label:
        return _is_wrong_label(index, value, others, is_first=is_first)
    opens = is_first and others[-1].claim.start < value.claim.start  # of the sentence before
    return not (value.is_text and (opens or value.claim.token.islower()))


def _is_wrong_label(index: Index, value: Value, others: Sequence[Value], *, is_first: bool) -> bool:
    """Whether a text that names rows stands beside enough fields of another record."""
    sure = value.claim.kind == "code" or (not is_first and not _is_name(index, value))
    alone = frozenset[str]().union(*(v.keys for v in others if len(v.rows) == 1))
    return len(alone) >= (2 if sure else MIN_FIELDS)


def _is_name(index: Index, value: Value) -> bool:
    """Whether a label is of a field that names rows: an id, a title, the first text, a time."""
    titles = language.title_keys()
    named = (p.key in titles or "id" in language.key_roles(p.key) for p in value.places)
    head = any(_is_head(index, p) for p in value.places)
    return head or any(named) or value.claim.kind not in TEXTUAL


def is_unrelated(value: Value, labels: Sequence[Value]) -> bool:
    """Whether a value can be of none of the records that some labels name."""
    rows = [_rows_of(one, labels) for one in labels]
    apart = all(value.rows.isdisjoint(own) for own in rows)
    return apart and all(conflict(value.rows, own) for own in rows)


def _rows_of(label: Value, labels: Sequence[Value]) -> frozenset[Owner]:
    """The rows that a label names: of those that several share, the ones it has in common with the
    labels beside it."""
    rows = label.rows
    for other in labels[: labels.index(label)]:
        # two labels together name what they have in common
        rows = (rows & other.rows) or rows
    return rows


def _is_explained(value: Value, labels: Sequence[Value], inside: Sequence[Value]) -> bool:
    """Whether the same field of a label stands between it and a value, or right beside it: "3 A to
    5 B", of B; "120 to A, of that 40 in cash"."""
    near = _nearby(value.claim.start, [label.claim.start for label in labels], inside)
    return any(_is_same_field(v, value) and not is_unrelated(v, labels) for v in near)


def _nearby(at: int, starts: Sequence[int], inside: Sequence[Value]) -> list[Value]:
    """The values between an offset and the nearest label, and the one on its other side."""
    nearest = min(starts, key=lambda start: abs(start - at))
    first, last = sorted((at, nearest))
    near = [v for v in inside if first < v.claim.start < last]
    if nearest > at:
        return near + [v for v in inside if v.claim.start > nearest][:1]
    return near + [v for v in inside if v.claim.start < min(starts)][-1:]


def _is_same_field(one: Value, other: Value) -> bool:
    """Whether two values may be of one field, and not each a part of it: a day and its time, or its
    day of the week."""
    parts = {one.claim.kind, other.claim.kind}
    return bool(one.keys & other.keys) and (len(parts) == 1 or parts.isdisjoint(PART_KINDS))


def _labels_for(
    reading: Reading,
    at: int,
    inside: Sequence[Value],
    runs: Sequence[Sequence[Value]],
    segments: Sequence[int],
) -> Sequence[Value]:
    """The labels of which one value of a unit has to be; none where it begins anew."""
    value = inside[at]
    # a label of the value's own field stands beside it, not above it
    own = [r for r in runs if r[0].keys.isdisjoint(value.keys)]
    before = [r for r in own if r[0].claim.start < value.claim.start][-1:]
    near = {id(v) for v, segment in zip(inside, segments, strict=True) if segment == segments[at]}
    mine = [v for run in own if any(id(v) in near for v in run) for v in run]
    if mine or value.is_label or not before or _fits_next(value, own):
        return mine
    between = before[0][-1].claim.end, value.claim.start
    joined = has_any(reading.stems(*between), reading.language.words.and_)
    if not joined and _is_distributed(reading, value, inside[at + 1 : at + 2]):
        return [v for run in own for v in run]  # "A and B have time until 3 May and 9 May"
    return () if joined else before[0]


def _is_distributed(reading: Reading, value: Value, behind: Sequence[Value]) -> bool:
    """Whether another value of the same field follows with no more than an "and" between."""
    if not behind or not _is_same_field(value, behind[0]):
        return False
    between = reading.stems(value.claim.end, behind[0].claim.start)
    return len(between) == 1 and has_any(between, reading.language.words.and_)


def _fits_next(value: Value, runs: Sequence[Sequence[Value]]) -> bool:
    """Whether it may be told of the label behind it: "5 May for A, and 9 May for B"."""
    behind = (r for r in runs if r[0].claim.start > value.claim.start)
    return any(not is_unrelated(value, run) for run in list(behind)[:1])


def _runs(inside: Sequence[Value]) -> list[list[Value]]:
    """The labels of a unit, those of one field that stand in a row together."""
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
    """The number of the segment that each value of a unit stands in: what stands between marks and
    words for "and"."""
    number, found = 0, []
    for before, value in zip([inside[0], *inside], inside, strict=False):
        between = before.claim.end, value.claim.start
        joined = has_any(reading.stems(*between), reading.language.words.and_)
        number += bool(joined or _CUT.search(reading.text, *between))
        found.append(number)
    return found


def record_value(index: Index, value: Value, owners: Collection[Owner]) -> str:
    """What some records hold in the field that a value is told of: `amount: 120.5`; empty where
    they have no such field."""
    for place in value.places:
        # the same field of the record that was meant
        for other in index.column(place):
            if other.owner in owners:
                return f"{other.key}: {other.value}"
    return ""


def _with_headings(
    reading: Reading, values: Bound
) -> Iterator[tuple[list[Value], Sequence[Value]]]:
    """The values of each sentence, list item and row of a table; with those of an item that names
    no record, the labels of the one record that the line above its list names."""
    head: Sequence[Value] = ()
    for part, inside in zip(reading.sentences, _by_sentence(reading, values), strict=True):
        labels = _labels(inside)
        start = reading.text.rfind("\n", 0, part.start + 1) + 1
        if _ITEM.match(reading.text, start):
            if any(v.rows.isdisjoint(_common(head)) for v in labels if head):
                head = ()  # a list of records
            yield inside, () if labels else head
        else:
            if part.text.strip():
                head = labels if len(_common(labels)) == 1 else ()
            yield inside, ()


def _common(labels: Sequence[Value]) -> frozenset[Owner]:
    """The records that all of some labels may be of."""
    return frozenset.intersection(*(v.rows for v in labels)) if labels else frozenset()


def _by_sentence(reading: Reading, values: Bound) -> Iterator[list[Value]]:
    """The values of each sentence, list item and row of a table."""
    for part in reading.sentences:
        yield values.between(part.start, part.end)[:MAX_VALUES]
