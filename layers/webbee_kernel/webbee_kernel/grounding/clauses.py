"""A clause of a reply, and how its words tell a deed: who did it, by which helper, or that it says
no more than that something is done."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..language import Token, fold
from .layout import ITEM
from .reading import Reading, Sentence, among

_ASIDE = re.compile(r"\A\([^()\n]*\)")
_TICKS = ("\u2705", "\u2714", "\u2713", "\u2611")
FAR, LEADING = 16, 4
"""Words before a verb among which its subject is looked for; adverbs that a clause begins with."""
BARE = 6
"""Words of a clause that says no more than that it is done."""


@dataclass(slots=True)
class Clause:
    """A clause: its words, their stems, and what may help a participle to tell."""

    reading: Reading
    start: int
    end: int
    tokens: list[Token]
    stems: list[str]

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.tokens[-1].end

    @property
    def plans(self) -> bool:
        """Whether it tells of what has not happened; what "I can confirm that" tells has."""
        words = self.reading.language.words
        said = [at for at, stem in enumerate(self.stems) if stem in words.clause_words]
        told = self.tokens[said[0] :] if said else self.tokens
        return not words.forms("plan").isdisjoint(fold(t.text) for t in told)

    @property
    def doubts(self) -> bool:
        """Whether it tells of what is not known: "whether it stopped"."""
        return not self.reading.language.words.forms("whether").isdisjoint(
            fold(t.text) for t in self.tokens
        )

    def voice(self, at: int) -> str:
        """`active` for what the speaker did, `state` for what was done, nothing for a word that
        tells of neither."""
        words, spoken = self.reading.language.words, self.reading.language
        before = self.stems[max(0, at - 6) : at]
        if among(before[-3:], words.recent) and self._begins_with(words.recent, at):
            return "active"
        helped = among([*before, *self.stems[at + 1 : at + 2]], words.perfect, words.passive)
        if not spoken.tells(self.tokens[at].text) or self._of_others(at, helped=helped):
            return ""
        if self._describes(at):
            return ""
        if fold(self.tokens[at].text) in words.forms("objects") and not helped:
            return ""
        if among(before, words.first_person):
            return "active"
        begins = self._begins(at)
        if begins and not helped and self._labels():
            return ""
        told = helped or at == len(self.tokens) - 1 or begins
        return "state" if told or spoken.tells_alone(self.tokens[at].text) else ""

    def surely(self, at: int) -> str:
        """The same for a verb that the language's file does not know: only where the sentence is
        built so that it can be nothing else."""
        spoken = self.reading.language
        text, last = self.tokens[at].text, at == len(self.tokens) - 1
        if not spoken.tells(text) or len(text) < 4 or self._leads():
            return ""
        if (self._begins(at) and self._labels()) or self._describes(at):
            return ""
        return self._by_helper(at, last=last) or self._by_form(at, last=last)

    def _by_helper(self, at: int, *, last: bool) -> str:
        """The voice that a speaker or a passive before the verb gives it."""
        words, (helper, gap) = self.reading.language.words, self._helper(at)
        tight = self._tight(gap)
        if helper == "speaker" and (tight or (last and among(gap, words.perfect))):
            return "active"
        return "state" if helper == "passive" and (tight or last) else ""

    def _by_form(self, at: int, *, last: bool) -> str:
        """The voice that the form alone gives: a short participle, a past that opens a sentence,
        a word with a tick."""
        spoken, token = self.reading.language, self.tokens[at]
        if (
            spoken.cases
            and spoken.tells_alone(token.text)
            and (last or self._tight(self._helper(at)[1]))
        ):
            return "state"
        opens = self._begins(at) and spoken.tells_first(token.text)
        return "state" if opens or self._ticked(token, last=last) else ""

    def _ticked(self, token: Token, *, last: bool) -> bool:
        """Whether a tick stands behind a verb that is all of a clause, or before what it ends."""
        before, behind = self.reading.text[self.start : token.end], self.reading.text[token.end :]
        alone = len(self.tokens) == 1 and behind.lstrip(" *_").startswith(_TICKS)
        return alone or (last and before.lstrip(" *_").startswith(_TICKS))

    def _tight(self, gap: Sequence[str]) -> bool:
        """Whether only adverbs and auxiliaries stand between a verb and its helper."""
        words = self.reading.language.words
        return all(among([s], words.adverb, words.perfect, words.negation) for s in gap)

    def _helper(self, at: int) -> tuple[str, list[str]]:
        """Who is said to have done it, `speaker` or nobody (`passive`), and the words between."""
        words = self.reading.language.words
        for back in range(at - 1, max(-1, at - FAR), -1):
            stem, gap = self.stems[back], self.stems[back + 1 : at]
            if stem in words.passive:
                return "passive", gap
            if stem in words.first_person:
                near = [stem, *self.stems[max(0, back - 1) : back]]
                return "speaker", gap + [s for s in near if s in words.perfect]
            if stem in words.addressee:
                return "", gap
        return "", []

    def _leads(self) -> bool:
        """Whether a list or a table follows: "I went through them:"."""
        text = _ASIDE.sub("", self.reading.text[self.end :].lstrip()).lstrip()
        return bool(ITEM.match(text)) or text[:1] in tuple("#*-")

    def _begins_with(self, role: frozenset[str], at: int) -> bool:
        """Whether nothing but the words of a role and what leads to them stands before a verb."""
        leading = self.reading.language.words
        near = self.stems[max(0, at - 2) : at]
        return among(near, role) and all(s in role or s in leading.function for s in near)

    def _of_others(self, at: int, *, helped: bool) -> bool:
        """Whether the word is an adjective, or tells of another's deed."""
        words, last = self.reading.language.words, self.stems[max(0, at - 1) : at]
        by = self.stems[at + 1 : at + 2] == ["by"]
        near = self.stems[max(0, at - FAR) : at]
        people = [s for s in near if s in words.first_person or s in words.addressee]
        theirs = bool(people) and people[-1] not in words.first_person
        theirs = theirs and not among(self.stems[max(0, at - 3) : at], words.passive)
        return theirs or (
            bool(last)
            and (
                by
                or fold(self.tokens[at - 1].text) in words.forms("determiner")
                or (not helped and among(last, words.others))
            )
        )

    def _describes(self, at: int) -> bool:
        """Whether a participle is an adjective of the noun before it, as the helper before both has
        a participle of its own ("ha rechazado la tarjeta terminada en 4417"), or compares ("as
        agreed")."""
        words = self.reading.language.words
        if at and fold(self.tokens[at - 1].text) in words.forms("likeness"):
            return True
        between = self.stems[self._helped(at) + 1 : at]
        joined = among(between, words.and_) or among(between[-1:], words.adverb, words.limits)
        return bool(between) and not joined

    def _helped(self, at: int) -> int:
        """Where the participle stands that the last helper before a word has, else that word."""
        helpers = (n for n in range(at - 1, max(-1, at - FAR), -1))
        after = next(
            (n for n in helpers if self.stems[n] in self.reading.language.words.perfect), at
        )
        tells = (self.reading.language.tells(t.text) for t in self.tokens[after + 1 : at])
        own = next((n for n, told in enumerate(tells, after + 1) if told), at)
        return own if self._tight(self.stems[after + 1 : own]) else at

    def _begins(self, at: int) -> bool:
        """Whether nothing but adverbs and marks stands before a word."""
        adverbs = self.reading.language.words.adverb
        if at > LEADING or not all(s in adverbs for s in self.stems[:at]):
            return False
        edges = [self.start, *(e for t in self.tokens[:at] for e in (t.start, t.end))]
        edges.append(self.tokens[at].start)
        gaps = zip(edges[::2], edges[1::2], strict=True)
        return not any(char.isalnum() for a, b in gaps for char in self.reading.text[a:b])

    def _labels(self) -> bool:
        """Whether a value follows: "Created by: ..."."""
        end = self.tokens[-1].end
        after = self.reading.text[end : end + 12].lstrip(" *_")
        return after.startswith((":", "=", "\u2013", "\u2014", "|"))

    def idle(self, token: Token) -> bool:
        """Whether a word says no more than that something is done."""
        words = self.reading.language.words
        last = token is self.tokens[-1] and self.reading.language.tells(token.text)
        return (last and among(self.stems, words.matter)) or fold(token.text) in words.forms("done")

    def bare(self, sentence: Sentence, *, denied: bool) -> Token | None:
        """The word of a clause that says no more than that it is done, or that it failed: beside it
        stand only words that say nothing about the matter, unless it is denied."""
        words, last = self.reading.language.words, self.tokens[-1].end
        held = any(self.start <= c.start < last for c in self.reading.inside(sentence))
        if held or len(self.tokens) > BARE:
            return None
        idle = [words.adverb, words.perfect, words.passive, words.quantifier, words.function]
        idle += [words.settled, words.yes, words.matter, words.toward]
        said = list(zip(self.tokens, self.stems, strict=True))
        done = [t for t, _ in said if self.idle(t)]
        settled = [t for t, s in said if s in words.settled]
        failed = [t for t, s in said if s in words.failure]
        alone = denied or all(among([s], *idle) for t, s in said if not self.idle(t))
        return next(iter((done or settled) if alone and (done or settled) else failed), None)

    def came_off(self) -> Token | None:
        """The word of a clause that tells whether a deed came off."""
        went = self.reading.language.words.went
        said = zip(self.tokens, self.stems, strict=True)
        return next((token for token, stem in said if stem in went), None)
