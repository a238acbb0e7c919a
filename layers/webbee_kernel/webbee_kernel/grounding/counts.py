"""A number against the sizes of lists: how many rows a list has, how many things follow a colon,
and a total with the parts that are told right behind it: "27 singers: 8 sopranos, 9 altos, …"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, combinations, islice, pairwise
from typing import NamedTuple

from .. import language
from ..language import Token
from .figures import KINDS, SMALL, Figures
from .index import Index
from .places import Number, Owner, Place, Rows, key_words
from .reading import ITEM, Claim, Reading, Sentence, among
from .record_binding import Bound

WORDS, FAR = 2, 40
"""Words behind a number among which its noun stands, and characters."""
_BETWEEN = " \u00a0*_"
GROUP = 60
"""Characters before a word for a state in which the number of rows stands that are so."""
_PARTED = re.compile(r"[.(|\n]")
COLON, MOST = 80, 60
"""Characters behind a number in which the colon of an enumeration stands, and its items."""
OPENING = 6
"""Characters before the number that a part of an enumeration opens with."""
_DASH = re.compile("\\s[\u2013\u2014-]\\s")
_FULL_STOP, _COMMA = re.compile(r"[.!?]\s"), re.compile(r"[,;]\s")
_LINE = re.compile(r"(?m)^.*\S.*$")
FEW = 3
"""Lists whose sizes are told where a number is of none of them."""
LEAST_PARTS, MOST_PARTS = 3, 12
"""Parts of a total: of two, too many numbers are the sum by chance."""
NEAR = 400
"""Characters behind the sentence of a total in which its third part stands."""
_APART, _STOP = re.compile(r"[,;\n]"), re.compile(r"[.!?]\s|\n")


class Partition(NamedTuple):
    """`adds_up`: the parts are the total; else a colon says that they should be."""

    total: Claim
    parts: tuple[Claim, ...]
    adds_up: bool

    @property
    def sum(self) -> float:
        """What the parts add up to."""
        return float(round(sum(p.mention.value for p in self.parts), 2))


def partitions(reading: Reading, units: Figures) -> Iterator[Partition]:
    """The totals of a reply with their parts, of the same unit, in the total's sentence and the one
    behind it. Linear: of each figure a dozen others are looked at."""
    figures = [c for c in reading.claims if c.kind in KINDS and c.mention.value]
    for n, total in enumerate(figures[:-LEAST_PARTS]):
        behind = figures[n + 1 : n + 2 + MOST_PARTS]
        end = reading.sentence(total.start).end
        if not (_alike(behind[0], total) and behind[LEAST_PARTS - 1].start < end + NEAR):
            continue
        if parts := _adding_up(total, behind, reading.sentence(end + 1).end):
            yield Partition(total, parts, True)
        elif not units.unit(total) and (listed := _listed(reading, total, behind)):
            yield Partition(total, listed, False)


def _adding_up(total: Claim, behind: Sequence[Claim], until: int) -> tuple[Claim, ...]:
    """As many of the figures behind a total as add up to it."""
    near = tuple(c for c in behind if c.start < until and _alike(c, total))
    sums = [round(s, 2) for s in accumulate(c.mention.value for c in near)]
    value = round(total.mention.value, 2)
    return near[: sums.index(value) + 1] if value in sums[LEAST_PARTS - 1 :] else ()


def _alike(one: Claim, other: Claim) -> bool:
    return one.kind == other.kind and one.mention.unit == other.mention.unit


def _listed(reading: Reading, total: Claim, behind: Sequence[Claim]) -> tuple[Claim, ...]:
    """The figures of an enumeration behind the colon of a total's sentence, one an item."""
    text, end = reading.text, reading.sentence(total.start).end
    colon = text.find(":", total.end, min(end, total.end + COLON))
    if colon < 0 or _STOP.search(text, total.end, colon):
        return ()
    until = reading.sentence(colon + 1).end
    parts = tuple(c for c in behind if c.start < until)
    whole = LEAST_PARTS <= len(parts) <= MOST_PARTS and parts[0].start > colon
    return parts if whole and _are_less(parts, total) and _is_enumerated(reading, parts) else ()


def _are_less(parts: Sequence[Claim], total: Claim) -> bool:
    return all(_alike(p, total) and p.mention.value < total.mention.value for p in parts)


def _is_enumerated(reading: Reading, parts: Sequence[Claim]) -> bool:
    """Whether a mark or an "and" stands between any two."""
    text, joins = reading.text, reading.language.words.and_
    between = [(a.end, b.start) for a, b in pairwise(parts)]
    joined = (_APART.search(text, *gap) or among(reading.stems(*gap), joins) for gap in between)
    return all(joined)


class Counts:
    """What the numbers of one reply count."""

    def __init__(self, reading: Reading, index: Index, figures: Figures, message: str) -> None:
        self._reading, self._index, self._figures = reading, index, figures
        given = language.numbers(message, reading.language.tag)
        self._asked = {n.value for n in given if n.value and n.value > SMALL}
        self._followed: dict[int, list[Sentence]] = {}
        self._is_list = any(map(ITEM.match, reading.text.splitlines()))
        self._states: dict[int, tuple[set[Owner], int]] = {}
        self._lists = [r for r in index.lists if not _is_plain(r) and not r.is_inner]

    def size(self, claim: Claim) -> str:
        """Which list, or part of one, a number is the size of; empty where it is none's."""
        value = claim.mention.value
        return self._figures.arithmetic.size(value) if self._figures.is_quantity(claim) else ""

    def holds(self, claim: Claim, places: Sequence[Place] = ()) -> str:
        """What the lists hold where a number that is no part's size says how many: of the list that
        its noun names, or of all where the user's message has the same number and no small one;
        empty where a field beside all rows (`places`: those that show it), or of the noun's name,
        tells it."""
        if not self._figures.is_quantity(claim) or claim.mention.about or self.size(claim):
            return ""
        words = self._reading.words(claim.end, claim.end + FAR)
        nouns = self._nouns(self._reading.text, claim.end, words)
        if any(not self._index.is_row(p.owner) or nouns & {*key_words(p.key)} for p in places):
            return ""
        rows = [r for r in self._lists if r.words & nouns and 1 < r.size < claim.mention.value]
        if not rows and not places and claim.mention.value in self._asked:
            rows = [r for r in self._lists if r.size > 1]
        return _sizes(rows)

    def names(self, claim: Claim, places: Sequence[Place]) -> bool:
        """Whether the words or the unit right behind a number name one of the fields that show
        it."""
        nouns = self._nouns(
            self._reading.text, claim.end, self._reading.words(claim.end, claim.end + FAR)
        )
        nouns.add(self._figures.unit(claim).name)
        return any(not nouns.isdisjoint(key_words(p.key)) for p in places)

    def _nouns(self, text: str, at: int, words: Sequence[Token]) -> set[str]:
        """The stems of the words right behind a number, in the reply's language and in English."""
        spoken, english = self._reading.language, language.of("en")
        stems: set[str] = set()
        for token in words[:WORDS]:
            if text[at : token.start].strip(_BETWEEN):
                break
            stems |= {spoken.stem(token.text), english.stem(token.text.lower())}
            at = token.end
        return stems | {english.stem(spoken.words.objects.get(s, s)) for s in stems}

    # ---- how many rows are so

    def grouped(
        self, word: Claim, rows: Sequence[Place], shown: Mapping[int, Sequence[Place]]
    ) -> Iterator[tuple[Claim, str]]:
        """The number before a word that tells what is so of some rows, where fewer are, or others
        of "two of the six"; with what their list holds. `shown`: the fields that show a number: it
        may name a row, "no. 4 is free"."""
        if id(rows) not in self._states:
            self._states[id(rows)] = self._so(rows)
        owners, size = self._states[id(rows)]
        numbers = self._before(word) if owners else []
        is_part = len(numbers) > 1 and numbers[-1].mention.value == size
        least = 0 if is_part else len(owners)
        for number in numbers[-2:-1] if is_part else numbers[-1:]:
            said, named = number.mention.value, {p.owner for p in shown.get(number.start, ())}
            if least < said <= size and said != len(owners) and owners.isdisjoint(named):
                yield number, f"{rows[0].key} {rows[0].value}: {len(owners)}/{size}"

    def _so(self, rows: Sequence[Place]) -> tuple[set[Owner], int]:
        """The rows that fields for a state are of, and how many rows their list has; none where
        they are of several lists."""
        owners = {p.owner for p in rows if self._index.is_row(p.owner)}
        tables = {owner[:-1] for owner in owners}
        if len(tables) != 1 or len(owners) < len(rows) or not _is_state(rows[0]):
            return set(), 0
        return owners, self._index.rows_of(tables.pop())

    def _before(self, word: Claim) -> list[Claim]:
        """The whole numbers before a word in its clause that nothing parts from it."""
        start = max(self._reading.clause(word.start).start, word.start - GROUP)
        found: list[Claim] = []
        for one in self._reading.inside(Sentence(start, word.start, "")):
            plain = one.kind == "number" and self._figures.is_quantity(one)
            plain = plain and one.mention.value is not None and not one.mention.about
            found = [*found, one] if plain else []
        text = self._reading.text
        return [n for n in found if not _PARTED.search(text, n.end, word.start)]

    # ---- what follows a colon

    def enumerated(self, claim: Claim, labels: Bound) -> str:
        """How many things stand behind the colon of a number's line, where these are others than it
        says ("three exams: A and B"); empty else."""
        text = self._reading.text
        end = text.find("\n", claim.end)
        end = len(text) if end < 0 else end
        part = self._reading.sentence(claim.start) if self._is_list else None
        if part and (items := self._listed(part, claim.end, end)):
            return self._in_list(claim, part, labels, items)
        colon = self._colon(claim, end)
        if colon < 0 or not self._is_of_what_follows(claim, colon):
            return ""
        listed = not text[colon + 1 : end].strip(" *_")
        return "" if listed else self._in_sentence(claim, labels, colon)

    def _listed(self, part: Sentence, start: int, end: int) -> list[Sentence]:
        """The items of the list, or the rows of the table, that the line of a sentence leads to
        behind a number, if that is none itself."""
        text = self._reading.text
        if part.end < end or text[start:end].rstrip(" *_")[-1:] not in ("", ":"):
            return []
        if end not in self._followed:
            inner = ITEM.match(text, text.rfind("\n", 0, part.start + 1) + 1)
            self._followed[end] = [] if inner else _items(text, end)
        return self._followed[end]

    def _in_list(
        self, claim: Claim, part: Sentence, labels: Bound, items: Sequence[Sentence]
    ) -> str:
        """How many items follow the sentence of a number, where its numbers give no such one, this
        one tells no whole list's size, and the items do not hold or add up to so many."""
        size, value = len(items), claim.mention.value
        if not 1 < value <= MOST or value != self._told(part, size):
            return ""
        held = size < value <= _records(labels, items[0].start, items[-1].end)
        is_said = held or self._sum(items) == value or self._is_beside(value, part, labels)
        return "" if is_said or not self._figures.is_quantity(claim) else str(size)

    def _told(self, part: Sentence, size: int) -> Number:
        """The first number of a sentence that is no whole list's size; 0 where its numbers, or what
        they add up to or differ by, are the size of the list that follows."""
        values = [n.mention.value for n in self._numbers(part)]
        given = {*values, *accumulate(values), *(abs(a - b) for a, b in combinations(values, 2))}
        wholes = {r.size for r in self._index.rows}
        return 0 if size in given else next((v for v in values if v not in wholes), 0)

    def _sum(self, items: Sequence[Sentence]) -> Number:
        """What the first numbers of some items add up to."""
        first = (next(self._numbers(item), None) for item in items)
        total: Number = sum(n.mention.value for n in first if n)
        return total

    def _numbers(self, part: Sentence) -> Iterator[Claim]:
        return (c for c in self._reading.inside(part) if c.kind == "number" and c.mention.value)

    def _is_beside(self, value: Number, part: Sentence, labels: Bound) -> bool:
        """Whether a field beside all rows, or the same one of all, or one of a record that the
        sentence names, has a figure, or two beside all rows differ by it."""
        places = [p for p in self._index.numbers.get(value, ()) if p.call >= 0]
        rows, keys = {p.owner for p in places}, {p.key for p in places}
        named = [v.rows for v in labels.between(part.start, part.end) if v.is_label]
        if not all(map(self._index.is_row, rows)) or self._index.is_common(rows, keys):
            return True
        return not rows.isdisjoint(chain(*named)) or value in self._index.once("gaps", self._gaps)

    def _gaps(self) -> set[Number]:
        """By what the whole figures beside all rows differ."""
        own = (p for p in self._index.figures if p.call >= 0 and not self._index.is_row(p.owner))
        whole = [p.value for p in islice(own, MOST) if p.value == int(p.value)]
        return {abs(a - b) for a, b in combinations(whole, 2)}

    def _colon(self, claim: Claim, end: int) -> int:
        """Where the colon behind a number of things stands; -1 where none does."""
        text, value = self._reading.text, claim.mention.value
        until = min(end, self._reading.sentence(claim.start).end, claim.end + COLON)
        colon = text.find(":", claim.end, until)
        if colon < 0:
            line = max(self._reading.sentence(claim.start).start, claim.start - COLON)
            dash = _DASH.search(text, line, until)
            colon = dash.end() - 1 if dash and dash.start() >= claim.end else -1
        days = self._figures.unit(claim).name == "day" and not claim.mention.unit
        if colon < 0 or not (days or self._figures.is_quantity(claim)) or not 1 < value <= MOST:
            return -1
        return -1 if _FULL_STOP.search(text, claim.end, colon) else colon

    def _is_of_what_follows(self, claim: Claim, colon: int) -> bool:
        """Whether a number before a colon tells how many follow; of "two of the six" the first
        does."""
        start, value = self._reading.sentence(claim.start).start, claim.mention.value
        line = self._reading.inside(Sentence(start, colon, ""))
        figures = list(islice((c.mention.value for c in line if c.kind in KINDS), 3))
        return len(figures) <= 2 and value == figures[0] and value <= figures[-1]

    def _in_sentence(self, claim: Claim, labels: Bound, colon: int) -> str:
        """How many are named in the sentence behind a colon, where it is another number."""
        behind = self._reading.sentence(colon + 1).end
        inside = self._reading.inside(Sentence(colon, behind, ""))
        parts = list(self._parts(colon + 1, behind))
        if count := self._named_parts(labels, parts):
            opening = sum(map(self._opening, parts))
            return "" if self._told_before(claim, colon) & {count, opening} else str(count)
        if self._reading.text[colon] != ":":
            return ""
        if any(c.kind == "number" for c in inside):
            return self._in_parts(claim, colon + 1, parts)
        return self._unnumbered(claim, labels, colon, inside)

    def _unnumbered(self, claim: Claim, labels: Bound, colon: int, inside: Sequence[Claim]) -> str:
        """How many records or days an enumeration without numbers names, where that is another
        number."""
        behind, value = self._reading.sentence(colon + 1).end, claim.mention.value
        least = _records(labels, colon, behind)
        days = [c for c in inside if c.kind in ("date", "moment", "weekday", "ordinal")]
        if len(days) == len(inside) > 1 and value > len(days) >= least:
            return str(len(days))
        joined = self._reading.stems(colon + 1, behind)
        most = 1 + len(_COMMA.findall(self._reading.text[colon:behind]))
        most += sum(among([s], self._reading.language.words.and_) for s in joined)
        return str(least) if least > 1 and not least <= value <= max(most, least) else ""

    def _in_parts(self, claim: Claim, start: int, parts: Sequence[Sentence]) -> str:
        """What the parts of an enumeration add up to, where each opens with a smaller number and
        the sentence before says neither that nor how many they are: "three: two umbrellas and two
        bags"."""
        first = [n for part in parts if (n := self._opening(part)) and n < claim.mention.value]
        if len(parts) < 2 or len(first) < len(parts):
            return ""
        told = self._told_before(claim, start)
        return "" if told & {sum(first), len(parts)} else str(sum(first))

    def _told_before(self, claim: Claim, end: int) -> set[Number]:
        """The numbers of a sentence as far as the mark that an enumeration follows."""
        start = self._reading.sentence(claim.start).start
        return {n.mention.value for n in self._numbers(Sentence(start, end, ""))}

    def _named_parts(self, labels: Bound, parts: Sequence[Sentence]) -> int:
        """How many records an enumeration names, one in each part; 0 where it does not."""
        named = list[frozenset[Owner]]()
        for part in parts:
            own = [v.rows for v in labels.between(part.start, part.end) if v.is_label]
            named += own[:1]
            if not own or len(own[0]) > 1 or any(rows != own[0] for rows in own):
                return 0
        if not len(set(named)) == len(named) > 1:
            return 0
        return 0 if all(map(self._opening, parts)) else len(named)  # "3 seats on A, 9 on B"

    def _opening(self, part: Sentence) -> Number:
        """The number that a part of an enumeration opens with; 0 where none does."""
        first = next(self._numbers(part), None)
        opens = first and first.start - part.start <= OPENING and self._figures.is_quantity(first)
        return first.mention.value if first and opens else 0

    def _parts(self, start: int, end: int) -> Iterator[Sentence]:
        """What stands between the marks, and the words for "and", of a stretch."""
        text, and_ = self._reading.text, self._reading.language.words.and_
        words = zip(self._reading.words(start, end), self._reading.stems(start, end), strict=True)
        ends = {word.end for word, stem in words if stem in and_}
        edges = sorted({start, end, *ends, *(m.end() for m in _COMMA.finditer(text, start, end))})
        for a, b in pairwise(edges):
            if text[a:b].strip(" ,;.*_"):
                yield Sentence(a, b, "")


def _items(text: str, end: int) -> list[Sentence]:
    """The items of a list, or the rows behind a table's head, that follows."""
    found: list[tuple[int, Sentence]] = []
    for line in _LINE.finditer(text, end):
        depth = len(line[0]) - len(line[0].lstrip())
        if ITEM.match(line[0]):
            found.append((depth, Sentence(*line.span(), line[0])))
        elif not (found and depth):
            break
    items = [item for depth, item in found if depth <= found[0][0]]
    return items[2:] if items and items[0].text.lstrip()[0] == "|" else items


def _is_state(place: Place) -> bool:
    """Whether a field tells a state rather than a name: a flag, or a text in lower case."""
    return isinstance(place.value, bool) or str(place.value)[:1].islower()


def _records(labels: Bound, start: int, end: int) -> int:
    """How many records of one list are named between two offsets."""
    named = [v.rows for v in labels.between(start, end) if v.is_label and len(v.rows) == 1]
    owners = set[Owner]().union(*named)
    return max(Counter(owner[:-1] for owner in owners).values(), default=0)


def _sizes(rows: Sequence[Rows]) -> str:
    """`tasks: 36`, of some lists."""
    told = {_name(r): r.size for r in rows}
    return ", ".join(f"{name}: {size}" for name, size in list(told.items())[:FEW])


def _is_plain(rows: Rows) -> bool:
    return bool(rows.items) and all(type(v) in (int, float, bool) for v in rows.items)


def _name(rows: Rows) -> str:
    last = rows.path.rpartition(".")[2].partition("[")[0]
    return last if last != "data" else " ".join(sorted(rows.words)) or "data"
