"""Authors' examples as patterns: literal words, and slots for the values of parameters.

    "weather in {city} tomorrow"                a slot: filled whole, or the example does not fit
    "move {title} to {due:date}"                a slot that takes a date, whatever its parameter is
    "show unread mail {unread_only=true}"       an argument that no word of the message tells

An example without marks has slots where it holds a quotation, an address, a link, a date or a
number, and what stands behind a colon; each goes to the one parameter that takes such a value.
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
"""What words of a name or a description weigh beside those of an example."""

_PENALTY: Final = 0.5
"""What an example weighs that begins with another word, is denied, or in another language."""

_SEARCH_SLOTS: Final = (["text"], ["query"])
"""Parameters of a function that looks for any word."""

MAX_LANGUAGES: Final = 3
"""Languages that the words of one example may seem to be of; of more they tell none."""


class Piece(NamedTuple):
    """A literal word, with the form that its author wrote, or a slot."""

    stem: str = ""
    slot: str = ""
    kind: str = ""
    form: str = ""


@dataclass(frozen=True)
class Pattern:
    """One example of a function. `asked`: it begins as a question does, and so must the message.
    Without an `example` it is the function's name and description, which have no order."""

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
    def is_search(self) -> bool:
        """Whether it looks for any word."""
        slots = [p.slot for p in self.pieces if p.slot]
        return not self.fixed and self.tool.action_type == "read" and slots in _SEARCH_SLOTS

    @property
    def is_to_somebody(self) -> bool:
        """Whether it goes to an address."""
        return any(p.kind == "email" for p in self.pieces)

    @cached_property
    def literals(self) -> frozenset[str]:
        """The stems of its literal words."""
        return frozenset(p.stem for p in self.pieces if p.stem)


Span = tuple[int, int]


class Value(NamedTuple):
    """`words`: how many words of the message it takes as they stand, so that of two readings the
    one that takes fewer is the better."""

    value: Any
    words: int = 0


class Unclear(NamedTuple):
    """The message points at one of these records, or at `every` one of them; `span` are the tokens
    that do, `named` says that each of the records has the words."""

    rows: tuple[JSONObject, ...]
    span: Span
    is_named: bool = False
    is_all: bool = False

    @property
    def is_resolved(self) -> bool:
        """Whether it means what was shown, or all there is."""
        return bool(self.rows) or self.is_all


@dataclass(frozen=True, slots=True)
class Command:
    """A call and how it was found: `loose` words that were taken as they stand, `unclear` the
    record that has to be chosen first; `whole` unless the text that it takes may hold more than one
    thing; `literal` words that are the example's own."""

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
    def is_complete(self) -> bool:
        """Whether every required parameter has a value."""
        known = parameters(self.tool).values()
        return all(p.name in self.arguments for p in known if p.required)

    @property
    def lacks_record(self) -> bool:
        """Whether it is of one record, and neither an id nor a title says of which."""
        if self.unclear:
            return False
        names, titles = self.arguments.keys(), {*language.title_keys()}
        by_title = titles & parameters(self.tool).keys() if titles.isdisjoint(names) else ()
        return bool(by_title and free_names(self.tool, "id", names))

    @property
    def is_by_words(self) -> bool:
        """Whether words alone say which record it is of."""
        free = free_names(self.tool, "id", self.arguments)
        return bool(free) and not self.arguments.keys().isdisjoint(language.title_keys())

    @property
    def is_unidentified(self) -> bool:
        """Whether words alone say which record it destroys, or nothing says which one it needs."""
        free = free_names(self.tool, "id", self.arguments)
        if self.unclear or not free:
            return False
        is_destroyed = self.is_by_words and self.tool.action_type == "destructive"
        return parameters(self.tool)[free[0]].required or is_destroyed

    @property
    def is_sure(self) -> bool:
        """Whether it may be called as it is."""
        return self.is_whole and self.is_complete and not (self.unclear or self.lacks_record)

    @property
    def is_found(self) -> bool:
        """Whether it may be called, and more than words tell the record that it destroys."""
        return self.is_sure and not self.is_unidentified

    @property
    def rank(self) -> tuple[bool, bool, bool, int, int, int, bool]:
        """The best comes first: what is clear and whole, then what takes the fewest words as they
        stand and the most by the example's own, and is of a record that was shown."""
        is_named = bool(self.unclear and self.unclear.is_named)
        return (
            not (self.is_complete or is_named),
            not self.is_whole,
            self.unclear is not None and not self.unclear.is_named,
            self.free_words,
            -len(self.pattern.fixed),
            -self.literal_words,
            self.is_by_words,
        )


def patterns(tool: ToolSpec, tag: str) -> Sequence[Pattern]:
    """A function's examples in a language as patterns, read when they are first asked for."""
    read = _pattern_cache(tool)
    if tag not in read:
        read[tag] = _patterns(tool, tag)
    return read[tag]


_pattern_cache: PerObject[ToolSpec, dict[str, Sequence[Pattern]]] = PerObject(lambda tool: {})
_languages: PerObject[ToolSpec, list[frozenset[str]]] = PerObject(
    lambda tool: [languages_of(SLOT.sub(" ", e)) for e in tool.examples]
)


def _patterns(tool: ToolSpec, tag: str) -> Sequence[Pattern]:
    """What a record is called may also be which one it is: "it", "the first one", its id."""
    pairs = zip(tool.examples, _languages(tool), strict=True)
    own = (example for example, tags in pairs if tag in tags)
    found = [p for p in (_pattern(tool, example, tag) for example in own) if p is not None]
    ids = [Piece(slot=p.name, kind=p.kind) for p in parameters(tool).values() if p.kind == "id"]
    titles = frozenset(language.title_keys()) if len(ids) == 1 else frozenset()
    base = [p for p in found if any(q.slot in titles for q in p.pieces) and ids[0] not in p.pieces]
    by_id = (tuple(ids[0] if q.slot in titles else q for q in p.pieces) for p in base)
    return (*found, *(replace(p, pieces=q) for p, q in zip(base, by_id, strict=True)))


def _pattern(tool: ToolSpec, example: str, tag: str) -> Pattern | None:
    """None for an example that marks what is no parameter, or has no literal word."""
    marks, known = list(SLOT.finditer(example)), parameters(tool)
    # an author's slip is told by `webbee check`, and is no command here
    if any(m[1] not in known for m in marks):
        return None
    fixed = {m[1]: _fixed_value(m[3], known[m[1]]) for m in marks if m[3] is not None}
    # {folder=archive} is told by no word of the message
    text = SLOT.sub(lambda m: m[0] if m[3] is None else " ", example) if fixed else example
    # no slot is marked: values of the example itself mark them
    if len(fixed) == len(marks):
        text = _add_slots(text, tool, tag)
    pieces, is_question = _pieces(text, tool, tag)
    pattern = Pattern(tool, example, tag, tuple(pieces), fixed, is_question)
    # "what is {id}?" has no literal word and still says what it wants
    is_id_only = is_question and [p.kind for p in pieces] in (["id"], ["ids"])  # "what is {id}?"
    return pattern if pattern.literals or is_id_only else None


def languages_of(example: str) -> frozenset[str]:
    """The languages that an example is read in: its own, or all where no word tells it."""
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
    """An example without marks with a slot for each value that one parameter takes."""
    result, at, used = "", 0, set[str]()
    for start, end, kind in _values(text, tool, tag):
        names = free_names(tool, kind, used)
        # two parameters that may take it: neither does
        if start >= at and len(names) == 1:
            result, at = f"{result}{text[at:start]}{{{names[0]}:{kind}}}", end
            used.add(names[0])
    return result + text[at:]


def free_names(tool: ToolSpec, kind: str, used: Collection[str]) -> list[str]:
    """The parameters of a kind that have no value yet: those that are required, or else all."""
    free = [p for p in parameters(tool).values() if p.kind == kind and p.name not in used]
    # a required one is meant before an optional one
    return [p.name for p in free if p.required] or [p.name for p in free]


def _values(text: str, tool: ToolSpec, tag: str) -> list[tuple[int, int, str]]:
    """Where values stand in an example, and of what kind they are."""
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
    """The words and slots of a marked text, and whether it begins as a question does. A colon is
    passed over but between two slots and, of a write, behind its only word: "note: …" is a command
    and "the note was good" is none."""
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
    """The words and colons of a part of an example."""
    return [
        Piece(COLON) if t.kind == "colon" else Piece(word_key(t.text, tag), form=key_fold(t.text))
        for t in tokenize(text.translate(_UNQUOTED))
    ]


def name_pattern(tool: ToolSpec) -> tuple[Pattern, ...]:
    """A pattern of a function without examples, for what is near it: its name and description."""
    text = f"{tool.fn_name.replace('_', ' ')} {tool.description}"[:400]
    tag = language.detect(tool.description)
    stems = frozenset(Message.of(text).stems(tag)) - lexicon(tag).function - {"", COLON}
    pieces = tuple(Piece(s) for s in sorted(stems))
    return (Pattern(tool, "", tag, pieces, {}),) if pieces else ()


def example_words(tool: ToolSpec, tag: str) -> frozenset[str]:
    """The words of all of a function's examples in one language."""
    return frozenset().union(*(p.literals for p in patterns(tool, tag)))


def date_parameters(tool: ToolSpec) -> frozenset[str]:
    """The parameters that take a date, by their types or by an example."""
    marks = (m for example in tool.examples for m in SLOT.finditer(example))
    own = (p.name for p in parameters(tool).values() if p.kind == "date")
    return frozenset(own).union(m[1] for m in marks if m[2] == "date")


class Nearness:
    """How near a message is to the patterns of functions."""

    def __init__(self, message: Message, own: Sequence[Sequence[Pattern]]) -> None:
        self.message, self._own = message, own
        self._stem_cache: dict[tuple[str, bool], frozenset[str]] = {}

    def _stems(self, tag: str, *, ask: bool) -> frozenset[str]:
        """The stems of the message that say something, in a language."""
        if (tag, ask) not in self._stem_cache:
            first, last, _ = self.message.bounds(tag, ask=ask)
            stems = self.message.stems(tag)
            positions = (n for n in range(first, last) if not self.message.is_skippable(n, tag))
            self._stem_cache[tag, ask] = frozenset(
                stems[n] or f"\0{self.message.tokens[n].kind}" for n in positions
            )
        return self._stem_cache[tag, ask]

    def nearest(self) -> list[tuple[float, Pattern]]:
        """The share of an example's words that the message has, rare ones weighing more. Functions
        without examples are found by their names and descriptions, which weigh less: by the share
        of the message's words that stand there."""
        best = [max(((self._nearness(p), p) for p in own), key=itemgetter(0)) for own in self._own]
        return sorted((f for f in best if f[0] > 0), key=lambda f: -f[0])

    def _nearness(self, pattern: Pattern) -> float:
        """How near the message is to one example; not at all by words that any sentence may have. A
        name and a description have no order and hold more than anybody says: of them, how much of
        the message they hold, as far as any function knows its words."""
        weights, tag, read = self._weights, pattern.tag, pattern.tool.action_type == "read"
        present, is_negated = self._stems(tag, ask=read), self.message.has_negation(tag)
        common = present & pattern.literals
        if common <= lexicon(tag).function:
            return 0
        # exact sums: words of a set come in any order, and the answer is the same every time
        weight = fsum(weights[s] for s in common)
        penalties = is_negated + (tag != self.message.tag)
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
