"""`check`: checks a reply against the evidence of its turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from .. import language
from ..language.units import unit_after
from . import mentions, record_binding
from .counts import Counts
from .dates import Dates
from .evidence import JSON, Evidence, Mark, Reason, Source, Verdict, evidence_of
from .figures import KINDS, MAX_DISTANCE, Figures, Ground, ground_of
from .index import Index, shape_of
from .places import MESSAGE, POLICY, Owner, Place, fold, kind_of, moment
from .reading import Claim, Reading, read
from .record_binding import DAY_KINDS
from .words import places_ending, places_grouped

SHORT_CODE = 3
"""Codes up to this length (Q3, A4) are too ambiguous to be looked up."""
_GLUE = {"email": ".+-_@", "url": "/-?=&%#._~:", "placeholder": "", "quote": ""}
"""Characters that continue a token of this kind; `-.` for others."""


class Values:
    """Looks up the values of one reply in the index."""

    def __init__(self, reading: Reading, index: Index, now: str) -> None:
        self._reading, self._index = reading, index
        self.figures = Figures(reading, index, moment(now))
        self.dates = dates = Dates(self.figures)
        figure = self.figures.ground
        self._lookups: dict[str, Callable[[Claim], Ground | None]] = {
            "number": figure, "money": figure, "percent": figure,
            "time": dates.time, "date": dates.day, "moment": dates.moment, "month": dates.month,
            "weekday": dates.weekday, "ordinal": dates.ordinal, "quote": self._quote,
            "period": lambda _: Ground([], "derived", "period"),
            "field": lambda claim: Ground(claim.mention),
            "phone": self._phone,
            "hash": lambda claim: self._digits(claim.token) or self._text(claim),
        }  # fmt: skip

    def ground(self, claim: Claim) -> Ground | None:
        """The ground of a value, or None."""
        found = self._lookups.get(claim.kind, self._text)(claim)
        return found or (self._text(claim) if claim.kind in DAY_KINDS else None)  # "room 2.07"

    def may_be_unsourced(self, claim: Claim) -> bool:
        """Whether a value is acceptable without a source."""
        if claim.kind in KINDS:
            return self.figures.may_count(claim)
        if claim.kind == "time":
            lengths = not self._index.times and self.figures.measures.has_kind("time")  # 5:40 a km
            if lengths or self.figures.unit(claim) or self._is_pace(claim):
                return True
            is_clock = any(sign in claim.token for sign in ":.")
            return not is_clock or claim.token.count(":") > 1  # 2:14:33
        if claim.kind == "quote" and claim.token.islower():
            return True  # a state in the user's language, what else to look for
        if claim.kind in ("code", "file", "hash"):
            token = claim.token.strip("#")
            # where the data has no code of this form, it may be common knowledge: MP3
            return len(token) <= SHORT_CODE or shape_of(fold(token)) not in self._index.shapes
        return claim.kind in ("ordinal", "month", "length", "weekday")

    def _is_pace(self, claim: Claim) -> bool:
        """Whether a time is one to a length: "5:46 per km", "1:52 per 100 m"."""
        text, spoken = self._reading.text, self._reading.language
        behind = self._reading.words(claim.end, claim.end + MAX_DISTANCE)[:3]
        return any(unit_after(text, w.start, spoken).measure == "length" for w in behind)

    def _text(self, claim: Claim) -> Ground | None:
        glue = _GLUE.get(claim.kind, "-.")
        if claim.kind in ("email", "url"):
            return ground_of(self._index.find(claim.token.rstrip("/"), glue), "verbatim")
        token = claim.token.strip(" .,;:!?*_\u2026")
        bare = token.lstrip("#vV\u2116 ")
        for spelled in dict.fromkeys((claim.token, token, bare, f"v{bare}")):
            if places := self._index.find(spelled, glue):
                return Ground(places)
        text = self._reading.text
        return ground_of(places_grouped(self._index, text, claim.start, claim.end))

    def _phone(self, claim: Claim) -> Ground | None:
        """The fields with these digits, or with the account as it is written."""
        return self._digits("".join(filter(str.isdigit, claim.token))) or self._text(claim)

    def _digits(self, digits: str) -> Ground | None:
        held = self._index.numbers.get(int(digits), ()) if digits.isdecimal() else ()
        return ground_of(held, "verbatim") or ground_of(places_ending(self._index, digits))

    def _quote(self, claim: Claim) -> Ground | None:
        """The fields with a quote, or with all of its words in any form."""
        lang = self._reading.language
        if found := self._digits(claim.token) or self._text(claim):
            return found
        tokens = [t.text for t in language.tokens(claim.token)]
        known = [t for t in tokens if lang.stem(t) not in lang.words.function]
        # common words in quotes are stressed, not quoted: they need no field
        if not known or (len(tokens) == 1 and fold(tokens[0]) in lang.vocabulary):
            return Ground([])
        by_word = [self._index.words.find(t, lang) for t in known]
        return Ground([p for own in by_word for p in own], "formatted") if all(by_word) else None


def sources(grounds: Iterable[tuple[Claim, Ground]]) -> Iterator[Source]:
    """The sources of a reply's values, in order."""
    for claim, ground in sorted(grounds, key=lambda pair: pair[0].start):
        place = ground.places[0] if ground.places else None
        if place is None:
            yield Source(claim.start, claim.end, -1, "", "derived", ground.formula)
        else:
            how = "message" if place.path == "message" else ground.how
            yield Source(claim.start, claim.end, place.call, place.path, how, ground.formula)


USER_KINDS = frozenset(("money", "hash", "code", "phone", "time", "moment", "number", "date"))
"""Kinds of values that may be about the user's own data."""
MAX_DERIVED = 200
"""Maximum values for which a derivation is sought."""
DERIVED = frozenset(("number", "percent", "time"))
"""Kinds of values that may be derived from the message's figures."""
MAX_CHAIN = 4
"""Maximum rounds of derivation from derived values, such as a sum of two sums."""
NO_GROUND = Ground(())
MIN_ID_DIGITS = 4
"""Minimum digits of a number that is an id rather than a figure."""


def check(
    reply: str,
    *,
    data: Sequence[JSON] = (),
    message: str = "",
    summaries: Sequence[str] = (),
    done: Sequence[str] = ("read",),
    evidence: Evidence | None = None,
) -> Verdict:
    """Check a reply against this turn's results: each figure, date, address, id, quote and name is
    looked up, verbatim, formatted or derived, and must belong to the record of its sentence.
    Unsourced and contradicted values are marked.

    `evidence` replaces the other arguments: `data`, the `ActionResult.data` of the turn's calls;
    `message`, the user's; `summaries` of the tools; `done`, the action types of successful calls.
    Never raises for any text or JSON; values below 24 levels are ignored. Linear.
    """
    evidence = evidence or evidence_of(data, message, summaries, done)
    if evidence.mode == "off" or not reply.strip():
        return Verdict()
    spoken = language.detect(evidence.message, evidence.language)
    reading = read(
        reply,
        language.detect(reply, spoken),
        evidence.now,
        partial(mentions.repeated_fields, evidence.index),
        evidence.index.ids,
    )
    verdict = Check(reading, evidence).verdict()
    if not verdict.grounded and evidence.index.read_prose():
        verdict = Check(reading, evidence).verdict()
    return verdict


class Check:
    """The check of one reply against its evidence."""

    def __init__(self, reading: Reading, evidence: Evidence) -> None:
        self._evidence, self._index, self._reading = evidence, evidence.index, reading
        self._values = Values(self._reading, self._index, evidence.now)
        self._figures = self._values.figures
        self._counts = Counts(self._reading, self._index, self._figures, evidence.message)
        self._grounds: list[tuple[Claim, Ground]] = []

    def verdict(self) -> Verdict:
        """The marks and sources of the reply."""
        unsourced, free = self._sort_claims()
        if unsourced and self._index.read_prose():
            return Check(self._reading, self._evidence).verdict()
        naming = list(mentions.record_names(self._reading, self._index))
        values = [(c, g.places) for c, g in self._grounds if c.kind not in KINDS]
        # those that one value names first, in their order: sums of them are told in it
        told = sorted((*values, *naming), key=lambda one: one[0].start)
        owners = [[p.owner for p in places] for _, places in told]
        named = dict.fromkeys(chain.from_iterable(sorted(owners, key=lambda own: len({*own}) != 1)))
        self._figures.add_known([c for c, _ in self._grounds] + free, tuple(named))
        marks = [
            *self._not_found(unsourced),
            *self._wrong_counts(frozenset(named)),
            *self._wrong_group_counts(),
            *self._wrong_records(naming),
            *self._wrong_names(),
        ]
        # of two marks on one place the contradiction stays, as it comes last
        by_start = {m.start: m for m in sorted(marks, key=lambda m: m.is_contradicted)}
        marks = sorted(self._relevant_marks(by_start.values()), key=lambda m: m.start)
        marked = {m.start for m in marks}
        kept = [(c, g) for c, g in self._grounds if c.start not in marked]
        return Verdict(tuple(marks), tuple(sources(kept)), not free and not marks)

    def _wrong_names(self) -> Iterator[Mark]:
        """Marks for weekdays beside another date, and for unknown people."""
        for claim, holds in self._values.dates.wrong_weekdays():
            yield Mark(claim.start, claim.token, "other_record", holds, claim.kind)
        for claim in mentions.unknown_people(self._reading, self._index):
            yield Mark(claim.start, claim.token, kind="name")

    def _sort_claims(self) -> tuple[list[Claim], list[Claim]]:
        """The claims without a source that need one, and those that do not; the others are added to
        `_grounds`."""
        unsourced, free = [], []
        for claim in self._reading.claims:
            if ground := self._values.ground(claim):
                self._grounds.append((claim, ground))
            elif self._values.may_be_unsourced(claim):
                free.append(claim)
            else:
                unsourced.append(claim)
        return unsourced, free

    def _not_found(self, unsourced: Sequence[Claim]) -> Iterator[Mark]:
        """Marks for values that cannot be derived either; derived ones are used further."""
        open_claims = list(unsourced)
        for _ in range(MAX_CHAIN):
            found = [(c, g) for c in open_claims[:MAX_DERIVED] if (g := self._derive(c))]
            if not found:
                break
            self._grounds += found
            self._figures.add_known([c for c, _ in found])
            known = {c.start for c, _ in found}
            open_claims = [c for c in open_claims if c.start not in known]
        for claim in open_claims:
            # a question asserts nothing
            if not self._reading.sentence(claim.start).is_question:
                holds = self._figures.in_other_unit(claim) if claim.kind in KINDS else ""
                reason: Reason = "other_record" if holds else "not_found"
                yield Mark(claim.start, claim.token, reason, holds, claim.kind)

    def _wrong_counts(self, named: frozenset[Owner]) -> Iterator[Mark]:
        """Marks for wrong list sizes; a value of a named record is none: "14 bottles" of a wine."""
        grounds = {c.start: g for c, g in self._grounds}
        for claim in self._reading.claims:
            ground = grounds.get(claim.start, NO_GROUND)
            if claim.kind == "number" and not ground.formula:
                holds = self._counts.list_sizes(claim, ground.places)
                if holds and named.isdisjoint(place.owner for place in ground.places):
                    yield Mark(claim.start, claim.token, "other_count", holds, claim.kind)

    def _derive(self, claim: Claim) -> Ground | None:
        # no sum excuses a number that the size of its list contradicts
        sized = claim.kind == "number" and self._counts.list_sizes(claim)
        return None if sized else self._figures.derive(claim)

    def _wrong_records(self, naming: Sequence[tuple[Claim, list[Place]]]) -> Iterator[Mark]:
        """Marks for values of another record than the one that is named beside them."""
        told = [
            (c, self._fields(c, g.places)) for c, g in self._grounds if self._is_shown(c, g.places)
        ]
        bound = record_binding.Bound(record_binding.bind(self._index, [*told, *naming]))
        ways = (record_binding.wrong_record, record_binding.outliers)
        found = chain.from_iterable(way(self._reading, self._index, bound) for way in ways)
        for claim, holds, rows in found:
            # "7 places left" of 16 and 9: worked out of the record's own figures
            is_derived = claim.kind in KINDS and self._figures.is_of(rows, claim)
            if not (is_derived or self._is_loose(claim, holds)):
                yield Mark(claim.start, claim.token, "other_record", holds, claim.kind)

    def _wrong_group_counts(self) -> Iterator[Mark]:
        """Marks for wrong numbers of rows that share a value."""
        shown = {c.start: g.places for c, g in self._grounds}
        for claim, rows in self._shared_values():
            for number, holds in self._counts.wrong_group_counts(claim, rows, shown):
                yield Mark(number.start, number.token, "other_count", holds, "number")

    def _shared_values(self) -> Iterator[tuple[Claim, list[Place]]]:
        """The values that several rows share, each with their fields."""
        for claim, ground in self._grounds:
            if claim.kind == "field" and not mentions.is_denied(self._reading, claim.start):
                same = self._index.same_value(ground.places[0])
                if len(same) > 1:
                    yield claim, same

    @staticmethod
    def _fields(claim: Claim, places: Sequence[Place]) -> Sequence[Place]:
        own = [p for p in places if p.call != MESSAGE]
        if claim.kind in KINDS:
            return record_binding.fields(own)
        return [p for p in own if p.path.startswith("data")] or own

    def _is_loose(self, claim: Claim, holds: str) -> bool:
        """Whether a value need not belong to the record: a small number, part of a title or state,
        or a relative date."""
        if claim.kind == "number" and self._figures.is_small(claim):
            is_cell = self._reading.sentence(claim.start).text.lstrip()[:1] == "|"
            return is_cell or not holds  # its column tells more
        if claim.kind in ("name", "field", "file"):
            # "agent" of `role: Senior agent`
            return fold(claim.token) in fold(holds) or (not holds and claim.kind != "field")
        return claim.kind == "date" and bool(claim.mention.is_relative)

    def _is_shown(self, claim: Claim, places: Sequence[Place]) -> bool:
        """Whether a value states a field's content: it is not a count and not negated."""
        if record_binding.is_count(self._reading.text, claim):
            return False
        if claim.kind == "weekday":
            return False  # it is a date's
        if claim.kind == "number" and self._figures.unit(claim).measure == "time":
            return any(map(_is_length, places))
        plain = claim.kind in ("field", "name", "state") and claim.token.islower()
        return not (plain and mentions.is_denied(self._reading, claim.start))

    def _relevant_marks(self, marks: Iterable[Mark]) -> list[Mark]:
        """The relevant marks: all after calls; without calls only those about the user's data, and
        not values derived from the message."""
        if self._evidence.mode == "strict" or any(c.fn_name for c in self._evidence.calls):
            return list(marks)
        given = language.numbers(self._evidence.message, self._reading.language.tag)
        is_derived = len(given) > 1 and not self._index.lists
        return [
            m for m in marks if self._is_about_data(m) and not (is_derived and m.kind in DERIVED)
        ]

    def _is_about_data(self, mark: Mark) -> bool:
        """Whether a mark is about the user's data: a contradiction, an id or address, or in a
        sentence with "you have" or a sourced value."""
        if mark.is_contradicted or "@" in mark.word:
            return True
        if mark.kind not in USER_KINDS:
            return False
        if _is_code(mark.word):
            return True
        sentence, spoken = self._reading.sentence(mark.start), self._reading.language
        words = self._reading.words(sentence.start, sentence.end)
        if any(language.fold(t.text) in spoken.words.forms("possession") for t in words):
            return True
        grounds = [g for c, g in self._grounds if sentence.start <= c.start < sentence.end]
        return any(any(map(_is_data, ground.places[:3])) for ground in grounds)


def _is_length(place: Place) -> bool:
    """Whether a field may be a duration, by its kind."""
    ranked = isinstance(place.value, str) or "rank" in language.key_roles(place.key)
    return not ranked and kind_of(place.key) in ("", "time")


def _is_code(word: str) -> bool:
    """Whether a word is an id-like number, not a year or round figure."""
    if not word.isdigit() or len(word) < MIN_ID_DIGITS or int(word) % 10 == 0:
        return False
    return not 1000 <= int(word) <= 2100


def _is_data(place: Place) -> bool:
    """Whether a place is a field of a call's data."""
    is_field = place.path.startswith("data") and bool(place.key)
    return is_field and place.call not in (MESSAGE, POLICY)
