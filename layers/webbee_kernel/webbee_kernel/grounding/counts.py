"""A number with a noun is a count, and a count is compared with what there is to count.

Where the noun names a collection ("tasks"), only its size, a total beside it, the size of a group
of its rows, or a field of that name will do; a page size, an amount or a number in some title will
not. Where the noun is unknown (another language), every size, total and group in sight may be
meant.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .. import language
from .derive import groups
from .index import Index
from .parts import collections, named, rows_told, totals
from .places import Number, Place, Rows, key_words
from .reading import Claim, Reading, among

_BULLET = re.compile("^[ \\t]*(?:[-*\u2022\u2013]|\\d+[.)])\\s+\\S|^[ \\t]*\\|", re.M)
_COUNTED = re.compile(r"\d\W{1,3}([^\W\d_]+)")
_RULE = re.compile(r"^[ \t]*\|[ :|-]+\|[ \t]*$", re.M)


SHORTEST = 3
"""Letters of a noun; what is shorter is a unit."""
SMALL = 20
"""Above, a number that a field shows is that field's, no count of the rows with a state."""


@dataclass(slots=True)
class Counts:
    """The countable things of an index, and whether a reply counts them right."""

    reading: Reading
    index: Index
    bullets: list[int] = field(init=False)
    _sizes: set[int] | None = None

    def __post_init__(self) -> None:
        text = self.reading.text
        rules = [m.start() for m in _RULE.finditer(text)]
        heads = {at for rule in rules for at in (rule, text.rfind("\n", 0, max(0, rule - 1)) + 1)}
        self.bullets = [m.start() for m in _BULLET.finditer(text) if m.start() not in heads]

    def wrong(self, claim: Claim) -> bool | None:
        """Whether a number is a count that contradicts; None where it counts nothing."""
        if claim.kind != "number":
            return None
        values = [v for v in claim.mention.readings if float(v).is_integer()]
        if not values or any(self._is_id(v) for v in values):
            return None
        part = rows_told(self.reading, self.index, claim)
        if part is not None and not (values[0] > SMALL and values[0] in self.index.numbers):
            return part not in values
        return self._goes_on(values) if self._continues(claim) else self._counted(claim, values)

    def sizes(self, claim: Claim) -> bool:
        """Whether a number is how many rows there are, or how many of a group of them."""
        if self._sizes is None:
            tables = self.index.tables
            self._sizes = {len(rows.items) for rows in tables}
            self._sizes |= {n for rows in tables for n in _groups(rows)}
        return claim.mention.value in self._sizes

    def _goes_on(self, values: Sequence[Number]) -> bool | None:
        """Whether "and 7 more" is wrong."""
        fits = any(self._rest(v) for v in values)
        return None if not fits and not self.bullets else not fits

    def _counted(self, claim: Claim, values: Sequence[Number]) -> bool | None:
        """Whether the number of a noun is wrong."""
        noun = self._noun(claim)
        if noun is None or (claim.mention.spelled and values == [1] and not self._named(noun)):
            return None
        allowed = self._allowed(noun, grouped=self._qualified(claim, noun))
        return None if allowed is None else not any(self._fits(claim, v, allowed) for v in values)

    def _is_id(self, value: Number) -> bool:
        """Whether a number of four digits or more is an id in sight."""
        places = self.index.numbers.get(value, ()) if value > 999 else ()
        return any("id" in language.key_roles(p.key) or isinstance(p.value, str) for p in places)

    # ---- what is counted

    def _noun(self, claim: Claim) -> str | None:
        """The stem of the noun behind a number, passing a word or two of description; None for a
        measure, an amount, the number of a thing ("event 10")."""
        words = self.reading.language.words
        if label := next((s for s in self._label(claim) if self._named(s)), ""):
            return label
        before = self.reading.text[max(0, claim.start - 1) : claim.start]
        labelled = among(self.reading.stems(claim.start - 24, claim.start)[-1:], words.objects)
        if before in tuple("$\u20ac\u00a3#") or (labelled and before == " "):
            return None
        after = self._behind(claim)
        behind = self.reading.words(claim.end, claim.end + 24)[:1]
        if among(after[:1], words.units) or (behind and len(behind[0].text) < SHORTEST):
            return None
        named = [s for s in after if self._named(s)]
        if named or not among(after[:1], words.function):
            return (named or after or [""])[0] or None
        return None

    def _label(self, claim: Claim) -> list[str]:
        """The stems of a label that says how many there are ("Number of cards: 5")."""
        line = self.reading.text.rfind("\n", 0, claim.start) + 1
        if not self.reading.text[line : claim.start].rstrip(" *_").endswith(":"):
            return []
        stems = self.reading.stems(line, claim.start)
        return stems if among(stems, self.reading.language.words.tally) else []

    def _behind(self, claim: Claim) -> list[str]:
        """The stems behind a number up to a verb or a mark; "of the" is passed."""
        words, at = self.reading.language.words, claim.end
        found: list[str] = []
        for token in self.reading.words(claim.end, claim.end + 40)[:4]:
            stem = self.reading.language.stem(token.text)
            apart = self.reading.rest[at : token.start].strip(" \u00a0*_")
            verb = among([stem], words.effects, words.perfect) and not self._named(stem)
            if apart or verb:
                break
            if found and stem in words.function and found[-1] not in words.function:
                break
            found.append(stem)
            at = token.end
        return found

    def _named(self, stem: str) -> bool:
        return any(named(self.reading, rows, stem) for rows in self.index.tables)

    def _qualified(self, claim: Claim, noun: str) -> bool:
        """Whether a sentence says of which part it speaks: beside the number stands a value, a
        state, or a word between it and the noun ("8 unread messages")."""
        sentence = self.reading.sentence(claim.start)
        words = self.reading.language.words
        after = self.reading.stems(claim.end, claim.end + 40)[:1]
        described = after != [noun] and not among(after, words.function)
        parts = {s for s, value in words.values.items() if value != "all"}
        told = among(self.reading.stems(sentence.start, sentence.end), words.states, parts)
        return described or told or len(self.reading.inside(sentence)) > 1

    def _allowed(self, noun: str, *, grouped: bool) -> dict[Number, bool] | None:
        """Numbers that may stand before a noun; True where it is a size or a total (which "over"
        and "about" may round)."""
        tables = self.index.tables
        mine = [r for r in tables if named(self.reading, r, noun)]
        own = self._held(noun, anything=not mine and bool(tables))
        for rows in mine or tables:
            parts = _groups(rows) if grouped else ()
            own = dict.fromkeys(parts, False) | own
            own |= dict.fromkeys((rows.size, *totals(self.index, rows)), True)
        return own if tables or own else None

    def _held(self, noun: str, *, anything: bool) -> dict[Number, bool]:
        """The numbers of fields of that name, or of all that can say how many."""
        fits = {
            number
            for number, places in self.index.numbers.items()
            if any(self._is_of(p, noun) or (anything and _countable(p)) for p in places)
        }
        asked = (len(r.items) for r in self.index.rows if r.path.startswith("arguments"))
        return dict.fromkeys([*fits, *asked], False)

    def _is_of(self, place: Place, noun: str) -> bool:
        if noun in key_words(place.key) and not isinstance(place.value, str):
            return True
        return isinstance(place.value, str) and self._beside(place.value, noun)

    def _beside(self, text: str, noun: str) -> bool:
        """Whether a text of the data counts the noun itself ("Found 8 files")."""
        follows = [m.group(1) for m in _COUNTED.finditer(text[:400])]
        return any(self.reading.language.stem(word) == noun for word in follows)

    def _fits(self, claim: Claim, value: Number, allowed: dict[Number, bool]) -> bool:
        sizes = [n for n, whole in allowed.items() if whole] or list(allowed)
        if value in allowed and not allowed[value]:
            return True
        low, high = self._bounds(claim, value)
        if any(low <= n <= high for n in sizes):
            return True
        return low == high and value in (*allowed, self._listed(claim))

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
        line = self.reading.text.rfind("\n", 0, claim.start) + 1
        end = self.reading.text.find("\n", claim.end)
        after = self.reading.words(
            claim.end, min(claim.end + 30, end if end >= 0 else claim.end + 30)
        )
        words, stem = self.reading.language.words, self.reading.language.stem
        if among((stem(t.text) for t in after[:1]), words.units):
            return False
        before = [stem(t.text) for t in self.reading.words(line, claim.start)[-3:]]
        over = [s for s in before if s in words.more]
        return among((stem(t.text) for t in after[:2]), words.rest) or (
            not over and among(before, words.rest)
        )

    def _rest(self, value: Number) -> bool:
        shown = self._bullets(len(self.reading.text))
        sizes = {
            n for rows in collections(self.index) for n in (rows.size, *totals(self.index, rows))
        }
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
