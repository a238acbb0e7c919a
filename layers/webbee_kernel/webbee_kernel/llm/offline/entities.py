"""Things in a message that have a shape: quotations, addresses, links, ids; and dates and numbers,
as the language of the text writes them."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice, zip_longest
from typing import Literal

from ... import language
from ...language.named_days import day_number
from ...language.relative import months_later
from .words import Word, has, leads_on, words

Kind = Literal["quote", "email", "url", "path", "date", "id", "code", "number"]

_QUOTE = re.compile(r"«([^«»]+)»|“([^“”]+)”|„([^„“”]+)[“”]|\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)")
_EMAIL = re.compile(r"<EMAIL_\d+>|(?<![\w.+%-])[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_URL = re.compile(r"https?://[^\s<>\"»”]{1,2000}")
_PATH = re.compile(
    r"(?<![\w:/.~])(?:~|\.{1,2})?/(?=[\w.@+-]*[A-Za-z])[\w.@+-]{2,128}"
    r"(?:/[\w.@+*-]{1,128}){0,32}/?(?!\w)"
)
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?\b")
_ID = re.compile(
    r"#([\w-]{2,64})"
    r"|(?<![\w-])(?=[\w-]{0,63}\d)(?=[\w-]{0,63}[A-Za-z])[A-Za-z0-9][A-Za-z0-9_-]{5,63}\b"
    r"|\b[0-9a-f]{8,64}\b"
)
_CODE = re.compile(r"(?<![\w-])[A-Z]{1,8}-\d{1,5}(?![\w-])")
_JOINED = re.compile(r"[^\W\d_]-$")
_MOST = 100  # finds of a kind; no argument list is longer
_PART = 24  # characters in which the part of a day follows it
_LED = 3  # words in which a sentence leads to a day: "to the 26th"
_LONG = 2000  # characters in which dates and numbers are looked for


@dataclass(frozen=True, slots=True)
class Entity:
    """A find: its place in the text and its value (a quotation without its marks)."""

    kind: Kind
    start: int
    end: int
    value: str


@lru_cache(maxsize=1024)
def find_entities(text: str) -> tuple[Entity, ...]:
    """Quotations, addresses, links, ISO days, ids and codes (`AB-12`) in order, not overlapping;
    what stands inside a quotation is part of it."""
    found = [
        Entity("quote", m.start(), m.end(), next(g for g in m.groups() if g))
        for m in islice(_QUOTE.finditer(text), _MOST)
    ]
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("email", _EMAIL),
        ("url", _URL),
        ("path", _PATH),
        ("date", _DAY),
        ("id", _ID),
        ("code", _CODE),
    )
    for kind, pattern in kinds:
        for m in islice(pattern.finditer(text), _MOST):
            if _free(found, m.start(), m.end()):
                value = m[1] if kind == "id" and m[1] else m[0]
                found.append(Entity(kind, m.start(), m.end(), value))
    return tuple(sorted(found, key=lambda e: e.start))


def find_dates(text: str, tag: str, at: str) -> list[Entity]:
    """Days and moments as ISO values, relative ones counted from `at` (the message's own time)."""
    now = _moment(at)
    taken = [e for e in find_entities(text) if e.kind != "date"]
    mentions = [m for m in language.dates(text[:_LONG], tag, now) if _free(taken, m.start, m.end)]
    found = []
    for mention, following in zip_longest(mentions, mentions[1:]):
        day = _day(mention, now)
        if not day:
            continue
        end = mention.end
        if following and following.kind == "time" and following.start - end < 5:
            minutes = int(following.value)
            day, end = f"{day}T{minutes // 60:02d}:{minutes % 60:02d}", following.end
        found.append(Entity("date", mention.start, _whole_day(text, end, tag), day))
    return found


def day_led_to(text: str, tag: str, at: str) -> list[Entity]:
    """The day that a sentence ends with by its number only, the next of that number: "move it to
    the 26th", "auf den 26.". A position ends no sentence that leads to it."""
    said = words(text, tag)
    number = day_number(said[-1].text, language.of(tag)) if len(said) >= _LED else 0
    if not number:
        return []
    bare = said[-1].text.isdigit()  # "den 26.": only an article tells that it is a day
    led = has(said[-2], tag, "article") if bare else any(_leads(w, tag) for w in said[-_LED:-1])
    day = _next(number, _moment(at).date()).isoformat()
    return [Entity("date", said[-2].start, said[-1].end, day)] if led else []


def _leads(word: Word, tag: str) -> bool:
    """Whether the word is one of "to", "by", "until"."""
    calendar = language.of(tag).calendar
    return leads_on(word, tag) or word.text in f"{calendar.until} {calendar.at}".split()


def _next(number: int, today: date) -> date:
    """The next day with this number in its month, 1 to 31."""
    firsts = (months_later(today.replace(day=1), n) for n in range(12))
    days = (f.replace(day=number) for f in firsts if number <= monthrange(f.year, f.month)[1])
    return next(day for day in days if day >= today)


def _whole_day(text: str, end: int, tag: str) -> int:
    """Where a day ends with the part of it that is meant: "tomorrow evening"."""
    calendar = language.of(tag).calendar
    parts = f"{calendar.morning} {calendar.evening}".split()
    for word in words(text[end : end + _PART], tag):
        if word.text in parts:
            return end + word.end
        if not has(word, tag, "function"):
            break
    return end


def find_periods(text: str, tag: str) -> list[Entity]:
    """Weeks and months that are named by today: "this week" points at nothing that was shown."""
    return [e for e in find_days(text, tag) if e.value == "period"]


def find_days(text: str, tag: str) -> list[Entity]:
    """Where days, months, times and periods are named; the value is the kind of mention."""
    found = language.dates(text[:_LONG], tag, datetime(1970, 1, 1))  # noqa: DTZ001 - places only
    return [Entity("date", m.start, m.end, m.kind) for m in found]


def outside(said: Sequence[Word], found: Sequence[Entity]) -> list[Word]:
    """The words that are no part of these."""
    return [w for w in said if not any(e.start <= w.start < e.end for e in found)]


def find_numbers(text: str, tag: str) -> list[Entity]:
    """Plain numbers and amounts of money, as digits or in words; not the end of "cd-7"."""
    return [
        Entity("number", m.start, m.end, str(m.value))
        for m in language.numbers(text[:_LONG], tag)
        if m.kind in ("number", "money")
        and _free(find_entities(text), m.start, m.end)
        and not _JOINED.search(text[: m.start])
    ]


def _day(mention: language.Mention, now: datetime) -> str:
    if mention.kind == "moment":
        return str(mention.value.strftime("%Y-%m-%dT%H:%M"))
    if mention.kind == "weekday":
        return (now + timedelta(days=(mention.value - now.weekday()) % 7)).date().isoformat()
    if mention.kind != "date":
        return ""
    year, month, day = mention.value
    if year is None:
        year = now.year + ((month, day) < (now.month, now.day))
    return f"{year:04d}-{month:02d}-{day:02d}"


def _moment(at: str) -> datetime:
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        return datetime(1970, 1, 1)  # noqa: DTZ001 - the prompt tells no time: nothing is relative


def _free(found: list[Entity] | tuple[Entity, ...], start: int, end: int) -> bool:
    return all(end <= e.start or start >= e.end for e in found)
