"""What may not reach a handler as an argument: placeholders and invented ids; what may not be
remembered of one: secrets. Pure.

- `placeholders`  a `<THING>` instead of a thing
- `ids`           an id must be one that the conversation holds, or it was invented
- `secrecy`       arguments without what is to be shown to nobody
- `known`         what the conversation holds: facts, results, skeleton, the user's own words

May import: catalogue, errors, invariants. Entrance: this module has them all.
"""

from __future__ import annotations

from .ids import ids_are_real, ids_in, where_to_look
from .known import Known, made_up
from .placeholders import no_placeholders
from .secrecy import without_secrets

__all__ = [
    "Known",
    "ids_are_real",
    "ids_in",
    "made_up",
    "no_placeholders",
    "where_to_look",
    "without_secrets",
]
