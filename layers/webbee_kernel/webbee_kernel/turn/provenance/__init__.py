"""Provenance: where the values of a call come from, and whether the user must be asked. Pure.

Of every value that directs an effect or names what it changes: did the user write it, did he take
it up from a reply, or does it come from this turn's results, from prose, from a skeleton section, a
description, from nowhere? Only the first two are his. The text of a mail or a page may hold any
instruction; what it can not do is put words into the user's mouth.

- `directing`  which values those are
- `places`     where each value stands
- `wish`       what the message asks for

Entrance: `origins`, `question_for`, `Judge` for many calls of one turn.
"""

from __future__ import annotations

from ...catalogue import OPEN_WORLD
from .directing import Directing, directing
from .judge import Judge, Origin, Why, origins, question_for
from .places import normal

__all__ = [
    "OPEN_WORLD",
    "Directing",
    "Judge",
    "Origin",
    "Why",
    "directing",
    "normal",
    "origins",
    "question_for",
]
