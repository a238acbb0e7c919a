"""Plain derivations of tool data, and the caps that keep them plain.

With many numbers in hand, sums and differences of arbitrary pairs would ground nearly anything, so
only these are made:

- a list: its length; how many items share the value of a top-level field that groups them (at most
  `GROUPS` values), or the
  same day; the sum and mean of a numeric field, over the list and over each such group
- a list of at most `SHORT` items: differences of one numeric field between two items, spans between
  their dates
- a dict within two levels of the top, or an item of a short list: sum, difference and share of two
  of its numbers, lengths of its
  lists counting as numbers, at most `SIBLINGS` of them; their total; spans between its own dates;
  no sum with a total,
  nor of a list and a part of it
- a result below `SMALL` only from `FEW` numbers, or as the rest of a total or of a list
- no sums of fields that do not add up: temperatures, rates, shares
- results of the same shape (the same tool called twice) are one list

Ids, ranks and years never enter a sum. Cost: linear in the data; every pair loop is bounded by the
constants below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from .numbers import Number, settle

GROUPS = 12  #: distinct values up to which a field is taken to group a list
SHORT = 5  #: list items up to which they are compared with one another
SIBLINGS = 8  #: numbers of one dict that are combined pairwise: at most 28 pairs
FEW = 3  #: numbers of one dict up to which even small ones are combined
SMALL = 100  #: a result below it is too likely a coincidence, unless a total or a list's length is in it
ITEMS = 500  #: list items that are looked into; the length counts them all
DEPTH = 2  #: levels below the top at which a dict's own numbers are combined

WEAK_KEY = re.compile(
    r"(?i)(?:^|_)(?:id|ids|uid|uuid|no|number|zip|code|port|priority|rank|order|position|index|level|year|month|day|hour|version|pages?"
    r"|limit|offset)$|[a-z]Id$"
)
WHOLE_KEY = re.compile(r"(?i)total|count|^all$|sum|balance|goal|target|limit|quota|capacity")
INTENSIVE_KEY = re.compile(
    r"(?i)temp|^min$|^max$|_min$|_max$|prob|percent|pct|rate|speed|wind|humid|avg|average|mean|score|grade|cpu|^lat|^lon|ratio"
)
DURATION_KEY = re.compile(r"(?i)(?:^|_)(?:(s|secs?|seconds)|(ms|millis)|(mins?|minutes)|(hours?))$")
MINOR_UNIT_KEY = re.compile(r"(?i)cents|kopecks|minor")


@dataclass(slots=True)
class Derived:
    """What follows from the data. `numbers` and `counts` ground any claim; `compared` only one that
    says it compares or adds up ("14 more", "42 in all"), `means` an average, `shares` a percentage,
    `spans` (minutes) a length of time."""

    numbers: set[Number] = field(default_factory=set)
    compared: set[Number] = field(default_factory=set)
    means: set[Number] = field(default_factory=set)
    counts: set[int] = field(default_factory=set)
    longest: int | None = None
    shares: list[tuple[Number, Number]] = field(default_factory=list)
    spans: set[float] = field(default_factory=set)


def from_dict(fields: Mapping[str, object], depth: int, out: Derived) -> None:
    """Combine a dict's own numbers, if it stands high enough to be spoken of as a whole."""
    if depth > DEPTH:
        return
    sized = [
        (key, value, size)
        for key, value in fields.items()
        if (size := _size(key, value)) is not None
    ][:SIBLINGS]
    own, sizes = [(key, value) for key, value, _ in sized], [size for *_, size in sized]
    few = len(own) <= FEW
    for (left, a), (right, b) in combinations(zip(own, sizes, strict=True), 2):
        if (gap := abs(a - b)) >= SMALL or few or _whole(left) or _whole(right):
            out.numbers.add(settle(gap))
        out.compared.update((settle(gap), settle(a + b)))
        if (a + b >= SMALL or few or isinstance(left[1], list)) and _add_up(left, right):
            out.numbers.add(settle(a + b))
        low, high = sorted((a, b))
        if 0 <= low <= high and high:
            out.shares += [(low, high), (high - low, high)]
    for value in fields.values():
        if isinstance(value, list) and len(value) <= SHORT:
            out.shares += _parts(value, fields)
    if len(own) > 2 and not any(
        isinstance(value, list) or WHOLE_KEY.search(key) for key, value in own
    ):
        out.numbers.add(settle(sum(sizes)))


def _parts(rows: list[object], fields: Mapping[str, object]) -> list[tuple[Number, Number]]:
    """Return the shares that rows have in the field of the same name above them (a manager's
    revenue in the revenue)."""
    return [
        (part, whole)
        for row in rows
        if isinstance(row, dict)
        for key, value in row.items()
        if (part := _size(key, value)) is not None
        and (whole := _size(key, fields.get(key))) is not None
    ]


def _whole(own: tuple[str, object]) -> bool:
    return isinstance(own[1], list) or bool(WHOLE_KEY.search(own[0]))


def _add_up(left: tuple[str, object], right: tuple[str, object]) -> bool:
    """Tell whether the sum of two fields says anything: not with a total, not a list with a number
    or with a part of itself."""
    if WHOLE_KEY.search(left[0]) or WHOLE_KEY.search(right[0]):
        return False
    a, b = left[1], right[1]
    if isinstance(a, list) and isinstance(b, list):
        shown = [{str(item) for item in side[:ITEMS]} for side in (a, b)]
        return not (shown[0] <= shown[1] or shown[1] <= shown[0])
    return not isinstance(a, list) and not isinstance(b, list)


def from_list(items: Sequence[object], out: Derived, *, counted: bool = True) -> None:
    """Count, group and sum a list; `counted=False` for a sequence that is not one list to the
    user."""
    if counted:
        out.counts.add(len(items))
        out.longest = max(out.longest or 0, len(items))
    head = items[:ITEMS]
    plain = [
        settle(item)
        for item in head
        if isinstance(item, (int, float)) and not isinstance(item, bool)
    ]
    if len(plain) > 1 and len(plain) == len(head):
        _totals(plain, out)
    rows = [item for item in head if isinstance(item, dict)]
    if len(rows) > 1:
        _from_rows(rows, out)


def spans(moments: Iterable[float], out: Derived) -> None:
    """Add the lengths of time between a few moments (minutes)."""
    for a, b in combinations(list(moments)[:SHORT], 2):
        out.spans.add(abs(a - b))


def _size(key: str, value: object) -> Number | None:
    """Return what a field adds to a sum: its number, or the length of its list; None for ids,
    ranks, rates and all else."""
    if isinstance(value, list):
        return len(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) < 1e12:
        return None
    return None if WEAK_KEY.search(key) or INTENSIVE_KEY.search(key) else settle(value)


def _totals(values: list[Number], out: Derived) -> None:
    total = sum(values)
    out.numbers.add(settle(total))
    out.means.add(settle(total / len(values)))
    if total > 0 and len(values) <= GROUPS:
        out.shares += [(value, total) for value in values if value >= 0]


def _from_rows(rows: list[dict[str, object]], out: Derived) -> None:
    keys = list(dict.fromkeys(key for row in rows for key in row))[:24]
    columns = {key: [row.get(key) for row in rows] for key in keys}
    groupings = [_groups(column) for key, column in columns.items()]
    for groups in groupings:
        for members in groups:
            out.counts.add(len(members))
            out.shares.append((len(members), len(rows)))
    if any(isinstance(value, bool) for column in columns.values() for value in column):
        out.counts.update(
            0
            for column in columns.values()
            if {True, False} - set(map(_truth, column)) in ({True}, {False})
        )
    for key, column in columns.items():
        numeric = {
            i: size for i, value in enumerate(column) if (size := _size(key, value)) is not None
        }
        if len(numeric) > 1:
            _column(list(numeric.values()), out)
            for groups in groupings:
                for members in groups:
                    part = [numeric[i] for i in members if i in numeric]
                    if 1 < len(part) < len(numeric):
                        out.numbers.add(settle(sum(part)))


def _column(values: list[Number], out: Derived) -> None:
    _totals(values, out)
    if len(values) <= SHORT:
        gaps = {settle(abs(a - b)) for a, b in combinations(values, 2)}
        out.compared |= gaps
        out.numbers.update(gap for gap in gaps if gap >= SMALL)


def _truth(value: object) -> object:
    return value if isinstance(value, bool) else None


def _groups(column: list[object]) -> list[list[int]]:
    """Return the positions of the items of each group, or nothing for a field that tells every item
    apart (an id, a title)."""
    groups: dict[object, list[int]] = {}
    for position, value in enumerate(column):
        if isinstance(value, str):
            value = value[:10] if value[4:5] == "-" and value[7:8] == "-" else value
        elif value is not None and not isinstance(value, (bool, int, float)):
            return []
        groups.setdefault((type(value), value), []).append(position)
        if len(groups) > GROUPS:
            return []
    if len(groups) == len(column) and not any(isinstance(value, bool) for value in column):
        return []
    return list(groups.values())
