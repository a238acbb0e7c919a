"""The collections of an index: what names them, how many they are, what part of them a clause
speaks of, and whether a sentence denies that there are any."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from .. import language
from .derive import groups
from .index import Index
from .places import Number, Owner, Place, Rows, fold
from .reading import Claim, Reading, Sentence, among

_COMMA = re.compile("[,;]\\s|\\n")
MOST_TELLING = 3
"""Words of a denial beside what it denies; with more it speaks of something else."""
PAIR = 2
"""The largest number in words that stands for things told before."""
MOST = 12
"""Values of a clause that may describe what its number counts."""
BEFORE = 24
"""Characters beside a number in which the word next to it stands."""
LONG = 60
"""Characters of a text whose numbers may count; in a title they do not."""
PLAIN = (
    "function", "possession", "looking", "perfect", "copula", "adverb", "total", "tally", "about",
    "more", "less", "others", "first_person", "quantifier", "passive", "question", "auxiliary",
    "negation", "empty", "rest", "reference", "plan", "sequence", "source",
)  # fmt: skip
"""Roles of words that pick no part of what is counted."""


@lru_cache(maxsize=8)
def plain(tag: str) -> frozenset[str]:
    """The stems of a language's words that pick no part of what is counted."""
    return frozenset().union(*(language.of(tag).words.stems(role) for role in PLAIN))


def clause(reading: Reading, claim: Claim) -> Sentence:
    """The part of a sentence between commas in which a value stands."""
    whole = reading.sentence(claim.start)
    marks = [whole.start + mark.end() for mark in _COMMA.finditer(whole.text)]
    start = max((at for at in marks if at <= claim.start), default=whole.start)
    end = min((at for at in marks if at > claim.start), default=whole.end)
    return Sentence(start, end, "")


def refers(reading: Reading, claim: Claim) -> bool:
    """Whether a small number in words stands for things told before: "the next one", "the two"."""
    words = reading.language.words
    if not claim.mention.spelled or claim.mention.value > PAIR:
        return False
    before = reading.words(claim.start - BEFORE, claim.start)[-1:]
    led = any(fold(t.text) in words.forms("determiner") for t in before)
    behind = reading.stems(claim.end, claim.end + BEFORE)[:1]
    alone = not reading.text[claim.end : claim.end + 2].strip()[:1].isalnum()
    ends = alone or among(behind, words.copula, words.perfect, words.passive)
    return ends and (led or claim.mention.value == 1)


def repeats(reading: Reading, claim: Claim, message: str) -> bool:
    """Whether a number in words is one that the message says, or stands for things told before."""
    if refers(reading, claim):
        return True
    tag, value = reading.language.tag, claim.mention.value
    said = [m for m in language.numbers(message, tag) if value in m.readings]
    dates = language.dates(message, tag) if said else ()
    return any(not any(d.start <= m.start < d.end for d in dates) for m in said)


def collections(index: Index) -> list[Rows]:
    """The lists that are answers: those that no row of another list holds."""
    return [r for r in index.tables if not any(isinstance(step, int) for step in r.owner[2:])]


def named(reading: Reading, rows: Rows, stem: str) -> bool:
    """Whether a noun names a collection: by its key, or by the same thing in English."""
    thing = reading.language.words.objects.get(stem, "-")
    english = language.of("en").words.objects
    return stem in rows.words or any(english.get(word) == thing for word in rows.words)


def of_others(rows: Rows) -> bool:
    """Whether a collection is known to hold other things than a noun that does not name it."""
    return not rows.words.isdisjoint(language.of("en").words.objects)


def totals(index: Index, rows: Rows) -> Iterator[Number]:
    """The whole numbers beside a collection, and those that the call's summary tells."""
    for number, places in index.numbers.items():
        if any(_beside(place, rows) for place in places):
            yield number


def _beside(place: Place, rows: Rows) -> bool:
    if place.path == "summary":
        return place.call == rows.call
    roles = language.key_roles(place.key)
    whole = isinstance(place.value, int) and not roles & {"paging", "id", "money", "moment"}
    return whole and place.owner == rows.owner


def sizes_of_groups(rows: Rows) -> set[int]:
    """How many rows share a value, for every field that sorts them into groups."""
    items = [row for row in rows.items[:400] if isinstance(row, dict)]
    keys = dict.fromkeys(key for row in items[:50] for key in row)
    return {len(members) for key in keys for _, members in groups(key, items)}


def rows_told(reading: Reading, index: Index, claim: Claim) -> int | None:
    """How many rows have all that the clause of a number says of them: the states, the repeated
    fields. None where it says nothing, or another value, or where the rows in sight are not all.
    """
    part = clause(reading, claim)
    inside = reading.inside(part)[:MOST]
    held = [c for c in inside if c.kind == "field"]
    told = [*(c.mention for c in held), *_states(reading, index, part, held)]
    if not _of_one_list(told) or _others(index, claim, inside):
        return None
    rows = _holding(index, told[0][0])
    if rows is None or not all(_groups_all(index, rows, places[0].key) for places in told):
        return None
    fields: dict[str, set[Owner]] = {}
    for places in told:  # several values of one field are an enumeration
        fields.setdefault(places[0].key, set()).update(p.owner for p in places)
    return len(set.intersection(*fields.values()))


def _of_one_list(told: Sequence[Sequence[Place]]) -> bool:
    """Whether fields are of the rows of one list, each told one field of them."""
    lists = {p.owner[:-1] for places in told for p in places}
    return len(lists) == 1 and all(len({p.key for p in places}) == 1 for places in told)


def _others(index: Index, claim: Claim, inside: Sequence[Claim]) -> bool:
    """Whether a clause has other values than fields and how many rows there are."""
    whole = {rows.size for rows in index.tables}
    others = (c for c in inside if c is not claim and c.kind != "field")
    return any(c.kind != "number" or c.mention.value not in whole for c in others)


def _states(
    reading: Reading, index: Index, part: Sentence, held: Sequence[Claim]
) -> Iterator[Sequence[Place]]:
    """The fields of the states that a clause tells in words that are no field as a whole."""
    taken, words = {c.start for c in held}, reading.language.words
    for token in reading.words(part.start, part.end):
        stem = reading.language.stem(token.text)
        if token.start not in taken and stem not in words.negation and stem in words.states:
            yield index.states.get(words.states[stem], ())


def _holding(index: Index, place: Place) -> Rows | None:
    calls, owner = (place.call, -1), place.owner
    mine = (r for r in index.tables if r.call in calls and owner[: len(r.owner)] == r.owner)
    return next(mine, None)


def _groups_all(index: Index, rows: Rows, key: str) -> bool:
    """Whether the rows are all there are, and the field tells groups of them."""
    items = [row for row in rows.items if isinstance(row, Mapping) and key in row]
    if rows.cut or len(items) < max(2, rows.size):
        return False
    more = any(n > len(items) for n in totals(index, rows))
    return not more and len({str(row[key]) for row in items}) < len(items)


def denied(reading: Reading, index: Index, sentence: Sentence, message: str) -> str:
    """The word that denies things which are there ("no tasks"), or nothing."""
    words, stems = reading.language.words, reading.stems(sentence.start, sentence.end)
    own = [s for s in stems if s not in words.negation and s not in words.empty]
    if len(own) == len(stems):
        return ""
    said = zip(stems, reading.words(sentence.start, sentence.end), strict=True)
    no = [t.text for s, t in said if s not in own]
    if _of_a_part(reading, sentence, own):
        return ""
    rows = _denied(reading, index, own, message)
    return no[0] if rows and all(r.items for r in rows) else ""


def _denied(reading: Reading, index: Index, own: Sequence[str], message: str) -> list[Rows]:
    """The collections that a denial speaks of: those it names, or all where it repeats a word of
    the message, or says only that nothing was found."""
    words, stem = reading.language.words, reading.language.stem
    common = plain(reading.language.tag)
    telling = [s for s in own if s not in common and s not in words.failure]
    if len(telling) > MOST_TELLING:
        return []
    rows = collections(index)
    mine = [r for r in rows if any(named(reading, r, s) for s in telling)]
    asked = {stem(t.text) for t in language.tokens(message)}
    found = among(telling, asked) or (not telling and among(own, words.looking))
    return mine or (rows if found else [])


def _of_a_part(reading: Reading, sentence: Sentence, own: Sequence[str]) -> bool:
    """Whether a denial asks, names a value or a state, or speaks of an effect."""
    words = reading.language.words
    effects = any(s in words.effects and s not in words.objects for s in own)
    parts = {s for s, part in words.values.items() if part != "all"}
    other = effects or among(own, words.plan, parts, words.states)
    return other or sentence.asks or bool(reading.inside(sentence))


def figure(place: Place) -> bool:
    """Whether a number stands for an amount of something, or was asked for: it is no id, rank or
    page of a result, and in no title."""
    if not place.path.startswith("data"):
        return True
    if isinstance(place.value, str):
        return len(place.value) > LONG
    return not language.key_roles(place.key) & {"id", "rank", "paging"}
