"""`[RESULTS]`: this turn's outcomes as a model reads them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from ..channels.bounding import MAX_DATA, bounded, fitted
from ..channels.fact_ledger import fit
from ..pii.declared import NOTHING
from ..sdk.result import ANSWERING, NEEDS_ANSWER
from ..text import dumps, fair_shares
from ..types import JSON, CallOutcome

if TYPE_CHECKING:
    from ..pii import Masker

MAX_ARGUMENTS = 1_000
"""Characters of one call's arguments."""
MAX_LISTS: Final = 4
"""Lists of one result whose aggregates are told."""
NOTHING_COMPUTED: Final[Mapping[int, Sequence[str]]] = MappingProxyType({})

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


TIMEOUT = "BACKEND_TIMEOUT"
"""The code of a call that used up its time and may still be running."""


def refused(outcome: CallOutcome) -> bool:
    """Whether the call never ran because of what was asked."""
    return not outcome.ok and outcome.error_code in REFUSED


def near(outcome: CallOutcome) -> JSON:
    """As much of its data as a model could be shown; the data itself where that is all of it."""
    unread = outcome.unread
    return unread.near if unread else bounded(outcome.data, MAX_DATA)


def masked(
    outcome: CallOutcome, gate: Masker | None, declared: Mapping[str, str] = NOTHING
) -> CallOutcome:
    """The outcome with data, arguments, summary and error through the PII gate; as it is where that
    is open. `declared` is what the function's author says of its values."""
    if gate is None:
        return outcome
    return replace(
        outcome,
        data=gate.mask(outcome.data, declared),
        summary=gate.mask_text(outcome.summary),
        error=gate.mask_text(outcome.error),
        arguments=gate.mask(outcome.arguments, declared),
    )


def results_block(
    outcomes: Mapping[int, CallOutcome],
    computed: Mapping[int, Sequence[str]] = NOTHING_COMPUTED,
    room: int = MAX_DATA,
) -> str:
    """`[RESULTS]`, one line per outcome in order, all data together within `room` characters;
    behind each what the kernel has computed from all of its data, a list a line:
    `COMPUTED: data.tasks: rows=36; status: open 20, done 16`."""
    ordered = dict(sorted(outcomes.items()))
    told = lines(ordered, room, numbered=False)
    block = ["[RESULTS]"]
    for i, outcome in ordered.items():
        block.append(told[i] + arguments(outcome))
        block += [f"COMPUTED: {text}" for text in computed.get(i, ())]
    return "\n".join(block)


def computed_of(
    outcome: CallOutcome, gate: Masker | None, declared: Mapping[str, str] = NOTHING
) -> tuple[str, ...]:
    """The aggregates of an outcome's lists over all of its data, as models may see them."""
    from ..grounding.aggregates import aggregates

    if not outcome.ok:
        return ()
    found = [one for one in aggregates(outcome.data) if one.rows > 1][:MAX_LISTS]

    def seen(name: str) -> Callable[[str, Mapping[str, Any]], str]:
        def value(key: str, row: Mapping[str, Any]) -> str:
            if gate is None:
                return str(row[key])
            masked: Any = gate.mask({name: [dict(row)]}, declared)
            return str(masked[name][0].get(key, ""))

        return value

    return tuple(one.text(seen(one.name)) for one in found)


def lines(
    outcomes: Mapping[int, CallOutcome], room: int, *, numbered: bool = True
) -> dict[int, str]:
    """`RESULT: app=mail fn=list status=ok step=0 summary="…" data={…}` by call, all data together
    within `room` characters; a failure has its code and text instead."""
    data = {i: dumps(o.data) if o.ok else "" for i, o in outcomes.items()}
    if sum(map(len, data.values())) > room:
        rooms = fair_shares([len(text) for text in data.values()], room)
        data = {
            i: text if len(text) <= share else dumps(fitted(outcomes[i].data, share))
            for (i, text), share in zip(data.items(), rooms, strict=True)
        }
    return {i: _line(o, data[i], i if numbered else None) for i, o in outcomes.items()}


def _line(outcome: CallOutcome, data: str, number: int | None) -> str:
    head = f"RESULT: app={outcome.app_id} fn={outcome.fn_name} status={outcome.status}"
    if number is not None:
        head += f" step={number}"
    if not outcome.ok:
        again = " retryable=true" if outcome.retryable else ""
        asks = number is not None and outcome.error_code == NEEDS_ANSWER
        then = f" then={dumps(ANSWERING)}" if asks else ""
        return f"{head} code={dumps(outcome.error_code)}{again} error={dumps(outcome.error)}{then}"
    return f"{head} summary={dumps(outcome.summary)} data={data}"


def arguments(outcome: CallOutcome) -> str:
    """` args={…}`: what the call was given; empty where that was nothing."""
    if not outcome.arguments:
        return ""
    text = dumps(outcome.arguments)
    if len(text) > MAX_ARGUMENTS:
        text = dumps(fit(outcome.arguments, MAX_ARGUMENTS))
    return f" args={text}"
