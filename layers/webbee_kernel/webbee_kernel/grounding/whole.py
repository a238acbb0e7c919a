"""What a reply says of a list that the message asks for as a whole (`asked`): its one count, and
its denial where it shows nothing, speak of all of that list, in whatever words they are put.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from ..language import Token
from .asked import Asked
from .index import Index
from .layout import ITEM
from .picking import Picks, is_one, names, outer, totals, whole_numbers
from .reading import Claim, Reading, Sentence, among
from .remainder import labelled

ROUND = 10
"""What divides a round number."""


class Whole:
    """What a reply says of what a message asks for as a whole."""

    def __init__(self, reading: Reading, index: Index, message: str) -> None:
        self.reading, self.index, self.message = reading, index, message
        self.words = reading.language.words

    @cached_property
    def asked(self) -> Asked:
        """What the message asks for."""
        return Asked(self.message, self.index, self.reading.language)

    def named(self, stem: str) -> bool:
        """Whether a noun of the reply names it."""
        rows, spoken = self.asked.rows, self.reading.language
        held = (r in rows for r in outer(self.index) if names(spoken, r, stem))
        return bool(rows) and (stem == self.asked.noun or any(held))

    def counts(self, claim: Claim, noun: str, picks: Picks) -> bool:
        """Whether a number is the one count of the reply, before or behind the noun that the
        message asks for, and nothing beside both picks a part."""
        part, words = self.reading.sentence(claim.start), self.words
        if any(part.start <= at < part.end for at in picks) or not self._alone(claim):
            return False
        clause = self.reading.clause(claim.start)
        own = self.reading.stems(clause.start, clause.end)
        stems = self.reading.stems(part.start, part.end)
        if among(own, words.negation) or among(stems, words.limits, words.rest, self.asked.kinds):
            return False
        return self.named(noun) and not self._narrows(claim, part, noun)

    def _alone(self, claim: Claim) -> bool:
        """Whether a number is the one value of its sentence, and of no other sentence another."""
        inside = map(self.reading.inside, self.reading.sentences)
        single = [c for c, *more in filter(None, inside) if c.kind == "number" and not more]
        return single == [claim]

    def _narrows(self, claim: Claim, part: Sentence, noun: str) -> bool:
        """Whether a number counts something else or a part ("3 tickets need you"), heads a list of
        so many items, is round and may be exceeded, or is that of rows which share a value, picked
        in other words."""
        before = self.reading.stems(part.start, claim.start)
        behind = self.reading.stems(claim.end, self.reading.clause(claim.start).end)
        label = labelled(self.reading, claim)
        if self._tells(behind, noun) and not (label and noun in before):
            return True
        value, stems = min(whole_numbers(claim)), self.reading.stems(part.start, part.end)
        if value == self._items > 1 and self._goes_on(behind, noun):
            return True
        if value % ROUND == 0 and self._tells(stems, noun):
            return self._exceeded(value)
        headed = label and not among(before, self.words.tally, (noun,))
        return headed and self._tells(before, noun) and value in self._parts

    def _goes_on(self, behind: Iterable[str], noun: str) -> bool:
        """Whether a verb behind the noun says which: "three trips are coming up"."""
        words = self.words
        return not all(
            among([s], words.looking, words.copula, words.function, (noun,)) for s in behind
        )

    @cached_property
    def _items(self) -> int:
        """How many items the reply lists: "Three trips are coming up:" heads a list of three."""
        return sum(bool(ITEM.match(line)) for line in self.reading.text.splitlines())

    def _exceeded(self, value: int) -> bool:
        """Whether there are more, but not twice as many."""
        sizes = {n for r in self.asked.rows for n in (r.size, *totals(self.index, r))}
        return any(value < size <= 2 * value for size in sizes)

    def _tells(self, stems: Iterable[str], noun: str) -> bool:
        """Whether a word says anything, a noun aside."""
        return not all(s == noun or self.asked.idle(s) for s in stems)

    @cached_property
    def _parts(self) -> set[int]:
        """How many rows share a value."""
        columns = (c.values() for t in self.index.grouped() for c in t.labels.values())
        told = ([*map(str, column)] for column in columns)
        return {n for texts in told if len({*texts}) < len(texts) for n in Counter(texts).values()}

    def label(self, claim: Claim) -> str:
        """The noun asked for beside a number that has no other, in its sentence or in the question
        before."""
        if self.reading.claims[0] is not claim or self._counts_other(claim):
            return ""
        part = self.reading.sentence(claim.start)
        before = self.reading.sentence(max(0, part.start - 1))
        stems = self.reading.stems(before.start if before.asks else part.start, part.end)
        return next(filter(self.named, stems), "")

    def _counts_other(self, claim: Claim) -> bool:
        """Whether a number counts what the word right behind it names, and is no label's, or is
        exceeded: "30-odd"."""
        behind = self.reading.stems(claim.end, self.reading.sentence(claim.start).end)[:2]
        other = self._tells(behind[:1], next(filter(self.named, behind[:1]), ""))
        exceeded = among(behind, self.words.more)
        return exceeded or (other and not labelled(self.reading, claim))

    def denied(self, sentence: Sentence) -> bool:
        """Whether a sentence of a reply that shows nothing denies what was asked for by its own
        name, and neither a deed nor anything else of it."""
        spoken = self.reading.language
        rows = self.asked.rows if all(map(is_none, self.reading.claims)) else ()
        if not rows or not all(names(spoken, r, self.asked.noun) for r in rows):
            return False
        said = self.reading.words(sentence.start, sentence.end)
        nouns = (t for t in said if self.named(spoken.stem(t.text)))
        return any(self._denies(noun) for noun in nouns)

    def _denies(self, noun: Token) -> bool:
        """Whether the clause of a noun says that there is none, and nothing that describes it."""
        part, words = self.reading.clause(noun.start), self.words
        deeds = words.effects.keys() - words.objects.keys() - self.asked.plain
        told = among(self.reading.stems(part.start, part.end), deeds, self.asked.other)
        behind = self.reading.stems(noun.end, part.end)
        if told or among(behind, words.limits - self.asked.plain):
            return False
        no = self._none(part)
        if last := [one for one in no if one.start < noun.start][-1:]:
            bracket = self.reading.text[: noun.start].endswith("(")
            return bracket or not self._describes(last[0].end, noun.start)
        return any(not self._describes_behind(one.end) for one in no[:1])

    def _none(self, part: Sentence) -> list[Token | Claim]:
        """The words of a clause that deny, and its zeros."""
        no = self.words.negation | self.words.empty
        told = self.reading.words(part.start, part.end)
        zeros = [c for c in self.reading.inside(part) if c.mention.value == 0]
        denying = [t for t in told if self.reading.language.stem(t.text) in no]
        return sorted([*denying, *zeros], key=lambda one: one.start)

    def _describes(self, start: int, end: int) -> bool:
        """Whether a word between a denial and its noun describes it, or is another noun."""
        return any(
            self.reading.language.describes(t.text, behind=False) for t in self._telling(start, end)
        )

    def _describes_behind(self, end: int) -> bool:
        """Whether the word behind a denial tells what its noun is not: "they are not ready"."""
        told = self._telling(end, self.reading.sentence(end).end)[:1]
        return any(self.reading.language.describes(t.text, behind=True) for t in told)

    def _telling(self, start: int, end: int) -> list[Token]:
        stems = self.reading.stems(start, end)
        said = zip(self.reading.words(start, end), stems, strict=True)
        return [t for t, s in said if not self.asked.idle(s)]


def is_none(claim: Claim) -> bool:
    """Whether a value is a zero, or a one in words, which may be the end of "not a single one"."""
    return is_one(claim) or (claim.kind == "number" and claim.mention.value == 0)
