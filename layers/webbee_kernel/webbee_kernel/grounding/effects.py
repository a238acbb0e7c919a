"""Effects are known to the kernel, not believed from the model.

Every write and destructive call is known to have succeeded, failed, to wait or not to have run. A
sentence that claims an effect must fit a call that succeeded; one that denies what was done is as
wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from .deeds import (
    ALIKE,
    alike,
    asked,
    concepts,
    kin,
    only_read,
    undone,
    wishes,
    words_of,
)
from .evidence import Call, Evidence
from .places import Place, conflict, fold, key_words
from .reading import Reading, among
from .told import OPEN, Told

Grounds = Mapping[int, Sequence[Place]]
REJECTED = "life:rejected"
QUOTED, LEAST_QUOTED = 300, 4
"""Characters of a clause that may be quoted from a result; words that are in none by chance."""
AROUND = 24  # characters on either side of a word that, found in a result, are quoted from it
NEAR, MOST = 160, 20
"""Characters around a verb that say what it is about; claims that are compared with each other."""


def wrong(
    reading: Reading, evidence: Evidence, grounds: Grounds, claims: Sequence[Told]
) -> Iterator[Told]:
    """The claims that no call accounts for and the denials that a call refutes. `grounds`: the
    fields that show the values of the reply, by where they stand."""
    known = _Known(reading, evidence, grounds, claims)
    for claim in claims:
        if known.quoted(claim):
            continue
        if known.refuted(claim) if claim.denied else not known.done(claim):
            yield claim


class _Known:
    """What the kernel knows of a turn's effects."""

    def __init__(
        self, reading: Reading, evidence: Evidence, grounds: Grounds, claims: Sequence[Told]
    ) -> None:
        self.reading, self.evidence, self.grounds = reading, evidence, grounds
        self.claims = [c for c in claims if not c.denied][:MOST]
        calls = [c for c in evidence.calls if c.has_effect]
        self.succeeded = [(c, concepts(c)) for c in calls if c.ok]
        self.missed = [(c, concepts(c)) for c in calls if not c.ok]

    def done(self, claim: Told) -> bool:
        """Whether a call that succeeded, or the data for a state, accounts for a claim."""
        if not claim.concept:
            return bool(self.succeeded) or self._in_data(claim) or self._only_read(claim)
        if self.missed and (self._state(claim) == REJECTED or self._excused(claim)):
            return True
        return any(self._did(claim, call, own) for call, own in self.succeeded) or (
            self._harmless(claim) if claim.concept == OPEN else self._stands(claim)
        )

    def _stands(self, claim: Told) -> bool:
        """Whether what the turn showed accounts for a known effect that no call had."""
        did = (concepts(c) - undone(c) for c in self.evidence.calls if c.ok)
        if any(claim.concept in own for own in did):
            return True
        if self.succeeded and not any(c.fn_name for c in self.evidence.calls):
            return claim.concept in self.evidence.index.effects
        if claim.active:
            return False
        read = only_read(self.evidence) and all(c.ok for c in self.evidence.calls)
        return self._shown(claim) or (read and not self._wished(claim))

    def _wished(self, claim: Told) -> bool:
        """Whether the user asked for an effect, or a clause says that what he asked for was done:
        other states that are told after a look are read out."""
        vague = among(self.reading.stems(*_near(claim)), self.reading.language.words.matter)
        return asked(self.reading, self.evidence, claim) or (vague and self._wishes)

    @cached_property
    def _wishes(self) -> bool:
        return wishes(self.reading, self.evidence)

    def _excused(self, claim: Told) -> bool:
        """Whether a clause tells why a call failed, in a word of its error, or what waits beside
        the word that it does."""
        errors = [w for call, _ in self.missed for w in words_of(call.error)]
        if not claim.active and any(kin(fold(claim.word), word) for word in errors):
            return True
        words = self.reading.language.words
        said = self.reading.stems(claim.sentence.start, claim.sentence.end)
        but = among(said, words.awaiting, words.limits, words.hypothetical)
        return but and any(c.status == "waits" for c, _ in self.missed)

    def _harmless(self, claim: Told) -> bool:
        """Whether a verb that no list has tells only of a state: one that the data shows, or that
        nobody asked for where nothing was done."""
        if claim.active:
            return False
        if any(c.kind in ("date", "moment") for c in self.reading.inside(claim.sentence)):
            return True  # "was last turned on 12 November" is read out
        return self._shown(claim) or not (
            self.succeeded or asked(self.reading, self.evidence, claim)
        )

    def quoted(self, claim: Told) -> bool:
        """Whether the clause stands word for word in a result: a mail that says "attached is the
        draft" is read out, not claimed."""
        start, end = claim.clause
        clause = self.reading.text[start:end].strip() if end - start <= QUOTED else ""
        around = self.reading.text[max(0, claim.start - AROUND) : claim.start + AROUND].strip()
        quoted = [clause] if len(clause.split()) >= LEAST_QUOTED else []
        quoted += [around] if len(around) > AROUND else []
        places = (p for text in quoted for p in self.evidence.index.find(text))
        return any(p.path.startswith(("data", "summary", "error")) for p in places)

    def _in_data(self, claim: Told) -> bool:
        return any(p.path.startswith("data") for p in self.evidence.index.find(claim.word))

    def _only_read(self, claim: Told) -> bool:
        """Whether all that was asked for was to read, and that was done: a bare "Done." is true;
        or the claim heads a list: "here is how it went:"."""
        if claim.sentence.text.rstrip(" *_\n").endswith(":"):
            return True
        read = only_read(self.evidence) and all(c.ok for c in self.evidence.calls)
        return read and not self._wishes

    def _state(self, claim: Told) -> str:
        return self.reading.language.words.states.get(self.reading.language.stem(claim.word), "")

    def _did(self, claim: Told, call: Call, own: frozenset[str]) -> bool:
        """Whether a call that succeeded did what a clause claims: by its verb where both are known,
        else by what the clause names."""
        if self._elsewhere(claim, call) or claim.concept in undone(call):
            return False
        fits = self._names(claim, call) or self._shares(claim, call)
        if claim.concept in own or self._may_be(claim, call, own):
            return fits or not self._told_elsewhere(claim, call)
        return fits and (claim.concept == OPEN or any(claim.concept in ALIKE[one] for one in own))

    def _may_be(self, claim: Told, call: Call, own: frozenset[str]) -> bool:
        """Whether a call of which nothing tells what it does may have done what a verb says."""
        unlike = call.action_type == "write" and claim.concept == "delete"
        return not own and claim.concept != OPEN and not unlike

    def _told_elsewhere(self, claim: Told, call: Call) -> bool:
        """Whether another sentence tells what a call did, by its words or values, so that this one
        needs a call of its own."""
        others = (c for c in self.claims if c.sentence.start != claim.sentence.start and c.concept)
        return any(self._names(c, call) or self._shares(c, call) for c in others)

    def _shares(self, claim: Told, call: Call) -> bool:
        """Whether a sentence names a value that a call had or gave."""
        number = self.evidence.calls.index(call)
        inside = self.reading.inside(claim.sentence)
        return any(p.call == number for c in inside for p in self.grounds.get(c.start, ()))

    def _names(self, claim: Told, call: Call) -> bool:
        """Whether a clause has a word of a call, or of the message that asked for it."""
        said = [*key_words(call.fn_name), *words_of(f"{call.summary} {call.description}")]
        said += words_of(self.evidence.message)
        own = [fold(t.text) for t in self.reading.words(*_near(claim))]
        return any(kin(one, other) for one in own for other in said)

    def _elsewhere(self, claim: Told, call: Call) -> bool:
        """Whether the clause names things that only calls which did not succeed were about."""
        number = self.evidence.calls.index(call)
        named = (self.grounds.get(c.start, ()) for c in self.reading.inside(claim.sentence))
        return any(
            any(self._missed(p) for p in places) and all(p.call != number for p in places)
            for places in named
        )

    def _missed(self, place: Place) -> bool:
        """Whether a field is an argument of a call that did not succeed."""
        return place.path.startswith("arg") and not self.evidence.calls[place.call].ok

    def _shown(self, claim: Told) -> bool:
        """Whether the data of the turn tells of the state: of the record that the sentence names,
        or of any where it names none and the user did not ask for the effect."""
        telling = self._telling(claim)
        inside = self.reading.inside(claim.sentence)
        counted = all(c.kind in ("number", "ordinal", "percent") for c in inside)
        read = any(not self.evidence.calls[t.call].has_effect for t in telling)
        if read and counted and not asked(self.reading, self.evidence, claim):
            return True
        places = (p for c in inside for p in self.grounds.get(c.start, ()))
        about = [p for p in places if p.path.startswith("data")]
        return any(p.call == t.call and not conflict([p], [t]) for p in about for t in telling)

    def _telling(self, claim: Told) -> list[Place]:
        """The fields that tell of a state or of a deed; what a call that waits or failed returned
        tells of no deed, whatever its keys."""
        index, calls = self.evidence.index, self.evidence.calls
        effects = index.effects.get(claim.concept, ())
        done = [p for p in effects if p.call < 0 or calls[p.call].ok]
        states = index.states.get(self._state(claim), ())
        return [*done, *(p for p in states if p.call < 0 or calls[p.call].ok)]

    def _about(self, claim: Told, call: Call) -> bool:
        """Whether a clause speaks of a call: by its verb or by a word."""
        return claim.concept in concepts(call) or self._names(claim, call)

    def refuted(self, claim: Told) -> bool:
        """Whether a denial speaks of what was done."""
        if self.missed or not self.succeeded:
            return any(c.is_open and self._about(claim, c) for c, _ in self.missed)
        admitted = any(claim.concept in undone(c) for c, _ in self.succeeded)
        return not admitted and self._denies_what_was_done(claim)

    def _denies_what_was_done(self, claim: Told) -> bool:
        if claim.concept == OPEN:
            return any(self._names(claim, c) or self._shares(claim, c) for c, _ in self.succeeded)
        return self._denies_all(claim) or any(
            claim.concept in own or (alike(claim.concept, own) and self._names(claim, call))
            for call, own in self.succeeded
        )

    def _denies_all(self, claim: Told) -> bool:
        """Whether a denial is of whatever was done: it is bare, or says that nothing changed."""
        words, stem = self.reading.language.words, self.reading.language.stem
        said = [s for s in self.reading.stems(*claim.clause) if s != stem(claim.word)]
        idle = (words.negation, words.perfect, words.passive, words.function)
        changed = claim.concept == "update" and all(among([s], *idle) for s in said)
        return not claim.concept or changed


def _near(claim: Told) -> tuple[int, int]:
    """What of a clause stands around its verb."""
    return max(claim.clause[0], claim.start - NEAR), min(claim.clause[1], claim.start + NEAR)
