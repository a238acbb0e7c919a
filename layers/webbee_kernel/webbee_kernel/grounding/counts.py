"""A number with a noun is a count, and only a contradiction is a fault.

A clause that says no more than the number and what it counts gives the size of that collection, a
total beside it or a field of that name. Whatever else it says can only narrow: then the number is
wrong where it exceeds the whole, or the rows that the values and states of its clause pick
(`picking`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .. import language
from ..language import Token
from .index import Index
from .picking import (
    Picking,
    Picks,
    figures,
    measures,
    names,
    of_name,
    outer,
    plain,
    takes_up,
    thing,
    totals,
    whole_numbers,
)
from .places import Number, Rows
from .reading import MASK, Claim, Reading, Sentence, among
from .remainder import LABEL, continues, goes_on, is_left, labelled
from .whole import Whole

FAR, SMALL, BEHIND = 24, 12, 4
"""Characters behind a number where that of which it is a part stands; the largest such; words
behind a number among which its noun stands."""
_COUNTED = re.compile(r"(\d+)\W{1,3}([^\W\d_]+)")
_ALONE = re.compile(r"[\s*_#]*[^\W\d_]+[\s*_]*:[\s*_]*")
_BETWEEN = f" \u00a0*_+{MASK}"


@dataclass(frozen=True, slots=True)
class _Count:
    """A number, its noun with the words between, and the lists that it may count."""

    claim: Claim
    values: Sequence[int]
    noun: str
    between: Sequence[str]
    rows: Sequence[Rows]
    part: bool = False

    @property
    def one(self) -> bool:
        """Whether it is "one", which is an article and a pronoun too."""
        return bool(self.claim.mention.spelled) and list(self.values) == [1] and not self.part


class Counts:
    """Whether the numbers of a reply count right what an index holds. `picks`: the fields that show
    the values, states and flags of the reply, by where they stand; `sorts`: those of them that tell
    a state; `read`: the turn changed nothing, so that rows are as they were."""

    def __init__(
        self,
        reading: Reading,
        index: Index,
        message: str,
        picks: Picks,
        sorts: Picks,
        read: bool,
    ) -> None:
        self.reading, self.index, self.read = reading, index, read
        self.words, self.plain = reading.language.words, plain(reading.language.tag)
        self.asked = {reading.language.stem(t.text) for t in language.tokens(message)}
        joined = reading.language.capital_nouns  # "Supporttickets"
        things = {
            s
            for s in self.asked
            if s in self.words.objects or (joined and thing(reading.language, s))
        }
        self.foreign = {s for s in things if not self._known(s)}
        self.whole = Whole(reading, index, message)
        self.asks = "count" in map(self.words.asks.get, self.asked)
        self.picking = Picking(reading, index, picks, sorts)

    def wrong(self, claim: Claim) -> bool | None:
        """Whether a number contradicts what it counts, None where it counts nothing."""
        values = [] if takes_up(self.reading, claim) else whole_numbers(claim)
        if not values or measures(self.reading, self.index, claim, values):
            return None
        count = self._count(claim, values)
        if continues(self.reading, claim):
            return None if count.one else goes_on(self.picking, claim, values)
        wrong = self._of_picked(count)
        wrong = self._of_field(count) if wrong is None else wrong
        return False if wrong is not False and is_left(self.picking, claim, values) else wrong

    def _count(self, claim: Claim, values: Sequence[int]) -> _Count:
        noun, between = self._noun(claim)
        tables = [r for r in self.index.tables if not figures(r)]
        if noun:
            return _Count(claim, values, noun, between, self._named(noun, tables))
        if whole := self._of_which(claim, between, tables) if max(values) <= SMALL else []:
            return _Count(claim, values, noun, between, whole, part=True)
        return _Count(claim, values, noun, between, [r for r in tables if r.size > 1])

    def _of_which(self, claim: Claim, between: Sequence[str], tables: Sequence[Rows]) -> list[Rows]:
        """The list of which a number without its noun counts a part: "three of the four"; or the
        only one there is, where the message asks for what is counted."""
        if "|" in self.reading.sentence(claim.start).text:
            return []  # a cell's "5 of 6" is of its row
        sizes = self._sizes_behind(claim)
        found = [r for r in tables if r.size in sizes - {1}]
        if not found and self.asks and self.asked.intersection(between[:2]):
            found = [r for r in outer(self.index) if r in tables]
        return found if len(found) == 1 else []

    def _sizes_behind(self, claim: Claim) -> set[int]:
        """The numbers near behind another in its sentence."""
        told = self.reading.inside(self.reading.sentence(claim.start))
        behind = (c for c in told if c.kind == "number" and 0 < c.start - claim.end <= FAR)
        return {n for c in behind for n in whole_numbers(c)}

    def _of_picked(self, count: _Count) -> bool | None:
        """Whether a number contradicts how many rows its clause picks."""
        if not (self.read and count.rows):
            return None
        noun = count.noun or ("-" if count.part else "")
        picked, whole = self.picking.rows(count.claim, count.rows, noun)
        if picked is None or not (count.noun or count.part or whole):
            return None
        sized = any(r.size in count.values for r in count.rows)
        if picked in count.values or (count.noun and not whole and sized):
            return False
        return True if min(count.values) > max(1, picked) or (whole and not count.one) else None

    def _of_field(self, count: _Count) -> bool | None:
        """Whether a number contradicts the field above all rows that the word behind it names, or
        the size of what its noun names."""
        if field := self._state_field(count):
            first = count.between[:1]
            more = not count.noun and self._selects(count.claim, "", count.between[1:], *first)
            return None if more else {*count.values}.isdisjoint(self._sizes_of(field))
        return self._of_all(count) if count.noun and count.rows and not count.one else None

    def _of_all(self, count: _Count) -> bool | None:
        allowed = self._allowed(count.noun, count.rows)
        low, high = self._bounds(count.claim, min(count.values), count.between)
        if any(low <= size <= high or size in count.values for size in allowed):
            return False
        part = count.part or self._selects(count.claim, count.noun, count.between)
        part = part and not self.whole.counts(count.claim, count.noun, self.picking.picks)
        return None if not allowed or (part and min(count.values) <= max(allowed)) else True

    def _noun(self, claim: Claim) -> tuple[str, list[str]]:
        """The noun behind a number that names a collection, and the words between; or that on a
        label before it."""
        found: list[str] = []
        at = claim.end
        for token in self.reading.words(claim.end, claim.end + 48)[: BEHIND + 2]:
            stem, gap = self.reading.language.stem(token.text), self.reading.rest[at : token.start]
            if self._ends(gap, stem, first=at == claim.end, found=found):
                break
            if self._known(stem) or (not found and self._asked_for(token, stem)):
                return stem, found
            if stem not in self.words.function:
                found.append(stem)
            at = token.end
        return self._label(claim) or self.whole.label(claim), found

    def _ends(self, gap: str, stem: str, *, first: bool, found: Sequence[str]) -> bool:
        """Whether a word behind a number is beyond its noun; "two of the four tasks" goes on, "30
        across four tasks" does not."""
        other = MASK in gap and (bool(found) or first)
        words = self.words
        verb = among([stem], words.perfect, words.and_, words.less, words.limits)
        mark = bool(gap.strip(_BETWEEN)) or len(found) == BEHIND
        return mark or other or (verb and not self._names(stem))

    def _asked_for(self, token: Token, stem: str) -> bool:
        """Whether a word is what the message asks for, and no part of another's name: "4 cars", no
        "4 car spaces"."""
        after = self.reading.words(token.end, token.end + FAR)[:1]
        joined = any(not self.reading.text[token.end : t.start].strip(" ") for t in after)
        head = not joined or self.reading.language.stem(after[0].text) in self.plain
        return stem in self.foreign and head

    def _names(self, stem: str) -> bool:
        return stem in self.foreign or self._known(stem)

    def _known(self, stem: str) -> bool:
        return any(names(self.reading.language, rows, stem) for rows in self.index.tables)

    def _named(self, noun: str, tables: Sequence[Rows]) -> list[Rows]:
        """The lists that a noun names; the outer ones where the message asks for them by a word
        that names none."""
        if noun in self.foreign:
            return self.picking.shown([r for r in outer(self.index) if r in tables])
        return [r for r in tables if names(self.reading.language, r, noun)]

    def _label(self, claim: Claim) -> str:
        """The noun of a label that says how many there are: "Number of cards: 5", "Cards: 5"."""
        first = self.reading.text.rfind("\n", 0, claim.start) + 1
        before = self.reading.stems(first, claim.start)
        alone = _ALONE.fullmatch(self.reading.text, first, claim.start) and labelled(
            self.reading, claim
        )
        tally = among(before, self.words.tally) and self._tallied(claim, before)
        if alone or tally:
            return next(filter(self._names, before), "")
        return ""

    def _tallied(self, claim: Claim, before: Sequence[str]) -> bool:
        """Whether a label, or a clause of a tally, a noun and a verb that presents or compares,
        says whose number it is: "number of cards: 5", "the number of cards exceeds 5"."""
        if labelled(self.reading, claim):
            return len(before) < LABEL
        words, clause = self.words, self.reading.clause(claim.start)
        own = self.reading.stems(clause.start, claim.start)
        noun = next((at for at, stem in enumerate(own) if self._names(stem)), len(own))
        verbs = (words.more, words.less, words.copula, words.listing, words.about)
        told = among(own[:noun], words.tally) and all(among([s], *verbs) for s in own[noun + 1 :])
        return told and noun < len(own) - 1 and not self.reading.inside(clause)[1:]

    def _allowed(self, noun: str, rows: Sequence[Rows]) -> set[Number]:
        """The numbers that may stand before a noun: sizes, totals beside the rows, fields of its
        name, what a text of the data or the arguments of a call gives of it."""
        found = {n for one in rows for n in (one.size, *totals(self.index, one))}
        found |= {n for n, places in self.index.numbers.items() if of_name(places, noun)}
        for place in self.index.strings():
            for match in _COUNTED.finditer(str(place.value)[:400]):
                if self.reading.language.stem(match[2]) == noun:
                    found.add(int(match[1]))
        found |= {len(r.items) for r in self.index.rows if r.path.startswith("arguments")}
        for key in {one.key for one in rows}:  # the lists inside the rows of another, together
            found.add(sum(one.size for one in rows if one.key == key))
        return found

    def _selects(self, claim: Claim, noun: str, between: Sequence[str], *known: str) -> bool:
        """Whether anything in the clause, or in what was asked, could pick a part."""
        part = self.reading.clause(claim.start)
        if self.reading.text[part.start : part.end].rstrip(" *_\n").endswith(":"):
            return True
        if self._headed(part, noun):
            return True
        if len(self.reading.inside(part)) > 1 or any(s not in self.plain for s in between):
            return True
        stems = self.reading.stems(part.start, part.end)
        after = self.reading.stems(claim.end, part.end)
        if among(after, self.words.copula, self.words.passive) and after[-1] in self.words.function:
            return True  # "two fixtures are out"
        own = self.plain | {noun, *between, *known} | self.words.objects.keys()
        return any(s not in own for s in stems) or among(stems, self.words.rest, self.words.limits)

    def _headed(self, part: Sentence, noun: str) -> bool:
        """Whether what a clause stands behind picks a part: "marked urgent: 1 ticket"."""
        first = self.reading.text.rfind("\n", 0, part.start) + 1
        before = self.reading.text[first : part.start].rstrip(" *_")
        own = self.plain | {noun} | self.words.objects.keys()
        start = max(first, self.reading.sentence(part.start).start)
        named = any(start <= c.start < part.start for c in self.reading.claims)
        told = named or any(s not in own for s in self.reading.stems(start, part.start))
        return before.endswith(":") and told

    def _state_field(self, count: _Count) -> str:
        """The key of a number above all rows that is a word between a number and its noun: of "12
        unread messages" `unread`."""
        keys = {p.key for p in self.index.figures if len(p.owner) == 2}
        right = self.reading.stems(count.claim.end, count.claim.end + 24)[:1]
        for stem in right if right == list(count.between[:1]) else ():
            for word in (stem, self.words.values.get(stem, "-")):
                if word in keys:
                    return word
        return ""

    def _sizes_of(self, key: str) -> set[Number]:
        """The values of a field, and how many rows each value of each of their fields has."""
        found = {p.value for p in self.index.figures if p.key == key}
        for table in self.index.grouped():
            found |= {mask.bit_count() for mask in table.groups}
        return found

    def _bounds(self, claim: Claim, value: int, between: Sequence[str]) -> tuple[float, float]:
        """Between which sizes "over 40", "under 40", "about 40" and "40" may stand for."""
        near = self.reading.near(claim)
        over, under = among([*near, *between], self.words.more), among(near, self.words.less)
        no = among(near, self.words.negation)  # "no less than 40" may be 40
        if (under and no) or self.reading.text.startswith("+", claim.end):
            return value, 2 * value + 1
        if over and not no:
            return value + 1, 2 * value + 1
        if over or under:
            return 0.4 * value, value - (not no)
        if claim.mention.about or among(near, self.words.about):
            return value - max(1, 0.15 * value), value + max(1, 0.18 * value)
        return value, value
