"""Words that tell what is so: a state ("cancelled", "unpaid"), a flag ("returned" of
`deposit_returned: false`), a value of a column that sorts rows.

Such a word contradicts where the one record that its clause names has the opposite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..language import Language, Token, fold
from .index import Index
from .layout import is_label
from .names import labels
from .places import Owner, Place
from .reading import Claim, Reading, Sentence, among
from .records import Value

DATED, NEAR = ("date", "time", "moment"), 12
"""Kinds of values that tell when; characters behind a label in which its value begins."""

_COUNT = re.compile(r"[*_]*:[*_]*\s[*_]*")


@dataclass(slots=True)
class Word:
    """A word that tells what is so: the fields that bear it out, and those that say otherwise;
    `heads`: it tells of what a number behind it counts ("Open: 3")."""

    claim: Claim
    bears: Sequence[Place]
    denies: Sequence[Place]
    flag: bool = False
    heads: bool = False


def words(reading: Reading, index: Index, taken: frozenset[int]) -> Iterator[Word]:
    """The words that tell a state, a flag or a value of a column; `taken`: where fields repeated as
    a whole stand. No verb in another form, plan or label."""
    known = reading.language.words.states.keys() | index.flagged(reading.language).keys()
    for token, stem in reading.stemmed():
        if token.start in taken or not (stem in known or index.sorting(stem, reading.language)):
            continue
        if (heads := _told_as(reading, token)) is None:
            continue
        if told := _told(index, reading.language, token.text, stem):
            bears, denies = told
            part = reading.clause(token.start)
            if denied(reading, token.start):
                bears, denies = denies, bears
            elif among(reading.stems(part.start, part.end), *_less(reading)):
                continue
            flag = all(isinstance(p.value, bool) for p in (*bears, *denies))
            yield Word(
                Claim("state", token.text, token.start, token.end), bears, denies, flag, heads
            )


def _told(
    index: Index, spoken: Language, word: str, stem: str
) -> tuple[Sequence[Place], Sequence[Place]] | None:
    """The fields that a word bears out, and those that it denies."""
    if held := _state(index, spoken.words.states.get(stem, "")):
        return held
    if flags := index.flagged(spoken).get(stem):
        return [p for p in flags if p.value], [p for p in flags if not p.value]
    same = [p for p in index.sorting(stem, spoken) if _form(fold(word), fold(p.value))]
    column = index.column(same[0]) if same else []
    return (same, [p for p in column if p not in same]) if same else None


def _state(index: Index, state: str) -> tuple[Sequence[Place], Sequence[Place]] | None:
    """The fields that tell a state, and those that tell another of its group."""
    group, _, name = state.partition(":")
    held = index.of_group(group) if name and group != "answer" else []
    bears = index.states.get(state, [])
    return (bears, [p for p in held if p not in bears]) if held else None


def _form(one: str, other: str) -> bool:
    """Whether one word is the other, or that with an ending."""
    return one.startswith(other)


def _told_as(reading: Reading, token: Token) -> bool | None:
    """Whether a word is the label of a number, None where it does not say that something is so."""
    heads = _heads(reading, token)
    return heads if heads or not _plain(reading, token) else None


def _heads(reading: Reading, token: Token) -> bool:
    """Whether a word is the label of a number without a unit."""
    behind = _COUNT.match(reading.text, token.end)
    inside = reading.inside(reading.sentence(token.start)) if behind else ()
    number = next((c for c in inside if behind and c.start == behind.end()), None)
    if number is None or number.kind != "number" or number.mention.unit:
        return False
    return not among(reading.stems(number.end, number.end + 24)[:1], reading.language.words.units)


def _plain(reading: Reading, token: Token) -> bool:
    """Whether a word for a state does not say that something is so."""
    spoken = reading.language
    verb = spoken.stem(token.text) in spoken.words.effects and not spoken.tells(token.text)
    before = [fold(t.text) for t in reading.words(token.start - 24, token.start)[-3:]]
    planned = not spoken.words.forms("plan").isdisjoint(before)
    last = reading.before(Claim("", "", token.start, token.end))
    share = last is not None and last.kind == "percent" and token.start - last.end < 2
    return verb or planned or share or labels(reading.text, token)  # "72 % done" is on its way


def _less(reading: Reading) -> tuple[frozenset[str], ...]:
    return reading.language.words.negation, reading.language.words.limits


def denied(reading: Reading, at: int) -> bool:
    """Whether a word right before denies what follows."""
    negation = reading.language.words.negation
    if not among(reading.stems(at - 24, at)[-3:], negation):
        return False
    first = max(at - 24, reading.clause(at).start)  # "No, it is cancelled" denies nothing
    return among(reading.stems(first, at)[-3:], negation)


def hedged(reading: Reading, claim: Claim) -> bool:
    """Whether a state or a deed is denied or to come ("nothing has been paid"), or the
    label of a date."""
    words = reading.language.words
    plain = claim.kind in ("field", "name") and claim.token.islower()  # "without a crew assigned"
    if not (plain or among([reading.language.stem(claim.token)], words.states, words.effects)):
        return False
    before = reading.words(claim.start - 24, claim.start)[-3:]
    planned = any(fold(t.text) in words.forms("plan") for t in before)
    return planned or denied(reading, claim.start) or _heads_a_date(reading, claim)


def _heads_a_date(reading: Reading, claim: Claim) -> bool:
    """Whether a word is the label of a date."""
    behind = reading.inside(Sentence(claim.end, claim.end + NEAR, ""))[:1]
    return is_label(reading.text, claim.end) and any(c.kind in DATED for c in behind)


def contradicted(
    reading: Reading, index: Index, words: Sequence[Word], values: Sequence[Value]
) -> Iterator[Claim]:
    """The words that the one record which their clause names denies, or the one field in sight that
    they can speak of."""
    for word in words:
        if not word.heads and _is_denied(reading, index, word, _meant(reading, word, values)):
            yield word.claim


def _is_denied(reading: Reading, index: Index, word: Word, mine: set[Owner]) -> bool:
    bears, denies = {p.owner for p in word.bears}, {p.owner for p in word.denies}
    if mine & denies:
        return not mine & bears
    alone = len(word.denies) == 1 and not word.bears and not mine & _rows(index, word)
    return alone and (word.flag or _keyed(reading, word))


def _meant(reading: Reading, word: Word, values: Sequence[Value]) -> set[Owner]:
    """The records that the other values of a word's clause have in common."""
    part, own = reading.clause(word.claim.start), {p.key for p in (*word.bears, *word.denies)}
    about = [v for v in values if v.text and part.start <= v.claim.start < part.end]
    rows = [{p.owner for p in v.places} for v in about if v.keys.isdisjoint(own)]
    return set.intersection(*rows) if rows else set()


def _rows(index: Index, word: Word) -> set[Owner]:
    """The rows of the table in which a word's fields lie."""
    tables = {p.owner[:-1] for p in word.denies}
    return {p.owner for p in index.fields() if p.owner[:-1] in tables}


def _keyed(reading: Reading, word: Word) -> bool:
    """Whether the clause of a word names the key of the field that denies it."""
    part, stem = reading.clause(word.claim.start), reading.language.stem
    keys = {stem(w) for p in word.denies for w in p.key.lower().split("_")}
    return not keys.isdisjoint(reading.stems(part.start, part.end))
