"""Figures against the fields that they are told of: if most cells of a column are the same field of
their rows' records, all must be; and a figure must not be another field than its clause names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from .. import language
from .figures import Ground
from .index import Index
from .places import Number, Owner, Place, key_words, kind_of, unit_of_key
from .reading import Claim, Reading, Sentence

MIN_ROWS = 2
"""Minimum rows that determine a column's field."""
MAX_FIELDS = 30
"""Maximum figures of one object among which another field is looked for."""
FIGURES = frozenset(("number", "money", "percent"))
CELL_KINDS = FIGURES | {"time", "date", "moment", "field"}
"""Kinds of values considered in a column."""
ByStart = Mapping[int, Sequence[Place]]
Field = tuple[Owner, str]
Row = tuple[Owner, Mapping[str, Claim]]
Grounds = Sequence[tuple[Claim, Ground]]
Objects = dict[tuple[int, Owner, str], list[Place]]


def column_outliers(reading: Reading, index: Index, places: ByStart) -> Iterator[tuple[Claim, str]]:
    """The values in tables that differ from their column's field, each with the record's value;
    `places` are the fields of a value by its start offset."""
    for rows in _tables(reading, index, places):
        for column, field in _fields(rows, places).items():
            for owner, claim in _cells(rows, column):
                own, held = (_fields_of(claim, owner, places), _record_value(index, field, owner))
                # a record without the column's field may tell another one of its own there
                if field not in own and (held or not own):
                    yield claim, held


def _tables(reading: Reading, index: Index, places: ByStart) -> Iterator[Sequence[Row]]:
    """The rows of each table, and of each list whose items have the same figures."""
    for mark, parts in groupby(reading.sentences, key=_mark):
        rows = [_row(reading, index, part, places) for part in parts] if mark else []
        if mark == "|" or len({tuple(cells) for _, cells in rows}) == 1:
            yield rows


def _cells(rows: Sequence[Row], column: str) -> Iterator[tuple[Owner, Claim]]:
    """The values of a column with their rows' records."""
    return ((owner, cells[column]) for owner, cells in rows if owner and column in cells)


def _mark(part: Sentence) -> str:
    """The mark of a table row or list item; empty for other lines."""
    first = part.text.lstrip()[:2]
    return "|" if first[:1] == "|" else "-" if first in ("- ", "* ", "\u2022 ") else ""


def _columns(reading: Reading, part: Sentence) -> Iterator[tuple[str, Claim]]:
    """The values of a row with their column: its cell, or in a list kind and position."""
    is_table, figures = _mark(part) == "|", 0
    for claim in reading.claims_in(part):
        is_plain = not getattr(claim.mention, "is_spelled", False)
        if is_plain and is_table and claim.kind in CELL_KINDS:
            yield str(reading.text.count("|", part.start, claim.start)), claim
        elif is_plain and claim.kind in FIGURES:
            figures += 1
            yield f"{claim.kind} {figures}", claim


def _record_value(index: Index, field: Field, owner: Owner) -> str:
    """A record's value in a field as text, or empty."""
    whole, key = (*owner, *field[0]), field[1]
    column = index.column(Place(0, "", key, whole, None))
    return next((f"{key}: {p.value}" for p in column if p.owner == whole), "")


def _row(reading: Reading, index: Index, part: Sentence, places: ByStart) -> Row:
    """The record that most values of a row belong to (texts count twice), or () for a tie; and its
    values by column, where unique."""
    votes, cells = Counter[Owner](), dict[str, Claim | None]()
    for claim in reading.claims_in(part):
        owners = {p.owner for p in places.get(claim.start, ()) if index.is_row(p.owner)}
        votes.update(dict.fromkeys(owners, 1 if claim.kind in FIGURES else 2))
    for column, claim in _columns(reading, part):
        # two values in one cell do not tell what its column shows
        cells[column] = None if column in cells else claim
    (owner, most), (_, next_most) = [*votes.most_common(2), ((), 0), ((), 0)][:2]
    single = {column: claim for column, claim in cells.items() if claim}
    return owner if most > next_most else (), single


def _fields(rows: Sequence[Row], places: ByStart) -> dict[str, Field]:
    """The field of each column, by majority of its rows."""
    votes: dict[str, Counter[Field]] = {}
    sizes = Counter[str]()
    for owner, cells in rows:
        for column, claim in cells.items() if owner else ():
            sizes[column] += 1
            votes.setdefault(column, Counter()).update(_fields_of(claim, owner, places))
    found = {column: counted.most_common(1) for column, counted in votes.items()}
    return {c: f[0][0] for c, f in found.items() if f and MIN_ROWS <= f[0][1] > sizes[c] / 2}


def _fields_of(claim: Claim, owner: Owner, places: ByStart) -> set[Field]:
    """The fields of a record, or nested in it, that have the value."""
    size = len(owner)
    own = (p for p in places.get(claim.start, ()) if p.owner[:size] == owner)
    return {(p.owner[size:], p.key) for p in own}


def wrong_fields(reading: Reading, index: Index, grounds: Grounds) -> Iterator[tuple[Claim, str]]:
    """The figures whose clause names another field of the same record and not their own, each with
    that field; not where the reply tells that field's value too."""
    for claim, place in _figures_of_one_field(grounds):
        fields = index.cached("objects", partial(_by_object, index))[_object_of(place)]
        rivals = [p for p in fields[:MAX_FIELDS] if _is_rival(p, place)]
        for other in _named_fields(reading, claim, place, rivals) if rivals else ():
            yield claim, f"{other.key}: {other.value}"


def _figures_of_one_field(grounds: Grounds) -> Iterator[tuple[Claim, Place]]:
    for claim, ground in grounds:
        is_figure = claim.kind in ("number", "money") and not claim.mention.is_spelled
        if is_figure and not ground.formula and len(ground.places) == 1 and ground.places[0].key:
            yield claim, ground.places[0]


def _named_fields(
    reading: Reading, claim: Claim, place: Place, rivals: Sequence[Place]
) -> Iterator[Place]:
    """The rivals that the clause names, and whose figure the reply does not tell."""
    words = _clause_words(reading, claim)
    named = (other for other in rivals if _names_other(words, place, other))
    return (other for other in named if not _is_told(reading, other.value))


def _is_told(reading: Reading, value: Number) -> bool:
    """Whether the reply tells a value as it is, of hundredths or as a percentage."""
    figures = (c.mention.readings for c in reading.claims if c.kind in FIGURES)
    values = {abs(v) for readings in figures for v in readings}
    return not values.isdisjoint((abs(value), abs(value) / 100, abs(value) * 100))


def _by_object(index: Index) -> Objects:
    """The figures of each object, which are fields of one record side by side."""
    found: Objects = defaultdict(list)
    for place in index.figures:
        found[_object_of(place)].append(place)
    return found


def _object_of(place: Place) -> tuple[int, Owner, str]:
    return place.call, place.owner, place.path.rpartition(".")[0]


def _is_rival(other: Place, place: Place) -> bool:
    is_alike = other.value != place.value and kind_of(other.key) == kind_of(place.key)
    return is_alike and "id" not in language.key_roles(other.key)


def _clause_words(reading: Reading, claim: Claim) -> set[str]:
    """The stems of the words around a figure up to the next value, in the reply's language and in
    English; without function words."""
    clause, last = reading.clause(claim.start), reading.before(claim)
    following = reading.after(claim)
    start = max(clause.start, last.end if last else 0)
    end = min(clause.end, following.start if following else len(reading.text))
    spoken, english = reading.language, language.of("en")
    tokens = [token.text.lower() for token in reading.words(start, end)]
    told = [word for word in tokens if spoken.stem(word) not in spoken.words.function]
    return {stem for word in told for stem in (spoken.stem(word), english.stem(word))}


def _names_other(words: set[str], place: Place, other: Place) -> bool:
    """Whether words name another field, and not the one of the figure."""
    own, others = {*key_words(place.key)}, {*key_words(other.key)}
    others -= {word for word in others if unit_of_key(word).name}
    return not words.isdisjoint(others - own) and words.isdisjoint(own - others)
