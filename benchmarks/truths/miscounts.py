"""Counts that the total contradicts, and figures that do not follow from what is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.truths.evidence import derivable, numbers_in, numeric, text_of
from benchmarks.truths.model import JSON, Fault, Piece, UnfitError
from benchmarks.truths.planting import Planted, Planter, field_of, swap
from benchmarks.truths.values import localised
from benchmarks.truths.views import PAGE_SIZE, View
from benchmarks.truths.words import Field, load


def recounted(kind: str, role: str) -> Planter:
    """A planter of a wrong count where the reply has a right one, preferably a number that stands
    somewhere in the data.
    """

    def plant(view: View, pieces: list[Piece], message: str) -> Planted:
        at = next((i for i, p in enumerate(pieces) if p.role == role), -1)
        right = int(str(pieces[at].value)) if at >= 0 else -1
        options = _wrong_counts(view, right, decoy=kind == "count: a number of the data")
        if at < 0 or not options:
            raise UnfitError
        if PAGE_SIZE in options and view.draw.rng.random() < 0.5:
            options = [PAGE_SIZE]
        wrong = view.draw.rng.choice(options)
        spelled = pieces[at].form == "spelled" and 3 <= wrong <= 10
        words = load("values")["counted"][view.language].split()
        return swap(
            pieces,
            at,
            words[wrong - 3] if spelled else localised(wrong, view.language, grouped=True),
            kind,
        )

    return plant


def of_another(view: View, pieces: list[Piece], message: str) -> Planted:
    """As many as there are of something else that the turn looked at."""
    at = next((i for i, p in enumerate(pieces) if p.role == "count"), -1)
    lengths = _lengths([c.data for c in view.calls if c.app_id != view.source.app_id])
    lengths -= {view.total, len(view.records)}
    if at < 0 or not lengths:
        raise UnfitError
    wrong = localised(view.draw.rng.choice(sorted(lengths)), view.language, grouped=True)
    return swap(pieces, at, wrong, "count: of another collection")


def _lengths(results: Sequence[JSON]) -> set[int]:
    """How many records the results of one other source hold, in whichever shape."""
    if len(results) != 1:
        return {len(results)} - {0}
    data = results[0]
    if isinstance(data, Mapping):
        data = next((v for v in data.values() if isinstance(v, Mapping | list)), ())
    return {len(data)} if isinstance(data, Mapping | list) else set()


def _wrong_counts(view: View, right: int, *, decoy: bool) -> list[int]:
    if decoy:
        found = {
            int(n) for n in numbers_in(text_of(view.calls, "")) if n == int(n) and 2 <= n <= 400
        }
        return sorted(found - {right, view.total, len(view.records)})
    near = {right + d for d in (-3, -2, -1, 1, 2, 3, 5, 9)} | {right + 14, 2 * right}
    return sorted(n for n in near if n > 1 and n not in {right, view.total, len(view.records)})


def miscalculated(kind: str, role: str) -> Planter:
    """A planter of a wrong sum, mean, difference or share."""

    def plant(view: View, pieces: list[Piece], message: str) -> Planted:
        at = next((i for i, p in enumerate(pieces) if p.role == role), -1)
        right = numeric(pieces[at].value) if at >= 0 else None
        if right is None:
            raise UnfitError
        own = [
            n
            for f in view.source.fields
            for r in view.records
            if (n := numeric(r[f.name])) is not None
        ]
        taken = numbers_in(text_of(view.calls, message)) | derivable(own)
        for _ in range(40):
            value = right * view.draw.rng.choice(
                [view.draw.rng.uniform(0.5, 0.93), view.draw.rng.uniform(1.07, 1.6)]
            )
            value = (
                float(round(value)) if right % 1 == 0 else round(value, 1 if role == "share" else 2)
            )
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
    return swap(
        changed, title_at, mark.replace(view.title(top), view.title(other)), "wrong superlative"
    )


def worded_count(kind: str, construct: str) -> Planter:
    """A planter of "over 40", "a dozen" or "none" that the total contradicts; it replaces the
    whole reply.
    """

    def plant(view: View, pieces: list[Piece], message: str) -> Planted:
        total, n = view.total, (view.total // 10 + view.draw.rng.choice([1, 2])) * 10
        if construct == "dozen" and 7 < total < 18:
            raise UnfitError
        said = view.say(construct, n=str(n), noun_n=view.source.noun(view.language, n))
        text = "".join(p.text for p in said)
        return [Piece(text)], Fault(kind, text, str(total))

    return plant
