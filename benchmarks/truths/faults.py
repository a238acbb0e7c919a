"""One fault planted in a true reply about records: a value invented, taken from another record, swapped, miscounted or miscalculated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from benchmarks.truths import honest
from benchmarks.truths.evidence import derivable, numbers_in, numeric, text_of
from benchmarks.truths.model import JSON, Fault, Piece, UnfitError
from benchmarks.truths.values import NUMBERS, digits, localised, shifted
from benchmarks.truths.views import View
from benchmarks.truths.words import Field, load

Planted = tuple[list[Piece], Fault]


def swap(pieces: Sequence[Piece], at: int, text: str, kind: str) -> Planted:
    """Replace the text of one piece; the new words must differ from the old."""
    old = pieces[at].text
    if text == old:
        raise UnfitError
    return [*pieces[:at], replace(pieces[at], text=text), *pieces[at + 1 :]], Fault(kind, text, old)


def field_of(view: View, piece: Piece) -> Field:
    return next(f for f in view.source.fields if f.name == piece.field)


def places(view: View, pieces: Sequence[Piece], *roles: str) -> list[int]:
    """Where values of the roles stand, in random order."""
    found = [i for i, p in enumerate(pieces) if p.role in roles and p.record >= 0]
    view.draw.rng.shuffle(found)
    return found


def invented(kind: str, *roles: str) -> Callable[[View, list[Piece], str], Planted]:
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
        return None if piece.form == "relative" else shifted(old, rng.choice([-1, 1]) * rng.randint(3, 160))
    words = load("values")
    if field.role == "email":
        return f"{rng.choice(words['names']).split()[0].lower()}@{rng.choice(words['domains'])}".replace("\u00e1", "a")
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
        return shown.lower() not in evidence and (field.role not in {"date", "datetime"} or shown[4:10] not in evidence)
    own = [n for r in view.records if (n := numeric(r[field.name])) is not None]
    taken = numbers_in(evidence) | derivable(own)
    return abs(number) > 12 and all(abs(abs(number) - abs(t)) > 0.006 * abs(t) for t in taken)


def wrong_record(view: View, pieces: list[Piece], message: str) -> Planted:
    """What is true of B said of A; the value is nowhere in A's record."""
    for at in places(view, pieces, *NUMBERS, "date", "datetime", "email", "id", "person", "place", "address"):
        piece, field = pieces[at], field_of(view, pieces[at])
        own = {str(v).lower() for v in view.records[piece.record].values()}
        written_own, own_numbers = " ".join(own), {numeric(v) for v in view.records[piece.record].values()}
        for j in view.draw.rng.sample(range(len(view.records)), len(view.records)):
            value = view.records[j][field.name]
            text = view.written(value, field, piece.form)
            if numeric(value) is not None and numeric(value) in own_numbers:
                continue
            if j != piece.record and piece.form != "relative" and str(value).lower() not in written_own and text != piece.text:
                return swap(pieces, at, text, "wrong record")
    raise UnfitError


def word_swapped(view: View, pieces: list[Piece], message: str) -> Planted:
    """Another word of the same family: a status, class, cuisine, place, person, or yes for no."""
    for at in places(view, pieces, "word", "place", "person", "bool"):
        piece, field = pieces[at], field_of(view, pieces[at])
        if field.role == "bool":
            return swap(pieces, at, view.written(not piece.value, field, "yesno"), "word swapped")
        own = " ".join(str(v).lower() for v in view.records[piece.record].values())
        family = [w for w in _family(view, field) if w.lower() not in own and str(piece.value).lower() not in w.lower()]
        if family:
            return swap(pieces, at, view.written(view.draw.rng.choice(family), field, piece.form), "word swapped")
    raise UnfitError


def _family(view: View, field: Field) -> list[str]:
    words = load("values")
    if listed := words["families"].get(f"{view.source.name}.{field.name}"):
        return str(listed).split(",")
    if field.name in words:
        return list(words[field.name])
    return sorted({str(r[field.name]) for r in load("results")["records"][view.source.name] if r.get(field.name)})


def negation(view: View, pieces: list[Piece], message: str) -> Planted:
    """"Not" dropped, or put in where it does not belong."""
    for at in places(view, pieces, "statement"):
        piece, field = pieces[at], field_of(view, pieces[at])
        return swap(pieces, at, honest.statement(view, piece.record, field, not piece.value)[-1].text, "negation")
    raise UnfitError


def recounted(kind: str, role: str) -> Callable[[View, list[Piece], str], Planted]:
    """A planter of a wrong count where the reply has a right one, preferably a number that stands somewhere in the data."""

    def plant(view: View, pieces: list[Piece], message: str) -> Planted:
        at = next((i for i, p in enumerate(pieces) if p.role == role), -1)
        right = int(str(pieces[at].value)) if at >= 0 else -1
        options = _wrong_counts(view, right, decoy=kind == "count: a number of the data")
        if at < 0 or not options:
            raise UnfitError
        wrong = view.draw.rng.choice(options)
        spelled = pieces[at].form == "spelled" and 3 <= wrong <= 10
        words = load("values")["counted"][view.language].split()
        return swap(pieces, at, words[wrong - 3] if spelled else localised(wrong, view.language, grouped=True), kind)

    return plant


def _wrong_counts(view: View, right: int, *, decoy: bool) -> list[int]:
    if decoy:
        found = {int(n) for n in numbers_in(text_of(view.calls, "")) if n == int(n) and 2 <= n <= 400}
        return sorted(found - {right, view.total, len(view.records)})
    near = {right + d for d in (-3, -2, -1, 1, 2, 3, 5, 9)} | {right + 14, 2 * right}
    return sorted(n for n in near if n > 1 and n not in {right, view.total, len(view.records)})


def miscalculated(kind: str, role: str) -> Callable[[View, list[Piece], str], Planted]:
    """A planter of a wrong sum, mean, difference or share."""

    def plant(view: View, pieces: list[Piece], message: str) -> Planted:
        at = next((i for i, p in enumerate(pieces) if p.role == role), -1)
        right = numeric(pieces[at].value) if at >= 0 else None
        if right is None:
            raise UnfitError
        own = [n for f in view.source.fields for r in view.records if (n := numeric(r[f.name])) is not None]
        taken = numbers_in(text_of(view.calls, message)) | derivable(own)
        for _ in range(40):
            value = right * view.draw.rng.choice([view.draw.rng.uniform(0.5, 0.93), view.draw.rng.uniform(1.07, 1.6)])
            value = float(round(value)) if right % 1 == 0 else round(value, 1 if role == "share" else 2)
            if value > 3 and all(abs(value - t) > 0.01 * abs(t) + 0.05 for t in taken):
                amount = Field("", "percent" if role == "share" else "amount", ())
                return swap(pieces, at, view.written(value, amount, pieces[at].form), kind)
        raise UnfitError

    return plant


def wrong_highest(view: View, pieces: list[Piece], message: str) -> Planted:
    """Another record called the highest, with its own value."""
    value_at = next(i for i, p in enumerate(pieces) if p.record >= 0 and p.role == "amount")
    title_at = next(i for i, p in enumerate(pieces) if p.role == "title")
    field, top = field_of(view, pieces[value_at]), pieces[value_at].record
    other = view.draw.rng.choice([i for i in range(len(view.records)) if i != top])
    changed = list(pieces)
    changed[value_at] = view.piece(other, field, pieces[value_at].form)
    mark = pieces[title_at].text
    return swap(changed, title_at, mark.replace(view.title(top), view.title(other)), "wrong superlative")


def worded_count(kind: str, construct: str) -> Callable[[View, list[Piece], str], Planted]:
    """A planter of "over 40", "a dozen" or "none" that the total contradicts; it replaces the whole reply."""

    def plant(view: View, pieces: list[Piece], message: str) -> Planted:
        total, n = view.total, (view.total // 10 + view.draw.rng.choice([1, 2])) * 10
        if construct == "dozen" and 7 < total < 18:
            raise UnfitError
        said = view.say(construct, n=str(n), noun_n=view.source.noun(view.language, n))
        text = "".join(p.text for p in said)
        return [Piece(text)], Fault(kind, text, str(total))

    return plant


#: kind of fault -> the honest kinds it is planted in, and the planter
READ_FAULTS: dict[str, tuple[tuple[str, ...], Callable[[View, list[Piece], str], Planted]]] = {
    "invented number": (("list", "table", "single value", "prose"), invented("invented number", "number", "percent")),
    "invented amount": (("list", "table", "single value", "prose", "highest"), invented("invented amount", "amount")),
    "invented id": (("list", "table", "single value", "prose"), invented("invented id", "id")),
    "invented address": (("list", "table", "single value", "prose"), invented("invented address", "email")),
    "invented name": (("list", "table", "single value", "prose"), invented("invented name", "person")),
    "invented date": (("list", "table", "single value", "prose"), invented("invented date", "date", "datetime")),
    "wrong record": (("list", "table", "single value", "prose", "contrast", "partial list"), wrong_record),
    "word swapped": (("list", "table", "single value", "prose", "partial list"), word_swapped),
    "negation": (("prose", "single value"), negation),
    "count: a number of the data": (("count",), recounted("count: a number of the data", "count")),
    "count: another number": (("count",), recounted("count: another number", "count")),
    "count: over": (("count",), worded_count("count: over", "over")),
    "count: a dozen": (("count",), worded_count("count: a dozen", "dozen")),
    "count: none": (("count",), worded_count("count: none", "none")),
    "count: and more": (("and more",), recounted("count: and more", "more")),
    "count: by status": (("by status",), recounted("count: by status", "status")),
    "wrong sum": (("sum", "average", "difference"), miscalculated("wrong sum", "derived")),
    "wrong share": (("share",), miscalculated("wrong share", "share")),
    "wrong superlative": (("highest",), wrong_highest),
}
