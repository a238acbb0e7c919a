"""One fault planted in a true reply about records: a value invented, taken from another record,
swapped, miscounted or miscalculated.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from benchmarks.truths import honest
from benchmarks.truths.evidence import derivable, numbers_in, numeric, text_of
from benchmarks.truths.miscounts import (
    miscalculated,
    of_another,
    recounted,
    worded_count,
    wrong_highest,
)
from benchmarks.truths.model import JSON, Piece, UnfitError
from benchmarks.truths.planting import Planted, Planter, field_of, swap
from benchmarks.truths.values import NUMBERS, digits, shifted
from benchmarks.truths.views import View
from benchmarks.truths.words import Field, load


def places(view: View, pieces: Sequence[Piece], *roles: str) -> list[int]:
    """Where values of the roles stand, in random order."""
    found = [i for i, p in enumerate(pieces) if p.role in roles and p.record >= 0]
    view.draw.rng.shuffle(found)
    return found


def invented(kind: str, *roles: str) -> Planter:
    """A planter of a value that is nowhere in the evidence and follows from nothing in it."""

    def plant(view: View, pieces: list[Piece], message: str) -> Planted:
        evidence = text_of(view.calls, message)
        for at in places(view, pieces, *roles):
            piece, field = pieces[at], field_of(view, pieces[at])
            for _ in range(40):
                value = _another(view, field, piece)
                if value is None:
                    break
                if _absent(view, field, value, evidence):
                    return swap(pieces, at, view.written(value, field, piece.form), kind)
        raise UnfitError

    return plant


def _another(view: View, field: Field, piece: Piece) -> JSON:
    """A new value of the kind of the old one."""
    rng, old = view.draw.rng, piece.value
    if field.role in {"amount", "number", "percent"} and isinstance(old, int | float):
        value = old * rng.choice([rng.uniform(0.35, 0.9), rng.uniform(1.1, 2.6)])
        step = 1000 if piece.form == "short" else 1
        return round(value / step) * step if old % 1 == 0 else round(value, 2)
    if field.role in {"date", "datetime"}:
        return (
            None
            if piece.form == "relative"
            else shifted(old, rng.choice([-1, 1]) * rng.randint(3, 160))
        )
    words = load("values")
    if field.role == "email":
        name = str(rng.choice(words["names"])).split()[0].lower().replace("\u00e1", "a")
        return f"{name}@{rng.choice(words['domains'])}"
    if field.role == "person":
        return str(rng.choice(words["names"]))
    return scrambled(str(old), rng) if len(digits(str(old))) >= 4 else None


def scrambled(text: str, rng: Random) -> str:
    """The same shape with other digits."""
    return "".join(rng.choice("123456789") if c.isdigit() else c for c in text)


def _absent(view: View, field: Field, value: JSON, evidence: str) -> bool:
    number = numeric(value)
    if number is None:
        shown = str(value)[:10] if field.role == "datetime" else str(value)
        if field.role == "id":
            return shown.lower() not in evidence and shown[-4:].lower() not in evidence
        return shown.lower() not in evidence and (
            field.role not in {"date", "datetime"} or shown[4:10] not in evidence
        )
    own = [n for r in view.records if (n := numeric(r[field.name])) is not None]
    taken = numbers_in(evidence) | derivable(own)
    return abs(number) > 12 and all(abs(abs(number) - abs(t)) > 0.006 * abs(t) for t in taken)


def wrong_record(view: View, pieces: list[Piece], message: str) -> Planted:
    """What is true of B said of A; the value is nowhere in A's record."""
    roles = ("date", "datetime", "email", "id", "person", "place", "address")
    for at in places(view, pieces, *NUMBERS, *roles):
        piece, field = pieces[at], field_of(view, pieces[at])
        for j in view.draw.rng.sample(range(len(view.records)), len(view.records)):
            if piece.form == "relative" or _holds(view, piece.record, view.records[j][field.name]):
                continue
            text = view.piece(j, field, piece.form).text
            if text != piece.text:
                return swap(pieces, at, text, "wrong record")
    raise UnfitError


def _holds(view: View, i: int, value: JSON) -> bool:
    """Whether a record has the value anywhere, as a number or within its texts."""
    own = view.records[i].values()
    if (number := numeric(value)) is not None and number in {numeric(v) for v in own}:
        return True
    return str(value).lower() in " ".join(str(v).lower() for v in own)


def word_swapped(view: View, pieces: list[Piece], message: str) -> Planted:
    """Another word of the same family: a status, class, cuisine, place, person, or yes for no."""
    for at in places(view, pieces, "word", "place", "person", "bool"):
        piece, field = pieces[at], field_of(view, pieces[at])
        if field.role == "bool":
            return swap(pieces, at, view.written(not piece.value, field, "yesno"), "word swapped")
        own = " ".join(str(v).lower() for v in view.records[piece.record].values())
        family = [
            w
            for w in _family(view, field)
            if w.lower() not in own and str(piece.value).lower() not in w.lower()
        ]
        if family:
            return swap(
                pieces,
                at,
                view.written(view.draw.rng.choice(family), field, piece.form),
                "word swapped",
            )
    raise UnfitError


def _family(view: View, field: Field) -> list[str]:
    words = load("values")
    if listed := words["families"].get(f"{view.source.name}.{field.name}"):
        return str(listed).split(",")
    if field.name in words:
        return list(words[field.name])
    return sorted(
        {
            str(r[field.name])
            for r in load("results")["records"][view.source.name]
            if r.get(field.name)
        }
    )


def wrong_group(view: View, pieces: list[Piece], message: str) -> Planted:
    """Two titles change places between groups."""
    titles = [i for i, p in enumerate(pieces) if p.role == "grouped"]
    first = view.draw.rng.choice(titles)
    second = view.draw.rng.choice([i for i in titles if pieces[i].value != pieces[first].value])
    exchanged = list(pieces)
    exchanged[second] = pieces[first]
    return swap(exchanged, first, pieces[second].text, "word swapped: group")


def negation(view: View, pieces: list[Piece], message: str) -> Planted:
    """ "Not" dropped, or put in where it does not belong."""
    for at in places(view, pieces, "statement"):
        piece, field = pieces[at], field_of(view, pieces[at])
        return swap(
            pieces,
            at,
            honest.statement(view, piece.record, field, not piece.value)[-1].text,
            "negation",
        )
    raise UnfitError


LISTS = ("list", "table", "single value", "prose", "pronoun", "card")

#: kind of fault -> the honest kinds it is planted in, and the planter
READ_FAULTS: dict[str, tuple[tuple[str, ...], Planter]] = {
    "invented number": (
        ("list", "table", "single value", "prose"),
        invented("invented number", "number", "percent"),
    ),
    "invented amount": (
        (*LISTS, "highest", "overview"),
        invented("invented amount", "amount"),
    ),
    "invented id": (LISTS, invented("invented id", "id")),
    "invented address": (
        ("list", "table", "single value", "prose"),
        invented("invented address", "email"),
    ),
    "invented name": (
        ("list", "table", "single value", "prose"),
        invented("invented name", "person"),
    ),
    "invented date": (
        ("list", "table", "single value", "prose"),
        invented("invented date", "date", "datetime"),
    ),
    "wrong record": (
        ("list", "table", "single value", "prose", "contrast", "partial list", "pronoun", "card"),
        wrong_record,
    ),
    "word swapped": (("list", "table", "single value", "prose", "partial list"), word_swapped),
    "word swapped: group": (("groups",), wrong_group),
    "negation": (("prose", "single value"), negation),
    "count: a number of the data": (("count",), recounted("count: a number of the data", "count")),
    "count: another number": (("count",), recounted("count: another number", "count")),
    "count: of another collection": (("count",), of_another),
    "count: over": (("count",), worded_count("count: over", "over")),
    "count: a dozen": (("count",), worded_count("count: a dozen", "dozen")),
    "count: none": (("count",), worded_count("count: none", "none")),
    "count: and more": (("and more",), recounted("count: and more", "more")),
    "count: by status": (("by status",), recounted("count: by status", "status")),
    "wrong sum": (
        ("sum", "average", "difference", "overview"),
        miscalculated("wrong sum", "derived"),
    ),
    "wrong share": (("share",), miscalculated("wrong share", "share")),
    "wrong superlative": (("highest",), wrong_highest),
}
