"""Relevance: how near a message is to each function of a catalogue, by words. Deterministic; BM25F
over the function's texts, with bridges between languages. Pure but for what it keeps of functions
it has read.

A function's texts are its fields: name, first sentence of the description, the rest of it,
examples, names of its arguments; each counts by its weight and the shorter it is the more. What the
app says of itself counts for all of its functions.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from .. import language
from ..base.per_object import PerObject
from ..catalogue import AppInfo, FunctionInfo
from ..language import bridges

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

Query = Mapping[str, float]
"""Stems and what each counts."""


def scores(
    functions: Sequence[FunctionInfo],
    message: str,
    recent: Sequence[str] = (),
    apps: Mapping[str, AppInfo] | None = None,
) -> list[float]:
    """How near each function is to the message, 0 where nothing speaks for it; words of `recent`
    messages count a third."""
    said = query(message)
    for text in recent:
        for word, counts in query(text).items():
            said[word] = max(said.get(word, 0.0), _RECENT * counts)
    asked = frozenset(said)
    known = [_terms(f) for f in functions]
    hits = [asked & terms.keys() for terms in known]
    weights = _rarity(said, hits)
    own = [
        sum([weights[w] * terms[w] / (terms[w] + _SATURATION) for w in found]) if found else 0.0
        for terms, found in zip(known, hits, strict=True)
    ]
    by_app = _of_apps(functions, apps or {}, said)
    return [score + _APP * by_app[f.app_id] for f, score in zip(functions, own, strict=True)]


def speaking_for(function: FunctionInfo, message: str) -> list[str]:
    """The stems of the function's texts that a message brings to it: said, meant or sounding the
    same; the ones it counts most first."""
    said, terms = query(message), _terms(function)
    found = [w for w in said if w in terms and not w.startswith(_MARK)]
    return sorted(found, key=lambda w: (-said[w] * terms[w], w))


def _rarity(said: Query, hits: Iterable[Iterable[str]]) -> dict[str, float]:
    """What each word said is worth here: the fewer functions have it, the more."""
    hits = list(hits)
    counts = Counter(chain.from_iterable(hits))
    return {w: said[w] * math.log(1 + (len(hits) - n + 0.5) / (n + 0.5)) for w, n in counts.items()}


def _of_apps(
    functions: Sequence[FunctionInfo], apps: Mapping[str, AppInfo], said: Query
) -> dict[str, float]:
    """How near each app is: its name, id and description."""
    used = dict.fromkeys(f.app_id for f in functions)
    known = {a: _about(apps[a]) if a in apps else _named(a) for a in used}
    asked = frozenset(said)
    hits = {a: asked & terms.keys() for a, terms in known.items()}
    weights = _rarity(said, hits.values())
    return {
        a: sum(weights[w] * known[a][w] / (known[a][w] + _SATURATION) for w in found)
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
    for other in bridges.in_english(word, "en" if english else tag):
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
    heard = bridges.sound(word)
    return (
        [
            other
            for other_heard, other in _heard.get(heard[:3], {}).items()
            if heard == other_heard
            or (
                min(len(heard), len(other_heard)) >= 4
                and (heard.startswith(other_heard) or other_heard.startswith(heard))
            )
        ]
        if heard
        else []
    )


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


def _stems(text: str) -> list[str]:
    return [language.stem(w) for w in _WORD.findall(text) if len(w) > 1]


def _read_terms(function: FunctionInfo) -> dict[str, float]:
    return _weighed(_fields(function))


def _weighed(fields: Mapping[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for field, text in fields.items():
        words = _stems(text)
        longer = 1 - _LENGTH + _LENGTH * len(words) / _USUAL[field]
        for word, times in Counter(words).items():
            found[word] = found.get(word, 0.0) + _WEIGHTS[field] * times / longer
    for word, weight in list(found.items()):
        if len(word) > _ROOT:
            _put(found, _MARK + word[:_ROOT], _DERIVED * weight)
        if (heard := bridges.sound(word)) and word.isascii():
            _heard.setdefault(heard[:3], {}).setdefault(heard, word)
    return found


def _read_about(app: AppInfo) -> dict[str, float]:
    return _weighed(
        {
            "name": f"{app.app_id} {app.display_name}",
            "first": f"{app.description[:300]} {app.shared[:300]}",
        }
    )


@lru_cache(maxsize=1024)
def _named(app_id: str) -> dict[str, float]:
    return _weighed({"name": app_id})


_terms = PerObject(_read_terms)
_about = PerObject(_read_about)
