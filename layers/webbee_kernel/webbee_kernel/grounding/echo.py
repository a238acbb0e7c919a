"""The request names the deed.

A sentence that repeats what was asked for, and shows nothing else, says that it was done, whatever
its verbs are and however they stand; with a word of denial, that it was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .. import language
from ..language import Token
from .deeds import commanded, inquires, kin
from .evidence import Evidence
from .places import fold
from .reading import Reading, Sentence, among
from .told import OPEN, Told, denies, told

BESIDE, REPEATED, SHORT = 3, 2, 12
"""Telling words of a sentence that the request does not have; what it repeats of the request; words
of a reply that can say no more than that it is done."""
OPEN_ROLES = ("plan", "addressee", "wish", "awaiting", "hypothetical", "question")
_PART = re.compile(r"[^.;!?\n]+(?:[.;!?]+(?=\s|$)|\n|$|[.;!?])")
_MARK = re.compile(r"[:!;]\s+|\s[\u2013\u2014-]\s+")
LOOKS = frozenset({"show", "find", "read", "tell"})


def claims(reading: Reading, evidence: Evidence) -> list[Told]:
    """What a reply tells of effects by its verbs, and by repeating what the message asks for where
    no verb that is known tells it."""
    found = list(told(reading))
    taken = {claim.sentence.start for claim in found if claim.concept != OPEN}
    free = [part for s in reading.sentences if s.start not in taken for part in _parts(s)]
    request = _request(reading, evidence) if free else None
    if request is None:
        return found
    found += [one for sentence in free if (one := request.repeated(sentence))]
    if _are_states(found) and not any(call.has_effect for call in evidence.calls):
        found += request.hidden(called=any(call.fn_name for call in evidence.calls))
    return found


def _are_states(found: Sequence[Told]) -> bool:
    """Whether claims are but states that no list knows: they say less than what was asked for."""
    return all(one.concept == OPEN and not (one.denied or one.active) for one in found)


def _request(reading: Reading, evidence: Evidence) -> _Request | None:
    """What a message asks to be done, None where it asks for a look, a text or an answer."""
    own: list[str] = []
    for part in _PART.findall(evidence.message):
        own += _asked(reading, part)
    return _Request(reading, evidence.message.casefold(), own) if own else None


def _parts(sentence: Sentence) -> list[Sentence]:
    """What stands between the colons and dashes of a sentence: a greeting may stand before it."""
    starts = [0, *(m.end() for m in _MARK.finditer(sentence.text)), len(sentence.text)]
    return [
        Sentence(sentence.start + a, sentence.start + b, sentence.text[a:b])
        for a, b in pairwise(starts)
    ]


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
        stems = self.reading.stems(sentence.start, sentence.end)
        denied = denies(self.reading, stems)
        if self._looks(stems) or not self._asserts(sentence, denied=denied):
            return None
        said = list(zip(self.reading.words(sentence.start, sentence.end), stems, strict=True))
        alike = [(t, s) for t, s in said if self._has(t)]
        others = [t for t, s in said if (t, s) not in alike and not self._idle(s)]
        managed = denied or self._forms(sentence, "managed")
        verbs = [t for t, s in alike if self._tells(t, s, managed=managed)]
        if not verbs or len(others) > BESIDE or len(alike) + len(inside) < REPEATED:
            return None
        active, verb = among(stems, self.reading.language.words.first_person), verbs[-1]
        span = sentence.start, said[-1][0].end
        return Told(verb.text, verb.start, OPEN, denied, active, sentence, span, asked=True)

    def _looks(self, stems: Sequence[str]) -> bool:
        words = self.reading.language.words
        return among(stems, words.looking - words.either - words.managed)

    def _asserts(self, sentence: Sentence, *, denied: bool) -> bool:
        """Whether a sentence shows nothing that the message does not have, and neither asks, heads
        a list, waits nor speaks of what may be."""
        if sentence.asks or sentence.text.rstrip(" *_\n").endswith(":"):
            return False
        shown = any(not self._said(c.token) for c in self.reading.inside(sentence))
        return not (shown or self._forms(sentence, *OPEN_ROLES[denied:]))

    def _said(self, token: str) -> bool:
        """Whether the message has a value, and not as a part of another: 7 is not in 57."""
        value = re.escape(token.casefold())
        return re.search(rf"(?<!\w){value}(?!\w)", self.text) is not None

    def hidden(self, *, called: bool) -> Iterator[Told]:
        """The claim of a short reply to a known deed's request that shows, asks, denies and plans
        nothing: what else could it say? Without a call some form has to tell what was done."""
        reading = self.reading
        stems = reading.stems(0, len(reading.text))
        if not (0 < len(stems) <= SHORT and self._may_tell(called=called)) or self._shows(stems):
            return
        if not denies(reading, stems) and all(
            self._asserts(s, denied=False) for s in reading.sentences
        ):
            first, sentence = reading.tokens[0], reading.sentences[0]
            span = sentence.start, sentence.end
            yield Told(first.text, first.start, "", False, True, sentence, span, asked=True)

    def _may_tell(self, *, called: bool) -> bool:
        """Whether a form tells what was done, or, after a call, nothing is named that may yet be:
        "say yes and I start to book it"."""
        tokens = self.reading.tokens
        tells = any(self.reading.language.tells(token.text) for token in tokens)
        if called:
            return tells or not any(map(self._has, tokens))
        return tells and bool(commanded(self.reading, self.own, asks=False))

    def _shows(self, stems: Sequence[str]) -> bool:
        """Whether a reply says that there is nothing, or hands something over ("here it is")."""
        words = self.reading.language.words
        return among(stems, words.empty) or among(stems[:1], words.listing)

    def _forms(self, sentence: Sentence, *roles: str) -> bool:
        """Whether a sentence has a word of a role, in the very form."""
        words = self.reading.language.words
        said = {fold(t.text) for t in self.reading.words(sentence.start, sentence.end)}
        return not all(said.isdisjoint(words.forms(role)) for role in roles)

    def _tells(self, token: Token, stem: str, *, managed: bool) -> bool:
        """Whether a word tells a deed: by its form, or because it was managed; a look is none."""
        return not self._looks([stem]) and (managed or self.reading.language.tells(token.text))

    def _has(self, token: Token) -> bool:
        said = fold(token.text)
        return any(said == one or kin(said, one) for one in self.own)

    def _idle(self, stem: str) -> bool:
        words = self.reading.language.words
        roles = (words.function, words.adverb, words.perfect, words.passive, words.done)
        return among([stem], *roles, words.settled, words.managed, words.matter, words.copula)
