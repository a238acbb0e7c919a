"""Which function a text means: weighted words of names, descriptions and examples in any language,
with their concepts (an English name is found by a Russian word), and words a slip of the hand away.
"""

from __future__ import annotations

import math
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ... import language
from ..protocol import ToolSpec
from .entities import find_entities, outside
from .words import KEPT, Word, concepts, forms, has, idle, near, words

_NAME_PART = re.compile(r"[A-Za-z][a-z]*|[^\W\d_]+")
_NAME, _APP, _TEXT = 3, 2, 1  # what an occurrence in a name, an app id, a text counts
_DOUBT = 1.5  # occurrences at which a word is believed at half its weight
_CONCEPT = 0.75  # what a concept is worth beside the very word
_PHRASE = 1.6  # what a message equal to an example is worth
_LEAD = 0.5  # what it is worth that the message begins as some example does
_SLIP = 0.8  # what a word is worth that is written with a slip of the hand
_QUESTION = 0.25  # what a question word is worth
_CACHED = 8
SHARED = 3  # examples in which a word stands that belongs to the command, not to what they name

OFTEN = 0.25
"""Part of a function's examples that ask with what its name means."""


@dataclass(frozen=True, slots=True)
class Match:
    """A function and how well a text fits it: `score` grows with evidence, `coverage` is the part
    of the text explained, `likeness` how near the nearest example comes (1 is equal)."""

    tool: ToolSpec
    score: float
    coverage: float
    likeness: float = 0.0


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How one function is spoken of.

    `commands`: stems of its name, description and of what its examples share; `frequent`: stems of
    its name or of several examples; `leads`: words, in their very forms, with which it is asked
    for; `reports`: those with which a user tells that he did it himself ("I finished …");
    `concepts`: what its name and leads mean in any language; `known`: stems of all its texts;
    `matter`: stems and concepts of what it is about, its app and its name less the verb.
    """

    commands: frozenset[str]
    frequent: frozenset[str]
    leads: frozenset[str]
    reports: frozenset[str]
    concepts: frozenset[str]
    known: frozenset[str]
    matter: frozenset[str]


class Index:
    """The catalogue prepared for matching. Building costs milliseconds, `rank` a fraction of
    one."""

    def __init__(self, tools: tuple[ToolSpec, ...]) -> None:
        self.tools = tools
        self.vocabulary = {t.name: _vocabulary(t) for t in tools}
        counts = [_counts(t) for t in tools]
        seen = Counter(f for c in counts for f in c)
        self._idf = {f: math.log(1 + len(tools) / n) for f, n in seen.items()}
        self._rarest = math.log(1 + len(tools))
        self._weights: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for i, count in enumerate(counts):
            for f, n in count.items():
                self._weights[f].append((i, self._idf[f] * n / (n + _DOUBT)))
        self._slips: dict[str, str] = {}
        self._read_examples()

    def _read_examples(self) -> None:
        self._examples: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._leads: dict[str, set[int]] = defaultdict(set)
        self._norms: list[float] = []
        for i, tool in enumerate(self.tools):
            for example in tool.examples:
                told = [w.stem for w in telling(spoken(example), tag_of(example))]
                for s in set(told):
                    self._examples[s].append((len(self._norms), i))
                self._norms.append(sum(self._idf[s] for s in set(told)))
                for s in told[:1]:
                    self._leads[s].add(i)

    def rank(self, said: Iterable[Word], tag: str) -> list[Match]:
        """All functions with any evidence, best first."""
        size = len(self.tools)
        scores, known, total = [0.0] * size, [0.0] * size, 0.0
        phrases: dict[tuple[int, int], float] = defaultdict(float)
        content = list({w.stem: w for w in telling(said, tag)}.values())
        for word in content[:1]:
            for i in self._leads.get(self._known(word.stem)[0], ()):
                scores[i] += _LEAD
        for word in content:
            share = _QUESTION if has(word, tag, "question") else 1.0
            found, likeness = self._known(word.stem)
            idf, evidence = self._evidence(found, likeness, word, tag)
            total += idf * share
            for i, weight in evidence.items():
                scores[i] += weight * share
                known[i] += idf * share
            for place in self._examples.get(found, ()):
                phrases[place] += self._idf[found] * likeness
        return self._matches(scores, known, total, self._likest(phrases, total))

    def _matches(
        self, scores: list[float], known: list[float], total: float, likest: list[float]
    ) -> list[Match]:
        found = [
            Match(t, scores[i] + _PHRASE * likest[i], min(1.0, known[i] / total), likest[i])
            for i, t in enumerate(self.tools)
            if known[i]
        ]
        return sorted(found, key=lambda m: -m.score)

    def _likest(self, phrases: dict[tuple[int, int], float], total: float) -> list[float]:
        """How near the nearest example of each function comes, by Dice."""
        likest = [0.0] * len(self.tools)
        for (example, i), shared in phrases.items():
            likest[i] = max(likest[i], 2 * shared / (total + self._norms[example] or 1))
        return likest

    def _evidence(
        self, found: str, likeness: float, word: Word, tag: str
    ) -> tuple[float, dict[int, float]]:
        """What a word weighs, and what it says for each function: by itself, or by its concept."""
        evidence = {i: weight * likeness for i, weight in self._weights.get(found, ())}
        idf = self._idf.get(found, 0.0)
        for concept in concepts(word.text, tag):
            for i, weight in self._weights.get(concept, ()):
                evidence[i] = max(evidence.get(i, 0.0), weight * _CONCEPT)
            idf = idf or self._idf.get(concept, 0.0)
        return idf or self._rarest, evidence

    def _known(self, s: str) -> tuple[str, float]:
        """The stem itself, or one of the catalogue that is a slip of the hand away."""
        if s in self._idf:
            return s, 1.0
        if s not in self._slips:
            if len(self._slips) > KEPT:
                self._slips.clear()
            self._slips[s] = next((f for f in self._idf if near(s, f)), "")
        return (self._slips[s], _SLIP) if self._slips[s] else (s, 1.0)


_indexes: OrderedDict[tuple[tuple[str, str, tuple[str, ...]], ...], Index] = OrderedDict()


def index_of(tools: tuple[ToolSpec, ...]) -> Index:
    """The index of this catalogue; the eight last used are kept."""
    key = tuple((t.name, t.description, t.examples) for t in tools)
    index = _indexes.pop(key, None) or Index(tools)
    _indexes[key] = index
    while len(_indexes) > _CACHED:
        _indexes.popitem(last=False)
    return index


@lru_cache(maxsize=KEPT)
def tag_of(text: str) -> str:
    """The language of a text of the catalogue."""
    return language.detect(text)


def spoken(text: str, tag: str = "") -> list[Word]:
    """The words outside quotations, addresses, links, days and ids."""
    return outside(words(text, tag or tag_of(text)), find_entities(text))


def telling(said: Iterable[Word], tag: str) -> list[Word]:
    """The words that carry meaning."""
    return [w for w in said if not idle(w.text, tag)]


@lru_cache(maxsize=KEPT)
def name_stems(name: str) -> frozenset[str]:
    """`list_inbox` → list, inbox."""
    return frozenset(language.stem(part, "en") for part in _NAME_PART.findall(name))


def _counts(tool: ToolSpec) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, weight in ((tool.fn_name, _NAME), (tool.app_id, _APP)):
        for part in _NAME_PART.findall(name):
            for f in (language.stem(part, "en"), *concepts(part.casefold(), "en")):
                counts[f] += weight
    for text in (tool.description, *tool.examples):
        tag = tag_of(text)
        told = telling(spoken(text), tag)
        for f in {f for w in told for f in (w.stem, *concepts(w.text, tag))}:
            counts[f] += _TEXT
    return counts


def _vocabulary(tool: ToolSpec) -> Vocabulary:
    own = name_stems(tool.fn_name) | name_stems(tool.app_id)
    said = [w.stem for e in tool.examples for w in {w.stem: w for w in spoken(e)}.values()]
    seen = Counter(said)
    described = [w.stem for w in telling(spoken(tool.description), "en")]
    begun = _begun(tool)
    return Vocabulary(
        commands=own.union(described, (w.stem for w, _ in begun), _said_by(seen, SHARED)),
        frequent=own | _said_by(seen, 2),
        leads=frozenset([*(w.text for w, _ in begun), *_first_words(tool)]),
        reports=frozenset(w.text for w, _ in _begun(tool, reported=True)),
        concepts=_asked_by(tool, begun),
        matter=_matter(tool),
        known=own.union(seen, described),
    )


def _said_by(seen: Counter[str], least: int) -> frozenset[str]:
    """Stems that stand in so many examples."""
    return frozenset(s for s, n in seen.items() if n >= least)


def _begun(tool: ToolSpec, *, reported: bool = False) -> list[tuple[Word, str]]:
    """The words that examples ask with, each with its language; questions ask for nothing."""
    asked = [(spoken(e), tag_of(e)) for e in tool.examples if not e.rstrip().endswith("?")]
    return [(w, tag) for e, tag in asked if (w := _first(e, tag, reported=reported))]


def _first_words(tool: ToolSpec) -> list[str]:
    """The first words of the name and of the description, which are verbs by custom."""
    named = _NAME_PART.findall(tool.fn_name)[:1]
    return [p.casefold() for p in named] + [
        w.text for w in telling(spoken(tool.description), "en")[:1]
    ]


def _asked_by(tool: ToolSpec, begun: list[tuple[Word, str]]) -> frozenset[str]:
    """The concepts of the name's words, of several those that its examples ask with (to write a
    note is not to send it); where it has none, and of what only reads, also of its examples'
    verbs."""
    own = _verbs((p.casefold(), "en") for p in _NAME_PART.findall(tool.fn_name))
    shown = Counter(c for w, tag in begun for c in _verbs([(w.text, tag)]))
    if tool.action_type == "read" or not own:
        return own.union(shown)
    return frozenset(c for c in own if shown[c] >= OFTEN * len(begun)) or own


def _verbs(said: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The concepts of verbs among these words."""
    return frozenset(c for text, tag in said for c in concepts(text, tag) if c[0] == "=")


def _matter(tool: ToolSpec) -> frozenset[str]:
    found: set[str] = set()
    for part in (*_NAME_PART.findall(tool.app_id), *_NAME_PART.findall(tool.fn_name)[1:]):
        named = {c for c in concepts(part.casefold(), "en") if c[0] == "#"}
        found |= {language.stem(part, "en"), *named}
    return frozenset(found)


def _first(example: list[Word], tag: str, *, reported: bool = False) -> Word | None:
    """The word an example asks with: its first telling one. With `reported`, that of an example
    that begins with the person who speaks."""
    told = telling(example, tag)
    by_speaker = bool(example) and example[0].text in forms(tag, "first_person")
    return told[0] if told and by_speaker == reported else None
