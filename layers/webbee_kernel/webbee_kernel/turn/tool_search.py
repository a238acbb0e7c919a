"""Tool search: how near a message is to each function of a catalogue, by words, and the
classifier's own search for functions that its prompt does not show. Deterministic; BM25F over the
function's texts, with bridges between languages. Pure but for what it keeps of functions it has
read.

A function's texts are its fields: name, first sentence of the description, the rest of it,
examples, names of its arguments; each counts by its weight and the shorter it is the more. What the
app says of itself counts for all of its functions.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from .. import language
from ..catalogue import AppInfo, FunctionInfo, PerObject
from ..language.model import of
from ..language.resources import contents, tags
from ..language.stems import stem, stems_of
from ..llm.protocol import ToolSpec
from ..llm.tools import forms
from ..text import one_line
from .plan import Answer

_WEIGHTS = {"name": 3.0, "first": 2.0, "rest": 0.5, "examples": 2.0, "arguments": 0.5}
_USUAL = {"name": 3, "first": 14, "rest": 60, "examples": 16, "arguments": 12}
"""Words that such a text usually has: what is longer says less with each."""
_LENGTH = 0.6
_SATURATION = 1.4
_APP = 0.35
"""What it is worth that the app speaks of the matter, beside the function itself."""
_RECENT = 0.3
_MEANT = 0.5
"""What a word counts that means the same as one said, in another language or in the same."""
_ALIKE = 0.3
_IDLE = 0.25
"""What a word without a matter of its own (tell, which) leaves of that."""
_SOUNDS = 0.7
"""What a word counts that sounds like one said in another script."""
_ROOT = 5
"""Letters in which words of one family agree: discover, discoverer."""
_DERIVED = 0.4
_MARK = "~"
_READ = 1_200
"""Characters of a description that are read: what stands behind is about exceptions."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")

INDEXES = 4
"""Lists of functions whose index a process keeps: those of the users it serves mostly are few."""

Query = Mapping[str, float]
"""Stems and what each counts."""


class Index:
    """A list of functions by the words of their texts, made once for a catalogue. `order` has their
    numbers by app and name, `place` where each stands there, `numbers` those of the keys."""

    def __init__(self, functions: Sequence[FunctionInfo]) -> None:
        self.functions = functions
        keys = [(f.app_id, f.fn_name) for f in functions]
        self.numbers = {key: n for n, key in enumerate(keys)}
        self.order = sorted(range(len(keys)), key=keys.__getitem__)
        self.place = {n: place for place, n in enumerate(self.order)}
        self._of_app: dict[str, list[int]] = {}
        self._by_word: dict[str, dict[int, float]] = {}
        for n, function in enumerate(functions):
            self._of_app.setdefault(function.app_id, []).append(n)
            for word, weight in _terms(function).items():
                self._by_word.setdefault(word, {})[n] = weight
        self._by_root: dict[str, list[str]] = {}
        for word in self._by_word:
            if len(word) > _ROOT:
                self._by_root.setdefault(_MARK + word[:_ROOT], []).append(word)

    def scores(
        self, message: str, recent: Sequence[str], apps: Mapping[str, AppInfo]
    ) -> dict[int, float]:
        """By number what each function scores, where anything speaks for it. It costs what the
        message finds, not what there is."""
        said = query(message)
        for text in recent:
            for word, counts in query(text).items():
                said[word] = max(said.get(word, 0.0), _RECENT * counts)
        found: dict[int, float] = {}
        for word, counts in said.items():
            listed = self._having(word)
            worth = counts * _rare(len(listed), len(self.functions))
            for n, weight in listed.items():
                found[n] = found.get(n, 0.0) + worth * (weight / (weight + _SATURATION))
        for app_id, score in _of_apps(self._of_app, apps, said).items():
            for n in self._of_app[app_id] if score else ():
                found[n] = found.get(n, 0.0) + _APP * score
        return found

    def _having(self, word: str) -> Mapping[int, float]:
        """The functions that have a stem, or a word of that root, and what it weighs there."""
        if word in self._by_root:
            most: dict[int, float] = {}
            for derived in self._by_root.pop(word):
                for n, weight in self._by_word[derived].items():
                    most[n] = max(most.get(n, 0.0), _DERIVED * weight)
            self._by_word[word] = most
        return self._by_word.get(word, {})


_indexes: deque[Index] = deque(maxlen=INDEXES)


def indexed(functions: Sequence[FunctionInfo]) -> Index:
    """The index of a list that does not change; of the lists asked for last it is kept."""
    known = next((i for i in _indexes if i.functions is functions), None)
    if known is None:
        known = Index(functions)
        _indexes.append(known)
    return known


def speaking_for(function: FunctionInfo, message: str) -> list[str]:
    """The stems of the function's texts that a message brings to it: said, meant or sounding the
    same; the ones it counts most first."""
    said, terms = query(message), _terms(function)
    found = [w for w in said if w in terms]
    return sorted(found, key=lambda w: (-said[w] * terms[w], w))


def _rare(having: int, of: int) -> float:
    """What a word is worth that so many have: the fewer, the more."""
    return math.log(1 + (of - having + 0.5) / (having + 0.5))


def _of_apps(used: Iterable[str], apps: Mapping[str, AppInfo], said: Query) -> dict[str, float]:
    """How near each app is: its name, id and description."""
    known = {a: _about(apps[a]) if a in apps else _named(a) for a in used}
    hits = {a: said.keys() & terms.keys() for a, terms in known.items()}
    counts = Counter(chain.from_iterable(hits.values()))
    worth = {w: said[w] * _rare(n, len(hits)) for w, n in counts.items()}
    return {
        a: sum(worth[w] * known[a][w] / (known[a][w] + _SATURATION) for w in found)
        for a, found in hits.items()
    }


def query(message: str) -> dict[str, float]:
    """The stems of what was said, those that mean the same, and those that sound the same."""
    tag = language.detect(message)
    known = language.of(tag).words
    idle = known.forms("function") | known.forms("asks")
    words = [w for t in language.tokens(message) for w in t.text.split("-")]
    found: dict[str, float] = {}
    for word in words:
        folded = language.fold(word)
        for other, counts in _searched(folded, tag, folded in idle):
            _put(found, other, counts)
    return found


def _put(found: dict[str, float], word: str, counts: float) -> None:
    found[word] = max(found.get(word, 0.0), counts)


def _searched(word: str, tag: str, idle: bool) -> Iterator[tuple[str, float]]:
    """What is searched for one word, and what each counts; an idle one only where it means more."""
    if len(word) < 2:
        return
    stemmed = language.stem(word, tag)
    english = stemmed.isascii()
    for other in in_english(word, "en" if english else tag):
        yield other, (_IDLE if idle else 1.0) * (_ALIKE if english else _MEANT)
    if idle:
        return
    yield stemmed, 1.0
    if len(stemmed) >= _ROOT:
        yield _MARK + stemmed[:_ROOT], _DERIVED
    if not english:
        yield from ((other, _SOUNDS) for other in _sounding(stemmed))


def _sounding(word: str) -> list[str]:
    """Latin words of the catalogues read so far that sound like a word of another script: the same
    consonants, or one's the beginning of the other's where that is long enough to tell."""
    heard = language.sound(word)
    return [
        other
        for other_heard, other in _heard.get(heard[:3], {}).items()
        if heard == other_heard
        or (
            min(len(heard), len(other_heard)) >= 4
            and (heard.startswith(other_heard) or other_heard.startswith(heard))
        )
    ]


_heard: dict[str, dict[str, str]] = {}
"""Of all Latin words read: first three consonants → consonants → the word."""


def _fields(function: FunctionInfo) -> dict[str, str]:
    description = function.description[function.lead :][:_READ]
    first, _, rest = description.partition(". ")
    return {
        "name": function.fn_name,
        "first": first,
        "rest": rest,
        "examples": " ".join(function.examples),
        "arguments": " ".join(function.input_schema.get("properties") or ()),
    }


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    """The stem of a word of a catalogue, from now on known by its sound."""
    stem = language.stem(language.fold(word))
    if stem.isascii() and len(heard := language.sound(stem)) >= 3:
        _heard.setdefault(heard[:3], {}).setdefault(heard, stem)
    return stem


def _read_terms(function: FunctionInfo) -> dict[str, float]:
    return _weighed(_fields(function))


def _weighed(fields: Mapping[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for field, text in fields.items():
        words = [_stem(w) for w in _WORD.findall(text) if len(w) > 1]
        each = _WEIGHTS[field] / (1 - _LENGTH + _LENGTH * len(words) / _USUAL[field])
        for word in words:
            found[word] = found.get(word, 0.0) + each
    return found


def _with_roots(terms: Mapping[str, float]) -> dict[str, float]:
    """The stems, and beside them the roots that longer ones begin with."""
    found = dict(terms)
    for word, weight in terms.items():
        if len(word) > _ROOT:
            _put(found, _MARK + word[:_ROOT], _DERIVED * weight)
    return found


def _read_about(app: AppInfo) -> dict[str, float]:
    fields = {
        "name": f"{app.app_id} {app.display_name}",
        "first": f"{app.description[:300]} {app.shared[:300]}",
    }
    return _with_roots(_weighed(fields))


@lru_cache(maxsize=1024)
def _named(app_id: str) -> dict[str, float]:
    return _with_roots(_weighed({"name": app_id}))


_terms = PerObject(_read_terms)
_about = PerObject(_read_about)


MOST = 15
"""Functions that one search shows."""

ROOM = 8_000
"""Characters of what a search finds, in all its words; what does not fit is shown in few."""

MAX_ADDED = 30
"""Functions that the searches of a turn add to what is shown, fewer where a service would refuse so
many (shortlist.MAX_FUNCTIONS)."""

SHOWN = "it was not shown: its arguments stand in the catalogue now, call it again"


def search(
    functions: Sequence[FunctionInfo], query: str, app: str, apps: Mapping[str, AppInfo]
) -> list[FunctionInfo]:
    """At most 15 functions that have to do with the query, the nearest first; of one app where
    there is one of that id."""
    found = indexed(functions).scores(query, (), apps)
    asked = app.strip()
    mine = {n for n in found if functions[n].app_id == asked}
    if asked not in {f.app_id for f in functions}:
        mine = set(found)
    near = sorted(mine, key=lambda n: (-found[n], functions[n].tool_name))
    return [functions[n] for n in near[:MOST]]


def looked_up(
    answer: Answer,
    functions: Sequence[FunctionInfo],
    shown: Mapping[str, ToolSpec],
    apps: Mapping[str, AppInfo],
) -> tuple[Answer, dict[str, ToolSpec]]:
    """The answer with what its searches found, and by name what is to be shown anew or in more
    words.

    `functions` are all that are installed, `shown` what the classifier saw of them. A function that
    it called by its right name without having seen it counts as found.
    """
    named = {f.tool_name: f for f in functions}
    called = (c.name for c in answer.response.tool_calls)
    hits = [named[name] for name in called if name in named and name not in shown]
    told: dict[int, str] = {}
    for place, query, app in answer.searches:
        found = search(functions, query, app, apps)
        hits += found
        told[place] = _told(query, found)
    new = _formed(hits, shown)
    problems = tuple(p._replace(problem=SHOWN) if p.call in new else p for p in answer.problems)
    return replace(answer, found=told, problems=problems), new


def _formed(hits: Sequence[FunctionInfo], shown: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
    """What was found as a model is to see it: whole while there is room, else in few words."""
    new: dict[str, ToolSpec] = {}
    room = ROOM
    for function in hits:
        form, name = forms(function), function.tool_name
        whole = form.whole_characters <= room
        tool = form.whole if whole else form.brief
        if name in new or shown.get(name) in (form.whole, tool):
            continue
        new[name] = tool
        room -= form.whole_characters if whole else form.brief_characters
    return new


def _told(query: str, hits: Sequence[FunctionInfo]) -> str:
    names = ", ".join(f.tool_name for f in hits)
    asked = one_line(query, 80)
    if not names:
        return f"nothing has to do with {asked!r}: say it in other words of [APPS]"
    return f"for {asked!r} the catalogue shows {names}"


@lru_cache(maxsize=16384)
def in_english(word: str, tag: str) -> frozenset[str]:
    """The English stems of what a word of the language `tag` may mean; of an English word those
    that mean the same. Empty where neither a line of its `meanings` nor one of the things
    that apps hold (`things`) has it."""
    return _meanings(tag).get(stem(word, tag), frozenset())


@lru_cache(maxsize=16)
def _meanings(tag: str) -> Mapping[str, frozenset[str]]:
    """By the stem of a word. English words are the left sides of the lines of all languages; what
    apps hold stands under `things`, the rest under `meanings`."""
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
