"""`[RESULTS]`: this turn's outcomes as a model reads them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..base.text import dumps
from ..channels.fact_ledger import fit
from ..pii import Masker
from ..values import CallOutcome

MAX_DATA = 12_000
"""Characters of all results together."""


def shown(outcomes: Mapping[int, CallOutcome], gate: Masker | None) -> dict[int, CallOutcome]:
    """The outcomes in order, their data, summaries and errors through the PII gate; as they are
    where it is open."""
    ordered = dict(sorted(outcomes.items()))
    if gate is None:
        return ordered
    return {
        i: replace(
            o,
            data=gate.mask(o.data),
            summary=gate.mask_text(o.summary),
            error=gate.mask_text(o.error),
        )
        for i, o in ordered.items()
    }


def results_block(outcomes: Mapping[int, CallOutcome], gate: Masker | None = None) -> str:
    """`[RESULTS]`, one line per outcome, all data together within 12,000 characters. Without a
    gate: of outcomes already shown."""
    share = MAX_DATA // max(1, len(outcomes))
    return "\n".join(["[RESULTS]", *(_line(o, share) for o in shown(outcomes, gate).values())])


def _line(outcome: CallOutcome, share: int) -> str:
    head = f"RESULT: app={outcome.app_id} fn={outcome.fn_name} status={outcome.status}"
    if not outcome.ok:
        return f"{head} error={dumps(outcome.error)}"
    return f"{head} summary={dumps(outcome.summary)} data={dumps(fit(outcome.data, share))}"
