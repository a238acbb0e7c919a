"""What a reply says is looked up in what the turn's calls returned, and what has no source is
marked; nothing is deleted (I-NARRATOR-NO-FABRICATED-CONTENT-CLAIMS).

`check` is pure: no I/O, no clock, no model. One module an idea:

- `evidence`  what a reply is held against (`Evidence`, `Call`), what comes of it (`Verdict`,
  `Mark`, `Source`)
- `index`     from a value to the fields that show it, built once a turn; `places`
- `reading`   what a reply asserts: values, sentences, lines
- `figures`, `dates`  one value against the index; `measures` of the index, in any unit
- `arithmetic`  what follows from figures in sight; `groups` of the rows of lists
- `counts`    a number against the sizes of lists
- `record_binding` each value is of the record whose label stands nearest, or that the others of
  its sentence are of; `record_tables` in tables that their column shows; `mentions` of names, and
  of flags that their record denies
- `verdict`   `check`, which sets the one against the other
- `aggregates`  what the kernel counts and adds up for the narrator
- `receipts`  what the kernel itself says of a turn's calls
- `table`     the reply of last resort: the data itself

Words of natural languages stand in the room `language`. What is not caught: docs/grounding.md.
May import: language, base. Entrance: `check`, of an `Evidence`.
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
    """What reads replies is loaded when it is asked for: a turn without calls needs none of it."""
    if name not in _LAZY:
        raise AttributeError(name)
    from importlib import import_module

    globals()[name] = found = getattr(import_module(f".{_LAZY[name]}", __name__), name)
    return found  # a reply that is streamed asks at every piece
