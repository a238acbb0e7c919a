"""One value of a reply against the index: the fields that show it, or what it follows from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from .. import language
from .derive import Derived, nearly, rounds_to
from .index import Index, Number, Place, fold, settle
from .reading import Claim, Reading

_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[\s\u00a0-]?([^\W\d_]+)")
_AROUND = re.compile(r"\w[\w./-]*\w")
_ENDING = re.compile("(?:\\*{2,}|\u2026|\\.{3}|x{2,})\\s*$", re.I)


@dataclass(slots=True)
class Ground:
    """Why a value stands: the fields that show it, how, and the formula of a derived one."""

    places: Sequence[Place]
    how: str = "verbatim"
    formula: str = ""


class Support:
    """Asks the index about the values of one reply."""

    def __init__(self, reading: Reading, index: Index, derived: Derived, now: str) -> None:
        self.reading, self.index, self.derived = reading, index, derived
        self.words = reading.language.words
        self.today = _date(now)

    def ground(self, claim: Claim) -> Ground | None:
        """The ground of a value, None where nothing shows it; one method a kind."""
        asked: Ground | None = getattr(self, f"_{claim.kind}", self._text)(claim)
        return asked

    # ---- text

    def _text(self, claim: Claim, glue: str = "-.") -> Ground | None:
        token = claim.token.strip(" .,;:!?*_\u2026")
        bare = token.lstrip("#vV\u2116 ")
        for form in dict.fromkeys((claim.token, token, bare, f"v{bare}")):
            if places := self.index.find(form, glue):
                return Ground(places)
        if len(bare) > 3 and self.reading.text[claim.end : claim.end + 1] == "\u2026":
            at = self.index.text.find(fold(bare))
            return Ground([self.index.place(at)]) if at >= 0 else None
        loose = re.escape(fold(bare)).replace(r"\-", "[ -]?").replace(r"\ ", "[ -]?")
        found = (
            re.search(rf"(?<![^\W_]){loose}(?![^\W_])", self.index.text) if len(bare) < 60 else None
        )
        return Ground([self.index.place(found.start())], "formatted") if found else None

    def _email(self, claim: Claim) -> Ground | None:
        places = self.index.find(claim.token, ".+-_@")
        return Ground(places) if places else None

    def _url(self, claim: Claim) -> Ground | None:
        places = self.index.find(claim.token.rstrip("/"), "/-?=&%#._~:")
        return Ground(places) if places else None

    def _placeholder(self, claim: Claim) -> Ground | None:
        at = self.index.text.find(fold(claim.token))
        return Ground([self.index.place(at)]) if at >= 0 else None

    def _field(self, claim: Claim) -> Ground | None:
        return Ground(claim.mention)

    def _quote(self, claim: Claim) -> Ground | None:
        words = [t.text for t in language.tokens(claim.token)]
        spoken = [self.reading.language.stem(word) for word in words]
        if spoken and all(
            any(
                s in r
                for r in (
                    self.words.yes,
                    self.words.no,
                    self.words.yes_filler,
                    self.words.no_filler,
                )
            )
            for s in spoken
        ):
            return Ground([])
        state = (
            self.words.states.get(self.reading.language.stem(words[0])) if len(words) == 1 else None
        )
        if state and (places := self.index.states.get(state)):
            return Ground(places, "formatted")
        if claim.token.isdigit() and (places := self.index.numbers.get(int(claim.token))):
            return Ground(places)
        return self._text(claim, "") or self.name(words)

    def _hash(self, claim: Claim) -> Ground | None:
        token = claim.token
        if token.isdigit() and (places := self.index.numbers.get(int(token))):
            return Ground(places)
        return self._text(claim)

    def _phone(self, claim: Claim) -> Ground | None:
        digits = "".join(_DIGITS.findall(claim.token))
        if places := self.index.numbers.get(int(digits)):
            return Ground(places)
        if places := self._ending(digits):
            return Ground(places, "formatted")
        return None

    def _ending(self, digits: str) -> list[Place]:
        """The fields whose digits end like these: a phone without its country, a card's last
        four."""
        return [
            p
            for p in self.index.strings()
            if "".join(_DIGITS.findall(str(p.value))).endswith(digits[-10:])
        ]

    def name(self, words: Sequence[str]) -> Ground | None:
        """The fields that hold all the words of a name, in any of their forms, near each other."""
        held: list[set[int]] = []
        last: list[Place] = []
        for word in words:
            found = self.index.word(word, self.reading.language)
            if not found and self.index.has_key(word, self.reading.language):
                continue
            if not found:
                return None
            held.append({id(place) for place in found})
            last = found
        if not held:
            return Ground([]) if words else None
        common = set.intersection(*held)
        return Ground([p for p in last if id(p) in common], "verbatim") if common else None

    # ---- numbers

    def _number(self, claim: Claim) -> Ground | None:
        mention = claim.mention
        readings = [settle(r) for r in mention.readings]
        if mention.spelled and readings in ([1], [0.5]):
            return Ground([], "derived", "1")
        exact = [
            p
            for v in readings
            for p in (*self.index.numbers.get(v, ()), *self.index.numbers.get(-v, ()))
        ]
        exact = exact if self._currency(mention.unit) else []
        if len(claim.token) == 4 and claim.token.isdigit():
            exact += self._ending(claim.token)
        rounded = self._rounded(claim, readings) if self._currency(mention.unit) else None
        if exact and not (rounded and self._rough(claim)):
            return Ground(exact, "verbatim" if claim.token.isdigit() else "formatted")
        if rounded or not self._currency(mention.unit):
            return Ground([*exact, *rounded.places], "formatted") if rounded else None
        return self._derived(claim, readings) or self._written(claim)

    _money = _number

    def _currency(self, unit: str) -> bool:
        known = self.index.currencies
        return not unit or not known or unit in known

    def _rounded(self, claim: Claim, readings: Sequence[Number]) -> Ground | None:
        mention = claim.mention
        decimals = dict(zip(readings, mention.decimals, strict=False))
        rough = self._rough(claim)
        bound = self._said(claim, self.words.more) - self._said(claim, self.words.less)
        close = [
            place
            for place in self.index.figures
            if any(
                self._stands_for(
                    place.value, value, decimals.get(value, 0), mention.scale, rough, bound
                )
                for value in readings
            )
        ]
        return Ground(close, "formatted") if close else None

    def _stands_for(
        self, held: Number, value: Number, decimals: int, scale: int, rough: bool, bound: int
    ) -> bool:
        exact = abs(held)
        fractional = isinstance(held, float) or scale > 1
        rounded = fractional and rounds_to(exact, abs(value), decimals, scale)
        return (
            rounded
            or (rough and nearly(exact, value))
            or (bound != 0 and _beyond(exact, value, bound))
        )

    def _rough(self, claim: Claim) -> bool:
        return bool(claim.mention.about) or self._said(claim, self.words.about)

    def _said(self, claim: Claim, role: frozenset[str]) -> bool:
        before = self.reading.words(claim.start - 18, claim.start)[-3:]
        return any(self.reading.language.stem(t.text) in role for t in before)

    def _derived(self, claim: Claim, readings: Sequence[Number]) -> Ground | None:
        mention = claim.mention
        decimals = mention.decimals or (0,) * len(readings)
        unit = self._unit(claim)
        small = claim.kind == "number" and abs(mention.value or 0) < 20 and not any(decimals)
        for value, places in zip(readings, decimals, strict=False):
            formula = self.derived.formula(abs(value), places, percent=claim.kind == "percent")
            if not formula and unit:
                formula = self.derived.measured(abs(value), places, unit)
            if not formula and claim.kind == "percent":
                formula = self.derived.share(abs(value), places)
            elif not formula and (not small or self._compares(claim)):
                formula = self.derived.gap(abs(value), places)
            if not formula and self._rough(claim):
                formula = self.derived.near(abs(value))
            if formula:
                return Ground([], "derived", formula)
        return None

    def _unit(self, claim: Claim) -> str:
        """The unit that stands behind a number."""
        after = _LETTERS.match(self.reading.text, claim.end)
        return self.words.units.get(self.reading.language.stem(after.group(1)), "") if after else ""

    def _compares(self, claim: Claim) -> bool:
        """Whether the sentence says that it compares or adds up."""
        sentence = self.reading.sentence(claim.start)
        stems = {
            self.reading.language.stem(t.text)
            for t in self.reading.words(sentence.start, sentence.end)
        }
        return any(
            stems & role
            for role in (
                self.words.difference,
                self.words.total,
                self.words.rest,
                self.words.more,
                self.words.less,
            )
        )

    def _written(self, claim: Claim) -> Ground | None:
        if len(claim.token) == 4 and claim.token.isdigit() and "1900" < claim.token < "2100":
            years = [
                p for held in self.index.dates.values() for y, p in held if y == int(claim.token)
            ]
            if places := years or self.index.find(claim.token):
                return Ground(places)
        around = _AROUND.match(self.reading.text, self.reading.text.rfind(" ", 0, claim.start) + 1)
        forms = [
            claim.token,
            *([around.group()] if around and len(around.group()) > len(claim.token) else []),
        ]
        places = [
            p for form in forms if any(map(str.isdigit, form)) for p in self.index.find(form, "-.")
        ]
        return Ground(places) if places else None

    def _percent(self, claim: Claim) -> Ground | None:
        readings = [settle(r) for r in claim.mention.readings]
        decimals = claim.mention.decimals or (0,)
        for value, places in zip(readings, decimals, strict=False):
            if held := self.index.numbers.get(value) or self.index.numbers.get(-value):
                return Ground(held)
            for place in self.index.figures:
                exact = abs(place.value)
                if rounds_to(exact, abs(value), places) and isinstance(place.value, float):
                    return Ground([place], "formatted")
                if 0 < exact <= 1 and rounds_to(exact * 100, abs(value), places):
                    return Ground([place], "formatted", f"100 * {place.path}")
        return self._derived(claim, readings)

    def _ordinal(self, claim: Claim) -> Ground | None:
        return Ground([])

    # ---- dates and times

    def _date(self, claim: Claim) -> Ground | None:
        mention = claim.mention
        for year, month, day in mention.readings:
            held = self.index.dates.get((month, day), [])
            if places := [p for y, p in held if y is None or year is None or y == year]:
                return Ground(places, "formatted")
            if (
                mention.relative
                and self.today
                and (year, month, day) == (self.today.year, self.today.month, self.today.day)
            ):
                return Ground([], "derived", "today")
        return self._near_today(mention.readings) or self._written(claim)

    def _near_today(self, readings: Iterable[Any]) -> Ground | None:
        today = self.today
        if today and any(
            m == today.month and d == today.day and y in (None, today.year) for y, m, d in readings
        ):
            return Ground([], "derived", "today")
        return None

    def _time(self, claim: Claim) -> Ground | None:
        for minutes in claim.mention.readings:
            if places := self.index.times.get(minutes):
                return Ground(places, "formatted")
        if places := self.index.find(claim.token, ":."):
            return Ground(places)
        ends = dict(self.derived.ends())
        formula = next((ends[m] for m in claim.mention.readings if m in ends), "")
        return Ground([], "derived", formula) if formula else None

    def _moment(self, claim: Claim) -> Ground | None:
        for at in claim.mention.readings:
            held = self.index.dates.get((at.month, at.day), [])
            days = {p.path: p for y, p in held if y in (None, at.year)}
            times = {p.path for p in self.index.times.get(at.hour * 60 + at.minute, ())}
            if both := [p for path, p in days.items() if path in times]:
                return Ground(both, "formatted")
        return None

    def _month(self, claim: Claim) -> Ground | None:
        for year, month in claim.mention.readings:
            for (held, _), entries in self.index.dates.items():
                if held == month and (
                    places := [p for y, p in entries if year is None or y in (None, year)]
                ):
                    return Ground(places, "formatted")
        return self._written(claim) or self.name([t.text for t in language.tokens(claim.token)])

    def _weekday(self, claim: Claim) -> Ground | None:
        beside = [
            c
            for c in self.reading.claims
            if c.kind in ("date", "moment") and 0 <= c.start - claim.end <= 4
        ]
        for wanted in claim.mention.readings:
            if beside:
                return (
                    Ground([], "derived", "weekday")
                    if wanted in self._weekdays(beside[0])
                    else None
                )
            for (month, day), entries in self.index.dates.items():
                if places := [p for y, p in entries if y and _weekday(y, month, day) == wanted]:
                    return Ground(places, "formatted")
        return self.name([t.text for t in language.tokens(claim.token)])

    def _weekdays(self, claim: Claim) -> set[int]:
        """The days of the week that a date can be, in the years that the index has for it."""
        found = set()
        for at in claim.mention.readings:
            year, month, day = at if isinstance(at, tuple) else (at.year, at.month, at.day)
            years = [year] if year else [y for y, _ in self.index.dates.get((month, day), ())]
            found |= {_weekday(y, month, day) for y in years if y}
        return found

    def _period(self, claim: Claim) -> Ground | None:
        return Ground([], "derived", "period")


def _weekday(year: int, month: int, day: int) -> int:
    try:
        return date(year, month, day).weekday()
    except ValueError:
        return -1


def _date(now: str) -> date | None:
    try:
        return datetime.fromisoformat(now).astimezone(UTC).date() if now else None
    except ValueError:
        return None


def _beyond(exact: Number, shown: Number, sign: int) -> bool:
    """Whether "over 100" may stand for 117, "under 100" for 93: on that side, within a half."""
    return 0 < sign * (exact - shown) <= 0.5 * abs(shown)
