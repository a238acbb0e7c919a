"""Effects are known to the kernel, not believed from the model.

Every write and destructive call is known to have succeeded, failed, to wait or not to have run. A
sentence that claims an effect must fit a call that succeeded; one that denies what was done is as
wrong; and where the reply is silent about a failure, the kernel adds a sentence of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .. import language
from ..language import Token
from .evidence import Call, Evidence
from .index import Place, conflict, fold, key_words
from .reading import Reading, Sentence

Grounds = Mapping[int, Sequence[Place]]
_CLAUSE = re.compile("[,;:]\\s|\\s[\u2014\u2013-]\\s|\\n")
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


@dataclass(frozen=True, slots=True)
class Told:
    """What a clause says of an effect: the word, its concept ("" for a bare "Done."), whether it
    denies it, and whether somebody did it (no state)."""

    word: str
    start: int
    concept: str
    denied: bool
    active: bool
    sentence: Sentence


def told(reading: Reading) -> Iterator[Told]:
    """The claims and denials of effects in a reply; questions, plans and offers are none."""
    for sentence in reading.sentences:
        start = sentence.start
        for end in [
            *(sentence.start + m.end() for m in _CLAUSE.finditer(sentence.text)),
            sentence.end,
        ]:
            if not (sentence.asks and (end == sentence.end or _asks(reading, start, end))):
                yield from _clause(reading, sentence, start, end)
            start = end


def _asks(reading: Reading, start: int, end: int) -> bool:
    """Whether a clause of a question belongs to what is asked."""
    words, stem = reading.language.words, reading.language.stem
    stems = [stem(t.text) for t in reading.words(start, end)]
    return any(s in words.question or s in words.auxiliary or s in words.wish for s in stems)


def _clause(reading: Reading, sentence: Sentence, start: int, end: int) -> Iterator[Told]:
    tokens = reading.words(start, end)
    words, stem = reading.language.words, reading.language.stem
    stems = [stem(t.text) for t in tokens]
    if not tokens:
        return
    denied = any(s in words.negation or s in words.failure for s in stems)
    if not denied and any(fold(t.text) in words.forms("plan") for t in tokens):
        return
    told_any = False
    for at, token in enumerate(tokens):
        concept = words.effects.get(stems[at])
        if concept is None or stems[at] in words.looking:
            continue
        voice = (
            _voice(reading, tokens, stems, at, start) if reading.language.tells(token.text) else ""
        )
        if voice or denied:
            yield Told(token.text, token.start, concept, denied, voice == "active", sentence)
            told_any = True
    if (
        told_any
        or len(tokens) > 6
        or any(tokens[0].start <= c.start < tokens[-1].end for c in reading.inside(sentence))
    ):
        return
    done = next((t for t in tokens if fold(t.text) in words.forms("done")), None)
    failed = next((t for t, s in zip(tokens, stems, strict=True) if s in words.failure), None)
    if bare := done or failed:
        yield Told(bare.text, bare.start, "", denied, True, sentence)


def _voice(
    reading: Reading, tokens: Sequence[Token], stems: Sequence[str], at: int, start: int
) -> str:
    """`active` for what the speaker did, `state` for what was done, nothing for a word that tells
    of neither: an adjective, another person's deed."""
    words = reading.language.words
    before = stems[max(0, at - 6) : at]
    if before and (before[-1] in words.determiner or stems[at + 1 : at + 2] == ["by"]):
        return ""  # an adjective, or another's deed
    helped = any(s in words.perfect for s in (*before, *stems[at + 1 : at + 2]))
    if before and before[-1] in words.others and not helped:
        return ""
    if any(s in words.first_person for s in before):
        return "active"
    begins = not reading.text[start : tokens[at].start].strip(" *_>\u2705\u2022-")
    if (
        begins
        and not helped
        and reading.text[tokens[-1].end : tokens[-1].end + 12].lstrip(" *_")[:1]
        in (":", "\u2013", "\u2014", "|")
    ):
        return ""  # a label: "Created by: ..."
    if helped or begins or at == len(tokens) - 1 or reading.language.tells_alone(tokens[at].text):
        return "state"
    return ""


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
            return bool(self.succeeded)
        for call, own in self.succeeded:
            exact = claim.concept in own or (
                not own and (call.action_type != "write" or claim.concept != "delete")
            )
            if (
                exact or self._shares(claim, call, reading) or not self._told_exactly(own, reading)
            ) and (exact or any(claim.concept in ALIKE[o] for o in own)):
                if not self._elsewhere(claim, call, reading):
                    return True
        if any(c.ok and claim.concept in concepts(c) for c in self.evidence.calls):
            return True
        if self.succeeded and not any(c.fn_name for c in self.evidence.calls):
            return claim.concept in self.evidence.index.effects
        return not claim.active and self._shown(claim, reading)

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
        for value in reading.inside(claim.sentence):
            places = self.grounds.get(value.start, ())
            missed = [
                p
                for p in places
                if p.call >= 0 and not self.evidence.calls[p.call].ok and p.path.startswith("arg")
            ]
            if missed and not any(p.call == number for p in places):
                return True
        return False

    def _shown(self, claim: Told, reading: Reading) -> bool:
        """Whether the data of the turn tells of the state: of the record that the sentence names,
        or of any where it names none and the user did not ask for the effect."""
        index = self.evidence.index
        state = reading.language.words.states.get(reading.language.stem(claim.word), "")
        telling = [*index.effects.get(claim.concept, ()), *index.states.get(state, ())]
        inside = reading.inside(claim.sentence)
        if all(c.kind in ("number", "ordinal", "percent") for c in inside) and telling:
            if claim.concept not in self._asked(reading):
                return True
        about = [
            p for c in inside for p in self.grounds.get(c.start, ()) if p.path.startswith("data")
        ]
        return any(p.call == t.call and not conflict([p], [t]) for p in about for t in telling)

    def _asked(self, reading: Reading) -> set[str]:
        """The effects that the user's message speaks of."""
        words, stem = reading.language.words, reading.language.stem
        return {words.effects.get(stem(t.text), "") for t in language.tokens(self.evidence.message)}

    def refuted(self, claim: Told) -> bool:
        """Whether a denial speaks of what was done."""
        if self.missed or not self.succeeded:
            return False
        return not claim.concept or any(_alike(claim.concept, own) for _, own in self.succeeded)


def concepts(call: Call) -> frozenset[str]:
    """What a call does, from its name, summary, description and result; empty when none tells."""
    effects = language.of("en").words.effects
    named_by = key_words(call.fn_name) if call.has_effect else key_words(call.fn_name)[:1]
    named = frozenset(effects[w] for w in named_by if w in effects)
    if named:
        return named
    if not call.has_effect and call.fn_name:
        return named
    text = f"{call.description} {call.summary} {call.data if isinstance(call.data, str) else ''}"
    stem = language.of("en").stem
    return frozenset(
        effects[s] for t in language.tokens(text[:400]) if (s := stem(t.text)) in effects
    )


def _alike(concept: str, own: frozenset[str]) -> bool:
    return not own or concept in own or any(concept in ALIKE.get(o, ()) for o in own)


def added(reading: Reading, evidence: Evidence) -> str:
    """The kernel's sentences about calls that did not succeed and that the reply passes over."""
    calls = evidence.calls
    missed = [
        call
        for number, call in enumerate(calls)
        if not call.ok and not any(_same(call, later) and later.ok for later in calls[number + 1 :])
    ]
    admissions = [s for s in reading.sentences if _admits(reading, s)]
    if admissions:
        told_of = [c for c in missed if any(_about(reading, s, c) for s in admissions)]
        missed = (
            [c for c in missed if c not in told_of]
            if told_of and len(missed) > len(admissions)
            else []
        )
    return " ".join(dict.fromkeys(sentence_for(call, evidence.language) for call in missed))


def _same(one: Call, other: Call) -> bool:
    return (one.app_id, one.fn_name) == (other.app_id, other.fn_name)


def _about(reading: Reading, sentence: Sentence, call: Call) -> bool:
    """Whether a sentence speaks of a call: its effect, or a value that it had."""
    words, stem = reading.language.words, reading.language.stem
    stems = [stem(t.text) for t in reading.words(sentence.start, sentence.end)]
    values = " ".join(fold(str(v)) for v in call.arguments.values())
    effects = {words.effects.get(s, "") for s in stems} - {""}
    return bool(effects & concepts(call)) or any(
        fold(c.token) in values for c in reading.inside(sentence)
    )


def _admits(reading: Reading, sentence: Sentence) -> bool:
    words, stem = reading.language.words, reading.language.stem
    stems = [stem(t.text) for t in reading.words(sentence.start, sentence.end)]
    return any(s in words.failure or s in words.negation for s in stems)


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
