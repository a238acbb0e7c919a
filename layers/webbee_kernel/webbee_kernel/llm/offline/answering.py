"""Questions answered in words from what the prompt holds: a field of a remembered thing, a figure
of the overview, what was done in the remembered turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ... import language
from ...values.plain import JSONObject
from ..protocol import ToolSpec
from . import recall, replies
from .entities import find_days, find_periods, outside
from .matching import Index, Match, telling
from .reading import Entry, Fact, Reading
from .schema import keys, parts
from .speech import Sentence
from .words import Word, any_has, concepts, has, is_thing, meaning, points_back, words

_FITS = 0.5  # least part of a question's telling words that a figure must explain
_ROW_ID = re.compile(r" \(#[^)]*\)")
FIELDS = frozenset("#address #due #date #subject #status #phone #price".split())
"""What words name that ask for a field of a thing, and name none."""

_BESIDE = "reference recency opener no_filler resume function first_person ability others".split()
"""What may stand beside the wish to have something undone."""

_Effects = dict[tuple[str, str], ToolSpec]
_IDLE = ("first_person", "wish", "saying", "copula", "prohibition", "plan", "no")


class Asked:
    """One question, with what its words mean."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence, self.text, self.tag = sentence, sentence.text, sentence.tag
        self.said = outside(words(self.text, self.tag), find_periods(self.text, self.tag))
        spoken = language.of(self.tag).words.meanings("asks")
        self.wants = {c for w in self.said for c in spoken.get(w.text, ())}
        self.telling = [
            w
            for w in telling(self.said, self.tag)
            if not has(w, self.tag, "question", "auxiliary", "ability", "others", "opener")
            and w.text not in spoken
        ]
        self.naming = [
            w
            for w in outside(self.telling, find_days(self.text, self.tag))
            if not points_back(w, self.tag) and not has(w, self.tag, *_IDLE)
        ]
        """The words that may stand in what answers it."""
        self.of_its_own = [
            w
            for w in self.telling
            if w != sentence.verb and not has(w, self.tag, "first_person", "copula")
        ]
        """Its words less the verb of a command and the speaker."""

    def beside(self, remark: Sentence) -> Asked:
        """The question with what is told beside it: "… Anna wrote to me"."""
        return Asked(replace(self.sentence, text=f"{self.text} {remark.text}"))


def _things(fact: Fact) -> list[JSONObject]:
    """The dicts of a fact that hold plain values."""
    return [d for d in _dicts(fact.data) if any(isinstance(v, str) for v in d.values())]


def _dicts(value: Any) -> Iterator[JSONObject]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _dicts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _dicts(item)


def _key_means(key: str) -> set[str]:
    return {c for p in parts(key) for c in (language.stem(p, "en"), *concepts(p, "en"))}


def from_overview(asked: Asked, overview: Sequence[Entry]) -> str:
    """The figure or the list that the question's words name, labelled with these words."""
    if not asked.telling or not asked.wants & {"count", "which", "person", "place"}:
        return ""
    best: tuple[float, Entry] | None = None
    for entry in overview:
        fit = _fit(asked, entry)
        if fit >= _FITS and (best is None or fit > best[0]):
            best = fit, entry
    if best is None:
        return ""
    label = replies.said_as(asked.text, asked.tag)
    value = _ROW_ID.sub("", best[1].value.strip("[]"))
    return f"{label[:1].upper()}{label[1:]}: {value}"


def _fit(asked: Asked, entry: Entry) -> float:
    """How much of the question the entry explains: words of its key whole, of its section half. A
    count asks for a figure, "which" for a list. What names a thing must be there."""
    figure = entry.value.lstrip("-").isdecimal()
    if figure != ("count" in asked.wants):
        return 0.0
    key, section = _key_means(entry.key), _key_means(entry.section)
    told = [
        w
        for w in asked.telling
        if not points_back(w, asked.tag) and "=show" not in concepts(w.text, asked.tag)
    ]
    hits = [_hit(meaning(w, asked.tag), key, section) for w in told]
    strange = any(is_thing(w, asked.tag) and not h for w, h in zip(told, hits, strict=True))
    if strange or 1.0 not in hits:
        return 0.0
    return sum(hits) / len(hits) - 0.02 * len(parts(entry.key))


def _hit(meant: set[str], key: set[str], section: set[str]) -> float:
    if meant & key:
        return 1.0
    return 0.5 if meant & section else 0.0


def done_before(tool: ToolSpec, reading: Reading, asked: Asked, *, looks: bool) -> str:
    """What the remembered turns hold of this function; nothing for what may be looked up."""
    done = (tool.app_id, tool.fn_name)
    found = [f for f in reading.facts if (f.app_id, f.fn_name) == done and _names(asked, f)]
    texts = [_told(t) for f in found[:3] for t in _things(f)[:3]]
    spoken = language.of(asked.tag)
    if not any(texts):
        return "" if looks and asked.naming else spoken.say("not_remembered")
    return spoken.say("remembered", what="; ".join(t for t in texts if t))


def _names(asked: Asked, fact: Fact) -> bool:
    """Whether the fact holds every name that the question says."""
    names = [w for w in asked.telling if w.start and asked.text[w.start].isupper()]
    return all(any(recall.holds(t, [w]) for t in _things(fact)) for w in names)


def _told(thing: JSONObject) -> str:
    """The texts of a thing, without its id."""
    shown = {k: v for k, v in thing.items() if isinstance(v, str) and v}
    ids = keys("id_keys")
    return ", ".join(v for k, v in shown.items() if ids.isdisjoint(parts(str(k))))


def came_of_it(asked: Asked, reading: Reading, index: Index) -> str:
    """ "Did that go out?", "who did you send it to?": the reply that told of the last effect, or of
    what failed or was asked since. Empty where anything else, or anybody's deed, is asked about."""
    effects, deeds = _deeds(reading, index)
    tells = reading.undone.union(told for told, tool in deeds.items() if tool)
    found = next((r for _, r in reading.turns if r in tells or replies.question_of_ours(r)), "")
    done = deeds.get(found)
    if not found or not _asks_only(asked, [done] if done else [*effects.values()], index):
        return ""
    return language.of(asked.tag).say("remembered", what=found.rstrip(".!?"))


def taken_back(message: str, tag: str, reading: Reading, index: Index) -> str:
    """ "Undo that": what was done last, and that it cannot be taken back. Empty where the message
    says more, or a function does it."""
    said, (effects, deeds) = words(message, tag), _deeds(reading, index)
    alone = any_has(said, tag, "undo") and all(has(w, tag, "undo", *_BESIDE) for w in said)
    meant = {c for w in said if has(w, tag, "undo") for c in (w.stem, *concepts(w.text, tag))}
    known = (index.vocabulary[t.name] for t in effects.values())
    if not alone or any(meant & (v.concepts | v.commands) for v in known):
        return ""
    spoken = language.of(tag)
    last = next((reply for _, reply in reading.turns if deeds.get(reply)), "")
    return (
        spoken.say("not_undone", what=last.rstrip(".!?")) if last else spoken.say("not_remembered")
    )


def _deeds(reading: Reading, index: Index) -> tuple[_Effects, dict[str, ToolSpec | None]]:
    """The functions that change something, and of each remembered reply that tells of a call the
    one of them that it tells of."""
    effects = {(t.app_id, t.fn_name): t for t in index.tools if t.action_type != "read"}
    told = (f for f in reversed(reading.facts) if f.told)
    return effects, {f.told: effects.get((f.app_id, f.fn_name)) for f in told}


def _asks_only(asked: Asked, deeds: Sequence[ToolSpec], index: Index) -> bool:
    """Whether a question says of one of these deeds that it came off, and no more."""
    tag = asked.tag
    came = [w for w in asked.said if has(w, tag, "went") or _does(w, tag, deeds, index)]
    theirs = any(has(w, tag, "toward") and has(w, tag, "others") for w in asked.said)
    more = theirs or asked.wants & {"count", "date", "place"}
    return bool(came) and not more and all(w in came for w in asked.naming)


def about_an_effect(asked: Asked, index: Index, ranked: Sequence[Match]) -> ToolSpec | None:
    """The function with an effect that a question speaks of: the nearest one that shares a verb
    with it."""
    effects = [m.tool for m in ranked if m.tool.action_type != "read"]
    return next(
        (t for t in effects if any(_does(w, asked.tag, [t], index) for w in asked.said)), None
    )


def _does(word: Word, tag: str, tools: Sequence[ToolSpec], index: Index) -> bool:
    """Whether a word is a verb for what one of these functions does."""
    act = language.of(tag).words.effects.get(word.stem, "")
    known = [index.vocabulary[t.name] for t in tools if not is_thing(word, tag)]
    meant = concepts(word.text, tag)
    return any(not meant.isdisjoint(k.concepts) or act in _effects(k.commands) for k in known)


def _effects(stems: frozenset[str]) -> set[str]:
    effects = language.of("en").words.effects
    return {effects[s] for s in stems if s in effects}
