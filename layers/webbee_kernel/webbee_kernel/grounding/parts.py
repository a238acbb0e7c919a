"""The collections of an index: what names them, how many they are, which part of them a sentence
speaks of, and whether it denies that there are any."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from .. import language
from . import names
from .flags import clauses
from .index import Index
from .places import Number, Owner, Place, Rows
from .reading import Claim, Reading, Sentence, among

_COMMA = re.compile("[,;]\\s")
MOST_TELLING = 3
MOST = 12
"""Values of a clause that may describe what its number counts."""
LONGEST_DENIAL = 8
"""Words of a sentence that says there is nothing."""


def collections(index: Index) -> list[Rows]:
    """The lists that are answers: those that no row of another list holds."""
    return [r for r in index.tables if not any(isinstance(step, int) for step in r.owner[2:])]


def named(reading: Reading, rows: Rows, stem: str) -> bool:
    """Whether a noun names a collection: by its key, or by the same thing in English."""
    thing = reading.language.words.objects.get(stem, "-")
    english = language.of("en").words.objects
    return stem in rows.words or any(english.get(word) == thing for word in rows.words)


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


def rows_told(reading: Reading, index: Index, claim: Claim) -> int | None:
    """How many rows have all that the clause of a number says of them: the states, the repeated
    fields, the words of keys. None where it says nothing, or where the rows in sight are not all.
    """
    told = list(_told(reading, index, claim))
    if not told:
        return None
    owners = set.intersection(*({p.owner for p in places} for places in told))
    rows = _holding(index, told[0][0])
    whole = rows and all(_groups_all(index, rows, places[0].key) for places in told)
    return len(owners) if whole else None


def _told(reading: Reading, index: Index, claim: Claim) -> Iterator[Sequence[Place]]:
    """The fields that a clause with one number tells of, each kind of them of one list; nothing
    where it tells something else as well."""
    spans = clauses(reading.sentence(claim.start), _COMMA)
    start, end = next(span for span in spans if span[0] <= claim.start < span[1])
    inside = reading.inside(Sentence(start, end, ""))
    if len(inside) > MOST:
        return
    held = [c for c in inside if c.kind == "field"]
    told = [*(c.mention for c in held), *_states(reading, index, start, end, held)]
    lists = {p.owner[:-1] for places in told for p in places}
    if len(inside) == 1 + len(held) and len(lists) == 1:
        yield from (told if all(len({p.key for p in places}) == 1 for places in told) else ())


def _states(
    reading: Reading, index: Index, start: int, end: int, held: Sequence[Claim]
) -> Iterator[Sequence[Place]]:
    """The fields of the states that a clause tells in words that are no field as a whole."""
    taken = {c.start for c in held}
    for token in reading.words(start, end):
        state = names.state(reading, token)
        if state and token.start not in taken:
            yield index.states.get(state, ())


def _holding(index: Index, place: Place) -> Rows | None:
    owner: Owner = place.owner
    mine = [
        r for r in index.tables if r.call in (place.call, -1) and owner[: len(r.owner)] == r.owner
    ]
    return mine[0] if mine else None


def _groups_all(index: Index, rows: Rows, key: str) -> bool:
    """Whether the rows are all there are, and the field tells groups of them."""
    items = [row for row in rows.items if isinstance(row, Mapping) and key in row]
    if rows.cut or len(items) < max(2, rows.size):
        return False
    more = any(n > len(items) for n in totals(index, rows))
    return not more and len({str(row[key]) for row in items}) < len(items)


def denied(reading: Reading, index: Index, sentence: Sentence, message: str) -> str:
    """The word that denies things which are there ("no tasks"), or nothing."""
    words = reading.language.words
    tokens = reading.words(sentence.start, sentence.end)
    no = [
        t.text
        for t in tokens
        if among([reading.language.stem(t.text)], words.negation, words.empty)
    ]
    if not no or len(tokens) > LONGEST_DENIAL:
        return ""
    said = reading.stems(sentence.start, sentence.end)
    own = [s for s in said if not among([s], words.negation, words.empty)]
    if _of_a_part(reading, sentence, own):
        return ""
    rows = _denied(reading, index, own, message)
    return no[0] if rows and all(r.items for r in rows) else ""


def _of_a_part(reading: Reading, sentence: Sentence, own: Sequence[str]) -> bool:
    """Whether a denial asks, names a value or a state, or speaks of an effect."""
    words = reading.language.words
    if not among(own, words.looking) and among(own, words.failure):
        return True
    verbs = [s for s in own if s not in words.looking and s not in words.objects]
    other = among(own, words.plan, words.values, words.states) or among(verbs, words.effects)
    return other or sentence.asks or bool(reading.inside(sentence))


def _denied(reading: Reading, index: Index, own: Sequence[str], message: str) -> list[Rows]:
    """The collections that a denial speaks of: those it names, or all where it repeats a word of
    the message, or says only that nothing was found."""
    words = reading.language.words
    plain = frozenset().union(
        words.function,
        words.possession,
        words.looking,
        words.perfect,
        words.others,
        words.failure,
        words.first_person,
        words.quantifier,
    )
    telling = [s for s in own if s not in plain]
    if len(telling) > MOST_TELLING:
        return []
    rows = collections(index)
    mine = [r for r in rows if any(named(reading, r, s) for s in telling)]
    found = not telling and among(own, words.looking)
    return mine or (rows if found or _repeats(reading, telling, message) else [])


def _repeats(reading: Reading, stems: Sequence[str], message: str) -> bool:
    asked = {reading.language.stem(t.text) for t in language.tokens(message)}
    return among(stems, asked)
