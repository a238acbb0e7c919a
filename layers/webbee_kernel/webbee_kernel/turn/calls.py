"""Dispatch: from a planned step to an outcome. Guards first, then the seam to wherever extension
code runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .. import arguments
from ..base.logs import correlation_id
from ..base.metrics import timed
from ..catalogue import Catalogue
from ..dispatch import LOST, Dispatch
from ..errors import CallError, KernelError
from ..pii import Masker, UnknownPlaceholder
from ..sdk.context import User
from ..values import CallOutcome, CallRequest, JSONObject, Step, failed, user_dict
from . import guards, planner
from .prompt import Problem

REPAIRABLE = frozenset(
    {
        "VALIDATION_MISSING_FIELD",
        "VALIDATION_TYPE_ERROR",
        "FABRICATED_ID_SHAPE",
        "UNKNOWN_TOOL",
        "UNKNOWN_SUB_FUNCTION",
    }
)
"""Codes that a model can mend by asking better."""


@dataclass(slots=True)
class Calls:
    """The calls of one turn: what ran, and what the model has to be told."""

    user: User
    session_id: str
    request_id: str
    catalogue: Catalogue
    installed: frozenset[str]
    masker: Masker
    known: arguments.Known
    deadline: float
    outcomes: dict[int, CallOutcome] = field(default_factory=dict)
    sent: dict[int, Step] = field(default_factory=dict)
    bound: dict[int, JSONObject] = field(default_factory=dict)
    _learned: set[int] = field(default_factory=set)

    def forget_rejected(self) -> None:
        """Drop calls that never ran because their arguments were refused: the model is about to
        mend them."""
        self.outcomes = {
            i: o for i, o in self.outcomes.items() if o.ok or o.error_code not in REPAIRABLE
        }

    def left(self) -> float:
        """Seconds until the turn's deadline."""
        return max(0.5, self.deadline - time.monotonic())

    def ran(self, step: Step) -> int:
        """How many other calls of the step's function have run in this turn."""
        return sum(
            (s.app_id, s.fn_name) == (step.app_id, step.fn_name)
            and i != step.index
            and self.outcomes[i].error_code not in REPAIRABLE
            for i, s in self.sent.items()
            if i in self.outcomes
        )

    def held(self) -> arguments.Known:
        """What the conversation holds, the results so far included; never what the kernel said of a
        call it refused."""
        for i, outcome in self.outcomes.items():
            if i not in self._learned and outcome.error_code not in REPAIRABLE:
                self._learned.add(i)
                self.known.learn([outcome.data, outcome.summary] if outcome.ok else [outcome.error])
        return self.known

    def real(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments with placeholders replaced by what they stand for; CallError
        FABRICATED_ID_SHAPE for one that stands for nothing."""
        try:
            resolved: dict[str, Any] = self.masker.resolve(arguments)
        except UnknownPlaceholder as error:
            raise CallError(
                "FABRICATED_ID_SHAPE",
                f"{error.placeholder} stands for nothing that was shown: use a value from FACTS",
            ) from None
        return resolved


class StepRunner:
    """Guards, binds and runs steps."""

    def __init__(
        self, dispatch: Dispatch, call_seconds: float, *, confirm_writes: bool = False
    ) -> None:
        self._dispatch = dispatch
        self._call_seconds = call_seconds
        self._confirm_writes = confirm_writes

    def check(self, calls: Calls, steps: Sequence[Step]) -> tuple[Problem, ...]:
        """What can be seen to be wrong before anything runs, in words for the model."""
        problems = []
        for step in steps:
            try:
                self._guard(calls, step)
            except CallError as error:
                if error.code in REPAIRABLE:
                    problems.append(
                        Problem(f"{step.app_id}.{step.fn_name}", error.field, str(error))
                    )
        return tuple(problems)

    @timed("CallsMs")
    async def run(
        self, calls: Calls, steps: Sequence[Step]
    ) -> tuple[tuple[Problem, ...], tuple[Step, ...]]:
        """Run steps in order, independent reads at the same time; a failed one stops only what
        refers to it.

        Returns problems the model may mend, and the steps left because they wait for the user's yes
        (bound, real values).
        """
        problems: list[Problem] = []
        todo = [s for s in steps if not self._is_repeat(calls, s)]
        while wave := planner.next_wave(todo, calls.outcomes):
            if self._needs_yes(wave[0]):
                held = await self._hold(calls, [s for s in todo if s.index not in calls.outcomes])
                return tuple(problems), held
            ready = [(s, self._prepare(calls, s)) for s in wave]
            outcomes = await asyncio.gather(*(self._call(calls, s, r) for s, r in ready))
            for step, outcome in zip(wave, outcomes, strict=True):
                calls.outcomes[step.index] = outcome
                problems.extend(_problems(step, outcome))
        return tuple(problems), ()

    async def run_confirmed(self, calls: Calls, steps: Sequence[Step]) -> None:
        """Run exactly these calls; the user said yes, no model is asked."""
        for step in steps:
            request = self._request(calls, step, step.arguments, planned=False)
            calls.sent[step.index] = step
            calls.bound[step.index] = step.arguments
            calls.outcomes[step.index] = await self._send(calls, step, request)

    async def _hold(self, calls: Calls, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The remaining steps with real arguments, validated, so that what the user confirms is
        what will run."""
        held: list[Step] = []
        for step in steps:
            prepared = self._prepare(calls, step)
            if isinstance(prepared, CallRequest):
                checked = await self._send(calls, step, replace(prepared, kind="check"))
                if checked.ok:
                    held.append(replace(step, arguments=prepared.arguments))
                    continue
                prepared = checked
            calls.outcomes[step.index] = prepared
        return tuple(held)

    def _needs_yes(self, step: Step) -> bool:
        return step.action_type == "destructive" or (
            step.action_type == "write" and self._confirm_writes
        )

    def _is_repeat(self, calls: Calls, step: Step) -> bool:
        """Never the same call twice in a turn; one that may have changed something not even after
        it failed."""
        return any(
            (s.app_id, s.fn_name, s.arguments) == (step.app_id, step.fn_name, step.arguments)
            and (calls.outcomes[i].ok or s.has_effect)
            for i, s in calls.sent.items()
            if i in calls.outcomes
        )

    def _guard(self, calls: Calls, step: Step) -> None:
        function = guards.known(calls.catalogue, step.app_id, step.fn_name)
        guards.permitted(calls.user, function, step.app_id in calls.installed)
        literal = calls.real({k: v for k, v in step.arguments.items() if not planner.references(v)})
        others = calls.catalogue.functions([step.app_id])
        arguments.ids_are_real(literal, function, calls.held(), others)
        arguments.no_placeholders(literal)

    def _prepare(self, calls: Calls, step: Step) -> CallRequest | CallOutcome:
        """The request with placeholders replaced and references bound, or the outcome that says why
        not.

        In this order: what a result holds is data, so text in it that looks like a placeholder is
        never replaced.
        """
        request = self._request(calls, step, step.arguments)
        try:
            self._guard(calls, step)
            bound = planner.bind(calls.real(step.arguments), calls.outcomes)
        except CallError as error:
            problems = ({"field": error.field, "problem": str(error), "limit": ""},)
            return failed(
                request, error.code, str(error), action_type=step.action_type, problems=problems
            )
        except planner.Unbound as error:
            return failed(
                request,
                "VALIDATION_MISSING_FIELD",
                f"{step.fn_name} was not called: {error}",
                action_type=step.action_type,
            )
        return replace(request, arguments=bound)

    def _request(
        self, calls: Calls, step: Step, arguments: dict[str, Any], *, planned: bool = True
    ) -> CallRequest:
        return CallRequest(
            kind="function",
            user=user_dict(calls.user),
            app_id=step.app_id,
            name=step.fn_name,
            arguments=arguments,
            session_id=calls.session_id,
            request_id=calls.request_id,
            step=step.index,
            deadline_s=min(self._call_seconds, calls.left()),
            correlation_id=correlation_id(),
            nth=calls.ran(step) if planned else None,
        )

    async def _call(
        self, calls: Calls, step: Step, prepared: CallRequest | CallOutcome
    ) -> CallOutcome:
        calls.sent[step.index] = step
        if not isinstance(prepared, CallRequest):
            return prepared
        calls.bound[step.index] = prepared.arguments
        return await self._send(calls, step, prepared)

    async def _send(self, calls: Calls, step: Step, request: CallRequest) -> CallOutcome:
        try:
            return await self._dispatch.call(request)
        except KernelError as error:
            lost = step.has_effect and error.code == LOST
            if not calls.outcomes and not lost:
                raise  # nothing happened yet: the whole request can be retried
            text = (
                "did not report back: check whether it was done before asking again"
                if lost
                else "was not run: retry later"
            )
            return failed(
                request,
                "BACKEND_5XX",
                f"{step.fn_name} {text}",
                action_type=step.action_type,
                retryable=not lost,
            )


def _problems(step: Step, outcome: CallOutcome) -> list[Problem]:
    if outcome.ok or outcome.error_code not in REPAIRABLE:
        return []
    name = f"{step.app_id}.{step.fn_name}"
    listed = [
        Problem(name, p.get("field", ""), p.get("problem", ""), p.get("limit", ""))
        for p in outcome.problems
    ]
    return listed or [Problem(name, "", outcome.error)]


def facts_of(outcomes: Mapping[int, CallOutcome]) -> list[tuple[str, str, Any]]:
    """`(app_id, fn_name, data)` of the calls that succeeded, in order: what the ledger records
    (never the summary)."""
    return [(o.app_id, o.fn_name, o.data) for _, o in sorted(outcomes.items()) if o.ok]
