"""How many rows of a list the values, states and flags of a clause pick."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache

from .. import language
from ..language import Language, fold, folded_words
from .index import Index
from .places import Number, Owner, Place, Rows, key_words
from .reading import MASK, Claim, Reading, Sentence, among

Picks = Mapping[int, Sequence[Place]]
"""The fields that show what a reply says, by where it stands."""
_MARKS = ' *_:\u00bb\u201d\u201c"'
_BESIDE = " \u00a0*_#"
_HEAD = re.compile(r"[^\W_]+[*_]*:[*_]*\s+[*_]*")
SEVERAL, TAIL = 12, 4
"""The most that a demonstrative takes up; letters of a noun that others are joined to."""
LISTS, GAP, FAR, SHORT = 8, 2, 24, 3
"""Lists that are looked at for the rows that a reply shows; characters between a word and a quote;
behind a number, where its noun stands; of what is longer than a unit."""
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

    def shown(self, lists: list[Rows]) -> list[Rows]:
        """The one of some lists that the reply names rows of, else all."""
        told = {p.owner for places in self.picks.values() for p in places}
        found = [r for r in lists[:LISTS] if len(lists) > 1 and told & self.index.owners(r)]
        return found if len(found) == 1 else lists

    def rows(self, claim: Claim, rows: Sequence[Rows], noun: str) -> tuple[int | None, bool]:
        """How many rows the clause of a number picks at most, None where it picks none; and whether
        it says nothing else, so that it speaks of all of them."""
        part = self._around(claim)
        if self._limited(part) or any(r.cut or r.size < 2 for r in rows):
            return None, False
        ids = frozenset().union(*(self.index.owners(one) for one in rows))
        told = self._told(part, claim, ids)
        if not told:
            return None, False
        fields: dict[str, set[Owner]] = {}
        for key, held in told.values():
            fields.setdefault(key, set()).update(held)
        sure = self._says_all(claim, part, rows, {*told, claim.start}, {*fields}, noun)
        sure = sure or (self._quotes(claim, part, told.keys(), noun) and not self._gone(rows))
        if not (noun or self._leads(claim, part) or (sure and self._presents(part, told))):
            return None, False
        return len(set.intersection(*fields.values())), sure

    def _limited(self, part: Sentence) -> bool:
        """Whether a clause denies, compares or names a limit."""
        words, stems = self.reading.language.words, self.reading.stems(part.start, part.end)
        roles = (words.negation, words.limits, words.more, words.less)
        return among(stems, *roles) and among(self._beside(part), *roles)

    def _around(self, claim: Claim) -> Sentence:
        """The clause of a number; the sentence where a mark parts it from its state: "3 - open"."""
        part, whole = self.reading.clause(claim.start), self.reading.sentence(claim.start)
        told = self._within(whole)
        numbers = [c for c in self.reading.inside(whole) if c.kind == "number" and not is_one(c)]
        state = len(told) == len(numbers) == 1 and told[0] in self.sorts
        return whole if state and not self._within(part) else part

    def _beside(self, part: Sentence) -> list[str]:
        """The stems of a clause, except of words right before a quote: "filed under 'open'"."""
        quotes = [c.start for c in self.reading.inside(part) if c.kind == "quote"]
        said = zip(
            self.reading.words(part.start, part.end),
            self.reading.stems(part.start, part.end),
            strict=True,
        )
        return [s for t, s in said if not any(0 < at - t.end <= GAP for at in quotes)]

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

    def _quotes(self, claim: Claim, part: Sentence, told: Set[int], noun: str) -> bool:
        """Whether a clause counts what has a state that it quotes, whatever it calls that: "filed
        under 'open': 3"; what stands behind both may pick a part."""
        inside = [c for c in self.reading.inside(part) if not is_one(c)]
        others = [c for c in inside if c is not claim]
        if claim.mention.about or [c.kind for c in others] != ["quote"]:
            return False
        known = plain(self.reading.language.tag) | {noun}
        state = others[0].start in self.sorts.keys() & told
        return state and known.issuperset(self.reading.stems(inside[-1].end, part.end))

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


def is_one(claim: Claim) -> bool:
    """Whether a number is "one" in words, which is an article too."""
    return bool(claim.kind == "number" and claim.mention.spelled and claim.mention.value == 1)


def is_code(place: Place) -> bool:
    return "id" in language.key_roles(place.key) or isinstance(place.value, str)


def measures(reading: Reading, index: Index, claim: Claim, values: Sequence[int]) -> bool:
    """Whether a number has a unit or a sign, is an id, or is that of the thing right before it:
    "event 10"."""
    held = index.numbers.get(values[0], ()) if values[0] > 999 else ()
    if any(map(is_code, held)) or reading.text[max(0, claim.start - 1)] in "$\u20ac\u00a3#":
        return True
    words, stem = reading.language.words, reading.language.stem
    behind = reading.words(claim.end, claim.end + FAR)[:1]
    stems = reading.stems(claim.end, claim.end + FAR)
    if behind and len(behind[0].text) < SHORT and stems[0] not in words.function:
        return True
    inside = map(stem, claim.token.split("-")[1:])  # "three-hour"
    return among([*stems[:1], *inside], words.units) or _is_of(reading, claim, stems)


def _is_of(reading: Reading, claim: Claim, behind: Sequence[str]) -> bool:
    """Whether a number is that of the thing right before it, and counts none behind it."""
    words = reading.language.words
    before = reading.stems(claim.start - FAR, claim.start)[-1:]
    if not among(before, words.objects):
        return False
    close = reading.text[: claim.start].rstrip(_BESIDE)[-1:].isalpha()
    return close and not among([s for s in behind if s not in words.function][:1], words.objects)


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


def names(spoken: Language, rows: Rows, stem: str) -> bool:
    """Whether a noun names a collection: by its key, or by the same thing in English."""
    if stem in rows.words or not (held := thing(spoken, stem)):
        return stem in rows.words
    english = language.of("en").words.objects
    return any(english.get(word) == held for word in rows.words)


def thing(spoken: Language, stem: str) -> str:
    """What a noun says that collections hold; a joined one says it by its end."""
    objects = spoken.words.objects
    if spoken.capital_nouns and stem not in objects:
        tails = [stem[at:] for at in range(1, len(stem) - TAIL + 1)]
        known = [objects[tail] for tail in tails if tail in objects]
        return known[0] if known else ""
    return objects.get(stem, "")


def outer(index: Index) -> list[Rows]:
    """The lists that no row of another holds."""
    return index.outer
