"""Authors' examples as patterns: literal words, and slots for the values of parameters.

    "weather in {city} tomorrow"                a slot: filled whole, or the example does not fit
    "move {title} to {due:date}"                a slot for a date, whatever the parameter's type
    "show unread mail {unread_only=true}"       a fixed argument without words

In an example without marks, quotations, addresses, links, dates, numbers and the text after a colon
become slots of the only parameter that accepts such a value.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import fsum
from operator import itemgetter
from typing import Any, Final, NamedTuple

from ... import language
from ...catalogue import SLOT, PerObject
from ...language import key_fold
from ...types import JSONObject
from ..function_form import Parameter, parameters
from ..protocol import ToolSpec
from .message import COLON, Message, lexicon, tokenize, trim, word_key

_END = "0"
_UNQUOTED = str.maketrans(dict.fromkeys('"«»“”„', " "))
_BY_NAME: Final = 0.6
"""Weight of a match with name or description instead of an example."""

_PENALTY: Final = 0.5
"""Factor for an example that begins with another word, is negated, or in another language."""

_SEARCH_SLOTS: Final = ("text", "query")
"""Slots of a search function."""

MAX_LANGUAGES: Final = 3
"""With more candidate languages an example is used in all of them."""


class Piece(NamedTuple):
    """A literal word (stem and original form), or a slot."""

    stem: str = ""
    slot: str = ""
    kind: str = ""
    form: str = ""


@dataclass(frozen=True)
class Pattern:
    """One example of a function. `is_question`: the message must begin like a question, too.
    Without an `example` the pieces are the unordered words of name and description."""

    tool: ToolSpec
    example: str
    tag: str
    pieces: tuple[Piece, ...]
    fixed: Mapping[str, Any]
    is_question: bool = False

    @property
    def has_slots(self) -> bool:
        """Whether a value stands in it."""
        return any(p.slot for p in self.pieces)

    @property
    def looks_up(self) -> str:
        """`search` for a read that looks for any word, `date` for one that lists a day, else
        empty."""
        slots = [(p.slot, p.kind) for p in self.pieces if p.slot]
        if self.fixed or self.tool.action_type != "read" or len(slots) != 1:
            return ""
        [(name, kind)] = slots
        return "search" if name in _SEARCH_SLOTS else "date" * (kind == "date")

    @property
    def makes_dated(self) -> bool:
        """Whether it asks for a text behind a colon, and makes something that may have a date."""
        slots = [p.kind for p in self.pieces if p.slot]
        is_led = slots == ["text"] and ": {" in self.example and self.example.endswith("}")
        is_made = self.tool.action_type == "write" and not free_names(self.tool, "id", ())
        return is_led and is_made and bool(date_parameters(self.tool))

    @property
    def is_to_somebody(self) -> bool:
        """Whether it has an address slot."""
        return any(p.kind == "email" for p in self.pieces)

    def is_open_at(self, piece: int) -> bool:
        """Whether the name of a record stands there directly before a text."""
        name, *behind = self.pieces[piece : piece + 2]
        titles = language.title_keys() if free_names(self.tool, "id", ()) else ()
        is_name = name.kind in ("id", "ids") or name.slot in titles
        return is_name and [p.kind for p in behind] == ["text"]

    @cached_property
    def is_open(self) -> bool:
        """Whether such a name and text stand in it: "call {id} {new_title}"."""
        return any(map(self.is_open_at, range(len(self.pieces))))

    @cached_property
    def literals(self) -> frozenset[str]:
        """The stems of its literal words."""
        return frozenset(p.stem for p in self.pieces if p.stem)


Span = tuple[int, int]


class Value(NamedTuple):
    """A value; `words` is the number of message words that it takes verbatim (fewer is better)."""

    value: Any
    words: int = 0


class Unclear(NamedTuple):
    """An ambiguous reference to one of these records, or to all (`is_all`); `span` are its tokens,
    `is_named`: each record has the words."""

    rows: tuple[JSONObject, ...]
    span: Span
    is_named: bool = False
    is_all: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A call and how it was matched: `free_words` taken verbatim, `unclear` the reference to be
    chosen first, `is_whole` unless its text may contain several things, `literal_words` matched
    exactly."""

    pattern: Pattern
    arguments: JSONObject
    free_words: int = 0
    unclear: Unclear | None = None
    is_whole: bool = True
    literal_words: int = 0

    @property
    def tool(self) -> ToolSpec:
        """The function that is called."""
        return self.pattern.tool

    @property
    def ids(self) -> list[object]:
        """The ids among its arguments."""
        kinds = parameters(self.tool)
        values = (v for k, v in self.arguments.items() if kinds[k].kind in ("id", "ids"))
        return [i for value in values for i in (value if isinstance(value, list) else [value])]

    @property
    def is_complete(self) -> bool:
        """Whether every required parameter has a value."""
        known = parameters(self.tool).values()
        return all(p.name in self.arguments for p in known if p.required)

    @property
    def lacks_record(self) -> bool:
        """Whether it needs a record that neither an id nor a title identifies."""
        if self.unclear:
            return False
        names, titles = self.arguments.keys(), {*language.title_keys()}
        by_title = titles & parameters(self.tool).keys() if titles.isdisjoint(names) else ()
        return bool(by_title and free_names(self.tool, "id", names))

    @property
    def is_by_words(self) -> bool:
        """Whether only words identify its record."""
        free = free_names(self.tool, "id", self.arguments)
        return bool(free) and not self.arguments.keys().isdisjoint(language.title_keys())

    @property
    def is_unidentified(self) -> bool:
        """Whether its required record is unidentified, or a record to destroy is only identified by
        words."""
        free = free_names(self.tool, "id", self.arguments)
        if self.unclear or not free:
            return False
        is_destroyed = self.is_by_words and self.tool.action_type == "destructive"
        return parameters(self.tool)[free[0]].required or is_destroyed

    @property
    def is_sure(self) -> bool:
        """Whether it can be called as it is."""
        return self.is_whole and self.is_complete and not (self.unclear or self.lacks_record)

    @property
    def is_found(self) -> bool:
        """Whether it can be called, and its record is identified by more than words."""
        return self.is_sure and not self.is_unidentified

    @property
    def rank(self) -> tuple[bool, bool, bool, int, int, int, bool]:
        """The sort key, best first: clear and whole, then fewest verbatim words, most literal
        words, and an identified record."""
        is_named = bool(self.unclear and self.unclear.is_named)
        return (
            not (self.is_complete or is_named),
            not self.is_whole,
            self.unclear is not None and not (self.unclear.is_named or self.unclear.is_all),
            self.free_words,
            -len(self.pattern.fixed),
            -self.literal_words,
            self.is_by_words,
        )


def patterns(tool: ToolSpec, tag: str) -> Sequence[Pattern]:
    """A function's examples in a language as patterns, parsed on first use."""
    read = _pattern_cache(tool)
    if tag not in read:
        read[tag] = _patterns(tool, tag)
    return read[tag]


_pattern_cache: PerObject[ToolSpec, dict[str, Sequence[Pattern]]] = PerObject(lambda tool: {})
_languages: PerObject[ToolSpec, list[frozenset[str]]] = PerObject(
    lambda tool: [languages_of(SLOT.sub(" ", e)) for e in tool.examples]
)


def _patterns(tool: ToolSpec, tag: str) -> Sequence[Pattern]:
    """The patterns; a title slot is also tried as the record's id ("it", "the first one")."""
    pairs = zip(tool.examples, _languages(tool), strict=True)
    own = (example for example, tags in pairs if tag in tags)
    found = [p for p in (_pattern(tool, example, tag) for example in own) if p is not None]
    ids = [Piece(slot=p.name, kind=p.kind) for p in parameters(tool).values() if p.kind == "id"]
    titles = frozenset(language.title_keys()) if len(ids) == 1 else frozenset()
    base = [p for p in found if any(q.slot in titles for q in p.pieces) and ids[0] not in p.pieces]
    by_id = (tuple(ids[0] if q.slot in titles else q for q in p.pieces) for p in base)
    return (*found, *(replace(p, pieces=q) for p, q in zip(base, by_id, strict=True)))


def _pattern(tool: ToolSpec, example: str, tag: str) -> Pattern | None:
    """Parse an example; None if it marks an unknown parameter or has no literal word."""
    marks, known = list(SLOT.finditer(example)), parameters(tool)
    # an author's slip is told by `webbee check`, and is no command here
    if any(m[1] not in known for m in marks):
        return None
    fixed = {m[1]: _fixed_value(m[3], known[m[1]]) for m in marks if m[3] is not None}
    # {folder=archive} is told by no word of the message
    text = SLOT.sub(lambda m: m[0] if m[3] is None else " ", example) if fixed else example
    # nothing is marked: values of the example itself mark slots; "today {today=true}" is no slot
    if not marks:
        text = _add_slots(text, tool, tag)
    pieces, is_question = _pieces(text, tool, tag)
    pattern = Pattern(tool, example, tag, tuple(pieces), fixed, is_question)
    # "what is {id}?" has no literal word and still says what it wants
    is_id_only = is_question and [p.kind for p in pieces] in (["id"], ["ids"])  # "what is {id}?"
    return pattern if pattern.literals or is_id_only else None


def languages_of(example: str) -> frozenset[str]:
    """The languages in which an example is used: its own, or all if that is unclear."""
    likely = language.likely_languages(example)
    return likely if len(likely) > MAX_LANGUAGES else frozenset({language_of(example)})


@lru_cache(maxsize=4_096)
def language_of(example: str) -> str:
    """The language of an example."""
    likely = language.likely_languages(example)
    found = language.detect(example) if len(likely) != 1 else min(likely)
    return found if found in likely else min(likely, default=found)


def _fixed_value(text: str, parameter: Parameter) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # "123" stays a text where a text is wanted
    return value if parameter.kind not in ("text", "choice") else text


def _add_slots(text: str, tool: ToolSpec, tag: str) -> str:
    """An unmarked example with a slot for each value that only one parameter accepts."""
    result, at, used = "", 0, set[str]()
    for start, end, kind in _values(text, tool, tag):
        names = free_names(tool, kind, used)
        # two parameters that may take it: neither does
        if start >= at and len(names) == 1:
            result, at = f"{result}{text[at:start]}{{{names[0]}:{kind}}}", end
            used.add(names[0])
    return result + text[at:]


def free_names(tool: ToolSpec, kind: str, used: Collection[str]) -> list[str]:
    """The parameters of a kind without a value: the required ones, else all."""
    free = [p for p in parameters(tool).values() if p.kind == kind and p.name not in used]
    # a required one is meant before an optional one
    return [p.name for p in free if p.required] or [p.name for p in free]


def _values(text: str, tool: ToolSpec, tag: str) -> list[tuple[int, int, str]]:
    """The values in an example as (start, end, kind)."""
    tokens = list(tokenize(text))
    # finding dates is dear, so only for who takes one
    takes_date = any(p.kind == "date" for p in parameters(tool).values())
    dates = language.dates(text, tag, "2026-01-01T00:00:00Z") if takes_date else ()
    spans = [(m.start, m.end, "date") for m in dates]
    for token in tokens:
        kind = "number" if token.text.isdigit() else token.kind
        spans += [(token.start, token.end, {"quote": "text"}.get(kind, kind))]
    spans += [(t.end, len(text), "text") for t in tokens[1:-1] if t.kind == "colon"][:1]
    return sorted(spans, key=lambda s: (s[0], -s[1]))


def _pieces(text: str, tool: ToolSpec, tag: str) -> tuple[list[Piece], bool]:
    """The words and slots of a marked text, and whether it begins like a question. A colon counts
    only between two slots, or after the only word of a write: "note: …", not "the note was
    good"."""
    parts, known, read = SLOT.split(text), parameters(tool), tool.action_type == "read"
    pieces = _literals(parts[0], tag)
    forms = [*(p.form for p in pieces), _END]
    start, _, is_question = trim(forms, lexicon(tag), ask=read)
    del pieces[:start]
    for name, kind, after in zip(parts[1::4], parts[2::4], parts[4::4], strict=True):
        pieces += [Piece(slot=name, kind=kind or known[name].kind), *_literals(after, tag)]
    articles = lexicon(tag).articles
    pieces = [p for p in pieces if p.slot or p.form not in articles]
    # "note: …" is told from "the note was good" by its colon alone
    is_head = not read and sum(p.stem not in ("", COLON) for p in pieces) == 1
    references = frozenset() if read else lexicon(tag).reference  # not "note this"
    inner = {n for n in range(1, len(pieces) - 1) if pieces[n - 1].slot and pieces[n + 1].slot}
    kept = [
        p
        for n, p in enumerate(pieces)
        if p.stem != COLON or is_head or n in inner or pieces[n - 1].stem in references
    ]
    return kept, is_question


def _literals(text: str, tag: str) -> list[Piece]:
    """The words and colons of a text as pieces."""
    return [
        Piece(COLON) if t.kind == "colon" else Piece(word_key(t.text, tag), form=key_fold(t.text))
        for t in tokenize(text.translate(_UNQUOTED))
    ]


def name_pattern(tool: ToolSpec) -> tuple[Pattern, ...]:
    """A pattern from a function's name and description, for functions without examples."""
    text = f"{tool.fn_name.replace('_', ' ')} {tool.description}"[:400]
    tag = language.detect(tool.description)
    stems = frozenset(Message.of(text).stems(tag)) - lexicon(tag).function - {"", COLON}
    pieces = tuple(Piece(s) for s in sorted(stems))
    return (Pattern(tool, "", tag, pieces, {}),) if pieces else ()


def example_words(tool: ToolSpec, tag: str) -> frozenset[str]:
    """The stems in a function's examples in one language."""
    return frozenset().union(*(p.literals for p in patterns(tool, tag)))


def date_parameters(tool: ToolSpec) -> frozenset[str]:
    """The parameters that accept a date, by type or by an example."""
    marks = (m for example in tool.examples for m in SLOT.finditer(example))
    own = (p.name for p in parameters(tool).values() if p.kind == "date")
    return frozenset(own).union(m[1] for m in marks if m[2] == "date")


class Nearness:
    """Scores a message against the patterns of functions."""

    def __init__(self, message: Message, own: Sequence[Sequence[Pattern]]) -> None:
        self.message, self._own = message, own
        self._stem_cache: dict[tuple[str, bool], frozenset[str]] = {}

    def _stems(self, tag: str, *, ask: bool) -> frozenset[str]:
        """The content stems of the message in a language."""
        if (tag, ask) not in self._stem_cache:
            first, last, _ = self.message.bounds(tag, ask=ask)
            stems = self.message.stems(tag)
            positions = (n for n in range(first, last) if not self.message.is_skippable(n, tag))
            self._stem_cache[tag, ask] = frozenset(
                stems[n] or f"\0{self.message.tokens[n].kind}" for n in positions
            )
        return self._stem_cache[tag, ask]

    def nearest(self) -> list[tuple[float, Pattern]]:
        """The best pattern of each function with its score, best first: the weighted share of an
        example's words in the message, or, for name and description, of the message's words in
        them."""
        best = [max(((self._nearness(p), p) for p in own), key=itemgetter(0)) for own in self._own]
        return sorted((f for f in best if f[0] > 0), key=lambda f: -f[0])

    def _nearness(self, pattern: Pattern) -> float:
        """The score of one pattern, 0 if only function words match. For name and description it is
        the share of the message's known words in them."""
        weights, tag, read = self._weights, pattern.tag, pattern.tool.action_type == "read"
        present, is_negated = self._stems(tag, ask=read), self.message.has_negation(tag)
        common = present & pattern.literals
        if common <= lexicon(tag).function:
            return 0
        # exact sums: words of a set come in any order, and the answer is the same every time
        weight = fsum(weights[s] for s in common)
        penalties = is_negated + (tag != self.message.tag)
        penalties += pattern.is_open * (len(pattern.literals) == 1)  # "call the plumber" is no name
        if not pattern.example:
            content = present - lexicon(tag).fillers - lexicon(tag).question
            known = fsum(weights[s] for s in (content & weights.keys()) | common)
            return _BY_NAME * _PENALTY**penalties * weight / known
        bounds, stems = self.message.bounds(tag, ask=read), self.message.stems(tag)
        at = self.message.skip_articles(tag, bounds.first, bounds.last)
        is_start = pattern.pieces[0].stem in stems[at : at + 1]
        content = pattern.literals - lexicon(tag).fillers
        is_whole = pattern.literals <= present and (read or len(content) > 1)
        penalties += not (is_negated or is_start or is_whole)
        share = weight / fsum(weights[s] for s in pattern.literals)
        return _PENALTY**penalties * share * (0.7 + 0.3 * len(common) / len(present))

    @cached_property
    def _weights(self) -> dict[str, float]:
        counts = Counter(
            stem for mine in self._own for pattern in mine for stem in pattern.literals
        )
        return {stem: 1 / count**0.5 for stem, count in counts.items()}
