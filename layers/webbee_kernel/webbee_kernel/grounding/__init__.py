"""Grounding: the values of a reply are looked up in the results of the turn's calls, and unsourced
ones are marked; nothing is deleted (I-NARRATOR-NO-FABRICATED-CONTENT-CLAIMS).

`check` is pure: no I/O, no clock, no model.

- `evidence`  input (`Evidence`, `Call`) and result (`Verdict`, `Mark`, `Source`) of a check
- `index`     value → fields with it, built once a turn; `places`
- `reading`   parses a reply into values and sentences
- `figures`, `dates`  look up one value, figures in other units, too
- `arithmetic`  figures derived from others; `groups` of rows
- `counts`    numbers compared with list sizes
- `record_binding` binds values to the record named nearby; `mentions` of names
- `verdict`   `check`, which combines them
- `aggregates`  counts and sums for the narrator
- `receipts`  the kernel's account of a turn's calls
- `table`     renders the data without a model

Words of natural languages are in `language`. Known gaps: docs/grounding.md. May import:
language, types, clock and text. Entrance: `check`, with an `Evidence`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .evidence import Call, Evidence, Mark, Source, Verdict

if TYPE_CHECKING:
    from .reading import complete
    from .table import render
    from .verdict import check

_LAZY = {"check": "verdict", "complete": "reading", "render": "table"}

__all__ = ["Call", "Evidence", "Mark", "Source", "Verdict", "check", "complete", "render"]


def __getattr__(name: str) -> Any:
    """Load on first use: a turn without calls needs none of it."""
    if name not in _LAZY:
        raise AttributeError(name)
    from importlib import import_module

    globals()[name] = found = getattr(import_module(f".{_LAZY[name]}", __name__), name)
    return found  # a reply that is streamed asks at every piece
