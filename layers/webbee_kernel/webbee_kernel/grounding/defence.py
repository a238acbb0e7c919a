"""A flagged word may be defended once, by the place that it comes from; the kernel looks there.

Behind a corrected reply a model may write, a line each, `SOURCE: \u20ac19.00 = 2900 / 100 - 10`.
What is named must stand in the evidence, and what is worked out must come to the word. So nobody
is believed, and no list of ways to work things out has to be complete. What was done cannot be
defended: the kernel knows that itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import product, starmap

from .. import language
from ..language import Mention
from .deeds import concepts
from .evidence import Evidence, Flag
from .formulas import is_at, is_worth, moved, value_of
from .places import conflict, fold, settle
from .reading import Reading
from .states import denied

WORKED_OUT = frozenset(("number", "money", "percent"))
MOVED = frozenset(("date", "time", "moment", "weekday", "month"))
NAMED = frozenset(("name", "quote"))
BOUND = frozenset(("record", "state"))
READ_OUT = frozenset(("effect open", "effect open state", "effect known state"))
"""Kinds of flags: figures that a formula may give, dates that lie a length from others, words that
may stand for a text of the data (translated, declined, in another script), words of the data that
were read as another record's, and states of things that may be read out. Besides, a count of what
the reply names may be listed, and a denial be borne out by an empty field."""
TOLD = ("data", "summary", "error")
"""Where a call tells what came of it."""
MOST, LONGEST = 24, 400
"""Lines that are read, and characters of one."""
DEEP = 400
"""Objects of results that are looked through for an empty field."""
EMPTY: tuple[object, ...] = (None, False, "", [], {}, 0)
_LINE = re.compile(r"^[ \t>*`-]*SOURCE:[ \t]*(.+?)[ \t]+=[ \t]+(.+?)[ \t`]*$", re.M)
_ANY = re.compile(r"^[ \t>*`-]*SOURCE:.*$\n?", re.M)
_QUOTED = re.compile(r'"([^"]+)"')
_FIGURE = re.compile(r"(?<![\w.])\d{1,15}(?:\.\d{1,9})?(?![\w.])")


def undefended(text: str) -> str:
    """A reply without the lines that defend it."""
    return _ANY.sub("", text).rstrip() if "SOURCE:" in text else text


def defences(text: str) -> dict[str, str]:
    """What the lines behind a reply say: words of it, each with where it comes from."""
    lines = [m for m in _LINE.finditer(text) if len(m[0]) <= LONGEST][:MOST]
    return {m[1].strip(' "*`'): m[2] for m in lines}


def holds(flag: Flag, ground: str, reading: Reading, evidence: Evidence) -> bool:
    """Whether a flagged word comes from where its defence says."""
    return _Defence(flag, ground, reading, evidence).holds()


@dataclass
class _Defence:
    """A flagged word with where it is said to come from; `pieces` are the texts in quotes there."""

    flag: Flag
    ground: str
    reading: Reading
    evidence: Evidence

    @cached_property
    def pieces(self) -> list[str]:
        return [fold(m[1]) for m in _QUOTED.finditer(self.ground)]

    @cached_property
    def mentions(self) -> list[Mention]:
        """The readings of a flagged figure or date."""
        own = [c.mention for c in self.reading.claims if c.start == self.flag.start and c.mention]
        now, tag = self.evidence.now or None, self.reading.language.tag
        return [*own, *language.dates(self.flag.word, tag, now)]

    def holds(self) -> bool:
        kind = self.flag.kind
        if kind in MOVED:
            return self._is_moved()
        if kind in WORKED_OUT:
            return self._comes_to()
        if kind == "count":
            return self._lists()
        if kind in NAMED:
            return len(self.pieces) == 1 and self._is_field(self.pieces[0])
        if kind in BOUND:
            return self._is_bound() or any(map(self._is_empty, self.pieces))
        return any(map(self._bears_out, self.pieces))

    def _is_bound(self) -> bool:
        """Whether a field has the word and is of one record with a text that the reply has, or has
        it in another form, as a date; whatever else is quoted stands in the reply too."""
        having = [piece for piece in self.pieces if self._is_field(piece) and self._says(piece)]
        others = [piece for piece in self.pieces if piece not in having]
        proved = any(starmap(self._are_one, product(having, others)))
        proved = proved or self._in_another_form(having) or any(map(self._has_figure, others))
        return proved and all(map(self._is_named, others))

    def _in_another_form(self, pieces: Iterable[str]) -> bool:
        """Whether a text tells more than the word, which other records may have as it is."""
        word = fold(self.flag.word)
        return self.flag.kind == "record" and any(piece != word for piece in pieces)

    def _is_named(self, piece: str) -> bool:
        """Whether a text of a result stands in the reply."""
        return piece in fold(self.reading.text) and self._is_field(piece)

    def _are_one(self, one: str, other: str) -> bool:
        """Whether two texts are of one record."""
        whole = self.evidence.index.whole
        return not conflict(list(whole(one)), list(whole(other)))

    def _has_figure(self, piece: str) -> bool:
        """Whether a figure of the defence is the word and of one record with a text."""
        index, beside = self.evidence.index, _FIGURE.findall(_QUOTED.sub("", self.ground))
        figures = [settle(float(one)) for one in beside]
        told = [n for n in figures if any(n in m.readings for m in self.mentions)]
        places = list(index.whole(piece))
        return any(not conflict(index.numbers[n], places) for n in told if n in index.numbers)

    def _bears_out(self, piece: str) -> bool:
        """Whether a text of the evidence says a word, or an empty field denies it."""
        if self.flag.kind in READ_OUT:
            found = (p for p in self.evidence.index.find(piece) if p.path.startswith(TOLD))
            return any(True for _ in found) and self._means(piece) and not self._is_the_deed()
        return self.flag.kind == "denial" and self._is_empty(piece)

    def _is_the_deed(self) -> bool:
        """Whether a word tells what was asked for or what a call was to do: whether that was done
        the kernel knows, and an error that names it does not say so."""
        known, stem = self.reading.language.words.effects, self.reading.language.stem
        meant = {known.get(stem(t.text)) for t in language.tokens(self.evidence.message)}
        meant |= {c for call in self.evidence.calls if call.has_effect for c in concepts(call)}
        return known.get(stem(self.flag.word)) in meant

    def _is_field(self, piece: str) -> bool:
        """Whether a text is a field as a whole: of a result, and a name of any evidence; what was
        asked for proves nothing else."""
        places = self.evidence.index.whole(piece)
        return any(self.flag.kind in NAMED or p.path.startswith(TOLD) for p in places)

    def _is_empty(self, piece: str) -> bool:
        """Whether calls that succeeded returned nothing, or no, under a key of that name, wherever
        it stands."""
        fields = (field for one in self._objects() for field in one.items())
        held = [value in EMPTY for key, value in fields if piece == fold(str(key))]
        return bool(held) and all(held)

    def _objects(self) -> Iterator[Mapping[str, object]]:
        """The objects in what calls that succeeded returned."""
        held: list[object] = [c.data for c in self.evidence.calls if c.ok]
        for value in held:
            if isinstance(value, Mapping):
                yield value
            inner = value.values() if isinstance(value, Mapping) else value
            if isinstance(inner, Iterable) and not isinstance(inner, str) and len(held) < DEEP:
                held += inner

    def _says(self, piece: str) -> bool:
        """Whether a text has the word, is the date that it tells, or means it."""
        if fold(self.flag.word) in piece or self._means(piece):
            return True
        try:
            at = datetime.fromisoformat(piece.upper())
        except ValueError:
            return False
        return any(is_at(m, at) or m.value == at.day for m in self.mentions)

    def _means(self, piece: str) -> bool:
        """Whether a word tells the state or the effect of a word of a text, undenied."""
        if denied(self.reading, self.flag.start):
            return False
        own, english = self.reading.language, language.of("en")
        told = [t.text for t in language.tokens(piece)]
        for role in ("states", "effects"):
            mine = getattr(own.words, role).get(own.stem(self.flag.word))
            if mine and mine in {getattr(english.words, role).get(english.stem(t)) for t in told}:
                return True
        return False

    def _lists(self) -> bool:
        """Whether as many things are listed as a figure counts, all named by the reply."""
        listed = {*self.pieces}
        named = all(map(self._is_named, listed))
        return named and any(len(listed) in m.readings for m in self._figures)

    def _is_moved(self) -> bool:
        at = moved(self.ground, self.evidence)
        return at is not None and any(is_at(m, at) for m in self.mentions if m.kind in MOVED)

    def _comes_to(self) -> bool:
        value = value_of(self.ground, self.evidence)
        return value is not None and any(is_worth(m, value) for m in self._figures)

    @property
    def _figures(self) -> list[Mention]:
        return [m for m in self.mentions if m.kind in WORKED_OUT]
