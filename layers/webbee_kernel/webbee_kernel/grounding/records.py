"""A value belongs to its record: what one clause, list item or table row says together must stand
together.

Values are taken in their order. A value of another record begins a new segment where its field was
already named ("Ann has 5, Bob 7": both names are `name`), and is a mix-up where it was not.
Segments that hold nothing but names are read together ("Ann and Bob sent …").
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .index import Place, conflict
from .reading import Claim, Reading

LATEST = 12
"""Values of a segment that the next one is compared with."""


@dataclass(slots=True)
class Value:
    """A grounded value of the reply; `text` tells a name, title or id from a figure or a state."""

    claim: Claim
    places: Sequence[Place]
    text: bool

    @property
    def keys(self) -> frozenset[str]:
        """The fields it may be."""
        return frozenset(p.key for p in self.places)


@dataclass(slots=True)
class _Segment:
    values: list[Value] = field(default_factory=list)
    alternatives: list[Value] = field(default_factory=list)

    @property
    def names_only(self) -> bool:
        return all(v.text for v in self.values)

    def clashes(self, value: Value) -> bool:
        """Whether the value is of another record than a value of the segment."""
        if any(not conflict(value.places, other.places) for other in self.alternatives):
            return False
        anchors = ([v for v in self.values if v.text] or self.values)[-LATEST:]
        return any(conflict(value.places, other.places) for other in anchors)


def mixed(reading: Reading, values: Sequence[Value]) -> Iterator[Claim]:
    """The values that stand beside those of another record."""
    starts = [value.claim.start for value in values]
    for unit in units(reading):
        inside = values[bisect_left(starts, unit[0][0]) : bisect_left(starts, unit[-1][1])]
        forward = list(_clashes(inside))
        if forward and list(_clashes(inside[::-1])):
            yield from forward


def _clashes(values: Sequence[Value]) -> Iterator[Claim]:
    segment = _Segment()
    for value in values:
        if segment.clashes(value):
            again = any(value.keys & other.keys for other in segment.values[-LATEST:])
            if not again:
                yield value.claim
                continue
            enumerated = segment.names_only and value.text
            segment = _Segment(
                alternatives=[*segment.alternatives, *segment.values][-LATEST:]
                if enumerated
                else []
            )
        segment.values.append(value)


def units(reading: Reading) -> Iterator[list[tuple[int, int]]]:
    """What is read as one: a sentence; a table row; a list item with its indented lines; a block of
    labelled lines."""
    block: list[tuple[int, int]] = []
    for sentence in reading.sentences:
        line = reading.text[reading.text.rfind("\n", 0, sentence.start) + 1 : sentence.end]
        follows = block and reading.text[: sentence.start].endswith("\n")
        if follows and "|" not in line and (line[:1] in " \t" or _labelled(reading, block, line)):
            block.append((sentence.start, sentence.end))
            continue
        if block:
            yield block
        block = [(sentence.start, sentence.end)]
    if block:
        yield block


def _labelled(reading: Reading, block: Sequence[tuple[int, int]], line: str) -> bool:
    """Whether a line is a label with its value, under a heading that ends in a colon."""
    start, end = block[0]
    return ":" in line[:40] and reading.text[start:end].rstrip(" *_\n").endswith(":")
