"""A number with a noun is a count, and a count is compared with what there is to count.

Only a contradiction is a fault. A clause that says no more than the number and what it counts gives
the size of that collection, a total beside it, or a field of that name. One that says more ("two
appointments ahead") counts a part, which can be anything up to the whole; only where every word of
it is a field or a state that tells groups of the rows, the part itself is compared.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .. import language
from .derive import groups
from .index import Index
from .places import Number, Place, Rows, key_words
from .reading import Claim, Reading, Sentence, among

_BULLET = re.compile("^[ \\t]*(?:[-*\u2022\u2013]|\\d+[.)])\\s+\\S|^[ \\t]*\\|", re.M)
_RULE = re.compile(r"^[ \t]*\|[ :|-]+\|[ \t]*$", re.M)
_COUNTED = re.compile(r"\d\W{1,3}([^\W\d_]+)")
_COMMA = re.compile("[,;]\\s|\\n")
SHORTEST = 3
"""Letters of a noun; what is shorter is a unit."""
SMALL = 20
"""Above, a number that a field shows is that field's, no count of the rows with a state."""
MOST_TELLING = 3
"""Words of a denial beside what it denies; with more it speaks of something else."""
MOST = 12
"""Values of a clause that may describe what its number counts."""
LABEL = 4
"""Words of a label that says how many there are, and an upper bound ("Number of cards: 5")."""
LONG = 60
"""Characters of a text whose numbers may count; in a title they do not."""
PLAIN = (
    "function", "possession", "looking", "perfect", "copula", "adverb", "total", "tally", "about",
    "more", "less", "others", "first_person", "quantifier", "passive", "question", "auxiliary",
    "negation", "empty", "rest", "reference", "plan", "sequence", "source",
)  # fmt: skip
"""Roles of words that pick no part of what is counted."""


@dataclass(slots=True)
class Counts:
    """The countable things of an index, and whether a reply counts them right."""

    reading: Reading
    index: Index
    message: str = ""
    bullets: list[int] = field(init=False)
    plain: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        text, words = self.reading.text, self.reading.language.words
        rules = [m.start() for m in _RULE.finditer(text)]
        heads = {at for rule in rules for at in (rule, text.rfind("\n", 0, max(0, rule - 1)) + 1)}
        self.bullets = [m.start() for m in _BULLET.finditer(text) if m.start() not in heads]
        self.plain = frozenset().union(*(getattr(words, role) for role in PLAIN))

    @property
    def most(self) -> int:
        """The size of the largest collection."""
        return max((rows.size for rows in (*self.index.tables, *self.index.rows)), default=0)

    def wrong(self, claim: Claim) -> bool | None:
        """Whether a number is a count that contradicts; None where it counts nothing."""
        values = [v for v in claim.mention.readings if float(v).is_integer()]
        measured = among(self._behind(claim), self.reading.language.words.units)
        if not values or measured or any(self._is_id(v) for v in values):
            return None
        part = self._part(claim)
        if part is not None and not (values[0] > SMALL and values[0] in self.index.numbers):
            return part not in values
        return self._goes_on(values) if self._continues(claim) else self._counted(claim, values)

    def sizes(self, claim: Claim) -> bool:
        """Whether a number is how many rows there are, or how many of a group of them."""
        value = claim.mention.value
        return any(value == r.size or value in _groups(r) for r in self.index.tables)

    def _is_id(self, value: Number) -> bool:
        """Whether a number of four digits or more is an id in sight."""
        places = self.index.numbers.get(value, ()) if value > 999 else ()
        return any("id" in language.key_roles(p.key) or isinstance(p.value, str) for p in places)

    # ---- all of a collection

    def _counted(self, claim: Claim, values: Sequence[Number]) -> bool | None:
        """Whether the number of a noun is wrong; None where it names no collection."""
        noun = self.noun(claim)
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
        return {*held, *(n for r in self.index.tables for n in _groups(r))} if held else held

    def _shown_elsewhere(self, values: Sequence[Number]) -> bool:
        """Whether a number is more than there is of anything, and what shows it counts nothing."""
        held = [p for v in values for p in self.index.numbers.get(v, ())]
        return bool(held) and min(values) > self.most and not any(map(_figure, held))

    def noun(self, claim: Claim) -> str:
        """The stem of the noun of a number: behind it, past a word or two of description, or on the
        label before it; none for a measure or the number of a thing."""
        words, text = self.reading.language.words, self.reading.text
        before = self.reading.stems(text.rfind("\n", 0, claim.start) + 1, claim.start)
        behind = self.reading.words(claim.end, claim.end + 24)[:1]
        numbered = text[claim.start - 1 : claim.start] in ("$", "\u20ac", "\u00a3", "#")
        labelled = text[: claim.start].rstrip(" *_")[-1:] == ":"
        numbered = numbered or (not labelled and among(before[-1:], words.objects))
        after = self._behind(claim)
        unit = behind and len(behind[0].text) < SHORTEST and not among(after[:1], words.function)
        if numbered or unit or among(after, words.units):
            return ""
        told = [s for s in after if self._named(s)] or [s for s in after if s in words.objects]
        if told or not labelled:
            return (told or [s for s in after if s not in self.plain] or [""])[0]
        labels = [s for s in before if s in words.objects or self._named(s)] or before
        return labels[0] if among(before, words.tally) and len(before) < LABEL else ""

    def _behind(self, claim: Claim) -> list[str]:
        """The stems behind a number up to a verb or a mark; "of the" is passed."""
        words, at = self.reading.language.words, claim.end
        found: list[str] = []
        for token in self.reading.words(claim.end, claim.end + 40)[:4]:
            stem = self.reading.language.stem(token.text)
            if self.reading.rest[at : token.start].strip(" \u00a0*_"):
                break
            if among([stem], words.effects, words.perfect, words.and_) and not self._named(stem):
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
        start, end = self._clause(claim)
        if len(self.reading.inside(Sentence(start, end, ""))) > 1:
            return True
        spoken = self.reading.language
        before, after = self.reading.words(start, claim.start), self.reading.words(claim.end, end)
        own = self.plain | spoken.words.objects.keys() | {noun}
        if any(spoken.stem(t.text) not in own for t in after):
            return True
        telling = [t.text for t in before if spoken.stem(t.text) not in own]
        return any(p.path.startswith("data") for w in telling for p in self.index.word(w, spoken))

    def _clause(self, claim: Claim) -> tuple[int, int]:
        return next(
            span
            for span in clauses(self.reading.sentence(claim.start), _COMMA)
            if span[0] <= claim.start < span[1]
        )

    def _allowed(self, noun: str) -> dict[Number, bool]:
        """Numbers that may stand before a noun; True where it is a size or a total (which "over"
        and "about" may round)."""
        tables = self.index.tables
        mine = [r for r in tables if named(self.reading, r, noun)]
        held = {n for n, places in self.index.numbers.items() if any(_of(p, noun) for p in places)}
        asked = (len(r.items) for r in self.index.rows if r.path.startswith("arguments"))
        own = dict.fromkeys([*held, *self._told_of(noun), *asked], False)
        for rows in mine or [r for r in tables if not _of_others(r)]:
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
        return (part and value <= max(sizes)) or (low == high and value == self._listed(claim))

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

    # ---- a part of it

    def _part(self, claim: Claim) -> int | None:
        """How many rows have all that the clause of a number says of them. None where it says
        nothing, or a word that no row tells, or where the rows in sight are not all."""
        start, end = self._clause(claim)
        told = list(self._told(claim, start, end))
        lists = {p.owner[:-1] for places in told for p in places}
        if len(lists) != 1:
            return None
        rows = self._holding(told[0][0])
        whole = rows and all(self._groups_all(rows, places[0].key) for places in told)
        return len(set.intersection(*({p.owner for p in t} for t in told))) if whole else None

    def _told(self, claim: Claim, start: int, end: int) -> Iterator[Sequence[Place]]:
        """The fields and states that a clause tells; none where it holds another value."""
        inside = self.reading.inside(Sentence(start, end, ""))[:MOST]
        held = [c for c in inside if c.kind == "field"]
        whole = {r.size for r in self.index.tables}
        others = [c for c in inside if c is not claim and c not in held]
        if any(c.kind != "number" or c.mention.value not in whole for c in others):
            return
        places = [c.mention for c in held]
        taken, words = {c.start for c in held}, self.reading.language.words
        for token in self.reading.words(start, end):
            stem = self.reading.language.stem(token.text)
            if token.start not in taken and stem not in words.negation and stem in words.states:
                places.append(self.index.states.get(words.states[stem], ()))
        if all(len({p.key for p in one}) == 1 for one in places):
            yield from places

    def _holding(self, place: Place) -> Rows | None:
        mine = (
            r
            for r in self.index.tables
            if r.call in (place.call, -1) and place.owner[: len(r.owner)] == r.owner
        )
        return next(mine, None)

    def _groups_all(self, rows: Rows, key: str) -> bool:
        """Whether the rows are all there are, and the field tells groups of them."""
        items = [row for row in rows.items if isinstance(row, Mapping) and key in row]
        if rows.cut or len(items) < max(2, rows.size):
            return False
        more = any(n > len(items) for n in totals(self.index, rows))
        return not more and len({str(row[key]) for row in items}) < len(items)

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

    def _listed(self, claim: Claim) -> int:
        """How many items the reply itself lists below the number, for "the first three"."""
        shown = len(self.bullets) - bisect_left(self.bullets, claim.start)
        return (
            shown if among(self.reading.near(claim), self.reading.language.words.ordinals) else -1
        )

    # ---- none

    def denied(self, sentence: Sentence) -> str:
        """The word that denies things which are there ("no tasks"), or nothing."""
        words, stem = self.reading.language.words, self.reading.language.stem
        tokens = self.reading.words(sentence.start, sentence.end)
        no = [t.text for t in tokens if among([stem(t.text)], words.negation, words.empty)]
        said = [stem(t.text) for t in tokens]
        stems = [s for s in said if not among([s], words.negation, words.empty)]
        effects = [s for s in stems if s in words.effects and s not in words.objects]
        parts = {s for s, part in words.values.items() if part != "all"}
        other = effects or among(stems, words.plan, parts, words.states)
        if not no or other or sentence.asks or self.reading.inside(sentence):
            return ""
        telling = [s for s in stems if s not in self.plain and s not in words.failure]
        asked = {stem(t.text) for t in language.tokens(self.message)}
        rows = collections(self.index)
        mine = [r for r in rows if any(named(self.reading, r, s) for s in telling)]
        found = among(telling, asked) or (not telling and among(stems, words.looking))
        rows = mine or (rows if found else [])
        return no[0] if rows and len(telling) <= MOST_TELLING and all(r.items for r in rows) else ""


def clauses(sentence: Sentence, marks: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The spans of a sentence between its marks."""
    start = sentence.start
    for mark in marks.finditer(sentence.text):
        yield start, sentence.start + mark.end()
        start = sentence.start + mark.end()
    yield start, sentence.end


def collections(index: Index) -> list[Rows]:
    """The lists that are answers: those that no row of another list holds."""
    return [r for r in index.tables if not any(isinstance(step, int) for step in r.owner[2:])]


def named(reading: Reading, rows: Rows, stem: str) -> bool:
    """Whether a noun names a collection: by its key, or by the same thing in English."""
    thing = reading.language.words.objects.get(stem, "-")
    english = language.of("en").words.objects
    return stem in rows.words or any(english.get(word) == thing for word in rows.words)


def _of_others(rows: Rows) -> bool:
    """Whether a collection is known to hold other things than a noun that does not name it."""
    return not rows.words.isdisjoint(language.of("en").words.objects)


def totals(index: Index, rows: Rows) -> Iterator[Number]:
    """The whole numbers beside a collection, and those that the call's summary tells."""
    for number, places in index.numbers.items():
        if any(_beside(place, rows) for place in places):
            yield number


def _beside(place: Place, rows: Rows) -> bool:
    if place.path == "summary":
        return place.call == rows.call
    roles = language.key_roles(place.key)
    whole = isinstance(place.value, int) and not roles & {"paging", "id", "money", "moment"}
    return whole and place.owner == rows.owner


def _of(place: Place, noun: str) -> bool:
    """Whether a field of that name holds a number."""
    return not isinstance(place.value, str) and noun in key_words(place.key)


def _groups(rows: Rows) -> set[int]:
    items = [row for row in rows.items[:400] if isinstance(row, dict)]
    keys = dict.fromkeys(key for row in items[:50] for key in row)
    return {len(members) for key in keys for _, members in groups(key, items)}


def _figure(place: Place) -> bool:
    """Whether a number stands for an amount of something, or was asked for: it is no id, rank or
    page of a result, and in no title."""
    if not place.path.startswith("data"):
        return True
    if isinstance(place.value, str):
        return len(place.value) > LONG
    return not language.key_roles(place.key) & {"id", "rank", "paging"}
