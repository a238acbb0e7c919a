"""`check`: a reply against the evidence of its turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .. import language
from . import deeds, effects, names, records
from .asking import Ground, moment
from .counts import Counts
from .derive import Derived
from .evidence import JSON, Call, Evidence, Flag, Source, Verdict
from .owned import Owned
from .parts import denied, repeats
from .places import MESSAGE, Number, Place
from .reading import Claim, Reading, among, read
from .support import Support
from .told import OPEN, Told, told

_PLAIN = re.compile(r"[\d.]+(?: [+-] [\d.]+)+")
TEXTUAL = frozenset(
    ("quote", "email", "url", "code", "file", "hash", "phone", "field", "name", "placeholder")
)
SMALL = 12
"""A derived count up to which others follow from it: four nights, so 153 a night."""
NEAR = 12
"""Characters between two values that are told as one."""


def check(
    reply: str,
    *,
    data: Sequence[JSON] = (),
    message: str = "",
    summaries: Sequence[str] = (),
    done: Sequence[str] = ("read",),
    evidence: Evidence | None = None,
) -> Verdict:
    """Check a reply against this turn's results, and name every word that they do not account for.

    With `evidence` the other arguments are not read. Without: `data`, the `ActionResult.data` of
    the turn's calls; `message`, what the user wrote; `summaries`, the tools' own; `done`, the
    action types of the calls that succeeded. Never raises on text or JSON of any shape; values
    below 24 levels are not read. Linear in the reply and in the data.
    """
    evidence = evidence or _evidence(data, message, summaries, done)
    if evidence.mode == "off" or not reply.strip():
        return Verdict(True, (), kept=reply)
    verdict = _Check(reply, evidence).verdict()
    if not verdict.grounded and evidence.index.read_prose():
        return _Check(reply, evidence).verdict()
    return verdict


def _evidence(
    data: Sequence[JSON], message: str, summaries: Sequence[str], done: Sequence[str]
) -> Evidence:
    calls = [Call(data=value) for value in data]
    calls += [Call(summary=text) for text in summaries]
    calls += [Call(action_type=kind) for kind in done if kind != "read"]
    return Evidence(tuple(calls), message, language=language.detect(message), mode="strict")


@dataclass
class _Check:
    reply: str
    evidence: Evidence
    grounds: list[tuple[Claim, Ground]] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    effects: dict[int, Told] = field(default_factory=dict)
    _support: Support = field(init=False)
    _states: list[tuple[Claim, str, list[Place]]] = field(default_factory=list)

    def verdict(self) -> Verdict:
        index, spoken = self.evidence.index, self.evidence.language
        usual = language.detect(self.evidence.message, spoken)
        reading = read(
            self.reply, usual, self.evidence.now, lambda t, r: names.repeated(index, t, r)
        )
        flags = sorted(self._in_question(reading, self._flags(reading)))
        words = tuple(dict.fromkeys(flag.word for flag in flags))
        claims = bool(words) and self._only_claims(reading, flags)
        unchanged = language.of(spoken).say("only_read") if claims else ""
        added = [effects.added(reading, self.evidence), unchanged]
        return Verdict(
            not words,
            words,
            tuple(self._sources()),
            _kept(reading, [flag.start for flag in flags]),
            " ".join(part for part in added if part),
            claims,
            tuple(flags),
        )

    def _flags(self, reading: Reading) -> list[Flag]:
        """All that offends; fills `told`, `grounds` and `effects`."""
        self.told = list(told(reading))
        flags = self._values(reading)
        bound = self._bound(reading)
        mixed = records.mixed(reading, bound)
        flags += [Flag(c.start, c.token, "record") for c in mixed if not self._compared(c)]
        flags += [Flag(c.start, c.token, "state") for c in self._denied_states(reading, bound)]
        places = {c.start: g.places for c, g in self.grounds}
        wrong = effects.wrong(reading, self.evidence, places, self.told)
        self.effects = {claim.start: claim for claim in wrong}
        return flags + [Flag(c.start, c.word, _effect(c)) for c in self.effects.values()]

    def _only_claims(self, reading: Reading, offences: Sequence[Flag]) -> bool:
        """Whether a turn that only read is told as one with effects, and without that the reply
        still says something, or said no more than that it is done."""
        if not deeds.only_read(self.evidence) or not {f.start for f in offences} <= set(
            self.effects
        ):
            return False
        wrong = [reading.sentence(flag.start) for flag in offences]
        kept = (c for c, _ in self.grounds if reading.sentence(c.start) not in wrong)
        return any(kept) or not any(c.concept for c in self.told)

    def _values(self, reading: Reading) -> list[Flag]:
        """What no field shows; fills `grounds` with what is shown."""
        index = self.evidence.index
        derived = Derived(index, moment(self.evidence.now))
        support = self._support = Support(reading, index, derived, self.evidence.now)
        read = deeds.only_read(self.evidence)  # else rows may be older than what was changed
        counts = Counts(reading, index, support.ground if read else None)
        doubtful = [c for c in reading.claims if not self._stands(c, support, counts)]
        shown = [(c, g) for c, g in self.grounds if c.kind in ("number", "money") and not _is_id(g)]
        derived.shown = [number for c, g in shown for number in _figures(c, g)]
        offences = [
            Flag(c.start, c.token, _value(c, counts))
            for c in doubtful
            if not self._follows(c, support, counts)
        ]
        offences += self._words(reading, support)
        said = ((s, denied(reading, index, s, self.evidence.message)) for s in reading.sentences)
        return offences + [Flag(sentence.start, word, "none") for sentence, word in said if word]

    def _stands(self, claim: Claim, support: Support, counts: Counts) -> bool:
        """Whether a value is shown, and a count right."""
        ground = support.glued(claim) or self._ground(claim, support, counts)
        if ground:
            self.grounds.append((claim, ground))
        return ground is not None

    def _ground(self, claim: Claim, support: Support, counts: Counts) -> Ground | None:
        ground = support.ground(claim)
        if claim.kind != "number":
            return ground
        wrong = counts.wrong(claim)
        if ground is None and wrong is None and _spelled(claim):
            rough = not counts.noun(claim) and support.rough(claim)
            wrong = not rough and claim.mention.value > counts.most
            wrong = wrong and not repeats(support.reading, claim, self.evidence.message)
        if wrong and (counts.not_its_part(claim) or not (ground and self._beside(claim, ground))):
            return None  # but "22 of 30 points" are two fields of one row
        sized = wrong is False and (ground is None or counts.sizes(claim))
        return Ground([], "derived") if sized else ground

    def _compared(self, claim: Claim) -> bool:
        """Whether a number that another record has is a difference that the sentence tells."""
        return claim.kind == "number" and self._support.difference(claim) is not None

    def _beside(self, claim: Claim, ground: Ground) -> bool:
        """Whether the value right before is of the same row."""
        last, held = self.grounds[-1] if self.grounds else (claim, ground)
        rows = {p.owner for p in held.places if self.evidence.index.is_row(p.owner)}
        near = 0 < claim.start - last.end <= NEAR
        return near and any(p.owner in rows for p in ground.places)

    def _words(self, reading: Reading, support: Support) -> list[Flag]:
        """The names that no field shows."""
        self._states = list(names.states(reading, support.index))
        self.grounds += [
            (c, Ground(ps, "formatted")) for c, _, ps in self._told_states(reading) if ps
        ]
        claimed = names.claimed(reading, [c for c, _ in self.grounds])
        told = [(claim, support.name(names.words(claim.token))) for claim in claimed]
        self.grounds += [(c, g) for c, g in told if g]
        return [Flag(c.start, c.token, c.kind) for c, g in told if g is None]

    def _told_states(self, reading: Reading) -> Iterator[tuple[Claim, str, list[Place]]]:
        """The states that are told, except in the sentences of deeds."""
        changed = any(c.has_effect for c in self.evidence.calls)
        deeds = {c.sentence.start for c in self.told if changed}
        for state in self._states:
            if reading.sentence(state[0].start).start not in deeds:
                yield state

    def _denied_states(self, reading: Reading, bound: Sequence[records.Value]) -> Iterator[Claim]:
        """The states that no field tells, of a record of which one tells another."""
        for claim, state, places in self._told_states(reading):
            sentence = reading.sentence(claim.start)
            about = [v for v in bound if sentence.start <= v.claim.start < sentence.end]
            rows = [{p.owner for p in value.places} for value in about]
            others = self.evidence.index.of_group(state.partition(":")[0])
            if rows and not places and set.intersection(*rows) & {p.owner for p in others}:
                yield claim

    def _follows(self, claim: Claim, support: Support, counts: Counts) -> bool:
        """Whether a doubtful number follows from the values that the reply shows."""
        if claim.mention is None or claim.kind == "field" or counts.not_its_part(claim):
            return False
        ground = support.ground(claim)
        counted = claim.kind == "number" and counts.wrong(claim)
        if counted and not (ground and _adds_up(ground.formula)):
            ground = support.difference(claim)
        if ground:
            self.grounds.append((claim, ground))
        return ground is not None

    def _bound(self, reading: Reading) -> list[records.Value]:
        """The values that belong to records: shown by rows alone, not by the message or a total,
        and not by all rows alike; and the words that name a record."""
        index = self.evidence.index
        told = [
            (c, g.places) for c, g in self.grounds if not _spelled(c) and not _hedged(reading, c)
        ]
        bound = []
        for claim, held in [*told, *names.naming(reading, index)]:
            places = [p for p in held if p.call != MESSAGE]
            if places and all(index.is_row(p.owner) for p in places) and not index.common(places):
                text = claim.kind in TEXTUAL
                name = claim.kind == "weekday" or (text and index.tells_apart(places[0]))
                bound.append(records.Value(claim, places, text, name))
        return sorted(bound, key=lambda value: value.claim.start)

    def _in_question(self, reading: Reading, offences: Iterable[Flag]) -> list[Flag]:
        """The offences in sentences that are checked: all after calls, and without a call those
        that speak of the user's data."""
        found = list(offences)
        if self.evidence.mode == "strict" or any(c.fn_name for c in self.evidence.calls):
            return found
        owned = Owned(reading, self.evidence, self.grounds, self.effects)
        return [flag for flag in found if owned.has(flag)]

    def _sources(self) -> Iterable[Source]:
        for claim, ground in sorted(self.grounds, key=lambda pair: pair[0].start):
            place = ground.places[0] if ground.places else None
            if place is None:
                yield Source(claim.start, claim.end, -1, "", "derived", ground.formula)
            else:
                how = "message" if place.path == "message" else ground.how
                yield Source(claim.start, claim.end, place.call, place.path, how, ground.formula)


def _value(claim: Claim, counts: Counts) -> str:
    """What a value is flagged as: a count, a number in words, or its kind."""
    if claim.kind == "number" and counts.wrong(claim):
        return "count in words" if _spelled(claim) else "count"
    return "number in words" if _spelled(claim) else claim.kind


def _effect(claim: Told) -> str:
    """What a claim or denial of an effect is flagged as."""
    if claim.denied:
        return "denial"
    known = "bare" if not claim.concept else "open" if claim.concept == OPEN else "known"
    return f"effect {known}" + ("" if claim.active else " state")


def _spelled(claim: Claim) -> bool:
    """Whether a number is written in words: it may count anything."""
    return claim.kind == "number" and bool(claim.mention.spelled)


def _hedged(reading: Reading, claim: Claim) -> bool:
    """Whether a state or a deed is denied or to come: "nothing has been paid"."""
    stem, words = reading.language.stem(claim.token), reading.language.words
    return among([stem], words.states, words.effects) and names.hedged(reading, claim.start)


def _figures(claim: Claim, ground: Ground) -> list[Number]:
    """The figure that a value shows, and the exact one it was rounded from."""
    exact = [p.value for p in ground.places[:1] if isinstance(p.value, int | float)]
    sure = ground.places or ground.formula == "" or claim.mention.value <= SMALL
    return [*exact, *(v for v in [claim.mention.value] if sure and v not in exact)]


def _is_id(ground: Ground) -> bool:
    return any("id" in language.key_roles(p.key) for p in ground.places[:1])


def _adds_up(formula: str) -> bool:
    """Whether a count is the sum or difference of others that the reply shows."""
    beside = "[" not in formula and (" - " in formula or " + " in formula)
    return (
        bool(_PLAIN.fullmatch(formula)) or formula.startswith("sum(") or " in " in formula or beside
    )


def _kept(reading: Reading, offences: Sequence[int]) -> str:
    """The reply without the sentences that hold an offence."""
    if not offences:
        return reading.text
    kept = [s for s in reading.sentences if not any(s.start <= at < s.end for at in offences)]
    text = "".join(reading.text[s.start : s.end] for s in kept).strip()
    return f"{text[:-1]}." if text.endswith((";", ",", ":")) else text
