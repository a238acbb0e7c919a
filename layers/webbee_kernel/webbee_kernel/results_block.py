"""`[RESULTS]`: this turn's outcomes as a model reads them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .channels.fact_ledger import fit
from .pii import Masker
from .text import dumps
from .turn import CallOutcome

MAX_DATA = 12_000
"""Characters of all results together."""


def results_block(outcomes: Mapping[int, CallOutcome], masker: Masker | None) -> str:
    """`[RESULTS]`, one line per call, oldest first, all data together within 12,000 characters."""
    ordered = [o for _, o in sorted(outcomes.items())]
    share = MAX_DATA // max(1, len(ordered))
    return "\n".join(["[RESULTS]", *(_line(o, masker, share) for o in ordered)])


def _line(outcome: CallOutcome, masker: Masker | None, share: int) -> str:
    head = f"RESULT: app={outcome.app_id} fn={outcome.fn_name} status={outcome.status}"
    if not outcome.ok:
        return f"{head} error={dumps(masked(outcome.error, masker))}"
    return f"{head} summary={dumps(masked(outcome.summary, masker))} data={dumps(fit(masked(outcome.data, masker), share))}"


def masked(value: Any, masker: Masker | None) -> Any:
    """The value through the PII gate; as it is where the gate is open (no masker)."""
    return masker.mask(value) if masker else value
