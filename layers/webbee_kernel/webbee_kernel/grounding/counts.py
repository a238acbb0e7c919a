"""A number and a denial of a list against the lists that there are: how many rows each has, and how
many of its rows each value has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from .. import language
from . import records
from .figures import Figures
from .index import Index
from .places import Number, Place, Rows
from .reading import ITEM, Claim, Reading, Sentence, among

WORDS, FAR = 2, 40
"""Words behind a number among which its noun stands, and characters."""
_BETWEEN = " \u00a0*_"
COLON, MOST = 80, 60
"""Characters behind a number in which the colon of an enumeration stands, and its items."""
BESIDE, COLUMNS = 4, 3
"""Words between a number and what it counts; bars of a table's row with a label and a number."""
NUMBERS = ("number", "money", "percent")
_FULL_STOP = re.compile(r"[.!?]\s")
_COMMA, _LINE = re.compile("[,;]"), re.compile(r"[^\n]+")
FEW = 3
"""Lists whose sizes are told where a number is of none of them."""


class Counts:
    """What the numbers of one reply count."""

    def __init__(self, reading: Reading, index: Index, figures: Figures, message: str) -> None:
        self._reading, self._index, self._figures = reading, index, figures
        self._asked = {str(m.value) for m in language.numbers(message, reading.language.tag)}
        self._lists = [r for r in index.lists if not _is_plain(r)]

    def ground(self, claim: Claim) -> str:
        """Which list, or part of one, a number is the size of; empty where it is none's."""
        value = claim.mention.value
        return self._figures.arithmetic.size(value) if self._figures.is_quantity(claim) else ""

    def wrong(self, claim: Claim, places: Sequence[Place]) -> str:
        """What the data holds where a number tells the size of a list and is more than it has;
        empty where it contradicts none. A field that tells a total is right."""
        if not self._figures.is_quantity(claim) or claim.mention.about:
            return ""
        if any(not self._index.is_row(p.owner) for p in places):
            return ""  # a field of the result as a whole, or a text, says so
        rows = self._counted(claim)
        most = max((r.size for r in rows), default=0)
        return self.sizes(rows) if rows and claim.mention.value > most else ""

    def holds(self, claim: Claim) -> str:
        """What the lists hold, where a number that nothing shows says how many: of the list that it
        names, or of all where the user's message has the same number; empty else."""
        if not self._figures.is_quantity(claim):
            return ""
        rows = self._counted(claim)
        asked = str(claim.mention.value) in self._asked
        return self.sizes(rows or (self._outer if asked else ()))

    def enumerated(self, claim: Claim, named: Sequence[records.Value]) -> str:
        """How many things stand behind the colon of a number's line, where these are others than it
        says ("three exams: A and B"); empty else. Each item of a list must name one record."""
        text = self._reading.text
        end = text.find("\n", claim.end)
        end = len(text) if end < 0 else end
        colon = self._colon(claim, end)
        if colon < 0 or not self._is_of_what_follows(claim, colon):
            return ""
        if text[colon + 1 : end].strip(" *_"):
            return self._in_sentence(claim, named, colon)
        return self._in_list(claim, named, end)

    def _colon(self, claim: Claim, end: int) -> int:
        """Where the colon behind a number of things stands; -1 where none does."""
        text, value = self._reading.text, claim.mention.value
        until = min(end, self._reading.sentence(claim.start).end, claim.end + COLON)
        colon = text.find(":", claim.end, until)
        if colon < 0 or not self._figures.is_quantity(claim) or not 1 < value <= MOST:
            return -1
        return -1 if _FULL_STOP.search(text, claim.end, colon) else colon

    def _is_of_what_follows(self, claim: Claim, colon: int) -> bool:
        """Whether a number before a colon tells how many follow; of "two of the six" the first
        does."""
        start, value = self._reading.sentence(claim.start).start, claim.mention.value
        line = self._reading.inside(Sentence(start, colon, ""))
        figures = [c.mention.value for c in line if c.kind in NUMBERS]
        return len(figures) <= 2 and value == figures[0] and value <= figures[-1]

    def _in_sentence(self, claim: Claim, named: Sequence[records.Value], colon: int) -> str:
        """How many are named in the sentence behind a colon, where it is another number."""
        behind = self._reading.sentence(colon + 1).end
        least = _records(named, colon, behind)
        if (days := self._days(colon, behind)) > 1 and claim.mention.value > days >= least:
            return str(days)
        joined = self._reading.stems(colon + 1, behind)
        most = 1 + len(_COMMA.findall(self._reading.text[colon:behind]))
        most += sum(among([s], self._reading.language.words.and_) for s in joined)
        fits = least <= claim.mention.value <= max(most, least)
        return str(least) if least > 1 and not fits else ""

    def _days(self, start: int, end: int) -> int:
        """How many days are told between two offsets, each but once and with no figure that counts
        any; 0 where a stretch of days is."""
        inside = self._reading.inside(Sentence(start, end, ""))
        dated = [c for c in inside if c.kind in ("date", "moment", "weekday", "ordinal")]
        others = any(c.kind == "number" for c in inside)
        return 0 if others or len(dated) != len(inside) else len(dated)

    def _out_of(self, claim: Claim) -> Number:
        """The next number of a number's sentence: the six of "two of the six"."""
        part = self._reading.sentence(claim.start)
        later = self._reading.inside(Sentence(claim.end, part.end, ""))
        return next((c.mention.value for c in later if c.kind == "number"), 0) or 0

    def _in_list(self, claim: Claim, named: Sequence[records.Value], end: int) -> str:
        """How many items the list below a line has, where it is another number."""
        value, items = claim.mention.value, list(_items(self._reading.text, end))
        if len(items) == self._out_of(claim):
            return ""  # "two of the three: A, B; C is sold out"
        one_each = items and all(_records(named, a, b) == 1 for a, b in items)
        inside = (self._reading.inside(Sentence(a, b, "")) for a, b in items)
        if value > len(items) and all(any(c.kind == "number" for c in own) for own in inside):
            return ""  # a sum of what the items tell
        return str(len(items)) if one_each and len(items) != value else ""

    def of_group(self, claim: Claim, told: Sequence[tuple[Claim, Sequence[Place]]]) -> str:
        """How many rows there are of what a number's clause names ("three tests are open"), where
        the number is more; empty else. `told`: the words that sort rows, with their fields."""
        value = claim.mention.value
        if not self._figures.is_quantity(claim) or not 1 < value <= MOST:
            return ""
        if self._heads_list(claim) or self._is_cell(claim):
            return ""
        word, places = self._group(claim, told)
        owners = {p.owner for p in places}
        tables = {owner[:-1] for owner in owners}
        held = self._index.numbers.get(value, ())
        shown = any(p.owner in owners or not self._index.is_row(p.owner) for p in held)
        if len(tables) != 1 or shown or not all(map(self._index.is_row, owners)):
            return ""
        size = len(self._index.column_of(next(iter(tables))))
        return f"{word}: {len(owners)}" if len(owners) < value <= size else ""

    def _group(
        self, claim: Claim, told: Sequence[tuple[Claim, Sequence[Place]]]
    ) -> tuple[str, Sequence[Place]]:
        """The one word of a number's clause that sorts rows, and their fields; no fields where it
        has none or several, or tells of the rest."""
        part, words = self._reading.clause(claim.start), self._reading.language.words
        inside = [(c, own) for c, own in told if part.start <= c.start < part.end]
        several = among(self._reading.stems(part.start, part.end), words.and_, words.rest)
        if len(inside) != 1 or several or not self._is_beside(claim, inside[0][0]):
            return "", ()
        word, places = inside[0]
        return self._reading.text[word.start : word.end], places

    def _heads_list(self, claim: Claim) -> bool:
        """Whether a list stands below a number's line: `enumerated` counts that."""
        end = self._reading.text.find("\n", claim.end)
        return end >= 0 and self._colon(claim, end) >= 0

    def _is_cell(self, claim: Claim) -> bool:
        """Whether a number stands in a table that has more columns than a label and a number."""
        text = self._reading.text
        line = text[text.rfind("\n", 0, claim.start) + 1 :].partition("\n")[0]
        return line.count("|") > COLUMNS

    def _is_beside(self, claim: Claim, word: Claim) -> bool:
        """Whether a few words at most, and no other value, stand between a number and a word."""
        first, second = sorted((claim, word), key=lambda c: c.start)
        between = self._reading.inside(Sentence(first.end, second.start, ""))
        words = self._reading.language.words
        alone = not self._reading.text[claim.end : claim.end + 2].strip().isalpha()
        plain = word.token.islower() or among(self._reading.near(claim)[-1:], words.function)
        if second is claim and alone and plain:
            return False  # "in the small room at ten"
        return len(self._reading.words(first.end, second.start)) <= BESIDE and not between

    def sizes(self, rows: Sequence[Rows]) -> str:
        """`tasks: 36`, of some lists."""
        told = {_name(r): r.size for r in rows if r.size}
        return ", ".join(f"{name}: {size}" for name, size in list(told.items())[:FEW])

    @property
    def _outer(self) -> list[Rows]:
        """The lists that no row of another holds, where more than one row stands."""
        return [r for r in self._lists if not r.is_inner and r.size > 1]

    def contradicts(self, claim: Claim) -> str:
        """What the list holds that a number names which is the size of no part of it."""
        rows = self._counted(claim) if self._figures.is_quantity(claim) else []
        return self.sizes(rows) if any(r.size > 1 for r in rows) else ""

    def _counted(self, claim: Claim) -> list[Rows]:
        """The lists that the noun right behind a number names, one word between at most."""
        spoken, english = self._reading.language, language.of("en")
        behind, at = [], claim.end
        for token in self._reading.words(claim.end, claim.end + FAR)[:WORDS]:
            if self._reading.text[at : token.start].strip(_BETWEEN):
                break
            behind.append(token.text)
            at = token.end
        stems = {s for t in behind for s in (spoken.stem(t), english.stem(t.lower()))}
        things = {english.stem(spoken.words.objects.get(s, s)) for s in stems}
        return [r for r in self._lists if r.words & (stems | things) and not r.is_inner]


def _records(named: Sequence[records.Value], start: int, end: int) -> int:
    """How many records of one list are named between two offsets."""
    inside = [v for v in named if v.name and start <= v.claim.start < end]
    owners = {p.owner for v in inside for p in v.places[:1]}
    tables = Counter(owner[:-1] for owner in owners)
    return max(tables.values(), default=0)


def _items(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the items of the list stand that follows a line."""
    begun = False
    for line in _LINE.finditer(text, start + 1):
        if ITEM.match(line[0]) and not line[0].startswith("|"):
            begun = True
            yield line.span()
        elif (line[0].strip() and (begun or line.start() > start + 2)) or begun:
            return


def _is_plain(rows: Rows) -> bool:
    return bool(rows.items) and all(type(v) in (int, float, bool) for v in rows.items)


def _name(rows: Rows) -> str:
    last = rows.path.rpartition(".")[2].partition("[")[0]
    return last if last != "data" else " ".join(sorted(rows.words)) or "data"
