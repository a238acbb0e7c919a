"""Tool search: scores the functions of a catalogue for a message, and runs the classifier's own
searches. Deterministic; BM25F over the function's texts, across languages.

Fields are name, first sentence of the description, the rest of it, examples, argument names and the
app's description; each has a weight and a usual length.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from .. import language
from ..catalogue import AppInfo, FunctionInfo, PerObject
from ..language.model import of
from ..language.resources import contents, tags
from ..language.stems import stem, stems_of
from ..llm.protocol import ToolSpec
from ..llm.tools import forms
from ..text import one_line
from .plan import Answer

_FIELDS = {
    "name": (3.0, 3),
    "first": (2.0, 14),
    "rest": (0.5, 60),
    "examples": (2.0, 16),
    "arguments": (0.5, 12),
    "app": (0.5, 14),
}
"""Weight of a word by field, and the field's usual length in words."""
_LENGTH = 0.6
_SATURATION = 1.4
_MEANING_WEIGHT = 0.5
"""Weight of a translation."""
_SYNONYM_WEIGHT = 0.4
"""Weight of a synonym in the same language."""
_SOUND_WEIGHT = 0.7
"""Weight of a word that sounds like one in another script."""
_LIMIT = 400
"""Characters of a text that are indexed."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")

INDEXES = 4
"""Cached indexes in a process."""


class Index:
    """An inverted index of functions. `order` has their numbers by app and name."""

    def __init__(self, functions: Sequence[FunctionInfo], apps: Mapping[str, AppInfo]) -> None:
        self.functions = functions
        self.order = sorted(range(len(functions)), key=self.key)
        self._by_word: dict[str, dict[int, float]] = {}
        about = {f.app_id: _about(f.app_id, apps.get(f.app_id)) for f in functions}
        for n, function in enumerate(functions):
            for terms in (_terms(function), about[function.app_id]):
                for word, weight in terms.items():
                    listed = self._by_word.setdefault(word, {})
                    listed[n] = listed.get(n, 0.0) + weight

    def key(self, number: int) -> tuple[str, str]:
        """App and name of a function."""
        function = self.functions[number]
        return function.app_id, function.fn_name

    def scores(self, message: str) -> dict[int, float]:
        """The scores of matching functions by number; the cost depends on the matches, not on the
        catalogue."""
        found: dict[int, float] = {}
        for word, counts in query(message).items():
            listed = self._by_word.get(word, {})
            rest = len(self.functions) - len(listed)
            worth = counts * math.log(1 + (rest + 0.5) / (len(listed) + 0.5))
            for n, weight in listed.items():
                found[n] = found.get(n, 0.0) + worth * (weight / (weight + _SATURATION))
        return found


_indexes: deque[Index] = deque(maxlen=INDEXES)


def index_of(functions: Sequence[FunctionInfo], apps: Mapping[str, AppInfo]) -> Index:
    """The cached index of an immutable list of functions."""
    # the very list: to compare thousands of functions would cost more than the search
    known = next((i for i in _indexes if i.functions is functions), None)
    if known is None:
        known = Index(functions, apps)
        _indexes.append(known)
    return known


def query(message: str) -> dict[str, float]:
    """The stems of a message with translations, synonyms and sound-alikes, each with its weight."""
    tag = language.detect(message)
    known = language.of(tag).words
    idle = known.forms("function") | known.forms("asks")
    words = {language.fold(w) for t in language.tokens(message) for w in t.text.split("-")}
    found: dict[str, float] = {}
    for word in words:
        for other, counts in _search_terms(word, tag) if len(word) > 1 and word not in idle else ():
            found[other] = max(found.get(other, 0.0), counts)
    return found


def _search_terms(word: str, tag: str) -> Iterator[tuple[str, float]]:
    """The search terms of one word with their weights."""
    stemmed = language.stem(word, tag)
    english = stemmed.isascii()
    yield stemmed, 1.0
    known = "en" if english else tag
    for other in _meanings(known).get(stem(word, known), ()):
        yield other, _SYNONYM_WEIGHT if english else _MEANING_WEIGHT
    if not english:
        yield from ((other, _SOUND_WEIGHT) for other in _sound_alikes(stemmed))


def _sound_alikes(word: str) -> list[str]:
    """Indexed Latin words that sound like a word in another script: equal phonetic keys, or a
    prefix of at least four letters."""
    heard = language.sound(word)
    return [
        other
        for known, other in _words_by_sound.get(heard[:3], {}).items()
        if heard == known
        or (
            min(len(heard), len(known)) >= 4
            and (heard.startswith(known) or known.startswith(heard))
        )
    ]


_words_by_sound: dict[str, dict[str, str]] = {}
"""Indexed Latin words: first three letters of the phonetic key → key → word."""


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    """The stem of a catalogue's word; also registers its phonetic key."""
    stem = language.stem(language.fold(word))
    if stem.isascii() and len(heard := language.sound(stem)) >= 3:
        _words_by_sound.setdefault(heard[:3], {}).setdefault(heard, stem)
    return stem


def _weights(**fields: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for field, text in fields.items():
        words = [_stem(w) for w in _WORD.findall(text) if len(w) > 1]
        weight, usual = _FIELDS[field]
        each = weight / (1 - _LENGTH + _LENGTH * len(words) / usual)
        for word in words:
            found[word] = found.get(word, 0.0) + each
    return found


@PerObject
def _terms(function: FunctionInfo) -> dict[str, float]:
    first, _, rest = function.description[function.lead :].partition(". ")
    return _weights(
        name=function.fn_name,
        first=first[:_LIMIT],
        rest=rest[:_LIMIT],
        examples=" ".join(function.examples),
        arguments=" ".join(function.input_schema.get("properties") or ()),
    )


def _about(app_id: str, app: AppInfo | None) -> dict[str, float]:
    """The terms of an app's description, which count for each of its functions."""
    told = f"{app.display_name} {app.description[:_LIMIT]} {app.lead_text[:_LIMIT]}" if app else ""
    return _weights(app=f"{app_id} {told}")


MAX_HITS = 15
"""Maximum functions found by one search."""

MAX_SIZE = 8_000
"""Characters of search results in full form; further ones are brief."""

MAX_ADDED = 30
"""Maximum functions added by the searches of a turn, subject to MAX_FUNCTIONS."""

SHOWN = "it was not shown: its arguments stand in the catalogue now, call it again"


def search(
    functions: Sequence[FunctionInfo], query: str, app: str, apps: Mapping[str, AppInfo]
) -> list[FunctionInfo]:
    """At most 15 matching functions, nearest first; only of `app` if that id exists."""
    found = index_of(functions, apps).scores(query)
    # models make up ids of apps: then all of them are searched
    is_known = app.strip() in {f.app_id for f in functions}
    mine = [n for n in found if not is_known or functions[n].app_id == app.strip()]
    near = sorted(mine, key=lambda n: (-found[n], functions[n].tool_name))
    return [functions[n] for n in near[:MAX_HITS]]


def run_searches(
    answer: Answer,
    functions: Sequence[FunctionInfo],
    shown: Mapping[str, ToolSpec],
    apps: Mapping[str, AppInfo],
) -> tuple[Answer, dict[str, ToolSpec]]:
    """The answer with its search results, and the tools to show additionally or in full, by name.

    `functions` are all installed ones, `shown` those that the classifier saw. A function called by
    its exact name without being shown counts as found.
    """
    hidden = {f.tool_name: f for f in functions if f.tool_name not in shown}
    hits = [hidden[c.name] for c in answer.response.tool_calls if c.name in hidden]
    notes: dict[int, str] = {}
    for place, query, app in answer.searches:
        found = search(functions, query, app, apps)
        hits += found
        names = ", ".join(f.tool_name for f in found)
        asked = f"{one_line(query, 80)!r}"
        notes[place] = f"for {asked} the catalogue shows {names}"
        if not found:
            notes[place] = f"nothing has to do with {asked}: say it in other words of [APPS]"
    new = _tool_specs(hits, shown)
    problems = tuple(p._replace(problem=SHOWN) if p.call in new else p for p in answer.problems)
    return replace(answer, search_results=notes, problems=problems), new


def _tool_specs(hits: Sequence[FunctionInfo], shown: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
    """The tools of found functions: full while there is room, else brief."""
    new: dict[str, ToolSpec] = {}
    room = MAX_SIZE
    for function in hits:
        form, name = forms(function), function.tool_name
        whole = form.whole_characters <= room
        tool = form.whole if whole else form.brief
        # what was shown in few words is news in all of them
        if name in new or shown.get(name) in (form.whole, tool):
            continue
        new[name] = tool
        room -= form.whole_characters if whole else form.brief_characters
    return new


@lru_cache(maxsize=16)
def _meanings(tag: str) -> Mapping[str, frozenset[str]]:
    """Stem → the English stems that it may mean, from the language file's `meanings` and `things`;
    for English its synonyms, from the left sides of all languages."""
    lines = _lines(tag)
    if tag == "en":
        lines = [(left, left) for other in tags() for left, _ in _lines(other)]
    english, said = of("en").words.lists("things"), of(tag).words.lists("things")
    found: dict[str, set[str]] = {}
    for meant, words in [*lines, *((english[c], said[c]) for c in english if c in said)]:
        for word in stems_of(words, tag):
            found.setdefault(word, set()).update(stems_of(meant, "en"))
    return {word: frozenset(meant) for word, meant in found.items()}


def _lines(tag: str) -> list[tuple[str, str]]:
    pairs = (line.partition(":") for line in contents(tag).get("meanings", ()))
    return [(left, right) for left, _, right in pairs]
