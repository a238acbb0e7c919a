"""Effects are known to the kernel, not believed from the model.

Every write and destructive call is known to have succeeded, failed, to wait or not to have run. A
sentence that claims an effect must fit a call that succeeded; one that denies what was done is as
wrong; and where the reply is silent about a failure, the kernel adds a sentence of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from .. import language
from .evidence import Call, Evidence
from .index import Place, conflict, fold, key_words
from .reading import Reading, Sentence, among
from .told import Told, told

Grounds = Mapping[int, Sequence[Place]]
ALIKE = {
    "send": {"pay", "move", "save", "create", "update"},
    "create": {"schedule", "save", "update", "pay", "send"},
    "update": {"move", "close", "save", "schedule", "create", "pay"},
    "schedule": {"create", "move", "update", "pay", "save"},
    "close": {"delete", "update", "move", "pay"},
    "delete": {"close", "update", "move"},
    "move": {"update", "schedule", "send", "save", "pay"},
    "save": {"create", "send", "update", "move"},
    "pay": {"send", "schedule", "create", "close", "move", "update"},
}
"""What people also call an effect: a transfer is "sent", "paid" or "moved"."""


def wrong(reading: Reading, evidence: Evidence, grounds: Grounds) -> Iterator[tuple[int, str]]:
    """The claims that no call accounts for and the denials that a call refutes. `grounds`: the
    fields that show the values of the reply, by where they stand."""
    known = _Known(evidence, grounds)
    for claim in told(reading):
        if claim.denied:
            if known.refuted(claim):
                yield claim.start, claim.word
        elif not known.done(claim, reading):
            yield claim.start, claim.word


class _Known:
    """What the kernel knows of a turn's effects."""

    def __init__(self, evidence: Evidence, grounds: Grounds) -> None:
        self.evidence, self.grounds = evidence, grounds
        calls = [c for c in evidence.calls if c.has_effect]
        self.succeeded = [(c, concepts(c)) for c in calls if c.ok]
        self.missed = [(c, concepts(c)) for c in calls if not c.ok]

    def done(self, claim: Told, reading: Reading) -> bool:
        """Whether a call that succeeded, or the data for a state, accounts for a claim."""
        if not claim.concept:
            return bool(self.succeeded) or self._in_data(claim) or self._only_read(reading)
        if any(self._did(claim, call, own, reading) for call, own in self.succeeded):
            return True
        if any(c.ok and claim.concept in concepts(c) for c in self.evidence.calls):
            return True
        if self.succeeded and not any(c.fn_name for c in self.evidence.calls):
            return claim.concept in self.evidence.index.effects
        return not claim.active and self._shown(claim, reading)

    def _in_data(self, claim: Told) -> bool:
        return any(p.path.startswith("data") for p in self.evidence.index.find(claim.word))

    def _only_read(self, reading: Reading) -> bool:
        """Whether all that was asked for was to read, and that was done: a bare "Done." is true."""
        read = only_read(self.evidence) and all(c.ok for c in self.evidence.calls)
        return read and not self._asked(reading) - {""}

    def _did(self, claim: Told, call: Call, own: frozenset[str], reading: Reading) -> bool:
        """Whether a call that succeeded did what a clause claims."""
        if self._elsewhere(claim, call, reading):
            return False
        if claim.concept in own:
            return True
        if not own:
            return call.action_type != "write" or claim.concept != "delete"
        alike = any(claim.concept in ALIKE[one] for one in own)
        return alike and (
            self._shares(claim, call, reading) or not self._told_exactly(own, reading)
        )

    def _told_exactly(self, own: frozenset[str], reading: Reading) -> bool:
        """Whether the reply has a sentence for what a call did, so that another needs a call of
        its own."""
        return any(one.concept in own and not one.denied for one in told(reading))

    def _shares(self, claim: Told, call: Call, reading: Reading) -> bool:
        """Whether a clause names a value that a call had or gave."""
        number = self.evidence.calls.index(call)
        inside = reading.inside(claim.sentence)
        return any(p.call == number for c in inside for p in self.grounds.get(c.start, ()))

    def _elsewhere(self, claim: Told, call: Call, reading: Reading) -> bool:
        """Whether the clause names things that only calls which did not succeed were about."""
        number = self.evidence.calls.index(call)
        named = (self.grounds.get(c.start, ()) for c in reading.inside(claim.sentence))
        return any(
            any(self._missed(p) for p in places) and all(p.call != number for p in places)
            for places in named
        )

    def _missed(self, place: Place) -> bool:
        """Whether a field is an argument of a call that did not succeed."""
        return place.path.startswith("arg") and not self.evidence.calls[place.call].ok

    def _shown(self, claim: Told, reading: Reading) -> bool:
        """Whether the data of the turn tells of the state: of the record that the sentence names,
        or of any where it names none and the user did not ask for the effect."""
        index = self.evidence.index
        state = reading.language.words.states.get(reading.language.stem(claim.word), "")
        telling = [*index.effects.get(claim.concept, ()), *index.states.get(state, ())]
        inside = reading.inside(claim.sentence)
        counted = all(c.kind in ("number", "ordinal", "percent") for c in inside)
        if telling and counted and claim.concept not in self._asked(reading):
            return True
        places = (p for c in inside for p in self.grounds.get(c.start, ()))
        about = [p for p in places if p.path.startswith("data")]
        return any(p.call == t.call and not conflict([p], [t]) for p in about for t in telling)

    def _asked(self, reading: Reading) -> set[str]:
        """The effects that the user's message speaks of; "my emails" are none."""
        words, stem = reading.language.words, reading.language.stem
        said = [stem(t.text) for t in language.tokens(self.evidence.message)]
        verbs = (
            s
            for before, s in zip(["", *said], said, strict=False)
            if s not in words.named_alike or not before or before in words.leads
        )
        return {words.effects.get(s, "") for s in verbs}

    def refuted(self, claim: Told) -> bool:
        """Whether a denial speaks of what was done."""
        if self.missed or not self.succeeded:
            return False
        return not claim.concept or any(_alike(claim.concept, own) for _, own in self.succeeded)


@lru_cache(maxsize=2048)
def _concepts(fn_name: str, text: str, *, has_effect: bool) -> frozenset[str]:
    effects, stem = language.of("en").words.effects, language.of("en").stem
    words = key_words(fn_name) if has_effect else key_words(fn_name)[:1]
    named = frozenset(effects[word] for word in words if word in effects)
    if named or (fn_name and not has_effect):
        return named
    stems = [stem(token.text) for token in language.tokens(text)]
    return frozenset(effects[s] for s in stems if s in effects)


def concepts(call: Call) -> frozenset[str]:
    """What a call does, from its name, summary, description and result; empty when none tells."""
    said = call.data if isinstance(call.data, str) else ""
    text = f"{call.description} {call.summary} {said}"[:400]
    return _concepts(call.fn_name, text, has_effect=call.has_effect)


def only_read(evidence: Evidence) -> bool:
    """Whether calls were made and none of them could have an effect."""
    made = [c for c in evidence.calls if c.fn_name]
    return bool(made) and not any(c.has_effect for c in made)


def bare(reading: Reading) -> bool:
    """Whether the reply tells of no effect but "Done."."""
    return not any(claim.concept for claim in told(reading))


def _alike(concept: str, own: frozenset[str]) -> bool:
    return not own or concept in own or any(concept in ALIKE.get(o, ()) for o in own)


def added(reading: Reading, evidence: Evidence) -> str:
    """The kernel's sentences about calls that did not succeed and that the reply passes over."""
    calls = evidence.calls
    missed = [c for n, c in enumerate(calls) if not c.ok and not _mended(c, calls[n + 1 :])]
    admissions = [s for s in reading.sentences if _admits(reading, s)]
    if admissions:
        untold = [c for c in missed if not any(_about(reading, s, c) for s in admissions)]
        some = len(admissions) < len(missed) > len(untold)
        missed = untold if some else []
    return " ".join(dict.fromkeys(sentence_for(call, evidence.language) for call in missed))


def _mended(call: Call, later: Sequence[Call]) -> bool:
    """Whether a later call of the same function succeeded."""
    return any(one.ok and _same(call, one) for one in later)


def _same(one: Call, other: Call) -> bool:
    return (one.app_id, one.fn_name) == (other.app_id, other.fn_name)


def _about(reading: Reading, sentence: Sentence, call: Call) -> bool:
    """Whether a sentence speaks of a call: its effect, or a value that it had."""
    known = reading.language.words.effects
    stems = reading.stems(sentence.start, sentence.end)
    values = " ".join(fold(str(v)) for v in call.arguments.values())
    named = any(fold(c.token) in values for c in reading.inside(sentence))
    return named or any(known.get(s) in concepts(call) for s in stems)


def _admits(reading: Reading, sentence: Sentence) -> bool:
    words = reading.language.words
    return among(reading.stems(sentence.start, sentence.end), words.failure, words.negation)


def sentence_for(call: Call, tag: str) -> str:
    """What the kernel says of a call that did not succeed."""
    spoken = language.of(tag)
    if call.status == "unknown":
        return spoken.say("call_unknown", app=call.app)
    if call.status == "waits":
        return spoken.say("call_waits", app=call.app)
    if call.status == "not_run":
        return spoken.say("call_not_run", app=call.app, reason=call.error or "-")
    return spoken.say("call_failed", app=call.app, error=call.error.rstrip(".") or "-")
