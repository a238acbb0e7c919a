"""What a reply of this turn may rest on, as the grounding check takes it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from .. import language as words
from ..clock import iso
from ..types import NOT_RUN, RUNNING, CallOutcome
from .results_block import TIMEOUT, refused

if TYPE_CHECKING:
    from ..grounding import Call, Evidence


NOTHING: Mapping[str, str] = MappingProxyType({})
MISSING = "VALIDATION_MISSING_FIELD"


def of_calls(
    message: str,
    outcomes: Iterable[CallOutcome],
    *,
    apps: Mapping[str, str],
    policy: str = "",
    language: str = "en",
    now: float | None = None,
    mode: str = "data",
) -> Evidence:
    """The calls of a turn as models may see them; `apps`: display names by app id."""
    from ..grounding import Evidence

    calls = tuple(of_call(o, apps.get(o.app_id, ""), language) for o in outcomes)
    at = iso(now) if now is not None else ""
    return Evidence(calls, message, policy, language=language, now=at, mode=mode)


def named(evidence: Evidence, described: Mapping[str, str]) -> Evidence:
    """The evidence with what its functions do, by `app.function`: their calls are named by it. No
    reply is held against it, since descriptions hold figures too."""
    calls = (
        replace(c, description=described.get(f"{c.app_id}.{c.fn_name}", "")) for c in evidence.calls
    )
    return replace(evidence, calls=tuple(calls))


def of_call(outcome: CallOutcome, name: str, tag: str = "en", described: str = "") -> Call:
    """A call as the check takes it; `name`: its app's display name, `described`: what its function
    does, by which a receipt names it. What was told to a model about
    a value that it invented, or that no result has, is no sentence for a person."""
    from ..grounding import Call

    unbound = (outcome.error_code, outcome.fate, outcome.problems) == (MISSING, NOT_RUN, ())
    invented = outcome.error_code == "FABRICATED_ID_SHAPE" or unbound
    speaks = words.of(tag)
    error = speaks.say("value_unknown") if invented else outcome.error
    if outcome.incident:
        error = speaks.say("broke", n=outcome.incident)
    return Call(
        outcome.app_id,
        outcome.fn_name,
        outcome.action_type,
        outcome.arguments,
        status(outcome),
        error,
        outcome.data,
        outcome.summary,
        name,
        described,
    )


def status(outcome: CallOutcome) -> str:
    """How the check calls an end: `ok`; `not_run` for a call that was refused; `running` for one
    that outlived its deadline; `unknown` for an effect that may have happened, since nobody
    answered; else `error`."""
    if outcome.ok:
        return "ok"
    if refused(outcome):
        return "not_run"
    if outcome.fate == RUNNING:
        return "running"
    silent = outcome.error_code == "BACKEND_5XX" and not outcome.retryable
    lost = outcome.error_code == TIMEOUT or silent
    return "unknown" if lost and outcome.action_type != "read" else "error"
