"""`check`: a reply against the evidence of its turn."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from .. import language
from . import cells, deeds, denials, echo, effects, names, records, slots, states, untold
from .counts import Counts
from .defence import holds
from .evidence import JSON, Evidence, Flag, Verdict, evidence_of
from .figures import Ground, said
from .hundredths import in_hundredths
from .owned import Owned
from .picking import is_code
from .picks import FIGURES, picked
from .places import MESSAGE, Owner, Place, fold
from .reading import Claim, Reading, read
from .states import Word
from .told import Told
from .units import lasts_or_other
from .values import Values, sources

COUNTED = 60  # numbers of a reply that are held against what there is to count


def check(
    reply: str,
    *,
    data: Sequence[JSON] = (),
    message: str = "",
    summaries: Sequence[str] = (),
    done: Sequence[str] = ("read",),
    evidence: Evidence | None = None,
    defended: Mapping[str, str] = MappingProxyType({}),
) -> Verdict:
    """Check a reply against this turn's results, and name every word that they do not account for.

    With `evidence` the other arguments are not read. Without: `data`, the `ActionResult.data` of
    the turn's calls; `message`, what the user wrote; `summaries`, the tools' own; `done`, the
    action types of the calls that succeeded. `defended`: words that are right if they come from
    where this says (`defence`). Never raises on text or JSON of any shape; values
    below 24 levels are not read. Linear in the reply and in the data.
    """
    evidence = evidence or evidence_of(data, message, summaries, done)
    if evidence.mode == "off" or not reply.strip():
        return Verdict(True, (), kept=reply)
    check = _Check(reply, evidence, defended)
    verdict = check.verdict()
    if not verdict.grounded and evidence.index.read_prose():
        verdict = _Check(reply, evidence, defended, settled=check.counted).verdict()
    if minor := in_hundredths(evidence, verdict.flags):
        evidence = replace(evidence, minor=minor)
        evidence.index.read_prose()
        again = _Check(reply, evidence, defended).verdict()
        verdict = again if len(again.flags) < len(verdict.flags) else verdict
    return verdict


@dataclass
class _Check:
    reply: str
    evidence: Evidence
    defended: Mapping[str, str]
    grounds: list[tuple[Claim, Ground]] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    effects: dict[int, Told] = field(default_factory=dict)
    words: list[Word] = field(default_factory=list)
    naming: list[tuple[Claim, list[Place]]] = field(default_factory=list)
    open: int = 0
    counted: dict[int, bool] = field(default_factory=dict)
    settled: Mapping[int, bool] = field(default_factory=dict)
    values: Values = field(init=False)

    def verdict(self) -> Verdict:
        index, spoken = self.evidence.index, self.evidence.language
        usual = language.detect(self.evidence.message, spoken)
        reading = read(
            self.reply, usual, self.evidence.now, lambda t, r: names.repeated(index, t, r)
        )
        flags = sorted(self._in_question(reading, self._flags(reading)))
        flags = [flag for flag in flags if not self._comes_from(flag, reading)]
        words = tuple(dict.fromkeys(flag.word for flag in flags))
        claims = bool(words) and self._only_claims(reading, flags)
        unchanged = language.of(spoken).say("only_read") if claims else ""
        added = [untold.added(reading, self.evidence), unchanged]
        return Verdict(
            not words,
            words,
            tuple(sources(self.grounds)),
            reading.without([flag.start for flag in flags], self.reply),
            " ".join(part for part in added if part),
            claims,
            tuple(flags),
            not self.open,
        )

    def _comes_from(self, flag: Flag, reading: Reading) -> bool:
        """Whether a word is defended, and rightly; it has a source then."""
        ground = self.defended.get(flag.word, "")
        if not ground or not holds(flag, ground, reading, self.evidence):
            return False
        claim = Claim(flag.kind, flag.word, flag.start, flag.start + len(flag.word))
        self.grounds.append((claim, Ground([], "derived", ground)))
        return True

    def _flags(self, reading: Reading) -> list[Flag]:
        """All that offends; fills `told`, `grounds` and `effects`."""
        self.told = echo.claims(reading, self.evidence)
        doubtful = self._shown(reading)
        self._read_words(reading)
        flags = [f for f in self._counts(reading, doubtful) if not self._is_summary(reading, f)]
        flags += self._following(reading, doubtful)
        flags += self._misplaced(reading)
        index = self.evidence.index
        flags += [Flag(c.start, c.token, "name") for c in names.people(reading, index)]
        places = {c.start: g.places for c, g in self.grounds}
        wrong = effects.wrong(reading, self.evidence, places, self.told)
        self.effects = {c.start: c for c in wrong}
        right = [c for c in self.told if c.start not in self.effects]
        if denial := denials.of_all(reading, self.evidence, right, places):
            self.effects[denial.start] = denial
        return flags + [Flag(c.start, c.word, c.kind) for c in self.effects.values()]

    def _is_summary(self, reading: Reading, flag: Flag) -> bool:
        """Whether the sentence is what a call itself says of what it brought."""
        said = fold(reading.sentence(flag.start).text).strip(" .\n")
        return any(c.ok and said == fold(c.summary).strip(" .") for c in self.evidence.calls)

    def _read_words(self, reading: Reading) -> None:
        """Find the words that tell what is so."""
        taken = frozenset(c.start for c in reading.claims if c.kind == "field")
        self.words = list(states.words(reading, self.evidence.index, taken))
        told = [w for w in self._states(reading) if w.bears and not (w.flag or w.heads)]
        self.grounds += [(w.claim, Ground(w.bears, "formatted")) for w in told]

    def _misplaced(self, reading: Reading) -> list[Flag]:
        """The values of another record, and the words that their record denies."""
        bound, index = self._bound(reading), self.evidence.index
        mixed = (
            c for c in records.mixed(reading, bound) if not self._worked_out(reading, c, bound)
        )
        denied = states.contradicted(reading, index, list(self._states(reading)), bound)
        flags = [Flag(c.start, c.token, "record") for c in mixed]
        told = [
            *((c, g.places) for c, g in self.grounds if c.kind in records.TEXTUAL),
            *self.naming,
        ]
        flags += [Flag(c.start, c.token, "record") for c in cells.misfits(reading, index, told)]
        return flags + [Flag(c.start, c.token, "state") for c in denied]

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

    def _shown(self, reading: Reading) -> list[Claim]:
        """What the evidence is closed for and does not show; fills `grounds` with what it does."""
        self.values = Values(reading, self.evidence.index, self.evidence.now)
        doubtful = []
        for claim in reading.claims:
            if ground := self.values.ground(claim):
                self.grounds.append((claim, ground))
            elif self.values.open(claim):
                self.open += 1
            else:
                doubtful.append(claim)
        return doubtful

    def _following(self, reading: Reading, doubtful: Sequence[Claim]) -> list[Flag]:
        """The values that do not follow from shown ones either."""
        self._know(reading, {c.start for c in doubtful})
        slotted = self._slotted(reading, doubtful) if doubtful else {}
        left = sorted(doubtful, key=lambda c: c.start not in slotted)  # totals come last
        for _ in range(2):  # what follows from what follows: a share of a sum
            known = len(self.grounds)
            left = [c for c in left if not self._holds(c, slotted.get(c.start))]
            if not left or len(self.grounds) == known:
                break
            vars(self.values).pop("closure", None)
        return [Flag(claim.start, claim.token, claim.kind) for claim in left]

    def _holds(self, claim: Claim, own: Owner | None) -> bool:
        """Whether a value follows, of one in a slot from the record that its line names, and in no
        column of a field that the record has; what does is known from then on."""
        told = [(c, g.places) for c, g in self.grounds if c.kind in FIGURES and g.places]
        keys = slots.column_keys(self.values.reading, claim, told) if own else ()
        if any(p.owner == own and p.key in keys for p in self.evidence.index.figures if keys):
            return False
        if follows := self.values.follows_in(claim, own) if own else self.values.follows(claim):
            self.grounds.append((claim, follows))
            self.values.said += [said(claim)] if claim.kind in FIGURES else []
        return follows is not None

    def _know(self, reading: Reading, unsure: Container[int]) -> None:
        """Tell `values` the figures that the reply shows and the records that it names."""
        sure = (c for c in reading.claims if c.kind in FIGURES and c.start not in unsure)
        self.values.said = [said(c) for c in sure if c.mention.value]
        self.naming = list(names.naming(reading, self.evidence.index))
        told = [(c, g.places) for c, g in self.grounds if c.kind not in FIGURES] + self.naming
        self.values.named = frozenset(p.owner for _, places in told for p in places)

    def _slotted(self, reading: Reading, doubtful: Sequence[Claim]) -> dict[int, Owner]:
        """The records of the lines in whose slots plain figures stand, by where these do."""
        found = [(c, g.places) for c, g in self.grounds if g.places]
        ids = (f for f in found if f[0].kind == "number" and all(map(is_code, f[1])))
        told = [*(f for f in found if f[0].kind in records.TEXTUAL), *ids]
        lines = slots.Lines(reading, self.evidence.index, [*told, *self.naming])
        plain = (c for c in doubtful if c.kind in FIGURES[:2] and not self.values.unit(c))
        return {c.start: own for c in plain if (own := lines.record(c))}

    def _counts(self, reading: Reading, doubtful: list[Claim]) -> list[Flag]:
        """The numbers and denials that contradict what there is to count; a number that counts
        right is no field's."""
        picks, sorts = picked(reading, self.evidence.index, self.grounds, self.words)
        read = deeds.only_read(self.evidence)  # else rows may be older than what was changed
        counts = Counts(
            reading, self.evidence.index, self.evidence.message, picks, sorts, read=read
        )
        flags = []
        for claim in [c for c in reading.claims if c.kind == "number"][:COUNTED]:
            wrong = counts.wrong(claim)
            if wrong is None and claim.mention.value not in self.evidence.index.numbers:
                wrong = self.settled.get(claim.start)  # prose has no such number
            if wrong is None:
                continue
            doubtful[:] = [c for c in doubtful if c is not claim]
            self.counted[claim.start] = wrong
            if wrong:
                flags.append(Flag(claim.start, claim.token, "count"))
            else:
                self.grounds.append((claim, Ground([], "derived", "count")))
        index, whole = self.evidence.index, counts.whole
        denied = ((s, denials.denied(reading, index, s, whole)) for s in reading.sentences)
        return flags + [Flag(s.start, word, "none") for s, word in denied if word]

    def _states(self, reading: Reading) -> Iterator[Word]:
        """The words that tell what is so, except in the sentences of deeds."""
        changed = any(c.has_effect for c in self.evidence.calls)
        deeds = {c.sentence.start for c in self.told if changed}
        for word in self.words:
            if reading.sentence(word.claim.start).start not in deeds:
                yield word

    def _worked_out(self, reading: Reading, claim: Claim, bound: Sequence[records.Value]) -> bool:
        """Whether a number that another record has is worked out from those of its own: "7 places
        left" of 16 and 9."""
        part = reading.sentence(claim.start)
        named = [v for v in bound if v.text and part.start <= v.claim.start < part.end]
        owners = {p.owner for v in named for p in v.places}
        figure = claim.kind in FIGURES[:2]
        return figure and self.values.closure.within(owners, claim.mention.value)

    def _bound(self, reading: Reading) -> list[records.Value]:
        """The values that belong to records, and the words that name a record."""
        told = [(c, g.places) for c, g in self.grounds if self._is_shown(reading, c, g.places)]
        shown = ((c, [p for p in held if p.call != MESSAGE]) for c, held in told)
        named = (one for one in self.naming if not states.hedged(reading, one[0]))
        return records.bound(self.evidence.index, [*shown, *named])

    def _is_shown(self, reading: Reading, claim: Claim, places: Sequence[Place]) -> bool:
        """Whether a value tells what a field shows: it counts nothing and is not hedged."""
        if claim.start in self.counted or records.counts(reading.text, claim):
            return False
        if claim.kind == "number" and not lasts_or_other(self.values.unit(claim), places):
            return False
        return not states.hedged(reading, claim)

    def _in_question(self, reading: Reading, offences: Iterable[Flag]) -> list[Flag]:
        """The offences in sentences that are checked: all after calls, and without a call those
        that speak of the user's data."""
        found = list(offences)
        if self.evidence.mode == "strict" or any(c.fn_name for c in self.evidence.calls):
            return found
        owned = Owned(reading, self.evidence, self.grounds, self.effects)
        return [flag for flag in found if owned.has(flag)]
