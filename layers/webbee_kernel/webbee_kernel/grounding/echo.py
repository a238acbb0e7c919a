"""The request names the deed.

A sentence that repeats what was asked for, and shows nothing else, says that it was done, whatever
its verbs are and however they stand; with a word of denial, that it was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .. import language
from ..language import Token
from .deeds import inquires, kin
from .evidence import Evidence
from .places import fold
from .reading import Reading, Sentence, among
from .told import OPEN, Told, denies

BESIDE, REPEATED, SHORT = 3, 2, 12
"""Telling words of a sentence that the request does not have; what it repeats of the request; words
of a reply that can say no more than that it is done."""
OPEN_ROLES = ("addressee", "wish", "awaiting", "hypothetical", "question")
_PART = re.compile(r"[^.;!?\n]+(?:[.;!?]+(?=\s|$)|\n|$|[.;!?])")
LOOKS = frozenset({"show", "find", "read", "tell"})


def echoes(reading: Reading, evidence: Evidence, claims: Sequence[Told]) -> Iterator[Told]:
    """The claims and denials of what the message asks for, in sentences of which `claims` holds
    none by a verb that is known."""
    taken = {claim.sentence.start for claim in claims if claim.concept != OPEN}
    free = [s for s in reading.sentences if s.start not in taken]
    if free and (request := _request(reading, evidence)):
        found = [one for sentence in free if (one := request.repeated(sentence))]
        bare = not (found or claims) and not any(c.has_effect for c in evidence.calls)
        called = any(c.fn_name for c in evidence.calls)
        yield from found or (request.hidden(called=called) if bare else ())


def _request(reading: Reading, evidence: Evidence) -> _Request | None:
    """What a message asks to be done, None where it asks for a look, a text or an answer."""
    own: list[str] = []
    for part in _PART.findall(evidence.message):
        own += _asked(reading, part)
    return _Request(reading, evidence.message.casefold(), own) if own else None


def _asked(reading: Reading, part: str) -> list[str]:
    """The telling words of a sentence that asks for a deed."""
    words = reading.language.words
    texts = [t.text for t in language.tokens(part)]
    stems = [reading.language.stem(text) for text in texts]
    if inquires(reading, part, texts) or among(stems, words.drafting):
        return []
    said, known = zip(map(fold, texts), stems, strict=True), words.meanings("commands")
    return [t for t, s in said if s not in words.function and not _looks(known.get(t))]


def _looks(meanings: frozenset[str] | None) -> bool:
    """Whether a command asks for no more than a look."""
    return bool(meanings) and LOOKS.issuperset(meanings or ())


@dataclass(frozen=True, slots=True)
class _Request:
    """What a message asks for: its text, folded, and its telling words."""

    reading: Reading
    text: str
    own: Sequence[str]

    def repeated(self, sentence: Sentence) -> Told | None:
        """What a sentence that repeats the request says of it."""
        inside = self.reading.inside(sentence)
        shown = not all(c.token.casefold() in self.text for c in inside)
        tokens = self.reading.words(sentence.start, sentence.end)
        stems = self.reading.stems(sentence.start, sentence.end)
        words, denied = self.reading.language.words, denies(self.reading, stems)
        forms = {fold(t.text) for t in tokens}
        heads = sentence.text.rstrip(" *_\n").endswith(":")
        looks = among(stems, words.looking - words.either - words.managed)
        if sentence.asks or heads or shown or looks or self._open(forms, denied=denied):
            return None
        managed = denied or not forms.isdisjoint(words.forms("managed"))
        said = list(zip(tokens, stems, strict=True))
        alike = {t.start for t in tokens if self._has(t)}
        others = [t for t, s in said if t.start not in alike and not self._idle(s)]
        verbs = [t for t, s in said if t.start in alike and self._tells(t, s, managed=managed)]
        if not verbs or len(others) > BESIDE or len(alike) + len(inside) < REPEATED:
            return None
        active = among(stems, words.first_person)
        span, verb = (sentence.start, tokens[-1].end), verbs[-1]
        return Told(verb.text, verb.start, OPEN, denied, active, sentence, span, asked=True)

    def hidden(self, *, called: bool) -> Iterator[Told]:
        """The claim of a short reply to a known deed's request that shows, asks, denies and plans
        nothing: what else could it say? Without a call some form has to tell what was done."""
        reading, words = self.reading, self.reading.language.words
        stems, forms = reading.stems(0, len(reading.text)), {fold(t.text) for t in reading.tokens}
        known = among(map(reading.language.stem, self.own), words.effects)
        tells = called or any(reading.language.tells(t.text) for t in reading.tokens)
        shows = any(c.token.casefold() not in self.text for c in reading.claims)
        if not (known and tells and 0 < len(stems) <= SHORT) or shows or self._denied(stems):
            return
        if not (self._open(forms, denied=False) or any(s.asks for s in reading.sentences)):
            first, sentence = reading.tokens[0], reading.sentences[0]
            span = sentence.start, sentence.end
            yield Told(first.text, first.start, "", False, True, sentence, span, asked=True)

    def _denied(self, stems: Sequence[str]) -> bool:
        return denies(self.reading, stems) or among(stems, self.reading.language.words.empty)

    def _open(self, forms: set[str], *, denied: bool) -> bool:
        """Whether a sentence asks, waits or speaks of what may be."""
        roles = [*OPEN_ROLES, *(() if denied else ("plan",))]
        return not all(forms.isdisjoint(self.reading.language.words.forms(r)) for r in roles)

    def _tells(self, token: Token, stem: str, *, managed: bool) -> bool:
        """Whether a word tells a deed: by its form, or because it was managed; a look is none."""
        words = self.reading.language.words
        look = stem in words.looking and stem not in words.either
        return not look and (managed or self.reading.language.tells(token.text))

    def _has(self, token: Token) -> bool:
        said = fold(token.text)
        return any(said == one or kin(said, one) for one in self.own)

    def _idle(self, stem: str) -> bool:
        words = self.reading.language.words
        roles = (words.function, words.adverb, words.perfect, words.passive, words.done)
        return among([stem], *roles, words.settled, words.managed, words.matter, words.copula)
