"""A number with a noun is a count, and a count is compared with what there is to count.

Where the noun names a collection ("tasks"), only its size, a total beside it, the size of a group
of its rows, or a field of that name will do; a page size, an amount or a number in some title will
not. Where the noun is unknown (another language), every size, total and group in sight may be
meant.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .. import language
from .derive import groups
from .index import Index, Number, Owner, Place, Rows, key_words
from .reading import MASK, Claim, Reading, Sentence

_BULLET = re.compile("^[ \\t]*(?:[-*\u2022\u2013]|\\d+[.)])\\s+\\S|^[ \\t]*\\|", re.M)
_COUNTED = re.compile(r"\d\W{1,3}([^\W\d_]+)")
_RULE = re.compile(r"^[ \t]*\|[ :|-]+\|[ \t]*$", re.M)


@dataclass(slots=True)
class Counts:
    """The countable things of an index, and whether a reply counts them right."""

    reading: Reading
    index: Index
    bullets: list[int] = field(init=False)

    def __post_init__(self) -> None:
        text = self.reading.text
        rules = [m.start() for m in _RULE.finditer(text)]
        heads = {at for rule in rules for at in (rule, text.rfind("\n", 0, max(0, rule - 1)) + 1)}
        self.bullets = [m.start() for m in _BULLET.finditer(text) if m.start() not in heads]

    def wrong(self, claim: Claim) -> bool | None:
        """Whether a number is a count that contradicts; None where it counts nothing."""
        if (part := self._part(claim)) is not None:
            return bool(claim.mention.value != part)
        noun = self._noun(claim)
        more = self._continues(claim)
        if (noun is None and not more) or claim.kind != "number":
            return None
        values = [v for v in claim.mention.readings if isinstance(v, int) or float(v).is_integer()]
        if not values or any(self._is_id(v) for v in values):
            return None
        if more:
            fits = any(self._rest(v) for v in values)
            return None if not fits and not self.bullets else not fits
        assert noun is not None
        if claim.mention.spelled and values == [1] and not self._named(noun):
            return None
        allowed = self._allowed(noun, grouped=self._qualified(claim, noun))
        if allowed is None:
            return None
        return not any(self._fits(claim, v, allowed) for v in values)

    def _is_id(self, value: Number) -> bool:
        """Whether a number of four digits or more is an id in sight."""
        places = self.index.numbers.get(value, ()) if value > 999 else ()
        return any("id" in language.key_roles(p.key) or isinstance(p.value, str) for p in places)

    def none(self, sentence: Sentence, message: str) -> str:
        """The words that deny things which are there ("no tasks"), or nothing."""
        words, stem = self.reading.language.words, self.reading.language.stem
        tokens = self.reading.words(sentence.start, sentence.end)
        stems = [stem(t.text) for t in tokens]
        denied = next((t for t, s in zip(tokens, stems, strict=True) if s in words.negation), None)
        if denied is None or sentence.asks or len(tokens) > 8 or self.reading.inside(sentence):
            return ""
        own = [s for s in stems if s not in words.negation]
        other = (words.plan, words.failure, words.values, words.states)
        done = any(s in words.effects and s not in words.looking for s in own)
        if done or any(s in role for s in own for role in other):
            return ""
        plain = (words.function, words.possession, words.looking, words.perfect, words.others)
        telling = [s for s in own if not any(s in role for role in plain)]
        rows = self._collections()
        asked = {stem(t.text) for t in language.tokens(message)}
        mine = [r for r in rows if any(self._names(r, s) for s in telling)]
        looked = not telling and any(s in words.looking for s in own)
        if len(telling) > 3 or not (mine or looked or asked.intersection(telling)):
            return ""
        sized = mine or rows
        return denied.text if sized and all(r.items for r in sized) else ""

    # ---- what is counted

    def _part(self, claim: Claim) -> int | None:
        """How many rows have the one state that a sentence names beside its one number."""
        sentence = self.reading.sentence(claim.start)
        words, stem = self.reading.language.words, self.reading.language.stem
        inside = self.reading.inside(sentence)
        stems = [stem(t.text) for t in self.reading.words(sentence.start, sentence.end)]
        told = [words.states[s] for s in stems if s in words.states and s not in words.negation]
        held = [c.mention for c in inside if c.kind == "field"]
        places = self.index.states.get(told[0], []) if len(told) == 1 and not held else []
        if len(held) == 1 and not told:
            places = held[0]
        if (
            len(inside) != 1 + len(held)
            or claim.kind != "number"
            or len({p.key for p in places}) != 1
        ):
            return None
        owners = {p.owner for p in places}
        (row,) = {o[:-1] for o in owners} if len({o[:-1] for o in owners}) == 1 else (None,)
        if row is None or not any(isinstance(o[-1], int) for o in owners if o):
            return None
        if self._is_id(claim.mention.value) or not self._whole(next(iter(owners)), places[0]):
            return None
        return len(owners)

    def _whole(self, owner: Owner, place: Place) -> bool:
        """Whether the rows beside a row are all there are, and the field tells groups of them."""
        rows = next(
            (
                r
                for r in self.index.tables
                if owner[: len(r.owner)] == r.owner and r.call in (place.call, -1)
            ),
            None,
        )
        if rows is None or len(rows.items) < 2:
            return False
        if not all(isinstance(row, Mapping) and place.key in row for row in rows.items):
            return False
        distinct = {str(row[place.key]) for row in rows.items if isinstance(row, Mapping)}
        totals = [n for n in self._totals(rows) if n > len(rows.items)]
        return not totals and len(distinct) < len(rows.items)

    def _noun(self, claim: Claim) -> str | None:
        """The stem of the noun behind a number, passing one or two words of description."""
        text = self.reading.rest
        known = self.reading.language.words.objects
        if any(
            self.reading.language.stem(t.text) in known and claim.start - t.end < 3
            for t in self.reading.words(claim.start - 24, claim.start)
        ):
            return None  # "event 10"
        after = [t for t in self.reading.words(claim.end, claim.end + 40) if MASK not in t.text][:3]
        at, chosen = claim.end, None
        for token in after:
            if text[at : token.start].strip(" \u00a0*_"):
                break
            stem = self.reading.language.stem(token.text)
            if chosen is None and stem in self.reading.language.words.units:
                return None  # a measure
            words = self.reading.language.words
            if (
                stem in words.function
                and chosen is None
                and len(after) > 1
                and any(self._named(self.reading.language.stem(t.text)) for t in after)
            ):
                at = token.end
                continue
            if (
                stem in words.function
                or stem in words.effects
                or stem in words.perfect
                or token.text[:1].isdigit()
            ):
                break
            chosen = stem if chosen is None or self._named(stem) else chosen
            at = token.end
        before = text[max(0, claim.start - 1) : claim.start]
        return None if before in "$\u20ac\u00a3#" and before else chosen

    def _named(self, stem: str) -> bool:
        return any(self._names(rows, stem) for rows in self.index.tables)

    def _names(self, rows: Rows, stem: str) -> bool:
        """Whether a noun names a collection: by its key, or by the same thing in English."""
        thing = self.reading.language.words.objects.get(stem)
        english = language.of("en").words.objects
        return stem in rows.words or (
            thing is not None and any(english.get(w) == thing for w in rows.words)
        )

    def _collections(self) -> list[Rows]:
        """The lists that are answers: those that no row of another list holds."""
        return [
            r for r in self.index.tables if not any(isinstance(step, int) for step in r.owner[2:])
        ]

    def _qualified(self, claim: Claim, noun: str) -> bool:
        """Whether a sentence says of which part it speaks: beside the number stands a value, a
        state, or a word between it and the noun ("8 unread messages")."""
        sentence = self.reading.sentence(claim.start)
        words, stem = self.reading.language.words, self.reading.language.stem
        stems = [stem(t.text) for t in self.reading.words(sentence.start, sentence.end)]
        after = [stem(t.text) for t in self.reading.words(claim.end, claim.end + 40)[:1]]
        described = bool(after) and after[0] != noun and after[0] not in words.function
        told = any(s in words.states or words.values.get(s, "all") != "all" for s in stems)
        return described or told or len(self.reading.inside(sentence)) > 1

    def _allowed(self, noun: str, *, grouped: bool) -> dict[Number, bool] | None:
        """Numbers that may stand before a noun; True where it is a size or a total (which "over"
        and "about" may round)."""
        tables = self.index.tables
        mine = [r for r in tables if self._names(r, noun)]
        own = {
            n: False
            for n, places in self.index.numbers.items()
            if any(self._is_of(p, noun) for p in places)
        }
        if not tables and not own:
            return None
        for rows in mine or tables:
            own[len(rows.items)] = True
            own.update(dict.fromkeys(self._totals(rows), True))
            if grouped:
                own |= {n: own.get(n, False) for n in _groups(rows)}
        if not mine:
            held = self.index.numbers.items()
            own |= {n: own.get(n, False) for n, places in held if any(map(_countable, places))}
        return own

    def _is_of(self, place: Place, noun: str) -> bool:
        if noun in key_words(place.key) and not isinstance(place.value, str):
            return True
        return isinstance(place.value, str) and self._beside(place.value, noun)

    def _beside(self, text: str, noun: str) -> bool:
        """Whether a text of the data counts the noun itself ("Found 8 files")."""
        follows = [m.group(1) for m in _COUNTED.finditer(text[:400])]
        return any(self.reading.language.stem(word) == noun for word in follows)

    def _totals(self, rows: Rows) -> Iterator[Number]:
        for number, places in self.index.numbers.items():
            for place in places:
                roles = language.key_roles(place.key)
                if (
                    place.owner == rows.owner
                    and not roles & {"paging", "id", "money", "moment"}
                    and isinstance(place.value, int)
                ) or (place.path == "summary" and place.call == rows.call):
                    yield number

    def _fits(self, claim: Claim, value: Number, allowed: dict[Number, bool]) -> bool:
        mention, words = claim.mention, self.reading.language.words
        before = [
            self.reading.language.stem(t.text)
            for t in self.reading.words(claim.start - 24, claim.start)[-3:]
        ]
        sizes = [n for n, whole in allowed.items() if whole] or list(allowed)
        if value in allowed and not allowed[value]:
            return True
        if any(s in words.more for s in before):
            return any(value < n <= 2 * value + 1 for n in sizes)
        if any(s in words.less for s in before):
            return any(0.4 * value <= n < value for n in sizes)
        if mention.about or any(s in words.about for s in before):
            return any(abs(n - value) <= max(1, 0.15 * n) for n in sizes)
        return value in allowed or value == self._listed(claim)

    # ---- lists that the reply shows

    def _continues(self, claim: Claim) -> bool:
        """Whether the number says how many a list goes on ("and 7 more")."""
        line = self.reading.text.rfind("\n", 0, claim.start) + 1
        end = self.reading.text.find("\n", claim.end)
        after = self.reading.words(
            claim.end, min(claim.end + 30, end if end >= 0 else claim.end + 30)
        )
        near = [*self.reading.words(line, claim.start)[-3:], *after[:2]]
        rest = self.reading.language.words.rest
        return any(self.reading.language.stem(t.text) in rest for t in near)

    def _rest(self, value: Number) -> bool:
        shown = self._bullets(len(self.reading.text))
        sizes = {n for rows in self._collections() for n in (len(rows.items), *self._totals(rows))}
        told = {shown, *(c.mention.value for c in self.reading.claims if c.kind == "number")}
        return any(value == n - m for n in sizes for m in told) or (
            not shown and any(0 < n - value <= 5 for n in sizes)
        )

    def _bullets(self, until: int) -> int:
        """Items that the reply lists before an offset."""
        return bisect_left(self.bullets, until)

    def _listed(self, claim: Claim) -> int:
        """How many items the reply itself lists below the number, for "the first three"."""
        shown = self._bullets(len(self.reading.text)) - self._bullets(claim.start)
        before = [
            self.reading.language.stem(t.text)
            for t in self.reading.words(claim.start - 24, claim.start)[-3:]
        ]
        ordinals = self.reading.language.words.ordinals
        return shown if any(s in ordinals for s in before) else -1


def _groups(rows: Rows) -> Iterator[int]:
    items = [row for row in rows.items[:400] if isinstance(row, dict)]
    for key in dict.fromkeys(key for row in items[:50] for key in row):
        for _, members in groups(key, items):
            yield len(members)


def _countable(place: Place) -> bool:
    """Whether a number can say how many: no id, rank, page, amount or moment, and whole."""
    if isinstance(place.value, str) and place.path != "message":
        return len(place.value) > 60
    if not isinstance(place.value, int) or isinstance(place.value, bool):
        return False
    roles = language.key_roles(place.key)
    if place.path.startswith("arguments"):
        return "paging" not in roles
    return not roles & {"id", "rank", "paging", "money", "moment"} and place.path != "message"
