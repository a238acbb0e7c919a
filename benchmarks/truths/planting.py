"""What every planter of a fault has in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from benchmarks.truths.model import Fault, Piece, UnfitError
from benchmarks.truths.views import View
from benchmarks.truths.words import Field

Planted: TypeAlias = tuple[list[Piece], Fault]
#: takes the view, a true reply over it and the user's message
Planter: TypeAlias = Callable[[View, list[Piece], str], Planted]


def swap(pieces: Sequence[Piece], at: int, text: str, kind: str) -> Planted:
    """Replace the text of one piece; the new words must differ from the old."""
    old = pieces[at].text
    if text == old:
        raise UnfitError
    return [*pieces[:at], replace(pieces[at], text=text), *pieces[at + 1 :]], Fault(kind, text, old)


def field_of(view: View, piece: Piece) -> Field:
    return next(f for f in view.source.fields if f.name == piece.field)
