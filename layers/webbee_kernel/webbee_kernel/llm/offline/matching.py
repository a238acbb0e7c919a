"""Which function a message means: idf-weighted words of names, descriptions and examples, with
trigrams for unknown words."""

from __future__ import annotations

import math
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..protocol import ToolSpec
from .entities import find_entities
from .words import FILLERS, QUESTION_WORDS, Token, stem, tokens, trigrams

_NAME_PART = re.compile(r"[A-Za-z][a-z]*|[^\W\d_]+")
_NAME, _APP, _TEXT = (
    3,
    2,
    1,
)  # what one occurrence in a name, an app id, a description or an example counts
_DOUBT = 1.5  # occurrences at which a word is believed at half its weight
_PHRASE = 1.6  # what a message equal to an example is worth
_LEAD = 0.5  # what it is worth that the message begins as some example does
_FUZZY = 0.55  # least Dice overlap of trigrams
_QUESTION = 0.25
_CACHED = 8

Said = Mapping[str, list[Token]]
"""Descriptions and examples, in words."""


@dataclass(frozen=True, slots=True)
class Match:
    """A function and how well a text fits it: `score` grows with evidence, `coverage` is the part
    of the text explained."""

    tool: ToolSpec
    score: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Stems one function is spoken of with: all of them, and those that stand in its name or in
    several examples."""

    commands: frozenset[str]
    frequent: frozenset[str]


class Index:
    """The catalogue prepared for matching. Building costs milliseconds, `rank` tens of
    microseconds."""

    def __init__(self, tools: tuple[ToolSpec, ...]) -> None:
        said = {text: bare(text) for t in tools for text in (t.description, *t.examples)}
        self.vocabulary = [_vocabulary(t, said) for t in tools]
        counts = [_counts(t, said) for t in tools]
        seen = Counter(s for c in counts for s in c)
        self._idf = {
            s: math.log(1 + len(tools) / n) * (_QUESTION if s in _QUESTION_STEMS else 1.0)
            for s, n in seen.items()
        }
        self._rarest = math.log(1 + len(tools))
        self._weights: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for i, count in enumerate(counts):
            for s, n in count.items():
                self._weights[s].append((i, self._idf[s] * n / (n + _DOUBT)))
        self._examples: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._norms: list[float] = []
        for i, tool in enumerate(tools):
            for example in tool.examples:
                stems = set(content(said[example]))
                for s in stems:
                    self._examples[s].append((len(self._norms), i))
                self._norms.append(sum(self._idf[s] for s in stems))
        self._leads: dict[str, set[int]] = defaultdict(set)
        for i, tool in enumerate(tools):
            for example in tool.examples:
                for s in content(said[example])[:1]:
                    self._leads[s].add(i)
        self._grams: dict[str, list[str]] = defaultdict(list)
        for s in self._idf:
            for gram in trigrams(s) if len(s) > 3 else ():
                self._grams[gram].append(s)
        self._fuzzy: dict[str, tuple[str, float]] = {}

    def rank(self, words: Iterable[Token], tools: tuple[ToolSpec, ...]) -> list[Match]:
        """All functions with any evidence, best first. `tools` are those the index was built from,
        in the same order."""
        scores = [0.0] * len(tools)
        known = [0.0] * len(tools)
        phrases: dict[tuple[int, int], float] = defaultdict(float)
        total = 0.0
        stems = list(dict.fromkeys(content(words)))
        for i in self._leads.get(self._known(stems[0])[0], ()) if stems else ():
            scores[i] += _LEAD
        for s in stems:
            found, likeness = self._known(s)
            idf = self._idf.get(found, self._rarest)
            total += idf
            for i, weight in self._weights.get(found, ()):
                scores[i] += weight * likeness
                known[i] += idf * likeness
            for place in self._examples.get(found, ()):
                phrases[place] += idf * likeness
        best = [0.0] * len(tools)
        for (example, i), shared in phrases.items():
            best[i] = max(best[i], 2 * shared / (total + self._norms[example]))
        ranked = [
            Match(t, scores[i] + _PHRASE * best[i], known[i] / total)
            for i, t in enumerate(tools)
            if known[i]
        ]
        return sorted(ranked, key=lambda m: -m.score)

    def _known(self, s: str) -> tuple[str, float]:
        """The stem itself, or the most alike one of the catalogue with its likeness below 1."""
        if s in self._idf or len(s) < 4:
            return s, 1.0
        if s not in self._fuzzy:
            grams = trigrams(s)
            shared = Counter(other for gram in grams for other in self._grams.get(gram, ()))
            alike = [
                (2 * n / (len(grams) + len(trigrams(other))), other) for other, n in shared.items()
            ]
            likeness, other = max(alike, default=(0.0, s))
            if len(self._fuzzy) > 4096:
                self._fuzzy.clear()
            self._fuzzy[s] = (other, likeness * 0.8) if likeness >= _FUZZY else (s, 1.0)
        return self._fuzzy[s]


_QUESTION_STEMS = frozenset(stem(w) for w in QUESTION_WORDS)
_indexes: OrderedDict[tuple[tuple[str, str, tuple[str, ...]], ...], Index] = OrderedDict()


def index_of(tools: tuple[ToolSpec, ...]) -> Index:
    """The index of this catalogue; the eight last used are kept."""
    key = tuple((t.name, t.description, t.examples) for t in tools)
    index = _indexes.pop(key, None) or Index(tools)
    _indexes[key] = index
    while len(_indexes) > _CACHED:
        _indexes.popitem(last=False)
    return index


def content(words: Iterable[Token]) -> list[str]:
    """The stems that carry meaning."""
    return [t.stem for t in words if t.word not in FILLERS]


def bare(text: str) -> list[Token]:
    """The words outside quotations, addresses, dates, ids and numbers."""
    entities = find_entities(text)
    return [
        t
        for t in tokens(text)
        if not any(
            e.start <= t.start < e.end for e in entities if e.kind != "date" or e.value[0].isdigit()
        )
    ]


def name_stems(name: str) -> set[str]:
    """`list_inbox` → list, inbox."""
    return {stem(part.casefold()) for part in _NAME_PART.findall(name)}


def _counts(tool: ToolSpec, said: Said) -> Counter[str]:
    counts: Counter[str] = Counter()
    for s in name_stems(tool.fn_name):
        counts[s] += _NAME
    for s in name_stems(tool.app_id):
        counts[s] += _APP
    for text in (tool.description, *tool.examples):
        for s in set(content(said[text])):
            counts[s] += _TEXT
    return counts


def _vocabulary(tool: ToolSpec, said: Said) -> Vocabulary:
    own = name_stems(tool.fn_name) | name_stems(tool.app_id)
    seen = Counter(s for example in tool.examples for s in {t.stem for t in said[example]})
    described = set(content(said[tool.description]))
    return Vocabulary(
        commands=frozenset(
            own
            | described
            | {s for s, n in seen.items() if n > 1}
            | {t.stem for e in tool.examples for t in said[e][:1]}
        ),
        frequent=frozenset(own | {s for s, n in seen.items() if n > 1}),
    )
