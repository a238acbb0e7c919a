"""The same call twice in one turn: when the first answer serves again, when it runs anew. Pure."""

from __future__ import annotations

from ..values import CallOutcome, JSONObject, Step
from .results_block import TIMEOUT, refused
from .state import TurnState

MAX_TRIES = 3
"""Times that a call which failed in a passing way runs in one turn."""


def earlier(state: TurnState, step: Step, bound: JSONObject) -> CallOutcome | None:
    """The outcome of the same call that answers this one too; None where it has to run.

    A read runs again once anything has been changed since. What has an effect, and what failed,
    runs again only when something was changed by a later answer of the model than the one that
    planned it: a plan made anew repeats what it already had. A failure that calls itself retryable
    is tried again, up to three times; one that used up its time is not.
    """
    same = [
        (number, outcome) for number, outcome in _runs(state, step) if outcome.arguments == bound
    ]
    if not same:
        return None
    number, outcome = same[-1]
    passing = outcome.retryable and outcome.error_code != TIMEOUT
    if (passing and len(same) < MAX_TRIES) or _changed_since(state, number, outcome):
        return None
    return outcome


def _runs(state: TurnState, step: Step) -> list[tuple[int, CallOutcome]]:
    """The other calls of the step's function that have run in this turn, in order."""
    return [
        (number, o)
        for number, o in state.made.items()
        if (o.app_id, o.fn_name) == (step.app_id, step.fn_name)
        and number != step.index
        and not refused(o)
    ]


def _changed_since(state: TurnState, number: int, outcome: CallOutcome) -> bool:
    """Whether another call has changed something since, as far as that concerns this one."""
    effects = [i for i, o in state.made.items() if i > number and o.ok and o.action_type != "read"]
    if outcome.ok and outcome.action_type == "read":
        return bool(effects)
    return any(state.round_of[i] > state.round_of[number] for i in effects)


def runs_of(state: TurnState, step: Step) -> int:
    """How many other calls of the step's function have run in this turn."""
    return len(_runs(state, step))
