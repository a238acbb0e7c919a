"""Questions answered in words from what the prompt holds: a field of a remembered thing, a figure
of the overview, what was done in the remembered turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ... import language
from ..protocol import ToolSpec
from . import recall, replies
from .matching import Index, Match, telling
from .reading import Entry, Fact, Reading
from .schema import keys, parts
from .speech import Sentence
from .words import Word, concepts, has, idle, points_back, words

_FITS = 0.5  # least part of a question's telling words that a figure must explain
_DATE_LIKE = 8


class Asked:
    """One question, with what its words mean."""

    def __init__(self, sentence: Sentence) -> None:
        self.text, self.tag = sentence.text, sentence.tag
        self.said = words(self.text, self.tag)
        spoken = language.of(self.tag).words.meanings("asks")
        self.wants = {c for w in self.said for c in spoken.get(w.text, ())}
        self.telling = [
            w
            for w in telling(self.said, self.tag)
            if not has(w, self.tag, "question", "auxiliary", "ability", "others", "opener")
            and w.text not in spoken
        ]

    def means(self, word: Word) -> set[str]:
        """A word's concepts, and its stem."""
        return {word.stem, *concepts(word.text, self.tag)}


def from_facts(asked: Asked, facts: Sequence[Fact]) -> str:
    """A field of the one remembered thing that the question names or points at: "when is the report
    due?", "what's his address?"."""
    wanted = asked.wants & {"person", "date"}
    fields = [w for w in asked.telling if _is_field(asked, w)]
    if not wanted and not fields:
        return ""
    naming = [w for w in asked.telling if w not in fields and not points_back(w, asked.tag)]
    pointing = not naming and recall.reference(asked.said, asked.tag) is not None
    place = recall.reference(asked.said, asked.tag)
    for fact in facts:
        things = _things(fact)
        if pointing and place and place.position is not None:
            rows = [r.fields for r in recall.records(fact, "id") if r.listed]
            things = rows[place.position :][:1]
        if naming:
            things = _nearest(things, naming)
        elif not pointing or len(things) != 1:
            things = []
        found = [(t, v) for t in things for v in [_field(asked, t, fields, wanted)] if v]
        if found and len({v for _, v in found}) == 1:
            label = recall.text_of(found[0][0], language.title_keys())
            value = found[0][1]
            return f"{label}: {value}" if label and label != value else value
    return ""


def _nearest(things: Sequence[dict[str, Any]], naming: Sequence[Word]) -> list[dict[str, Any]]:
    """The things that hold most of the words, at least half of them."""
    held = [sum(recall.holds(t, [w]) for w in naming) for t in things]
    most = max(held, default=0)
    return [t for t, n in zip(things, held, strict=True) if n == most and 2 * n >= len(naming)]


def _is_field(asked: Asked, word: Word) -> bool:
    return bool(
        concepts(word.text, asked.tag)
        & {"#address", "#due", "#date", "#subject", "#status", "#phone", "#person", "#price"}
    )


def _things(fact: Fact) -> list[dict[str, Any]]:
    """The dicts of a fact that hold plain values."""
    return [d for d in _dicts(fact.data) if any(isinstance(v, str) for v in d.values())]


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _dicts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _dicts(item)


def _field(asked: Asked, thing: dict[str, Any], fields: Sequence[Word], wanted: set[str]) -> str:
    """The value of the field that is asked for: by its key, by the kind of its value."""
    meant = {c for w in fields for c in asked.means(w)}
    for key, value in thing.items():
        if isinstance(value, str | int) and value and _key_means(str(key)) & meant:
            return str(value)
    if "#address" in meant and (found := recall.addresses(thing, "")):
        return found[0]
    if "date" in wanted or meant & {"#date", "#due"}:
        return next(
            (str(v) for k, v in thing.items() if v and set(parts(str(k))) & keys("date_keys")), ""
        )
    if "person" in wanted or "#person" in meant:
        return next(
            (str(v) for k, v in thing.items() if v and set(parts(str(k))) & keys("party_keys")), ""
        )
    return ""


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
    value = best[1].value.strip("[]")
    return f"{label[:1].upper()}{label[1:]}: {value}"


def _fit(asked: Asked, entry: Entry) -> float:
    """How much of the question the entry explains: words of its key whole, of its section half. A
    count asks for a figure, "which" for a list."""
    figure = entry.value.lstrip("-").isdecimal()
    if figure != ("count" in asked.wants):
        return 0.0
    key, section = _key_means(entry.key), _key_means(entry.section)
    hits = [
        1.0 if asked.means(w) & key else 0.5 * bool(asked.means(w) & section) for w in asked.telling
    ]
    direct = any(h == 1.0 for h in hits)
    pointing = [w for w in asked.telling if points_back(w, asked.tag)]
    unspecific = 0.02 * len(parts(entry.key))
    return sum(hits) / max(1, len(hits) - len(pointing)) - unspecific if direct else 0.0


def done_before(tool: ToolSpec, reading: Reading, asked: Asked) -> str:
    """What the remembered turns hold of this function."""
    spoken = language.of(asked.tag)
    found = [f for f in reading.facts if (f.app_id, f.fn_name) == (tool.app_id, tool.fn_name)]
    naming = [
        w
        for w in asked.telling
        if not points_back(w, asked.tag)
        and not idle(w.text, asked.tag)
        and asked.text[w.start].isupper()
        and w.start
    ]
    found = [f for f in found if all(any(recall.holds(t, [w]) for t in _things(f)) for w in naming)]
    if not found:
        return spoken.say("not_remembered")
    texts = [
        ", ".join(
            str(v)
            for k, v in t.items()
            if isinstance(v, str) and v and set(parts(str(k))).isdisjoint(keys("id_keys"))
        )
        for f in found[:3]
        for t in _things(f)[:3]
    ]
    return spoken.say("remembered", what="; ".join(t for t in texts if t))


def about_an_effect(asked: Asked, index: Index, ranked: Sequence[Match]) -> ToolSpec | None:
    """The function with an effect that a question speaks of: the nearest one that shares a verb
    with it."""
    effects = language.of(asked.tag).words.effects
    verbs = [w for w in asked.said if not any(c[0] == "#" for c in asked.means(w))]
    meant = {c for w in verbs for c in concepts(w.text, asked.tag) if c[0] == "="}
    acts = {effects[w.stem] for w in verbs if w.stem in effects}
    for match in ranked:
        known = index.vocabulary[match.tool.name]
        own = {e for s in known.commands for e in [language.of("en").words.effects.get(s)] if e}
        if match.tool.action_type != "read" and (acts & own or meant & known.concepts):
            return match.tool
    return None
