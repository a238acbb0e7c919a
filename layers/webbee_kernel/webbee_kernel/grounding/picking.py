"""How many rows of a list the values, states and flags of a clause pick."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from .. import language
from ..language import Words, fold, folded_words
from .index import Index
from .places import Number, Owner, Place, Rows, key_words
from .reading import MASK, Claim, Reading, Sentence, among

Picks = Mapping[int, Sequence[Place]]
"""The fields that show what a reply says, by where it stands."""
_MARKS = ' *_:\u00bb\u201d\u201c"'
_HEAD = re.compile(r"[^\W_]+[*_]*:[*_]*\s+[*_]*")
SEVERAL = 12
"""The most that a demonstrative takes up."""
PLAIN = (
    "function", "possession", "looking", "listing", "perfect", "copula", "adverb", "total", "tally",
    "about", "more", "less", "others", "first_person", "quantifier", "passive", "question",
    "auxiliary",
    "negation", "empty", "reference", "plan", "sequence", "source", "units",
)  # fmt: skip
"""Roles of words that pick no part of what is counted."""


@lru_cache(maxsize=8)
def plain(tag: str) -> frozenset[str]:
    """The stems of a language's words that pick no part of what is counted."""
    return frozenset().union(*(language.of(tag).words.stems(role) for role in PLAIN))


def totals(index: Index, rows: Rows) -> Iterator[Number]:
    """The whole numbers beside a list, and those that the call's summary tells."""
    for number, places in index.numbers.items():
        if any(_beside(place, rows) for place in places):
            yield number


def _beside(place: Place, rows: Rows) -> bool:
    if place.path == "summary":
        return place.call == rows.call
    roles = language.key_roles(place.key)
    whole = isinstance(place.value, int) and not roles & {"paging", "id", "money", "moment"}
    return whole and place.owner == rows.owner


class Picking:
    """The picks of one reply; `sorts`: those that tell a state."""

    def __init__(self, reading: Reading, index: Index, picks: Picks, sorts: Picks) -> None:
        self.reading, self.index, self.picks, self.sorts = reading, index, picks, sorts

    @cached_property
    def named(self) -> int:
        """How many rows of the outer lists something in the reply names alone."""
        ids = frozenset().union(*(self.index.owners(rows) for rows in outer(self.index)))
        told = ({p.owner for p in places} & ids for places in self.picks.values())
        return len(frozenset().union(*(one for one in told if len(one) == 1)))

    @cached_property
    def sizes(self) -> set[Number]:
        """How many rows the outer lists have, and the totals beside them."""
        return {n for rows in outer(self.index) for n in (rows.size, *totals(self.index, rows))}

    def rows(self, claim: Claim, rows: Sequence[Rows], noun: str) -> tuple[int | None, bool]:
        """How many rows the clause of a number picks at most, None where it picks none; and whether
        it says nothing else, so that it speaks of all of them."""
        words, part = self.reading.language.words, self._around(claim)
        stems = self.reading.stems(part.start, part.end)
        if among(stems, words.negation, words.limits, words.more, words.less):
            return None, False
        if any(r.cut or r.size < 2 for r in rows):
            return None, False
        ids = frozenset().union(*(self.index.owners(one) for one in rows))
        told = self._told(part, claim, ids)
        if not told:
            return None, False
        fields: dict[str, set[Owner]] = {}
        for key, held in told.values():
            fields.setdefault(key, set()).update(held)
        sure = self._says_all(claim, part, rows, {*told, claim.start}, {*fields}, noun)
        if not (noun or self._leads(claim, part) or (sure and self._presents(part, told))):
            return None, False
        return len(set.intersection(*fields.values())), sure

    def _around(self, claim: Claim) -> Sentence:
        """The clause of a number; the sentence where a mark parts it from its state: "3 - open"."""
        part, whole = self.reading.clause(claim.start), self.reading.sentence(claim.start)
        told = self._within(whole)
        numbers = [c for c in self.reading.inside(whole) if c.kind == "number"]
        state = len(told) == len(numbers) == 1 and told[0] in self.sorts
        return whole if state and not self._within(part) else part

    def _within(self, part: Sentence) -> list[int]:
        """Where what picks stands in a clause."""
        return [at for at in self.picks if part.start <= at < part.end]

    def _leads(self, claim: Claim, part: Sentence) -> bool:
        """Whether a number without a noun stands before what picks, one of which tells a state, and
        in no table: "of these, 3 are open"."""
        inside = self._within(part)
        sorts = not self.sorts.keys().isdisjoint(inside)
        table = "|" in self.reading.text[part.start : part.end]
        calendar = self.reading.language.calendar
        hours = folded_words(f"{calendar.at} {calendar.until} {calendar.between}")
        before = [fold(t.text) for t in self.reading.words(claim.start - 14, claim.start)[-1:]]
        last = not self.reading.rest[claim.end : part.end].strip(_MARKS + ".\n" + MASK)
        near = claim.end if last else claim.end + 1
        first = all(at > near for at in inside) and hours.isdisjoint(before)
        return sorts and not table and (first or self._labelled(claim, inside))

    def _presents(self, part: Sentence, told: Container[int]) -> bool:
        """Whether a clause presents how many have a state: "for 'open' I count 4"."""
        words, stems = self.reading.language.words, self.reading.stems(part.start, part.end)
        table = "|" in self.reading.text[part.start : part.end]
        sorts = [at for at in self.sorts if at in told and not table]
        quoted = any(c.kind == "quote" for c in self.reading.claims if c.start in sorts)
        return bool(sorts) and (quoted or among(stems, words.tally))

    def _labelled(self, claim: Claim, inside: Sequence[int]) -> bool:
        """Whether what picks is the label of a number: "open: 3"."""
        if len(inside) == 1 and _HEAD.fullmatch(self.reading.text, inside[0], claim.start):
            units, after = self.reading.language.words.units, claim.end + 24
            return not among(self.reading.stems(claim.end, after)[:1], units)
        before = self.reading.text[: claim.start].rstrip(" *_")
        label = self.reading.before(claim)
        if label is None or [label.start] != inside or not before.endswith(":"):
            return False
        return not before[label.end :].strip(_MARKS)

    def _told(
        self, part: Sentence, claim: Claim, ids: frozenset[Owner]
    ) -> dict[int, tuple[str, set[Owner]]]:
        """The picks of a clause: of which field each is, and the rows that have it."""
        found = {}
        for at, places in self.picks.items():
            held = {p.owner for p in places} & ids
            if part.start <= at < part.end and at != claim.start and held:
                found[at] = next(p.key for p in places if p.owner in held), held
        return found

    def _says_all(
        self,
        claim: Claim,
        part: Sentence,
        rows: Sequence[Rows],
        told: set[int],
        fields: set[str],
        noun: str,
    ) -> bool:
        """Whether a clause says nothing but a number and what picks its rows, which are all there
        are."""
        known = plain(self.reading.language.tag) | self.reading.language.words.objects.keys()
        known |= {noun} | {word for key in fields for word in key_words(key)}
        known |= {s for t, s in self.reading.stemmed() if t.start in told}
        if not known.issuperset(self.reading.stems(part.start, part.end)):
            return False
        sizes = {r.size for r in rows}
        others = [c for c in self.reading.inside(part) if c.start not in told]
        sized = all(c.kind == "number" and c.mention.value in sizes for c in others)
        return sized and not claim.mention.about and not self._gone(rows)

    def _gone(self, rows: Sequence[Rows]) -> bool:
        """Whether there are more rows than are shown."""
        return any(total > r.size for r in rows for total in totals(self.index, r))


def is_code(place: Place) -> bool:
    return "id" in language.key_roles(place.key) or isinstance(place.value, str)


def takes_up(reading: Reading, claim: Claim) -> bool:
    """Whether a number counts what was just told ("these two orders"), or what may come ("three
    more beds could come free")."""
    words = reading.language.words
    if among(reading.stems(claim.end, claim.end + 12)[:1], words.more):
        part = reading.clause(claim.start)
        told = (fold(t.text) for t in reading.words(claim.end, part.end))
        return not words.forms("plan").isdisjoint(told)
    several = claim.mention.value is not None and 1 < claim.mention.value <= SEVERAL
    last = reading.words(claim.start - 16, claim.start)[-1:] if several else []
    beside = any(reading.text[t.end : claim.start] == " " for t in last)
    shown = words.plural_reference - words.quantifier - words.total if beside else ()
    return beside and reading.language.stem(last[0].text) in shown


def whole_numbers(claim: Claim) -> list[int]:
    """The whole numbers that a number may be."""
    if any(claim.mention.decimals):
        return []
    return [int(v) for v in claim.mention.readings if v >= 0 and float(v).is_integer()]


def of_name(places: Sequence[Place], noun: str) -> bool:
    """Whether a field of that name holds a number."""
    return any(not isinstance(p.value, str) and noun in key_words(p.key) for p in places)


def figures(rows: Rows) -> bool:
    """Whether a list holds numbers, which are amounts and no things to count."""
    return bool(rows.items) and all(isinstance(item, int | float) for item in rows.items)


def names(words: Words, rows: Rows, stem: str) -> bool:
    """Whether a noun names a collection: by its key, or by the same thing in English."""
    thing = words.objects.get(stem, "-")
    english = language.of("en").words.objects
    return stem in rows.words or any(english.get(word) == thing for word in rows.words)


def outer(index: Index) -> list[Rows]:
    """The lists that no row of another holds."""
    return [r for r in index.tables if not any(isinstance(s, int) for s in r.owner[2:])]
