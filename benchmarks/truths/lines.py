"""Records as lines of a list, all in one style."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.truths.model import Piece
from benchmarks.truths.views import View
from benchmarks.truths.words import Field

NEWLINE = Piece("\n")


def rows(view: View, indexes: Sequence[int], fields: Sequence[Field]) -> list[Piece]:
    """One line a record, all in one style."""
    item, pair = view.draw.pick("item"), view.draw.pick("pair")
    pieces: list[Piece] = []
    forms = {f.name: view.piece(indexes[0], f).form for f in fields}
    for number, i in enumerate(indexes, 1):
        before, _, after = item.partition("{pairs}")
        lead, _, rest = before.replace("{i}", str(number)).partition("{title}")
        pieces += [
            Piece(lead),
            Piece(view.title(i), "title", view.title(i), i, view.source.title),
            Piece(rest),
        ]
        for n, field in enumerate(fields):
            label, _, tail = pair.partition("{value}")
            pieces += [
                Piece((", " if n else "") + label.replace("{label}", field.label(view.language)))
            ]
            pieces += [view.piece(i, field, forms[field.name]), Piece(tail)]
        pieces += [Piece(after), NEWLINE]
    return pieces


def some_fields(view: View, least: int = 1, most: int = 3) -> list[Field]:
    """One to three fields of the source, in random order."""
    fields = list(view.source.fields)
    view.draw.rng.shuffle(fields)
    return fields[: view.draw.rng.randint(least, most)]
