"""Places: where in a session each value stands. Built once a turn, asked for every directing value
of its effects. Pure.

Values are compared in a normal form: case, runs of spaces and the scheme of a link do not count,
`12.00` and `12` are one number, the spaces and dashes of an account or a phone are none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from ... import language
from .directing import named_kind

LONGEST_FIELD = 200
"""Characters of a text that still counts as a field; what is longer is prose."""

_ACCOUNT = 8
"""Digits from which on letters and digits together are an account, which people write in groups."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_FIGURE = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)")
_SCHEME = re.compile(r"^(?:https?://|mailto:|tel:)", re.I)
_GROUPED = re.compile(r"[\s().-]")


@dataclass(frozen=True, slots=True)
class Field:
    """One scalar of a structured result: its key, the nearest object it stands in, and whose result
    it is."""

    value: Any
    key: str
    record: Mapping[str, Any]
    app_id: str
    fn_name: str
    turn: int
    """How many turns ago the result came; 0 is this turn."""
    number: int = 0
    """Which of the turn's results."""
    made: bool = False
    """Whether the call had an effect."""


@dataclass(frozen=True, slots=True)
class Source:
    """Something that was read: a call's data, `turn` turns ago, or a skeleton section. `made`: the
    call had an effect, so what it gave back is of the user's own making."""

    app_id: str
    fn_name: str
    data: Any
    turn: int = 0
    summary: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    made: bool = False

    def is_of(self, item: Field) -> bool:
        """Whether the field stands in this source."""
        return (self.number, self.turn) == (item.number, item.turn)


@dataclass(frozen=True)
class Places:
    """The index: fields of results by normal form, the user's words, everything else as text."""

    words: tuple[str, ...]
    """The user's messages of this session, the newest first."""
    accepted: frozenset[str] = frozenset()
    """Values, in normal form, that the user has said yes to."""
    results: tuple[Source, ...] = ()
    sections: tuple[Source, ...] = ()
    descriptions: tuple[str, ...] = ()
    now: str = ""
    tag: str = "en"
    _found: dict[tuple[str, str], bool] = field(default_factory=dict)

    @cached_property
    def fields(self) -> Mapping[str, tuple[Field, ...]]:
        """The fields of results by the normal form of their values."""
        return _by_form(self.results)

    @cached_property
    def ids(self) -> tuple[Field, ...]:
        """The fields of results that hold ids, the newest result first."""
        every = (f for source in self.results for f in _fields(source))
        return tuple(f for f in every if named_kind(f.key) == "id")

    @cached_property
    def skeleton(self) -> Mapping[str, tuple[Field, ...]]:
        """The same of the skeleton."""
        return _by_form(self.sections)

    def structured(self, value: object) -> tuple[Field, ...]:
        """The fields of results that hold exactly this value."""
        return self.fields.get(normal(value), ())

    def said(self, value: object, kind: str = "") -> bool:
        """Whether the user has written it in this session, or said yes to it."""
        form = normal(value)
        known = self._found.get((form, kind))
        if known is None:
            known = form in self.accepted or any(
                stands_in(value, text, kind, self.tag, self.now) for text in self.words
            )
            self._found[form, kind] = known
        return known

    def in_text(self, value: object) -> Source | None:
        """The result whose prose holds the value, the newest first."""
        return next((s for s in self.results if _holds(_prose(s), value)), None)

    def in_skeleton(self, value: object) -> Source | None:
        """The section that holds it, as a field or in its prose."""
        for source in self.sections:
            if normal(value) in _by_form((source,)) or _holds(_prose(source), value):
                return source
        return None

    def in_description(self, value: object) -> bool:
        """Whether a function's description holds it."""
        return _holds("\n".join(self.descriptions), value)


def normal(value: object) -> str:
    """The form in which values are compared."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _decimal(str(value)) or str(value)
    text = unicodedata.normalize("NFKC", str(value)).strip().strip("\"'«»“”„`")
    if number := _decimal(text):
        return number
    text = _SCHEME.sub("", " ".join(text.split())).casefold().rstrip("/")
    compact = _GROUPED.sub("", text)
    digits = sum(c.isdigit() for c in compact)
    return compact if digits >= 8 and digits * 2 >= len(compact) and "@" not in text else text


def _decimal(text: str) -> str:
    if not _NUMBER.fullmatch(text) or len(text) > 40:
        return ""
    if len(text) > 1 and text.lstrip("+-").startswith("0") and "." not in text:
        return text  # 007 is an id
    try:
        number = Decimal(text)
    except InvalidOperation:
        return ""
    whole = number.to_integral_value()
    return str(int(whole)) if number == whole else str(number.normalize())


def stands_in(value: object, text: str, kind: str = "", tag: str = "en", now: str = "") -> bool:
    """Whether a text of the user's holds the value, standing alone.

    A number is found in any notation of the language, but not in a date or a time; a name also in
    another form of its words (a name in another case).
    """
    form = normal(value)
    if not form:
        return True
    written = str(value).strip()
    if _NUMBER.fullmatch(form) and kind != "when" and (kind == "amount" or _decimal(written)):
        return _number_in(form, text, kind, tag, now)
    if _holds(text, value):
        return True
    if _is_account(form):
        return _in_groups(form, text)
    return kind in ("", "name", "recipient", "path") and _words_in(str(value), text, tag)


def _is_account(form: str) -> bool:
    return form.isalnum() and sum(c.isdigit() for c in form) >= _ACCOUNT


def _in_groups(form: str, text: str) -> bool:
    """Whether the text holds an account, written in groups as it may be."""
    grouped = r"[\s.()-]?".join(form)
    return re.search(rf"(?i)(?<!\w){grouped}(?!\w)", text) is not None


def _holds(text: str, value: object) -> bool:
    """Whether the text holds the value, not as a part of a longer word, address or link."""
    form = _SCHEME.sub("", " ".join(str(value).split())).rstrip("/")
    if not form:
        return False
    if _NUMBER.fullmatch(number := normal(value)):
        return any(normal(m[0].replace(",", "")) == number for m in _FIGURE.finditer(text))
    linked = "@" in form or "." in form
    before = r"(?<![\w@.+-])" if linked else r"(?<!\w)"
    after = r"(?![\w@/-])(?!\.[a-z0-9])" if linked else r"(?!\w)"
    flat = " ".join(unicodedata.normalize("NFKC", text).split())
    if linked:
        flat = re.sub(r"(?i)\b(?:https?://|mailto:)", " ", flat)
    return re.search(rf"{before}(?i:{re.escape(form)})/?{after}", flat) is not None


def _number_in(form: str, text: str, kind: str, tag: str, now: str) -> bool:
    """Whether the text mentions the number; parts of dates, times, links and addresses are none."""
    taken = [(m.start, m.end) for m in language.dates(text, tag, now or None)]
    taken += [m.span() for m in re.finditer(r"\S*[@/]\S*|\S*\w\.\w+\.\w\S*", text)]
    mentions = language.numbers(text, tag)
    found = [m.start for m in mentions if form in map(normal, (m.value, *m.readings))]
    if kind != "amount":
        bare = rf"(?<![\w.,:-]){re.escape(form)}(?![\w:])(?![.,-]\d)"
        found += [m.start() for m in re.finditer(bare, text)]
    return any(not any(a <= start < b for a, b in taken) for start in found)


def _words_in(value: str, text: str, tag: str) -> bool:
    """Whether the words of the value stand in the text one after the other, in any form."""
    wanted = _stemmed(value, tag)
    if not wanted or len(wanted) > 12 or sum(map(len, wanted)) < 3:
        return False
    if any(not c.isalnum() and not c.isspace() for c in value if c not in "-'’.&,"):
        return False
    have = _stemmed(text, tag)
    size = len(wanted)
    return any(have[i : i + size] == wanted for i in range(len(have) - size + 1))


def _stemmed(text: str, tag: str) -> list[str]:
    return [language.stem(t.text, tag) for t in language.tokens(text)]


def _prose(source: Source) -> str:
    """The texts of a result; its fields among them, for a value may stand inside one."""
    return "\n".join([source.summary, *(str(f.value) for f in _fields(source))])


def _by_form(sources: Iterable[Source]) -> dict[str, tuple[Field, ...]]:
    found: dict[str, list[Field]] = {}
    for source in sources:
        for item in _fields(source):
            if not isinstance(item.value, str) or len(item.value) <= LONGEST_FIELD:
                found.setdefault(normal(item.value), []).append(item)
    return {form: tuple(items) for form, items in found.items()}


def _fields(source: Source) -> Iterator[Field]:
    for key, record, value in walk(source.data):
        whose = (source.app_id, source.fn_name, source.turn, source.number, source.made)
        yield Field(value, key, record, *whose)


def walk(
    value: Any, key: str = "", record: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
    """Every scalar of a JSON value with its key and the object it belongs to. The keys of an object
    that maps names to things count as values too (`{"general": […]}`)."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if not str(name).isidentifier():
                yield key, value, str(name)
            yield from walk(item, str(name), value)
    elif isinstance(value, list):
        for item in value:
            yield from walk(item, key, record)
    elif value is not None and not isinstance(value, bool) and value != "":
        yield key, record or {}, value
