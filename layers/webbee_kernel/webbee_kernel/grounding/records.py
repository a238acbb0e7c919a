"""A value belongs to its record: what one clause, list item or table row says together must stand
together.

Values are taken in their order. A value of another record begins a new segment where its field was
already named ("Ann has 5, Bob 7": both names are `name`), and is a mix-up where it was not. An
enumeration ("Ann and Bob", "sent: A, B") is read as one: what is said of it may belong to any of
them, and each of them must belong to what stands before.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from .index import Index
from .places import Place, conflict
from .reading import FRAMED, ITEM, Claim, Reading, Sentence, among, is_label

_HEAD = re.compile("[:\n]")
_TALLY = re.compile(r"\)[*_]*:")
_BREAK = re.compile("[,;()]")
"""Behind it a name begins anew: "85 boxes, and tape, which ..."."""
TEXTUAL = frozenset(
    ("quote", "email", "url", "code", "file", "hash", "phone", "field", "name", "placeholder")
)
"""Kinds of values that are text."""
OPENING = 4
"""Characters before a text that opens a sentence: it is what the sentence speaks of."""
CLAUSE, UNIT = 40, 400
"""Values of a clause, and of what is read as one, that are compared: a sentence has no more."""
LATEST = 12
"""Values of a segment that the next one is compared with."""


@dataclass(slots=True)
class Value:
    """A grounded value of the reply; `text` tells a name, title or id from a figure or a state,
    `name` what is another one in every row from what several may share."""

    claim: Claim
    places: Sequence[Place]
    text: bool
    name: bool = False

    @property
    def keys(self) -> frozenset[str]:
        """The fields it may be."""
        return frozenset(p.key for p in self.places)


Run = list[Value]
"""Values of one field in a row: an enumeration."""


def fields(places: Sequence[Place]) -> Sequence[Place]:
    """The fields that are a figure, where others of rows are texts that have it somewhere."""
    exact = [p for p in places if not isinstance(p.value, str)]
    told = all(p.owner or p.path == "summary" for p in places)
    return exact if exact and told else places


def belongs(index: Index, places: Sequence[Place]) -> bool:
    """Whether fields are of rows, and not the same one of all."""
    rows = bool(places) and all(index.is_row(p.owner) for p in places)
    return rows and not index.is_common(places)


def value(index: Index, claim: Claim, places: Sequence[Place]) -> Value:
    """A value that belongs to records; a number names one where it is a text of its own."""
    apart = index.tells_apart(places[0])
    code = claim.kind == "number" and isinstance(places[0].value, str) and apart
    text = claim.kind in TEXTUAL or code
    return Value(claim, places, text, claim.kind == "weekday" or (text and apart))


def bound(index: Index, told: Sequence[tuple[Claim, Sequence[Place]]]) -> list[Value]:
    """The values that belong to records, in order: shown by rows alone, and not by all alike."""
    found = [value(index, claim, places) for claim, places in told if belongs(index, places)]
    return sorted(found, key=lambda one: one.claim.start)


def held(index: Index, claim: Claim, values: Sequence[Value]) -> str:
    """What the record that stands nearest before a value, or behind it, holds in the field that the
    value is told of: `amount: 120.5`; empty where it has none."""
    mine = next(v for v in values if v.claim.start == claim.start)
    others = [v for v in values if v.name and conflict(v.places, mine.places)]
    near = sorted(others, key=lambda v: abs(v.claim.start - claim.start))[:1]
    owners = {p.owner for v in near for p in v.places}
    for place in mine.places:
        for other in index.column(place):
            if other.owner in owners:
                return f"{other.key}: {other.value}"
    return ""


def counts(text: str, claim: Claim) -> bool:
    """Whether a number is written in words, and may count anything, or says in brackets how many
    follow: "Failed (1):"."""
    tally = text[claim.start - 1 : claim.start] == "(" and _TALLY.match(text, claim.end)
    short = len(claim.token) <= 2  # longer ones are ids
    return claim.kind == "number" and bool(claim.mention.spelled or (tally and short))


def mixed(reading: Reading, values: Sequence[Value]) -> Iterator[Claim]:
    """The values that stand beside those of another record."""
    plain = list(_in_clauses(reading, values))
    yield from plain
    for inside in _together(reading, values):
        if inside and _compares(reading, inside):
            continue
        item = bool(inside) and _is_item(reading, inside[0])
        forward = list(_clashes(reading.text, inside, item=item))
        backward = forward and list(_clashes(reading.text, inside[::-1], item=item))
        found = (claim for claim, sure in forward if sure or backward)
        yield from (claim for claim in found if claim not in plain)


def _in_clauses(reading: Reading, values: Sequence[Value]) -> Iterator[Claim]:
    """The values of a clause that names one record and is of no other, and that are another's."""
    for _, group in groupby(values, lambda v: reading.clause(v.claim.start).start):
        inside = list(islice(group, CLAUSE))
        names = _names_of_one(inside)
        if not names or _compares(reading, inside):
            continue
        for value in inside:
            if not value.name and _is_others(value, inside, names):
                if not _joined(reading, value, names):
                    yield value.claim


def _names_of_one(inside: Sequence[Value]) -> list[Value]:
    """The names in a clause where all that are one record's are of the same; none else."""
    names = [v for v in inside if v.name and len({p.owner for p in v.places}) == 1]
    return names if len({v.places[0].owner for v in names}) == 1 else []


def _is_others(value: Value, inside: Sequence[Value], names: Sequence[Value]) -> bool:
    """Whether a value is of another record than all texts of its clause."""
    texts = (v for v in inside if v is not value and (v.text or v.name))
    apart = all(conflict(value.places, v.places) for v in texts)
    return apart and not any(value.keys & v.keys for v in names)


def _joined(reading: Reading, value: Value, names: Sequence[Value]) -> bool:
    """Whether an "and" stands between a value and the name."""
    words = reading.language.words
    return any(
        among(reading.stems(*sorted((value.claim.start, v.claim.start))), words.and_) for v in names
    )


def _compares(reading: Reading, values: Sequence[Value]) -> bool:
    """Whether the sentence of some values sets records against each other."""
    words, start = reading.language.words, reading.sentence(values[0].claim.start).start
    last = values[-1].claim.end
    said = [*reading.words(start, last), *reading.words(last, reading.sentence(last).end)[-1:]]
    told = [t for t in said if reading.language.stem(t.text) in words.difference]
    return any(not is_label(reading.text, token.end) for token in told)


def _together(reading: Reading, values: Sequence[Value]) -> Iterator[list[Value]]:
    """The values of each unit; before those of one that names no record, the name of the one record
    that the sentence before was about."""
    starts = [value.claim.start for value in values]
    about: list[Value] = []
    for unit in units(reading):
        spans = (slice(bisect_left(starts, a), bisect_left(starts, b)) for a, b in unit)
        inside = [value for span in spans for value in values[span]][:UNIT]
        own = [v for v in inside if v.name]
        taken_up = about if not own and _goes_on(reading, unit, inside) else []
        yield [*taken_up, *inside]
        about = _one_record(own or taken_up)


def _one_record(named: Sequence[Value]) -> list[Value]:
    """The last of some names where all are of one record."""
    owners = {p.owner for value in named for p in value.places}
    return list(named[-1:]) if len(owners) == 1 else []


def _goes_on(reading: Reading, unit: Sequence[tuple[int, int]], inside: Sequence[Value]) -> bool:
    """Whether a unit is a sentence that stands behind another in its line, is of no other and opens
    with no text of its own."""
    start, end = unit[0]
    alone = len(unit) == 1 and start > 0 and "\n" not in reading.text[start - 1 : start + 1]
    opens = any(v.text and v.claim.start - start < OPENING for v in inside[:1])
    words = reading.language.words
    others = among(reading.stems(start, end), words.rest, words.quantifier, words.plural_reference)
    others = others or any(c.kind == "number" and c.mention.spelled for c in _claims(reading, unit))
    return alone and not opens and not others


def _claims(reading: Reading, unit: Sequence[tuple[int, int]]) -> list[Claim]:
    return reading.inside(Sentence(unit[0][0], unit[0][1], ""))


def _is_item(reading: Reading, value: Value) -> bool:
    """Whether a value opens a list item or a table's row: all that stands there is of it."""
    line = reading.text.rfind("\n", 0, value.claim.start) + 1
    before = reading.text[line : value.claim.start]
    return value.name and bool(ITEM.fullmatch(before))


def _clashes(text: str, values: Sequence[Value], *, item: bool) -> Iterator[tuple[Claim, bool]]:
    """The values that clash with their segment, and whether whichever way one reads."""
    runs: list[Run] = []
    for value, after in zip(values, [*values[1:], None], strict=False):
        last = runs[-1] if runs else []
        goes_on = bool(last) and bool(value.keys & last[-1].keys)
        before = runs[:-1] if goes_on else runs
        if not _clash(value, before):
            runs = [*before, [*last, value]] if goes_on else [*runs[-LATEST:], [value]]
        elif goes_on and _HEAD.search(text, before[-1][-1].claim.end, last[0].claim.start):
            yield value.claim, True
        elif goes_on or _begins(text, runs, value, None if item else after, item=item):
            runs = [[value]]
        else:
            yield value.claim, False


def _begins(
    text: str, runs: Sequence[Run], value: Value, after: Value | None, *, item: bool
) -> bool:
    """Whether a value begins a new segment: its field was named already, or behind a mark it names
    a record, or the next one does and it is of that ("75 from Savings")."""
    if any(value.keys & other.keys for run in runs for other in run):
        return True
    beside = after is not None and after.name and not conflict(value.places, after.places)
    return not item and (value.name or beside) and _apart(text, runs[-1][-1].claim, value.claim)


def _apart(text: str, one: Claim, other: Claim) -> bool:
    """Whether a mark stands between two values."""
    first, second = sorted((one, other), key=lambda claim: claim.start)
    return bool(_BREAK.search(text, first.end, second.start))


def _clash(value: Value, runs: Sequence[Run]) -> bool:
    """Whether a value is of another record than all values of a run."""
    named = [run for run in runs if run[0].text] or runs
    return any(all(conflict(value.places, one.places) for one in run[-LATEST:]) for run in named)


def units(reading: Reading) -> Iterator[list[tuple[int, int]]]:
    """What is read as one: a sentence; a table row; a list item with its indented lines; a block of
    labelled lines; each of them behind the heading that it stands under."""
    block: list[tuple[int, int]] = []
    heading: tuple[int, int] | None = None
    for sentence in reading.sentences:
        line = reading.text[reading.text.rfind("\n", 0, sentence.start) + 1 : sentence.end]
        framed = bool(FRAMED.match(line.rstrip("\n")))
        if framed:
            heading = (sentence.start, sentence.end)
        elif "\n\n" in reading.text[max(0, sentence.start - 3) : sentence.start]:
            heading = None
        if block and _is_below(reading, block, sentence, line):
            block.append((sentence.start, sentence.end))
            continue
        if block:
            yield block
        block = [(sentence.start, sentence.end)]
        if heading and heading != block[0] and not framed:
            block.insert(0, heading)
    if block:
        yield block


def _is_below(
    reading: Reading, block: Sequence[tuple[int, int]], sentence: Sentence, line: str
) -> bool:
    """Whether a line belongs to the block above it: it is indented, or a label with its value."""
    if "|" in line or not reading.text[: sentence.start].endswith("\n"):
        return False
    return line[:1] in " \t" or _labelled(reading, block, sentence)


def _labelled(reading: Reading, block: Sequence[tuple[int, int]], line: Sentence) -> bool:
    """Whether a line is a label with its value, under a heading that ends in a colon; what names a
    thing before its colon is no label."""
    start, end = block[0]
    colon = line.text.find(":", 0, 40)
    label = Sentence(line.start, line.start + max(colon, 0), "")
    names = any(c.kind in TEXTUAL for c in reading.inside(label))
    return colon >= 0 and not names and reading.text[start:end].rstrip(" *_\n").endswith(":")
