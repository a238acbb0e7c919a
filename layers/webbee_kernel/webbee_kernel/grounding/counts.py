"""A number with a noun is a count, and a count is compared with what there is to count.

Only a contradiction is a fault. A clause that says no more than the number and what it counts gives
the size of that collection, a total beside it, or a field of that name. One that says more ("two
appointments ahead") counts a part, which can be anything up to the whole; only where every word of
it is a field or a state that tells groups of the rows, the part itself is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .. import language
from .index import Index
from .parts import (
    clause,
    collections,
    figure,
    named,
    of_others,
    plain,
    refers,
    rows_told,
    sizes_of_groups,
    totals,
)
from .places import Number, Place, key_words
from .reading import Claim, Reading, among
from .selection import Grounding, picked

_BULLET = re.compile("^[ \\t]*(?:[-*\u2022\u2013]|\\d+[.)])\\s+\\S|^[ \\t]*\\|", re.M)
_RULE = re.compile(r"^[ \t]*\|[ :|-]+\|[ \t]*$", re.M)
_COUNTED = re.compile(r"\d\W{1,3}([^\W\d_]+)")
SIGNS = ("$", "\u20ac", "\u00a3", "#")
"""What stands right before an amount or an id."""
SHORTEST = 3
"""Letters of a noun; what is shorter is a unit."""
SMALL = 20
"""Above, a number that a field shows is that field's, no count of the rows with a state."""
LABEL = 4
"""Words of a label that says how many there are, and an upper bound ("Number of cards: 5")."""


@dataclass(slots=True)
class Counts:
    """The countable things of an index, and whether a reply counts them right."""

    reading: Reading
    index: Index
    ground: Grounding | None = None
    bullets: list[int] = field(init=False)
    _largest: int = field(init=False)
    _parts: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        text = self.reading.text
        rules = [m.start() for m in _RULE.finditer(text)]
        heads = {at for rule in rules for at in (rule, text.rfind("\n", 0, max(0, rule - 1)) + 1)}
        self._largest = max((len(r.items) + r.gone for r in self.index.tables), default=0)
        self.bullets = [m.start() for m in _BULLET.finditer(text) if m.start() not in heads]

    @property
    def plain(self) -> frozenset[str]:
        """The stems of words that pick no part of what is counted."""
        return plain(self.reading.language.tag)

    @property
    def most(self) -> int:
        """The size of the largest collection."""
        rows = [rows.size for rows in (*self.index.tables, *self.index.rows)]
        return max([*rows, *(len(values) for _, values in self.index.tallies)], default=0)

    def wrong(self, claim: Claim) -> bool | None:
        """Whether a number is a count that contradicts; None where it counts nothing."""
        values = [v for v in claim.mention.readings if float(v).is_integer()]
        after = self._behind(claim)
        if self.not_its_part(claim):
            return True
        if not values or self._measures(claim, after) or any(self._is_id(v) for v in values):
            return None
        if self._continues(claim):
            return self._goes_on(values)
        noun = self._noun(claim, after)
        if self._is_field(values, noun) or self._numbers(claim) or refers(self.reading, claim):
            return None
        part = rows_told(self.reading, self.index, claim)
        if part is not None and not (values[0] > SMALL and values[0] in self.index.numbers):
            return part not in values
        return self._counted(claim, noun, values)

    def not_its_part(self, claim: Claim) -> bool:
        """Whether a number is more than the rows that its clause can speak of, or fewer than it
        does speak of."""
        if not claim.mention.readings:
            return False  # a numeral too long to be a number
        if claim.kind == "number" and claim.start not in self._parts:
            self._parts[claim.start] = self._no_part(claim)
        return self._parts.get(claim.start, False)

    def _no_part(self, claim: Claim) -> bool:
        if self.ground is None or not 1 < claim.mention.value <= self._largest:
            return False
        if self._numbers(claim):
            return False
        if self._measures(claim, self._behind(claim)[:1]):
            return False
        told = picked(self.reading, self.index, claim, self.ground)
        return told is not None and (
            claim.mention.value > told[0] or (told[1] and claim.mention.value != told[0])
        )

    def noun(self, claim: Claim) -> str:
        """The stem of the noun that a number counts; none for a measure or a thing's number."""
        after = self._behind(claim)
        if self._measures(claim, after) or self._numbers(claim):
            return ""
        return self._noun(claim, after)

    def _is_field(self, values: Sequence[Number], noun: str) -> bool:
        """Whether a field of the noun's name has the number."""
        return any(_of(p, noun) for v in values for p in self.index.numbers.get(v, ()))

    def sizes(self, claim: Claim) -> bool:
        """Whether a number is how many rows there are, or how many of a group of them."""
        value = claim.mention.value
        return any(value == r.size or value in sizes_of_groups(r) for r in self.index.tables)

    def _is_id(self, value: Number) -> bool:
        """Whether a number of four digits or more is an id in sight."""
        places = self.index.numbers.get(value, ()) if value > 999 else ()
        return any("id" in language.key_roles(p.key) or isinstance(p.value, str) for p in places)

    # ---- all of a collection

    def _counted(self, claim: Claim, noun: str, values: Sequence[Number]) -> bool | None:
        """Whether the number of a noun is wrong; None where it names no collection."""
        if not noun or (claim.mention.spelled and values == [1]):
            return None
        words = self.reading.language.words
        known = self._named(noun) or among([noun], words.objects, words.tally)
        if own := self._fields(claim):
            return not any(v in own for v in values)
        allowed = self._allowed(noun) if known else {}
        if not allowed:
            return self._shown_elsewhere(values) or None
        part = self._described(claim, noun)
        return not any(self._fits(claim, v, allowed, part=part) for v in values)

    def _fields(self, claim: Claim) -> set[Number]:
        """The numbers of the fields above all rows that the word behind a number names, and how
        many rows tell of it: of "12 unread messages" `unread`, of "4 open" nothing."""
        state = self.reading.language.words.values.get(next(iter(self._behind(claim)), ""), "-")
        held = {n for n, ps in self.index.numbers.items() if any(p.key == state for p in ps)}
        return (
            {*held, *(n for r in self.index.tables for n in sizes_of_groups(r))} if held else held
        )

    def _shown_elsewhere(self, values: Sequence[Number]) -> bool:
        """Whether a number is more than there is of anything, and what shows it counts nothing."""
        held = [p for v in values for p in self.index.numbers.get(v, ())]
        return bool(held) and min(values) > self.most and not any(map(figure, held))

    def _noun(self, claim: Claim, after: Sequence[str]) -> str:
        """The stem of the noun of a number: behind it, past a word or two of description, or on the
        label before it."""
        told = self._things(after)
        if told or not self._labelled(claim):
            return (told or [s for s in after if s not in self.plain] or [""])[0]
        line = self.reading.text.rfind("\n", 0, claim.start) + 1
        before = self.reading.stems(line, claim.start)
        tallies = among(before, self.reading.language.words.tally) and len(before) < LABEL
        return (self._things(before) or before)[0] if tallies else ""

    def _labelled(self, claim: Claim) -> bool:
        return self.reading.text[: claim.start].rstrip(" *_")[-1:] == ":"

    def _numbers(self, claim: Claim) -> bool:
        """Whether a number is that of the thing before it: "event 10"."""
        before = self.reading.stems(claim.start - 24, claim.start)[-1:]
        return not self._labelled(claim) and among(before, self.reading.language.words.objects)

    def _things(self, stems: Sequence[str]) -> list[str]:
        """The nouns that name a collection, else those of things that apps hold."""
        known = self.reading.language.words.objects
        return [s for s in stems if self._named(s)] or [s for s in stems if s in known]

    def _measures(self, claim: Claim, after: Sequence[str]) -> bool:
        """Whether a number has a unit or a sign."""
        words, text = self.reading.language.words, self.reading.text
        behind = self.reading.words(claim.end, claim.end + 24)[:1]
        short = any(len(token.text) < SHORTEST for token in behind)
        unit = short and not among(after[:1], words.function)
        return unit or among(after, words.units) or text[max(0, claim.start - 1)] in SIGNS

    def _behind(self, claim: Claim) -> list[str]:
        """The stems behind a number up to a verb or a mark; "of the" is passed."""
        words, at = self.reading.language.words, claim.end
        found: list[str] = []
        for token in self.reading.words(claim.end, claim.end + 40)[:4]:
            stem = self.reading.language.stem(token.text)
            if self.reading.rest[at : token.start].strip(" \u00a0*_"):
                break
            verb = among([stem], words.effects, words.perfect, words.and_)
            if verb and stem not in words.objects and not self._named(stem):
                break
            if found and stem in words.function and found[-1] not in words.function:
                break
            found.append(stem)
            at = token.end
        return found

    def _named(self, stem: str) -> bool:
        return any(named(self.reading, rows, stem) for rows in self.index.tables)

    def _described(self, claim: Claim, noun: str) -> bool:
        """Whether the clause of a count says of which part it speaks: it holds another value, a
        word behind the number that is neither plain nor the noun, or one before it that a field
        has ("Nora has two appointments")."""
        part, spoken = clause(self.reading, claim), self.reading.language
        if len(self.reading.inside(part)) > 1:
            return True
        before = self.reading.words(part.start, claim.start)
        after = self.reading.words(claim.end, part.end)
        own = self.plain | spoken.words.objects.keys() | {noun}
        if any(spoken.stem(t.text) not in own for t in after):
            return True
        telling = [t.text for t in before if spoken.stem(t.text) not in own]
        return any(p.path.startswith("data") for w in telling for p in self.index.word(w, spoken))

    def _allowed(self, noun: str) -> dict[Number, bool]:
        """Numbers that may stand before a noun; True where it is a size or a total (which "over"
        and "about" may round)."""
        tables = self.index.tables
        mine = [r for r in tables if named(self.reading, r, noun)]
        held = {n for n, places in self.index.numbers.items() if any(_of(p, noun) for p in places)}
        asked = (len(r.items) for r in self.index.rows if r.path.startswith("arguments"))
        own = dict.fromkeys([*held, *self._told_of(noun), *asked], False)
        for rows in mine or [r for r in tables if not of_others(r)]:
            own |= dict.fromkeys((rows.size, *totals(self.index, rows)), True)
        return own

    def _told_of(self, noun: str) -> Iterator[Number]:
        """The numbers that a text of the data gives of the noun itself ("Found 8 files")."""
        stem = self.reading.language.stem
        for number, places in self.index.numbers.items():
            texts = (p.value for p in places if isinstance(p.value, str))
            if any(stem(m.group(1)) == noun for t in texts for m in _COUNTED.finditer(t[:400])):
                yield number

    def _fits(
        self, claim: Claim, value: Number, allowed: Mapping[Number, bool], *, part: bool
    ) -> bool:
        sizes = [n for n, whole in allowed.items() if whole] or list(allowed)
        low, high = self._bounds(claim, value)
        if allowed.get(value) is False or any(low <= n <= high for n in sizes):
            return True
        return part and value <= max(sizes)

    def _bounds(self, claim: Claim, value: Number) -> tuple[float, float]:
        """Between which sizes "over 40", "under 40", "about 40" and "40" may stand for."""
        words, near = self.reading.language.words, self.reading.near(claim)
        if among(near, words.more):
            return value + 1, 2 * value + 1
        if among(near, words.less):
            return 0.4 * value, value - 1
        if claim.mention.about or among(near, words.about):
            return value - max(1, 0.15 * value), value + max(1, 0.18 * value)
        return value, value

    # ---- lists that the reply shows

    def _continues(self, claim: Claim) -> bool:
        """Whether the number says how many a list goes on ("and 7 more")."""
        text, words = self.reading.text, self.reading.language.words
        line, end = text.rfind("\n", 0, claim.start) + 1, text.find("\n", claim.end)
        after = self.reading.stems(claim.end, min(claim.end + 30, end if end >= 0 else len(text)))
        if among(after[:1], words.units):
            return False
        before = self.reading.stems(line, claim.start)[-3:]
        over = any(s in words.more for s in before)
        return among(after[:2], words.rest) or (not over and among(before, words.rest))

    def _goes_on(self, values: Sequence[Number]) -> bool | None:
        """Whether "and 7 more" is wrong."""
        shown = len(self.bullets)
        sizes = {
            n for rows in collections(self.index) for n in (rows.size, *totals(self.index, rows))
        }
        told = {shown, *(c.mention.value for c in self.reading.claims if c.kind == "number")}
        fits = any(v == n - m for v in values for n in sizes for m in told)
        fits = fits or (not shown and any(0 < n - v <= 5 for v in values for n in sizes))
        return None if not fits and not shown else not fits


def _of(place: Place, noun: str) -> bool:
    """Whether a field of that name holds a number."""
    return not isinstance(place.value, str) and noun in key_words(place.key)
