"""Ready: what a turn loads and compiles when it first meets it, met before the first one.

A function's init has a whole processor and no one who waits; its first turn has neither.
"""

from __future__ import annotations

from ..catalogue import Catalogue
from ..clock import iso
from ..language import detect
from ..stores.codec import turn_from, turn_text
from ..stores.types import Turn
from ..text import one_line
from ..types import JSON, CallOutcome, from_dict
from .rules import apps_block
from .tool_retrieval import shortlist

_DATA: JSON = {
    "orders": [
        {"id": "o-1", "title": "An order", "by": "ann@example.com", "name": "Ann Example", "n": 7},
        {"id": "o-2", "title": "Another", "phone": "+49 30 901820", "at": "2026-05-15T17:21:04Z"},
    ],
    "count": 2,
}
_NOTHING: JSON = {"orders": [], "count": 0}
_REPLY = "There are 2 orders: An order for Ann Example, 7 pieces, and another of May 15, 2026."


def make_ready() -> None:
    """Mask, detect, check and read once what a turn might hold; nothing is asked or kept."""
    from ..grounding import check
    from ..grounding.aggregates import aggregates
    from ..grounding.evidence import Call
    from ..grounding.receipts import receipts
    from ..pii import Masker  # first: a turn needs it before it asks a model

    tag = detect("show me all orders of this week", "en")
    masker = Masker()
    data = masker.mask(_DATA)
    masker.mask_text(one_line(f"[HISTORY] FACTS: {_REPLY}"))
    aggregates(_DATA)
    receipts([Call("orders", "cancel", "write", data=_DATA)])
    check(_REPLY, data=[data], message=f"show me all orders {tag}")
    check("There are no orders.", data=[_NOTHING], message=f"show me all orders {tag}")
    turn_from(turn_text(Turn(1, iso(0.0), "ok", "", _REPLY, "")))
    from_dict(CallOutcome, {"app_id": "", "fn_name": "", "status": "ok"})


def make_known(catalogue: Catalogue) -> None:
    """Write once what every prompt says of these functions."""
    shortlist(catalogue.functions(catalogue.apps), "orders", apps=catalogue.apps)
    apps_block(catalogue.apps.values())
