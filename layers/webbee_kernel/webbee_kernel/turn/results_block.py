"""`[RESULTS]`: this turn's outcomes as a model reads them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..base.shares import fair_shares
from ..base.text import dumps
from ..channels.fact_ledger import fit
from ..pii import Masker
from ..values import CallOutcome

MAX_DATA = 12_000
"""Characters of the data of all results together."""

MAX_ARGUMENTS = 1_000
"""Characters of one call's arguments."""

REFUSED = frozenset(
    {
        "VALIDATION_MISSING_FIELD",
        "VALIDATION_TYPE_ERROR",
        "FABRICATED_ID_SHAPE",
        "UNKNOWN_TOOL",
        "UNKNOWN_SUB_FUNCTION",
    }
)
"""Codes of calls that never ran and that a model can mend by asking better."""


def refused(outcome: CallOutcome) -> bool:
    """Whether the call never ran because of what was asked."""
    return not outcome.ok and outcome.error_code in REFUSED


def masked(outcome: CallOutcome, gate: Masker | None) -> CallOutcome:
    """The outcome with data, arguments, summary and error through the PII gate; as it is where that
    is open."""
    if gate is None:
        return outcome
    return replace(
        outcome,
        data=gate.mask(outcome.data),
        summary=gate.mask_text(outcome.summary),
        error=gate.mask_text(outcome.error),
        arguments=gate.mask(outcome.arguments),
    )


def results_block(outcomes: Mapping[int, CallOutcome]) -> str:
    """`[RESULTS]`, one line per outcome in order, all data together within 12,000 characters."""
    ordered = [o for _, o in sorted(outcomes.items())]
    rooms = fair_shares([len(dumps(o.data)) for o in ordered], MAX_DATA)
    lines = (line(o, room) + arguments(o) for o, room in zip(ordered, rooms, strict=True))
    return "\n".join(["[RESULTS]", *lines])


def line(outcome: CallOutcome, room: int, number: int | None = None) -> str:
    """`RESULT: app=mail fn=list status=ok summary="…" data={…}`, data within `room` characters; a
    failure has its code and text instead."""
    head = f"RESULT: app={outcome.app_id} fn={outcome.fn_name} status={outcome.status}"
    if number is not None:
        head += f" step={number}"
    if not outcome.ok:
        again = " retryable=true" if outcome.retryable else ""
        return f"{head} code={dumps(outcome.error_code)}{again} error={dumps(outcome.error)}"
    return f"{head} summary={dumps(outcome.summary)} data={dumps(fit(outcome.data, room))}"


def arguments(outcome: CallOutcome) -> str:
    """` args={…}`: what the call was given; empty where that was nothing."""
    return f" args={dumps(fit(outcome.arguments, MAX_ARGUMENTS))}" if outcome.arguments else ""
