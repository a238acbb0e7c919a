"""The haystack of a check: everything that data, summaries and message show, built once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any

from . import claims, dates, derive
from .dates import Date
from .numbers import Number, settle

_DIGIT = re.compile(r"\d")
_NUMERIC_TEXT = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_EPOCH_KEY = re.compile(
    r"(?i)(?:_at|_ts|time|date|stamp|due|start|end|created|updated|modified|expires?)$"
)
_NEXT_WORD = re.compile(r"[\s\u00a0]*([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+")
_OPAQUE = re.compile(r"(?=[^\W\d])[\w-]+")  # an id: looked up as text, holds no number of its own
_BLANK = re.compile(r"\s+")
_FOLD = str.maketrans({"ё": "е", "\u00a0": " ", "\u202f": " ", "’": "'", "‑": "-"})
_UNSPACED = "\u2e80"  # from here on scripts put no spaces between words
_DEEPEST = 24
FIGURES = (
    2000  #: numbers that are kept to be rounded or converted; every number is kept to be repeated
)


def fold(text: str) -> str:
    """Return text as it is compared: lower case, `ё` as `е`, one kind of space and apostrophe."""
    lowered = text.lower()
    return lowered if lowered.isascii() else lowered.translate(_FOLD)


@dataclass(slots=True)
class Numbers:
    """Numbers by what they may ground: `strong` anything; `weak` (ids, ranks, years) anything but a
    count; `embedded` (inside a string of the data) a count only of the thing that follows them
    there."""

    strong: set[Number] = field(default_factory=set)
    weak: set[Number] = field(default_factory=set)
    embedded: dict[Number, set[str]] = field(default_factory=dict)
    exact: list[Number] = field(default_factory=list)


@lru_cache(maxsize=2048)
def _key_says(key: str) -> tuple[bool, int, bool, bool]:
    """What a key says of its number: weak evidence, which unit of a duration (0: none), hundredths
    of an amount, seconds since 1970."""
    duration = derive.DURATION_KEY.search(key)
    unit = (duration.lastindex or 1) if duration else 0
    return (
        bool(derive.WEAK_KEY.search(key)),
        unit,
        bool(derive.MINOR_UNIT_KEY.search(key)),
        bool(_EPOCH_KEY.search(key)),
    )


class Evidence:
    """What a reply may say. `raw` holds every string, one a line, then the keys; `text` is the
    same, folded."""

    def __init__(self, data: Sequence[object], message: str, summaries: Sequence[str]) -> None:
        self.numbers = Numbers()
        self._later: list[
            tuple[Callable[..., None], tuple[Any, ...]]
        ] = []  # derivations, made when a claim does not stand as it is
        self._spans: set[float] = set()
        self.dates: set[Date] = set()
        self.months: set[tuple[int | None, int]] = set()
        self.times: set[int] = set()
        self.phones: set[str] = set()
        self.truths: set[str] = set()  # keys whose value is true
        self.states: set[str] = set()  # values of one word: "sent", "cancelled"
        self._parts: list[str] = []
        self._loose: list[str] = []
        self._keys: dict[str, None] = {}
        for value in data:
            self._walk(value, "", 0)
        self._same_shape(data)
        told = [message, *summaries]
        self.told = _BLANK.sub(" ", fold("\n".join(summaries)))  # what the tools themselves say
        self.raw = "\n".join([*self._parts, *told, *self._keys])
        self.text = fold(self.raw)
        if self._loose:
            self._read("\n".join(self._loose), embedded=True)
        self._read("\n".join(told), embedded=False)

    @cached_property
    def derived(self) -> derive.Derived:
        """What follows from the data: counts, sums, differences, spans."""
        made = derive.Derived()
        for make, given in self._later:
            make(*given, made)
        made.spans.update(self._spans)
        return made

    def has(self, token: str, glue: str = "") -> bool:
        """Tell whether a token stands in the text with no letter, digit or character of `glue` on
        either side."""
        needle, text = fold(token), self.text
        at = text.find(needle)
        while at >= 0:
            end = at + len(needle)
            if not (
                _continues(text, at - 1, glue, needle[0], -1)
                or _continues(text, end, glue, needle[-1], 1)
            ):
                return True
            at = text.find(needle, at + 1)
        return not needle

    def has_phrase(self, phrase: str) -> bool:
        """Like `has`, with any run of white space as one space."""
        phrase = _BLANK.sub(" ", fold(phrase)).strip()
        return self.has(phrase) or (
            " " in phrase and bool(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", self._one_line))
        )

    @cached_property
    def _one_line(self) -> str:
        return _BLANK.sub(" ", self.text)

    @cached_property
    def words(self) -> dict[str, list[int]]:
        """Every word of the text, with the positions at which it stands."""
        found: dict[str, list[int]] = {}
        for position, word in enumerate(_WORD.findall(self.text)):
            found.setdefault(word, []).append(position)
        return found

    @cached_property
    def fractional(self) -> list[Number]:
        """The numbers that have decimals to drop, derived ones included."""
        derived = [
            n for n in self.derived.numbers if n >= 100
        ]  # below, a rounded sum grounds too much
        return [n for n in (*self.numbers.exact, *derived[:FIGURES]) if isinstance(n, float)]

    def _walk(self, value: object, key: str, depth: int) -> None:
        if isinstance(value, str):
            self._string(value, key)
        elif isinstance(value, bool):
            if value:
                self.truths.add(fold(key))
        elif isinstance(value, (int, float)):
            self._number(value, key)
        elif isinstance(value, dict) and depth < _DEEPEST:
            self._dict(value, depth)
        elif isinstance(value, (list, tuple)) and depth < _DEEPEST:
            self._later.append((derive.from_list, (value,)))
            short = len(value) <= derive.SHORT
            if short:
                self._list_spans(value)
            for item in value:
                self._walk(
                    item,
                    key,
                    depth if short and depth < derive.DEPTH else max(depth, derive.DEPTH) + 1,
                )

    def _dict(self, fields: dict[str, object], depth: int) -> None:
        self._later.append((derive.from_dict, (fields, depth)))
        moments = []
        for key, value in fields.items():
            if key not in self._keys:
                self._keys[key] = None
                if _DIGIT.search(key):
                    self._loose.append(key)
            if isinstance(value, str):
                self._string(value, key)
                if value[4:5] == "-" and (moment := _moment(value)) is not None:
                    moments.append(moment)
            else:
                self._walk(value, key, depth + 1)
        if len(fields) > 1 and all(isinstance(value, dict) for value in fields.values()):
            self._later.append((derive.from_list, (list(fields.values()),)))
        if len(moments) > 1:
            self._later.append((derive.spans, (moments,)))

    def _list_spans(self, items: Sequence[object]) -> None:
        rows = [item for item in items if isinstance(item, dict)]
        for key in dict.fromkeys(key for row in rows for key in row):
            moments = [
                m
                for row in rows
                if isinstance(row.get(key), str) and (m := _moment(row[key])) is not None
            ]
            if len(moments) > 1:
                self._later.append((derive.spans, (moments,)))

    def _same_shape(self, data: Sequence[object]) -> None:
        rows = [value for value in data if isinstance(value, dict)]
        if (
            len(rows) > 1
            and len(rows) == len(data)
            and all(row.keys() == rows[0].keys() for row in rows)
        ):
            self._later.append((derive.from_list, (rows,)))

    def _string(self, value: str, key: str) -> None:
        self._parts.append(value)
        if len(value) <= 24 and " " not in value:
            self.states.add(fold(value))
        if not _DIGIT.search(value):
            return
        iso = dates.ISO.fullmatch(value)
        if iso:
            self.dates.add((int(iso.group(1)), int(iso.group(2)), int(iso.group(3))))
            if iso.group(4):
                self.times.add(int(iso.group(4)) * 60 + int(iso.group(5)))
        elif _NUMERIC_TEXT.fullmatch(value) and len(value) < 18:
            self._number(
                float(value.replace(",", ".")) if not value.lstrip("+-").isdigit() else int(value),
                key,
            )
        elif not _OPAQUE.fullmatch(value):
            self._loose.append(value)

    def _number(self, value: int | float, key: str) -> None:
        if value != value or value in (float("inf"), float("-inf")):
            return
        number = settle(value)
        if abs(value) < 1e15 and len(self.numbers.exact) < FIGURES:
            self.numbers.exact.append(number)
        weak, duration, minor, epoch = _key_says(key)
        (self.numbers.weak if weak else self.numbers.strong).add(number)
        if abs(value) >= 1e15:
            return
        if duration:
            self._spans.add(value * (1 / 60, 1 / 60_000, 1, 60)[duration - 1])
        if minor:
            self.numbers.exact.append(settle(value / 100))
            self.numbers.strong.add(settle(value / 100))
        if epoch and 1e9 < value < 4.2e12:
            self._epoch(value / 1000 if value > 1e11 else value)

    def _epoch(self, seconds: float) -> None:
        moment = datetime.fromtimestamp(seconds, UTC)
        self.dates.add((moment.year, moment.month, moment.day))
        self.times.add(moment.hour * 60 + moment.minute)

    def _read(self, text: str, *, embedded: bool) -> None:
        for claim in claims.scan(text, quotes=False).claims:
            values = claim.values
            if claim.kind == "date":
                self.dates.update(values)
            elif claim.kind == "time":
                self.times.add(values[0])
            elif claim.kind == "month":
                self.months.update(values)
            elif claim.kind == "phone":
                self.phones.add(digits(claim.token))
            elif claim.kind in ("number", "marker"):
                self._told(claim, text, embedded)

    def _told(self, claim: claims.Claim, text: str, embedded: bool) -> None:
        following = _NEXT_WORD.match(text, claim.end)
        for number, _ in claim.values:
            if not embedded:
                self.numbers.strong.add(number)
            else:
                self.numbers.embedded.setdefault(number, set()).add(
                    stem(following.group(1)) if following else ""
                )
            if abs(number) < 1e15 and len(self.numbers.exact) < FIGURES:
                self.numbers.exact.append(number)


def stem(word: str) -> str:
    """Return what two forms of a word share: its first `max(3, len - 3)` letters, folded."""
    return fold(word)[: max(3, len(word) - 3)]


def digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _continues(text: str, at: int, glue: str, edge: str, step: int) -> bool:
    """Tell whether the token goes on beyond its edge: a word character, or glue with a word
    character behind it."""
    if not 0 <= at < len(text) or not (edge.isalnum() or edge == "_"):
        return False
    if (text[at].isalnum() and text[at] < _UNSPACED) or text[at] == "_":
        return True
    beyond = at + step
    return text[at] in glue and 0 <= beyond < len(text) and text[beyond].isalnum()


def _moment(value: str) -> float | None:
    """Return a date or time string in minutes, or None."""
    if len(value) < 10 or value[4] != "-":
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() / 60
