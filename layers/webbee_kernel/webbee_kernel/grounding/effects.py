"""Effects are known to the kernel, not believed from the model.

Every write and destructive call is known to have succeeded, failed, to wait or not to have run. A
sentence that claims an effect must fit a call that succeeded; one that denies what was done is as
wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from . import deeds
from .evidence import Call, Evidence
from .outcomes import Outcomes
from .places import Place, conflict, fold, key_words
from .reading import Reading, among
from .told import OPEN, WENT, Told, denies, says_done, unsure

Grounds = Mapping[int, Sequence[Place]]
REJECTED, COUNTING = "life:rejected", ("number", "ordinal", "percent")
NEAR, MOST = 160, 20
"""Characters around a verb that say what it is about; claims that are compared with each other."""


def wrong(
    reading: Reading, evidence: Evidence, grounds: Grounds, claims: Sequence[Told]
) -> Iterator[Told]:
    """The claims that no call accounts for and the denials that a call refutes. `grounds`: the
    fields that show the values of the reply, by where they stand."""
    known = _Known(reading, evidence, grounds, claims)
    for claim in claims:
        if deeds.read_out(reading, evidence, claim):
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
        self.outcomes = Outcomes(reading, evidence, grounds, self.claims)
        calls = [c for c in evidence.calls if c.has_effect]
        self.succeeded = [(c, deeds.concepts(c)) for c in calls if c.ok]
        self.missed = [(c, deeds.concepts(c)) for c in calls if not c.ok]

    def done(self, claim: Told) -> bool:
        """Whether a call that succeeded, or the data for a state, accounts for a claim."""
        if not claim.concept:
            return self._any_done(claim) or self._in_data(claim) or self._only_read(claim)
        if (self.missed and self._excused(claim)) or self._said_done(claim):
            return True
        stands = self._harmless if claim.concept == OPEN else self._stands
        return any(self._did(claim, call, own) for call, own in self.succeeded) or stands(claim)

    def _any_done(self, claim: Told) -> bool:
        return any(not self.outcomes.belie(claim, call) for call, _ in self.succeeded)

    def _said_done(self, claim: Told) -> bool:
        """Whether a sentence says no more than that what was called is done."""
        part = claim.sentence
        short = not self.missed and part.end - part.start <= NEAR
        return short and says_done(self.reading, part, self.claims) and self._any_done(claim)

    def _stands(self, claim: Told) -> bool:
        """Whether what the turn showed accounts for a known effect that no call had."""
        reads = [c for c in self.evidence.calls if c.ok and not c.has_effect]
        if any(claim.concept in deeds.concepts(call) for call in reads):
            return True
        if self.succeeded and not any(c.fn_name for c in self.evidence.calls):
            return claim.concept in self.evidence.index.effects
        return not claim.active and self._is_read_out(claim)

    def _is_read_out(self, claim: Told) -> bool:
        """Whether a state comes from the data, or is told after a look and nobody wished for it."""
        if not self._just_read:
            return self._shown(claim)
        if self._only_answers(claim) and not deeds.dictated_as_is(self.evidence, claim):
            return False
        return self._shown(claim) or not self._wished(claim)

    @cached_property
    def _just_read(self) -> bool:
        return deeds.only_read(self.evidence) and all(c.ok for c in self.evidence.calls)

    def _only_answers(self, claim: Told) -> bool:
        """Whether a reply shows nothing where something was wished for, and waits for nothing."""
        return self._wishes and not (self._awaits(claim) or self._shows)

    def _awaits(self, claim: Told) -> bool:
        """Whether another sentence waits for the user's word: "All is ready. I await your yes."."""
        reading, words = self.reading, self.reading.language.words
        others = (s for s in reading.sentences if s.start != claim.sentence.start and not s.asks)
        return any(among(reading.stems(s.start, s.end), words.awaiting) for s in others)

    def _wished(self, claim: Told) -> bool:
        """Whether the user asked for an effect, or a clause says that what he asked for was done:
        other states that are told after a look are read out."""
        vague = among(self.reading.stems(*_near(claim)), self.reading.language.words.matter)
        return deeds.asked(self.reading, self.evidence, claim) or (vague and self._wishes)

    @cached_property
    def _wishes(self) -> bool:
        return deeds.wishes(self.reading, self.evidence)

    def _excused(self, claim: Told) -> bool:
        """Whether a clause tells why a call failed, in a word of its error, or stands beside the
        word that what waits does, or that nobody knows the end of what was sent."""
        errors = [w for call, _ in self.missed for w in deeds.words_of(call.error)]
        word, meant = fold(claim.word), deeds.meant_by(errors)
        told = not claim.active and (
            any(deeds.kin(word, one) for one in errors)
            or (claim.concept in meant and not deeds.asked(self.reading, self.evidence, claim))
        )
        return told or self._state(claim) == REJECTED or self._left_open(claim)

    def _left_open(self, claim: Told) -> bool:
        words = self.reading.language.words
        said = self.reading.stems(claim.sentence.start, claim.sentence.end)
        waits = among(said, words.awaiting, words.limits, words.hypothetical)
        doubts = unsure(self.reading, claim.sentence.start, claim.sentence.end)
        return any(
            (waits and c.status == "waits") or (doubts and c.is_open) for c, _ in self.missed
        )

    def _harmless(self, claim: Told) -> bool:
        """Whether a verb that no list has tells only of a state: one that the data shows, or that
        nobody asked for where nothing was done."""
        if self.missed and self._of_failure(claim):
            return True
        if claim.active:
            return deeds.only_read(self.evidence) and self._presents(claim)
        if any(c.kind in ("date", "moment") for c in self.reading.inside(claim.sentence)):
            return True  # "was last turned on 12 November" is read out
        return self._shown(claim) or not (
            self.succeeded or deeds.asked(self.reading, self.evidence, claim)
        )

    def _of_failure(self, claim: Told) -> bool:
        """Whether a verb that nobody asked for stands in a reply that admits what was not done:
        "I got stuck", "access was refused"."""
        return self._admits and not deeds.asked(self.reading, self.evidence, claim)

    @cached_property
    def _admits(self) -> bool:
        return denies(self.reading, self.reading.stems(0, len(self.reading.text)))

    def _presents(self, claim: Told) -> bool:
        """Whether what a speaker did was to bring what the reply shows: nobody asked for a deed of
        that name, and the reply has values of the data."""
        return (
            not claim.asked and not deeds.asked(self.reading, self.evidence, claim) and self._shows
        )

    @cached_property
    def _shows(self) -> bool:
        """Whether the reply has values of the data, a bare "Success!" aside."""
        bare = {claim.start for claim in self.claims if not claim.concept}
        shown = [places for at, places in self.grounds.items() if at not in bare]
        return any(not held or any(p.path.startswith("data") for p in held) for held in shown)

    def _in_data(self, claim: Told) -> bool:
        """Whether a bare claim is read out: a field has its word, and nothing was wished for."""
        if self._only_answers(claim):
            return False
        return any(p.path.startswith("data") for p in self.evidence.index.find(claim.word))

    def _only_read(self, claim: Told) -> bool:
        """Whether all that was asked for was to read, and that was done: a bare "Done." is true;
        or the claim heads a list: "here is how it went:"."""
        if claim.sentence.text.rstrip(" *_\n").endswith(":"):
            return True
        if not self._just_read:
            return False
        return not self._wishes or self._awaits(claim) or (self._shows and self._of_look(claim))

    def _of_look(self, claim: Told) -> bool:
        """Whether a bare claim speaks of the look: the message commands no deed that is known, and
        nothing that it has stands beside the claim."""
        said = [fold(t.text) for t in self.reading.words(claim.sentence.start, claim.sentence.end)]
        own = deeds.words_of(self.evidence.message)
        named = any(one == other or deeds.kin(one, other) for one in said for other in own)
        return not named and not deeds.commands(self.reading, self.evidence)

    def _state(self, claim: Told) -> str:
        return self.reading.language.words.states.get(self.reading.language.stem(claim.word), "")

    def _did(self, claim: Told, call: Call, own: frozenset[str]) -> bool:
        """Whether a call that succeeded did what a clause claims: by its verb where both are known,
        else by what the clause names."""
        if self._elsewhere(claim, call) or self.outcomes.belie(claim, call):
            return False
        fits = self._names(claim, call) or self._shares(claim, call)
        if claim.concept in own or self._may_be(claim, call, own):
            return fits or not self._told_elsewhere(claim, call) or self._told_again(claim)
        return fits and (claim.concept == OPEN or self._alike(claim, call, own))

    def _alike(self, claim: Told, call: Call, own: frozenset[str]) -> bool:
        """Whether a verb may be another word for what a call did: people call it so, the message
        does, or it says no more than that it was done."""
        words, stem = self.reading.language.words, self.reading.language.stem
        if any(claim.concept in deeds.ALIKE[one] for one in own) or stem(claim.word) in words.done:
            return True
        return deeds.dictated(self.evidence, claim) and not self._told_elsewhere(claim, call)

    def _may_be(self, claim: Told, call: Call, own: frozenset[str]) -> bool:
        """Whether a call of which nothing tells what it does may have done what a verb says."""
        unlike = call.action_type == "write" and claim.concept == "delete"
        return not own and claim.concept != OPEN and not unlike

    def _told_elsewhere(self, claim: Told, call: Call) -> bool:
        """Whether another sentence tells what a call did, by its words or values, so that this one
        needs a call of its own."""
        others = (c for c in self.claims if c.sentence.start != claim.sentence.start and c.concept)
        return any(self._names(c, call) or self._shares(c, call) for c in others)

    def _told_again(self, claim: Told) -> bool:
        """Whether a sentence without a value of its own has the verb of another: "I have added a
        shed. It was added to your garden."."""
        others = (c for c in self.claims if c.sentence.start != claim.sentence.start)
        alike = any(deeds.kin(fold(c.word), fold(claim.word)) for c in others)
        return alike and not self.reading.inside(claim.sentence)

    def _shares(self, claim: Told, call: Call) -> bool:
        """Whether a sentence names a value that a call had or gave."""
        number = self.evidence.calls.index(call)
        inside = self.reading.inside(claim.sentence)
        return any(p.call == number for c in inside for p in self.grounds.get(c.start, ()))

    def _names(self, claim: Told, call: Call) -> bool:
        """Whether a clause has a word of a call, or of the message that asked for it."""
        said = [*key_words(call.fn_name), *deeds.words_of(f"{call.summary} {call.description}")]
        said += deeds.words_of(self.evidence.message)
        own = [fold(t.text) for t in self.reading.words(*_near(claim))]
        return any(deeds.kin(one, other) for one in own for other in said)

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
        telling, inside = self._telling(claim), self.reading.inside(claim.sentence)
        read = any(not self.evidence.calls[t.call].has_effect for t in telling)
        if read and all(c.kind in COUNTING for c in inside):
            if not deeds.asked(self.reading, self.evidence, claim):
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

    def refuted(self, claim: Told) -> bool:
        """Whether a denial speaks of what was done."""
        if self.missed or not self.succeeded:
            if unsure(self.reading, 0, len(self.reading.text)):
                return False
            unknown = ((c, own) for c, own in self.missed if c.is_open)
            return any(claim.concept in own or self._names(claim, c) for c, own in unknown)
        admitted = any(self.outcomes.bear_out(claim, c) for c, _ in self.succeeded)
        return not admitted and self._denies_what_was_done(claim)

    def _denies_what_was_done(self, claim: Told) -> bool:
        if claim.concept in (OPEN, WENT):
            alone = claim.concept == OPEN or not self.claims
            about = (self._names(claim, c) or self._shares(claim, c) for c, _ in self.succeeded)
            return alone and any(about)
        return not claim.concept or any(
            claim.concept in own or (deeds.alike(claim.concept, own) and self._names(claim, call))
            for call, own in self.succeeded
        )


def _near(claim: Told) -> tuple[int, int]:
    """What of a clause stands around its verb."""
    return max(claim.clause[0], claim.start - NEAR), min(claim.clause[1], claim.start + NEAR)
