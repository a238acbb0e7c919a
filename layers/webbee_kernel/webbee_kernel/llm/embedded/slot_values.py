"""The value that a span of a message has for a parameter, or none: a slot is filled whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from ... import language
from ...language import Mention, fold
from ...types import JSONObject
from ..protocol import ToolSpec
from .examples import Parameter, patterns
from .message import Message, Reference, Token, lexicon
from .prompt_reader import Fact, Reading
from .shown_records import addresses_of, holding, is_named, records

LONGEST_NUMBER: Final = 15
"""Digits of a number; what is longer is an id, or nothing."""

MOST_ROWS: Final = 50
_LISTED = re.compile(r"(?:^|[;,(]) *([\w-]+) \(([^)]*)\)")
_LISTED_AS = "_listed_as"
_DATES = ("date", "weekday", "moment", "time")


@dataclass(frozen=True, slots=True)
class Value:
    """`words`: how many words of the message it takes as they stand, so that of two readings the
    one that takes fewer is the better. `pointed`: it came from what was shown before. `label`: what
    a record is called that only the skeleton lists, so that nobody is asked about a bare id."""

    value: Any
    words: int = 0
    pointed: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class Unclear:
    """The message points at one of these records; `span` are the tokens that do, `named` says that
    each of the records has the words."""

    rows: tuple[JSONObject, ...]
    span: tuple[int, int]
    named: bool = False


class SlotValues:
    """Values of one message beside what was shown before."""

    def __init__(self, message: Message, reading: Reading, tools: Sequence[ToolSpec]) -> None:
        self.message = message
        self.reading = reading
        self.tools = tools
        self.now = _moment(reading.at)
        self._nouns: dict[tuple[str, str], frozenset[str]] = {}

    def of(
        self, kind: str, parameter: Parameter, span: tuple[int, int], tool: ToolSpec, tag: str
    ) -> Value | Unclear | None:
        """The value of these tokens for the parameter; None where they are no such value."""
        tokens = self.message.tokens[slice(*span)]
        if not tokens:
            return None
        if kind in ("id", "ids"):
            return self._record(kind, parameter, span, tool, tag)
        if kind == "email":
            return self._address(parameter, span, tag)
        read = {
            "number": self._number,
            "date": self._date,
            "choice": self._choice,
            "url": self._url,
        }.get(kind)
        return read(parameter, span, tag) if read else self._text(parameter, span, tool, tag)

    # Values that stand in the message

    def _text(
        self, parameter: Parameter, span: tuple[int, int], tool: ToolSpec, tag: str
    ) -> Value | None:
        """The words as they stand; none where they only point back at something."""
        kind = self.message.tokens[span[0]].kind if span[1] - span[0] == 1 else ""
        if kind == "email" or parameter.kind in ("id", "number", "choice", "flag"):
            return None  # a slot of a kind of its own
        text = self.message.slice(*span)
        quoted = kind == "quote"
        if tool.action_type == "read" and not quoted:
            text = self._looked_for(span, tag)
        nouns = self.nouns(tool.app_id, tag)
        if not quoted and (not any(map(str.isalnum, text)) or self.points(span, tag, nouns)):
            return None
        value: Any = [text] if parameter.kind == "list" else text
        return Value(value, words=0 if quoted else span[1] - span[0])

    def _looked_for(self, span: tuple[int, int], tag: str) -> str:
        """What is looked for, without an article before it and a question mark behind it."""
        first, known = span[0], lexicon(tag).articles
        while first < span[1] - 1 and fold(self.message.tokens[first].text) in known:
            first += 1
        return self.message.slice(first, span[1]).rstrip("?!.… ")

    def points(self, span: tuple[int, int], tag: str, nouns: frozenset[str] = frozenset()) -> bool:
        """Whether these tokens only point at something that was shown: "it", "the same address",
        with the app's nouns "the first task"."""
        known, shown = lexicon(tag), language.of(tag).words.address | nouns
        stems = self.message.stems(tag)[slice(*span)]
        empty = known.reference | known.plural | known.function | known.ordinals.keys()
        words = self.message.tokens[slice(*span)]
        left = [
            s
            for s, t in zip(stems, words, strict=True)
            if s not in empty and fold(t.text) not in known.articles
        ]
        return not left or (len(left) < len(stems) and shown.issuperset(left))

    def _number(self, parameter: Parameter, span: tuple[int, int], tag: str) -> Value | None:
        text = self.message.slice(*span)
        found = [m for m in language.numbers(text, tag) if len(m.text) <= LONGEST_NUMBER]
        if len(found) != 1 or not _covers(found, text, tag):
            return None
        value = found[0].value
        if parameter.schema.get("type") == "integer" and value != int(value):
            return None
        return Value(int(value) if value == int(value) else value)

    def _url(self, parameter: Parameter, span: tuple[int, int], tag: str) -> Value | None:
        token = self.message.tokens[span[0]]
        return Value(token.text) if span[1] - span[0] == 1 and token.kind == "url" else None

    def _choice(self, parameter: Parameter, span: tuple[int, int], tag: str) -> Value | None:
        """The choice that the words name: itself, or a word that the description gives for it, as
        in `high (urgent, important)`."""
        said = fold(self.message.slice(*span))
        stems = self.message.stems(tag)[slice(*span)]
        told = {str(c): [str(c)] for c in parameter.choices}
        for name, words in _LISTED.findall(str(parameter.schema.get("description", ""))):
            told.get(name, []).extend(w.strip() for w in words.split(","))
        for choice in parameter.choices:
            for word in told[str(choice)]:
                alike = tuple(language.stem(w.text, tag) for w in language.tokens(word))
                if word and (said == fold(word) or tuple(stems) == alike):
                    return Value(choice)
        return None

    def _date(self, parameter: Parameter, span: tuple[int, int], tag: str) -> Value | None:
        """An ISO date, with its time where the message tells one and the parameter takes it."""
        if span[1] - span[0] > 8:  # no date has more words
            return None
        text = self.message.slice(*span)
        found = [m for m in language.dates(text, tag, self.now) if m.kind in _DATES]
        days, times = _days_and_times(found)
        if not found or max(len(days), len(times)) > 1 or not _covers(found, text, tag):
            return None
        if days and days[0].kind == "moment":
            return Value(days[0].value.isoformat())
        day = self._day(days[0]) if days else self.now
        if day is None or (times and parameter.schema.get("format") == "date"):
            return None
        return Value(day.date().isoformat() + "".join(_clock(time) for time in times))

    def _day(self, mention: Mention) -> datetime | None:
        if mention.kind == "weekday":
            ahead = (mention.value - self.now.weekday() - 1) % 7 + 1
            return self.now + timedelta(days=ahead)
        year, month, day = mention.value
        try:
            if year is not None:
                return self.now.replace(year=year, month=month, day=day)
            coming = self.now.replace(month=month, day=day)
            return coming if coming >= self.now else coming.replace(year=self.now.year + 1)
        except ValueError:  # the 29th of February
            return None

    # Values that were shown before

    def _address(self, parameter: Parameter, span: tuple[int, int], tag: str) -> Value | None:
        """An address of the message; "the same address" is the one that was shown last, of a list
        that of its first record's sender."""
        tokens = self._telling(span, tag)
        if len(tokens) == 1 and tokens[0].kind == "email":
            return Value(tokens[0].text)
        stems = [language.stem(t.text, tag) for t in tokens if t.kind == "word"]
        if len(stems) != len(tokens) or not _points_to_address(stems, tag):
            return None
        found = next((a for f in self.reading.facts if (a := addresses_of(f.data))), [])
        return Value(found[0], pointed=True) if found else None

    def _record(
        self, kind: str, parameter: Parameter, span: tuple[int, int], tool: ToolSpec, tag: str
    ) -> Value | Unclear | None:
        """The id of the record that the words name, number, or point at."""
        rows = self.rows(tool.app_id)
        tokens = self._telling(span, tag)
        if len(tokens) == 1 and (own := self._own_id(kind, rows, span)):
            return own
        if any(t.kind not in ("word", "quote", "colon") for t in tokens):
            return None
        return self._referred(kind, tokens, span, tool.app_id, tag)

    def _referred(
        self, kind: str, tokens: Sequence[Token], span: tuple[int, int], app_id: str, tag: str
    ) -> Value | Unclear | None:
        """The record that these words name, place in a list, or point at. One that has no noun of
        its app's is named by words of its own, or is the app's that was shown last."""
        nouns = self.nouns(app_id, tag)
        stems = [s for t in tokens if t.kind != "colon" for s in _stems(t, tag)]
        has_noun = not nouns.isdisjoint(stems)
        rows = self.rows(app_id) if has_noun or self._is_newest(app_id) else []
        said = Reference.of([s for s in stems if s not in nouns], lexicon(tag))
        if said.is_all or (kind == "ids" and said.is_first_few):
            return self._several(kind, said, rows, span, app_id, tag)
        if said.naming:
            return self._named(kind, app_id, rows, said.naming, span, has_noun=has_noun)
        if said.ordinals and rows:
            return self._placed(kind, said.ordinals, app_id, span)
        is_silent = not rows and (said.ordinals or not has_noun)
        newest = self._newest(app_id) if rows else []
        return None if is_silent else self._chosen(kind, newest, span) or Unclear((), span)

    def _several(
        self,
        kind: str,
        said: Reference,
        rows: Sequence[JSONObject],
        span: tuple[int, int],
        app_id: str,
        tag: str,
    ) -> Value | Unclear | None:
        """Of "all of them" the whole list, of "the first two" its beginning; where one is taken it
        has to be chosen, but "them" may be one."""
        if kind == "ids" and said.is_all:
            return _all_of(self._newest(app_id)) if rows and not said.others else None
        if not said.is_all:
            return self._first_few(span, app_id, tag) if rows else None
        if rows and said.is_every:
            return Unclear(tuple(rows), span, named=True)
        if said.naming:
            return self._named(kind, app_id, rows, said.naming, span, has_noun=True)
        return self._chosen(kind, self._newest(app_id), span) or Unclear((), span)

    def _own_id(
        self, kind: str, rows: Sequence[JSONObject], span: tuple[int, int]
    ) -> Value | Unclear | None:
        """The one word as an id: a record's that is known, or what has the form of one."""
        text = self.message.slice(*span)
        if held := [r for r in rows if str(r["id"]) == text]:
            return self._chosen(kind, held, span)
        if text.isdigit() or not any(map(str.isdigit, text)):
            return None
        return Value([text] if kind == "ids" else text)

    def _named(
        self,
        kind: str,
        app_id: str,
        rows: Sequence[JSONObject],
        naming: Sequence[str],
        span: tuple[int, int],
        *,
        has_noun: bool,
    ) -> Value | Unclear | None:
        """The record whose texts hold these words; where none does but the app's noun stands there,
        any of several may be meant."""
        held = holding(self.known(app_id), naming)
        if len(held) > 1:
            return Unclear(tuple(held), span, named=True)
        found = self._chosen(kind, held, span)
        any_may_be = has_noun and len(rows) > 1
        return found or (Unclear(tuple(rows), span) if any_may_be else None)

    def _placed(
        self, kind: str, ordinals: Sequence[int], app_id: str, span: tuple[int, int]
    ) -> Value | Unclear | None:
        """The record at a place of the list that was shown last; none at several places."""
        if len(ordinals) > 1:
            return None
        [ordinal] = ordinals
        lists = (records(f.data) for f in self._facts(app_id))
        rows = next((r for r in lists if len(r) > 1), [])
        place = ordinal - 1 if ordinal > 0 else ordinal
        if not -len(rows) <= place < len(rows):
            return Unclear((), span)
        found = rows[place]["id"]
        return Value([found] if kind == "ids" else found, pointed=True)

    def _first_few(self, span: tuple[int, int], app_id: str, tag: str) -> Value | None:
        """Of "the first two" the ids."""
        text = self.message.slice(*span)
        counts = [m.value for m in language.numbers(text, tag) if m.kind == "number"]
        if len(counts) != 1 or counts[0] not in range(2, 11):
            return None
        lists = (records(f.data) for f in self._facts(app_id))
        rows = next((r for r in lists if len(r) >= counts[0]), [])
        return Value([r["id"] for r in rows[: counts[0]]], pointed=True) if rows else None

    def _chosen(
        self, kind: str, rows: Sequence[JSONObject], span: tuple[int, int]
    ) -> Value | Unclear | None:
        if len(rows) > 1:
            return Unclear(tuple(rows), span)
        if not rows:
            return None
        found, label = rows[0]["id"], str(rows[0].get(_LISTED_AS, ""))
        label = "" if label.endswith("…") else label
        return Value([found] if kind == "ids" else found, pointed=True, label=label)

    def _telling(self, span: tuple[int, int], tag: str) -> list[Token]:
        """The tokens without articles and what else says nothing."""
        known = lexicon(tag)
        stems = self.message.stems(tag)
        return [
            t
            for n, t in enumerate(self.message.tokens[slice(*span)], span[0])
            if t.kind != "word"
            or not (
                fold(t.text) in known.articles
                or (
                    stems[n] in known.function
                    and stems[n] not in known.reference
                    and stems[n] not in known.plural
                )
            )
        ]

    def rows(self, app_id: str) -> list[JSONObject]:
        """The records of an app that facts hold, the newest first, each once."""
        found = {str(r["id"]): r for f in reversed(self._facts(app_id)) for r in records(f.data)}
        newest = [str(r["id"]) for f in self._facts(app_id) for r in records(f.data)]
        return [found[i] for i in dict.fromkeys(newest)]

    def known(self, app_id: str) -> list[JSONObject]:
        """The records of an app that can be named: those that facts hold, then those that its
        section of the skeleton lists."""
        rows = self.rows(app_id)
        told = [f.data for f in self._facts(app_id) if isinstance(f.data, dict)]
        held = {str(r.get("id")) for r in (*rows, *told)}
        listed = [
            {**r, _LISTED_AS: r["title"]}
            for section, r in self.reading.known
            if _is_of(section, app_id)
        ]
        return [*rows, *(r for r in listed if str(r["id"]) not in held)]

    def only_one(self, app_id: str) -> JSONObject | None:
        """The one record that was shown last, if it is one and the app's."""
        newest = self._newest(app_id) if self._is_newest(app_id) else []
        return newest[0] if len(newest) == 1 else None

    def asked_for(self, app_id: str, stems: Sequence[str], tag: str) -> list[JSONObject]:
        """The records of an app that a question with these words may be about: that hold all words
        that say something, or whose whole name stands among them."""
        known = lexicon(tag)
        small = known.function | known.question | known.reference | self.nouns(app_id, tag)
        telling = [s for s in stems if s and s not in small]
        rows = self.known(app_id)
        named = [r for r in rows if is_named(r, stems, small)]
        return named or (holding(rows, telling) if telling else [])

    def _newest(self, app_id: str) -> list[JSONObject]:
        """The records of the app's newest fact that has any; none where it was deleted since."""
        return next((list(r) for f in self._facts(app_id) if (r := records(f.data))), [])

    def _is_newest(self, app_id: str) -> bool:
        """Whether the last records that were shown are the app's: what "it" means without a
        noun."""
        shown = (f.app_id for f in self.reading.facts if records(f.data))
        return next(shown, app_id) == app_id

    def _facts(self, app_id: str) -> list[Fact]:
        return [f for f in self.reading.facts if f.app_id == app_id]

    def nouns(self, app_id: str, tag: str) -> frozenset[str]:
        """What an app calls its records: the literal words that examples of most of its functions
        that take one share."""
        key = (app_id, tag)
        if key not in self._nouns:
            mine = [t for t in self.tools if t.app_id == app_id]
            used = Counter(stem for tool in mine for stem in _literals(tool, tag))
            most = max(2, len(mine) // 3)
            known = lexicon(tag)
            self._nouns[key] = frozenset(
                s for s, count in used.items() if count >= most and s not in known.reference
            )
        return self._nouns[key]


def _is_of(section: str, app_id: str) -> bool:
    """Whether a section is the app's: by its label, which may name the app."""
    return section == app_id or section.startswith((f"{app_id}.", f"{app_id}_"))


def _literals(tool: ToolSpec, tag: str) -> frozenset[str]:
    """The literal words of a function's examples in one language."""
    return frozenset(s for p in patterns(tool) if p.tag == tag for s in p.literals)


def _all_of(rows: Sequence[JSONObject]) -> Value:
    """The ids of a whole list."""
    return Value([r["id"] for r in rows[:MOST_ROWS]], pointed=True)


def _points_to_address(stems: Sequence[str], tag: str) -> bool:
    """Whether words point back at an address: "the same address", "to her"."""
    known, words = lexicon(tag), language.of(tag).words
    if known.reference.isdisjoint(stems):
        return False
    named = not words.address.isdisjoint(stems)
    return (words.address | known.reference if named else words.toward).issuperset(stems)


def _stems(token: Token, tag: str) -> list[str]:
    if token.kind == "word":
        return [language.stem(token.text, tag)]
    return [language.stem(w.text, tag) for w in language.tokens(token.text)]


def _covers(found: Sequence[Mention], text: str, tag: str) -> bool:
    """Whether nothing but function words stands beside what was found."""
    known = lexicon(tag)
    rest, at = [], 0
    for mention in sorted(found, key=lambda m: m.start):
        rest.append(text[at : mention.start])
        at = mention.end
    rest.append(text[at:])
    words = (w.text for part in rest for w in language.tokens(part))
    return all(language.stem(w, tag) in known.function for w in words)


def _days_and_times(found: Sequence[Mention]) -> tuple[list[Mention], list[Mention]]:
    days = [m for m in found if m.kind != "time"]
    return days, [m for m in found if m.kind == "time"]


def _clock(time: Mention) -> str:
    """`T09:05`."""
    hours, minutes = divmod(int(time.value), 60)
    return f"T{hours:02}:{minutes:02}"


def _moment(at: str) -> datetime:
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        return datetime.fromisoformat("2026-01-01T00:00:00+00:00")
