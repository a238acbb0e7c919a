"""How many rows the clause of a number can speak of at most.

The values, states, names and flags of a clause pick rows of the collection that it counts. Words
that name nothing in the data may narrow them further and never widen them, so a number above the
rows picked is contradicted, and one below is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import combinations

from .. import language
from .asking import Ground
from .index import Index
from .parts import clause, named, plain
from .places import MESSAGE, Number, Owner, Place, Rows, fold, key_words
from .reading import MASK, Claim, Reading, Sentence, among

Grounding = Callable[[Claim], Ground | None]
MOST_FIELDS = 20
"""Fields that hold a word; where there are as many, there may be more than were looked up."""
NOUN = 5
"""Words behind a number among which its noun stands."""
OF_A_CALL = 2
"""Steps to a call, above all of its rows."""
NEXT = 4
"""Characters between a weekday and its date."""
BESIDE = 20
"""Characters between a part and its whole: "two of your four"."""
MOMENTS = frozenset(("date", "weekday", "moment", "time", "month", "period"))
PICKING = MOMENTS | {"field", "name", "quote", "code"}
_MARK = re.compile(r"[:;(\u2013\u2014]|\.\s")
_STEP = re.compile(r"(?:\[\d+\])+$")
SHORTEST = 3
"""Letters of a word that may name a flag or a record."""


def picked(
    reading: Reading, index: Index, claim: Claim, ground: Grounding
) -> tuple[int, bool] | None:
    """How many rows the clause of a number picks, and whether it says nothing else, so that it is
    no smaller part of them; None where that is not known, or where one of these rows, or what
    stands above them, has the number itself."""
    part = _part(reading, claim)
    inside = [c for c in reading.inside(part) if c is not claim]
    tables = _counted(reading, index, part, claim, inside)
    if not tables or _unsure(reading, part, inside):
        return None
    whole = any(rows.size == claim.mention.value for rows in tables)
    if whole or among(reading.near(claim), reading.language.words.less):
        return None  # a clause that counts all of them goes on to tell of some
    picks = [p for p in _picks(reading, index, part, inside, ground) if _rows(tables, p)]
    if not picks:
        return None
    rows = _combined(tables, picks)
    if _has(index, claim.mention.value, rows, tables, picks):
        return None
    return len(rows), _says_all(reading, part, inside, tables, picks)


def _says_all(
    reading: Reading,
    part: Sentence,
    inside: Sequence[Claim],
    tables: Sequence[Rows],
    picks: Sequence[Sequence[Place]],
) -> bool:
    """Whether a clause names the whole by its size and one field that tells of each row, and is
    made of nothing else: "four of your six devices are online"."""
    keys = {place.key for pick in picks for place in pick}
    if len(tables) > 1 or len(picks) > 1 or len(keys) > 1:
        return False
    rows, key = tables[0], picks[0][0].key
    if not _has_key(rows, key) or not inside or not all(_sizes(c, rows) for c in inside):
        return False
    told = {*plain(reading.language.tag), *key_words(key), *_stems(reading, picks[0])}
    left = set(reading.stems(part.start, part.end)) - told
    return all(named(reading, rows, stem) for stem in left)


def _sizes(claim: Claim, rows: Rows) -> bool:
    """Whether a value is the size of some rows, or a field."""
    return claim.kind == "field" or (claim.kind == "number" and claim.mention.value == rows.size)


def _has_key(rows: Rows, key: str) -> bool:
    return all(isinstance(row, dict) and key in row for row in rows.items)


def _stems(reading: Reading, places: Sequence[Place]) -> set[str]:
    texts = " ".join(str(place.value) for place in places)
    return {reading.language.stem(token.text) for token in language.tokens(texts)}


def _part(reading: Reading, claim: Claim) -> Sentence:
    """The clause of a number as far as the marks around it."""
    whole = clause(reading, claim)
    marks = list(_MARK.finditer(reading.text, whole.start, whole.end))
    start = max((m.end() for m in marks if m.end() <= claim.start), default=whole.start)
    end = min((m.start() for m in marks if m.start() >= claim.end), default=whole.end)
    return Sentence(start, end, "")


def _unsure(reading: Reading, part: Sentence, inside: Sequence[Claim]) -> bool:
    """Whether a clause asks, denies, plans, compares or names more than one moment."""
    words, stems = reading.language.words, reading.stems(part.start, part.end)
    moments = [c for c in inside if c.kind in MOMENTS and _dated(reading, c) is c]
    roles = [words.negation, words.limits, words.rest, words.hypothetical, words.empty]
    roles += [words.question, words.clause_words, words.and_]
    limited = any(among(reading.near(c)[-1:], words.source) for c in moments)
    asks = reading.sentence(part.start).asks
    return len(moments) > 1 or limited or asks or among(stems, *roles)


def _counted(
    reading: Reading, index: Index, part: Sentence, claim: Claim, inside: Sequence[Claim]
) -> list[Rows]:
    """The whole collections that a number may count: those that its noun names, or of the size that
    stands beside it ("two of the four"); all where a verb follows ("three are online")."""
    before = reading.before(claim)
    if before and before.kind == "number" and claim.start - before.end <= BESIDE:
        return []
    beside = {c.mention.value for c in inside if _beside(claim, c)}
    behind = reading.stems(claim.end, part.end)[:NOUN]
    if not (claim.mention.spelled or beside) and among(behind[:1], reading.language.words.function):
        return []  # "45 for classes" is an amount
    return [rows for rows in _meant(reading, index, behind, beside) if _whole(index, rows)]


def _beside(claim: Claim, other: Claim) -> bool:
    return other.kind == "number" and 0 < other.start - claim.end <= BESIDE


def _meant(
    reading: Reading, index: Index, behind: Sequence[str], sizes: Container[Number]
) -> list[Rows]:
    """The collections that the words behind a number, or the size there, stand for."""
    words = reading.language.words
    if among(behind[:1], words.copula, words.passive):
        return index.tables
    return _of_noun(reading, index, behind) or [r for r in index.tables if r.size in sizes]


def _of_noun(reading: Reading, index: Index, behind: Sequence[str]) -> list[Rows]:
    """The collections that a word behind a number names, as far as a verb."""
    perfect = reading.language.words.perfect
    nouns = behind[: next((at for at, s in enumerate(behind) if s in perfect), NOUN)]
    said = [r for r in index.tables if any(named(reading, r, s) for s in nouns)]
    return said or [r for r in index.tables if not _keyed(reading, r).isdisjoint(nouns)]


def _whole(index: Index, rows: Rows) -> bool:
    """Whether all rows of a collection are shown."""
    items = [row for row in rows.items if isinstance(row, dict)]
    complete = not rows.cut and rows.call > MESSAGE and len(items) == rows.size > 0
    return complete and not any(_tells_more(index, p, rows) for p in index.figures)


def _tells_more(index: Index, place: Place, rows: Rows) -> bool:
    """Whether a total beside a collection is more than there are rows."""
    if place.call != rows.call or place.value <= rows.size:
        return False
    spoken = language.of(index.tag)
    words = {spoken.stem(word) for word in place.key.lower().split("_")}
    tells = "total" in language.key_roles(place.key) or among(
        words, spoken.words.total, spoken.words.tally
    )
    exact = isinstance(place.value, int) and "minor" not in language.key_roles(place.key)
    return place.path == "summary" or (tells and exact and _above(place, rows))


def _keyed(reading: Reading, rows: Rows) -> set[str]:
    """The nouns of the reply's language that the key of some rows is, and the thing that their id
    is of: `post_id`."""
    row = next(iter(rows.items), None)
    ids = [key[:-3] for key in row if key[-3:] == "_id"] if isinstance(row, dict) else []
    own = rows.path.rpartition(".")[2].split("_")
    return {reading.language.stem(word.lower()) for word in [*own, *ids]}


def _picks(
    reading: Reading, index: Index, part: Sentence, inside: Sequence[Claim], ground: Grounding
) -> Iterator[list[Place]]:
    """The fields that each value or word of a clause names."""
    for claim in inside:
        if claim.kind in PICKING:
            held = _known(_shown(reading, index, claim, ground))
            dated = [p for p in held if claim.kind in MOMENTS and _in_rows(index, p)]
            yield dated or held  # a day that rows have is theirs, whatever else is of that day
    for token in reading.words(part.start, part.end):
        if MASK not in token.text and len(token.text) >= SHORTEST:
            yield _known(_of_word(reading, index, token.text))


def _of_word(reading: Reading, index: Index, word: str) -> list[Place]:
    """The fields that a name, a word for a state or the name of a flag stands for, and all others
    that hold the word."""
    spoken, stem = reading.language, reading.language.stem(word)
    if stem in plain(spoken.tag):
        return []
    flags = [f for f in index.flags if f.value and key_words(f.key)[-1:] == (stem,)]
    told = [*_named(reading, index, word), *_told(index, spoken.words.states, stem), *flags]
    return [*told, *index.word(word, spoken)] if told else []


def _in_rows(index: Index, place: Place) -> bool:
    return len(place.owner) > OF_A_CALL and index.is_row(place.owner)


def _dated(reading: Reading, claim: Claim) -> Claim:
    """The date behind a weekday ("Monday, 24 November"), else the value itself."""
    beside = (
        c for c in reading.inside(reading.sentence(claim.start)) if 0 <= c.start - claim.end <= NEXT
    )
    dates = (c for c in beside if claim.kind == "weekday" and c.kind in ("date", "moment"))
    return next(dates, claim)


def _shown(reading: Reading, index: Index, claim: Claim, ground: Grounding) -> list[Place]:
    """The fields in which a value of a clause stands, alone or within a text."""
    found = ground(_dated(reading, claim))
    held = list(found.places) if found and not found.formula else []
    return [*held, *index.find(claim.token)] if held else []


def _told(index: Index, states: Mapping[str, str], stem: str) -> list[Place]:
    return index.states.get(states[stem], []) if stem in states else []


def _named(reading: Reading, index: Index, word: str) -> list[Place]:
    """The fields that hold a word which only a name can be."""
    spoken = reading.language
    name = word[0].isupper() and fold(word) not in spoken.vocabulary and not spoken.capital_nouns
    return index.word(word, spoken) if name else []


def _known(places: Sequence[Place]) -> list[Place]:
    """The fields of results and their arguments, where these are all that hold the value."""
    mine = [p for p in dict.fromkeys(places) if p.call > MESSAGE]
    return mine if len(mine) < MOST_FIELDS else []


def _rows(tables: Sequence[Rows], places: Sequence[Place]) -> set[Owner]:
    """The rows of some collections that hold a field, or stand below it."""
    found: set[Owner] = set()
    for rows in tables:
        ids = _ids(rows)
        for place in places:
            found |= ids if _above(place, rows) else {i for i in ids if _in(place, i, rows)}
    return found


def _ids(rows: Rows) -> set[Owner]:
    """The owners of the rows of a collection."""
    key = _STEP.sub("", rows.path.rpartition(".")[2] if "." in rows.path else "")
    return {(*rows.owner, key, at) for at in range(rows.size)}


def _above(place: Place, rows: Rows) -> bool:
    return place.owner == rows.owner[: len(place.owner)]


def _in(place: Place, row: Owner, rows: Rows) -> bool:
    return place.owner[: len(row)] == row and place.path.startswith(rows.path)


def _combined(tables: Sequence[Rows], picks: Sequence[Sequence[Place]]) -> set[Owner]:
    """The rows that all picks share; those that any has where two are values of one field."""
    sets = [(frozenset(p.key for p in pick), _rows(tables, pick)) for pick in picks]
    alike = any(not a[0].isdisjoint(b[0]) for a, b in combinations(sets, 2))
    rows = [one for _, one in sets]
    return set.union(*rows) if alike else set.intersection(*rows)


def _has(
    index: Index,
    number: Number,
    rows: set[Owner],
    tables: Sequence[Rows],
    picks: Sequence[Sequence[Place]],
) -> bool:
    """Whether a field of the rows picked, or of what was picked by name, or above all rows, is the
    number itself."""
    above = {r.owner[:steps] for r in tables for steps in range(len(r.owner) + 1)}
    picked_alone = {p.owner for pick in picks for p in pick} - above
    held = [p for p in index.numbers.get(number, ()) if _figure(p)]
    owners = rows | picked_alone
    return any(_held(p, owners) or any(_above(p, r) for r in tables) for p in held)


def _figure(place: Place) -> bool:
    """Whether a field of a result is a number, and no id."""
    told = place.path.startswith("data") and not isinstance(place.value, str)
    return told and "id" not in language.key_roles(place.key)


def _held(place: Place, owners: set[Owner]) -> bool:
    return any(place.owner[: len(owner)] == owner for owner in owners)
