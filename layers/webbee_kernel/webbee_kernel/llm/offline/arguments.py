"""Arguments of one function, filled from one clause of the message and, where it points back, from
the facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..protocol import ToolSpec
from .entities import Entity, Kind, as_date, find_entities
from .matching import Vocabulary, name_stems
from .reading import Reading
from .recall import (
    Reference,
    email_of,
    id_path,
    named_record,
    points_back,
    recall_email,
    recall_id,
    recall_ids,
    reference,
)
from .remainder import Content, Span, remainder, without
from .schema import Argument, arguments_of
from .words import FILLERS, ORDINALS, REFERENCES, Token, fold, tokens

_MARKER = re.compile(
    r":(?=\s)|\bsaying(?: that)?\b|\bthat says\b|\bwith (?:the )?text\b|\bс"
    r" текстом\b|,\s*(?:что|that)\b",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\b(?i:from|by|от)\s+(?:(?i:the)\s+)?((?:<NAME_\d+>|[\w.@+-]+)(?:\s+[A-ZА-ЯЁ][\w-]*)?)"
)
_SUBJECT = re.compile(r"\b(?:(?:the )?subject|темой|тема)\s+(?=\S)", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:called|titled|named|title|subject|названием|заголовком|темой)\s*:?\s*$", re.IGNORECASE
)
_NUMBERS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "два": 2,
    "две": 2,
    "три": 3,
    "четыре": 4,
    "пять": 5,
}
_ALL = frozenset("all them these those everything все всех их эти этих".split())
_HEAD_TITLE = 60


@dataclass(slots=True)
class Filled:
    """What could be filled, and what a call still needs."""

    arguments: dict[str, Any] = field(default_factory=dict)
    missing: list[Argument] = field(default_factory=list)


def fill(
    tool: ToolSpec,
    text: str,
    reading: Reading,
    vocabulary: Vocabulary,
    earlier: Sequence[tuple[ToolSpec, int]] = (),
) -> Filled:
    """Arguments for `tool` out of `text`. `earlier` are the calls planned before this one, with
    their steps."""
    return _Filler(tool, text, reading, vocabulary, earlier).run()


class _Filler:
    """One pass over one clause; each step consumes what it uses, so nothing is used twice."""

    def __init__(
        self,
        tool: ToolSpec,
        text: str,
        reading: Reading,
        vocabulary: Vocabulary,
        earlier: Sequence[tuple[ToolSpec, int]],
    ) -> None:
        self.tool, self.text, self.reading, self.vocabulary, self.earlier = (
            tool,
            text,
            reading,
            vocabulary,
            earlier,
        )
        self.arguments = arguments_of(tool.input_schema)
        self.entities = find_entities(text)
        self.values: dict[str, Any] = {}
        self.spans: list[Span] = []
        self.extra: set[str] = set()
        quoted = [e for e in self.entities if e.kind == "quote"]
        self.quotes = quoted
        self.words = [
            t for t in tokens(text) if not any(q.start <= t.start < q.end for q in quoted)
        ]
        self.marker = next(
            (
                m
                for m in _MARKER.finditer(text)
                if not any(q.start < m.start() < q.end for q in quoted)
            ),
            None,
        )
        self.head = [t for t in self.words if self.marker is None or t.start < self.marker.start()]
        self.reference = reference(self.head or self.words)
        self.id = next((a for a in self.arguments if a.kind == "id"), None)
        texts = [a for a in self.arguments if a.kind == "text"]
        self.main = _main_text(texts, self.id)
        self.title = next((a for a in texts if a.is_title and a is not self.main), None)
        self.lookup = self.id is not None and self.main is not None and not self.main.required

    def run(self) -> Filled:
        """Kinds in the order in which they claim parts of the text."""
        for argument in self.arguments:
            if argument.kind in ("enum", "bool"):
                self._choose(argument)
        self._emails()
        self._dates()
        self._ids()
        self._numbers()
        self._texts()
        missing = [a for a in self.arguments if a.required and a.name not in self.values]
        if (
            not missing
            and self.lookup
            and self.id
            and not ({self.id.name, self.main.name if self.main else ""} & set(self.values))
        ):
            missing = [self.id]
        order = [a.name for a in self.arguments]
        return Filled({name: self.values[name] for name in order if name in self.values}, missing)

    def _free(self, kind: Kind) -> list[Entity]:
        return [
            e
            for e in self.entities
            if e.kind == kind and not any(s.start <= e.start < s.end for s in self.spans)
        ]

    def _take(self, argument: Argument, value: Any, entity: Entity) -> None:
        self.values[argument.name] = [value] if argument.many else value
        self.spans.append(Span(entity.start, entity.end, entity.kind == "date"))

    def _choose(self, argument: Argument) -> None:
        """An enum value or a boolean by its words; where a text follows, only at its edges, so
        content stays content."""
        for value, stems in argument.values:
            for position, token in enumerate(self.words):
                if token.stem in stems and self._at_edge(position):
                    if value != argument.default:
                        self.values[argument.name] = value
                    self.extra |= {token.stem, *name_stems(argument.name)}
                    self.spans.extend(
                        Span(e.start, e.end, True)
                        for e in self._free("date")
                        if e.start == token.start
                    )
                    return

    def _at_edge(self, position: int) -> bool:
        if self.main is None or not self.main.required:
            return True
        ahead = self.words[:position]
        return position >= len(self.words) - 2 or all(
            t.stem in self.vocabulary.commands or t.word in FILLERS or points_back(t) for t in ahead
        )

    def _emails(self) -> None:
        wanted = [a for a in self.arguments if a.kind in ("email", "party")]
        for argument in wanted:
            found = self._free("email")
            if found:
                values = [e.value for e in found] if argument.many else [found[0].value]
                for entity in found[: len(values)]:
                    self._take(argument, entity.value, entity)
                self.values[argument.name] = values if argument.many else values[0]
            elif argument.kind == "party":
                self._party(argument)
            elif argument is wanted[0]:
                self._recalled_email(argument)
        # what is left may name one of the user's own accounts ("check the mail of me@personal.com")
        address = next(
            (
                a
                for a in self.arguments
                if a.kind == "text" and not a.required and a.description.startswith("Address")
            ),
            None,
        )
        if address and (left := self._free("email")):
            self._take(address, left[0].value, left[0])

    def _party(self, argument: Argument) -> None:
        """`from Sarah`, `от Сары`: the words as written."""
        dates = [e.start for e in self.entities if e.kind == "date"]
        found = _FROM.search(self.text)
        if found and found.start(1) not in dates and fold(found[1]) not in ORDINALS:
            self.values[argument.name] = found[1]
            self.spans.append(Span(found.start(), found.end()))

    def _recalled_email(self, argument: Argument) -> None:
        facts = self.reading.facts
        content = [
            t for t in self.head if t.stem not in self.vocabulary.commands and t.word not in FILLERS
        ]
        value = None
        if found := email_of(facts, content):
            value = found[0]
            self.extra.add(found[1].stem)
        elif self.reference:
            value = recall_email(facts, self.tool.fn_name, argument.name, self.reference)
            self.extra |= {t.stem for t in self.head if t.word in REFERENCES}
        if value is not None:
            self.values[argument.name] = [value] if argument.many else value

    def _dates(self) -> None:
        for argument in self.arguments:
            if argument.kind == "date" and (found := self._free("date")):
                value = as_date(found[0].value, self.reading.at) if argument.iso else found[0].value
                self._take(argument, value, found[0])

    def _ids(self) -> None:
        argument = self.id
        if argument is None:
            return
        loose = Content(
            self.vocabulary, lookup=True, loose=True, back=True, extra=frozenset(self.extra)
        )
        named = tokens(
            remainder(self.text[: self.head[-1].end] if self.head else "", self.spans, loose)
        )
        found = self._free("id")
        if found and (
            not self.lookup
            or {t.word for t in named} <= {t.word for e in found for t in tokens(e.value)}
        ):
            self._take(argument, found[0].value, found[0])
            self.values[argument.name] = (
                [e.value for e in found] if argument.many else found[0].value
            )
            self.spans.extend(Span(e.start, e.end) for e in found[1:] if argument.many)
            return
        if self.lookup and self.quotes:
            return
        value = self._several(argument, named) if argument.many else None
        if (
            value is None
            and named
            and (record := named_record(self.reading.facts, self.tool.app_id, argument.name, named))
        ):
            value = None if self.lookup and _literal(named, record.fields) else record.id
            self.extra |= {t.stem for t in named} if value is not None else set()
        elif value is None and (not named or (self.main and self.main.required and self.reference)):
            value = self._pointed_at(argument)
        if value is not None:
            self.values[argument.name] = (
                value if not argument.many or isinstance(value, list) else [value]
            )

    def _pointed_at(self, argument: Argument) -> Any | None:
        """What a reference means: the step before this one in the same message, or a fact. Without
        words, the only thing there is."""
        step = next((e for e in reversed(self.earlier) if e[0].app_id == self.tool.app_id), None)
        if self.reference and step:
            path = id_path(self.reading.facts, step[0], argument.name, self.reference)
            return f"{{{{steps.{step[1]}.data.{path}}}}}" if path else None
        if self.reference is None and self.lookup:
            return None
        self.extra |= (
            {t.stem for t in self.head if t.word in REFERENCES} if self.reference else set()
        )
        return recall_id(
            self.reading.facts, self.tool.app_id, argument.name, self.reference or Reference()
        )

    def _several(self, argument: Argument, named: Sequence[Token]) -> list[Any] | None:
        """`the first two`, `them all`, `these`, `all from the bank`: words that say which ones must
        stand in each of them."""
        said = [t.word for t in self.words]
        count = next(
            (
                _NUMBERS.get(w, int(w) if w.isdecimal() else 0)
                for w in said
                if w in _NUMBERS or w.isdecimal()
            ),
            None,
        )
        plural_first = "первые" in said or ("first" in said and count)
        if plural_first and count:
            return recall_ids(self.reading.facts, self.tool.app_id, argument.name, count) or None
        if _ALL & set(said):
            which = {t.stem for t in named if t.word not in _ALL and not points_back(t)}
            return (
                recall_ids(self.reading.facts, self.tool.app_id, argument.name, None, which) or None
            )
        return None

    def _numbers(self) -> None:
        for argument in self.arguments:
            free = [
                e
                for e in self._free("number")
                if self._at_edge(sum(t.end <= e.start for t in self.words))
            ]
            if argument.kind != "number" or not free:
                continue
            number = float(free[0].value)
            number = max(number, argument.minimum) if argument.minimum is not None else number
            number = min(number, argument.maximum) if argument.maximum is not None else number
            self._take(argument, int(number) if number == int(number) else number, free[0])

    def _texts(self) -> None:
        main, title = self.main, self.title
        quotes = [q for q in self.quotes if not any(s.start <= q.start < s.end for s in self.spans)]
        if self.lookup and self.id and self.id.name in self.values:
            return
        if title and quotes and self._is_title(quotes):
            self._take(title, quotes[0].value, quotes.pop(0))
        elif title and (found := _SUBJECT.search(self.text)) and not quotes:
            self._subject(title, found)
        if main and quotes:
            self._take(main, quotes[0].value, quotes[0])
        elif main and (text := self._remaining(main)):
            self.values[main.name] = text
        for argument in self.arguments:
            if (
                argument.required
                and argument.is_title
                and main
                and argument.name not in self.values
                and main.name in self.values
            ):
                self.values[argument.name] = self.values[main.name][:_HEAD_TITLE]

    def _is_title(self, quotes: Sequence[Entity]) -> bool:
        """Whether the first quotation names the thing: another follows, `called` stands before it,
        or `saying` comes after it."""
        says = self.marker is not None and self.marker.start() >= quotes[0].end
        return len(quotes) > 1 or says or _NAMED.search(self.text[: quotes[0].start]) is not None

    def _subject(self, title: Argument, found: re.Match[str]) -> None:
        marker = _MARKER.search(self.text, found.end())
        end = marker.start() if marker else len(self.text)
        self.values[title.name] = self.text[found.end() : end].strip(" ,.?!")
        self.spans.append(Span(found.start(), end))

    def _remaining(self, main: Argument) -> str:
        """The text that is left for the main argument. An optional one takes it only if it is a
        search word or a name."""
        aims = any(a.kind in ("email", "id") for a in self.arguments)
        titled = self.title is not None and self.title.name in self.values
        if main.required and (aims or titled) and self.marker:
            start = self.marker.end()
            return without(
                self.text[start:],
                [
                    Span(s.start - start, s.end - start, s.is_date)
                    for s in self.spans
                    if s.start >= start
                ],
            ).strip(" ,:")
        words = Content(
            self.vocabulary,
            lookup=self.lookup or not main.required,
            loose=not main.required,
            back=self.lookup,
            extra=frozenset(self.extra),
        )
        return remainder(self.text, self.spans, words)


def _main_text(texts: Sequence[Argument], identity: Argument | None) -> Argument | None:
    """The argument that takes the content: a required one, bodies first; else the name to look up
    by, or the words to search for."""
    required = [a for a in texts if a.required]
    if required:
        return next((a for a in required if a.is_body), required[0])
    if identity:
        return next((a for a in texts if a.is_title), None)
    return next((a for a in texts if a.is_body), None)


def _literal(words: Sequence[Token], fields: dict[str, Any]) -> bool:
    """Whether the words as said stand in one of the texts: then the name itself finds the thing."""
    said = {t.word for t in words}
    return any(said <= {t.word for t in tokens(v)} for v in fields.values() if isinstance(v, str))
