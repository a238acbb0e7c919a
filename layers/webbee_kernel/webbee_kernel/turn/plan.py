"""Planner: from a model's tool calls to steps, and from references to values. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..catalogue import FunctionInfo
from ..llm.protocol import CUT_OFF, ModelResponse, ToolCall, ToolSpec
from ..text import dumps
from ..types import CallOutcome, Step, object_of

MAX_STEPS = 10
"""Maximum calls in one answer of the classifier."""

KERNEL = "kernel"
"""App id of the kernel's own functions; reserved."""

CONTINUE = ToolSpec(
    name=f"{KERNEL}__continue",
    app_id=KERNEL,
    fn_name="continue",
    description=(
        "Call this together with functions whose results you must read before you can finish: you"
        " are asked again with them. Alone it does nothing."
    ),
    input_schema={"type": "object", "properties": {}},
    action_type="read",
    examples=(),
)

SEARCH = ToolSpec(
    name=f"{KERNEL}__search",
    app_id=KERNEL,
    fn_name="search",
    description=(
        "Find functions that are not shown. The catalogue holds only those nearest to the message;"
        " [APPS] lists every app. What is found is shown to you, then you can call it. Use it"
        " whenever no shown function does exactly what is needed, before you say that nothing"
        " fits, and where you need one of the arguments that (+n arguments) leaves out."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "What the function does, in the words of a description, in the"
                " language that [APPS] is written in: 'delete recovery point'.",
            },
            "app": {"type": "string", "description": "Only in the app with this id of [APPS]."},
        },
        "required": ["query"],
    },
    action_type="read",
    examples=(),
)
"""Offered when not all functions are shown."""

_OWN = frozenset({CONTINUE.name, SEARCH.name})

_REFERENCE = re.compile(r"\{\{\s*steps\.(\d+)(?:\.data)?((?:\.[A-Za-z0-9_-]+)*)\s*\}\}")


class Problem(NamedTuple):
    """One rejected argument or call, for the model's repair; `told` is for people."""

    call: str
    field: str
    problem: str
    limit: str = ""
    step: int = -1
    """The number of the refused call in its turn; -1 for none."""
    told: str = ""


class UnresolvedReference(Exception):
    """A reference to a missing step or path."""

    def __init__(self, step: int, path: str) -> None:
        super().__init__(f"steps.{step}.data{path} does not exist")


@dataclass(frozen=True, slots=True)
class Answer:
    """A parsed answer of the classifier: steps in order, or text. `problems` are its unusable
    parts, `numbers` the turn's number of each call (None for the kernel's own), `search_results`
    the results of searches by call index."""

    response: ModelResponse
    steps: tuple[Step, ...] = ()
    problems: tuple[Problem, ...] = ()
    numbers: tuple[int | None, ...] = ()
    search_results: Mapping[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.response.text.strip()

    @property
    def is_cut_off(self) -> bool:
        return self.response.stop_reason == CUT_OFF

    @property
    def searches(self) -> tuple[tuple[int, str, str], ...]:
        """The searches as (call index, query, app)."""
        return tuple(
            (place, str(call.arguments.get("query", "")), str(call.arguments.get("app", "")))
            for place, call in enumerate(self.response.tool_calls)
            if call.name == SEARCH.name and isinstance(call.arguments, dict)
        )


NO_ANSWER = Answer(ModelResponse())
"""Of a model that was not asked."""


def read_answer(response: ModelResponse, functions: Sequence[FunctionInfo], first: int) -> Answer:
    """Parse a model's answer: steps in order, numbered from `first`, and problems to report back.

    Unknown tools, arguments that are no JSON object, references to later steps and an 11th call
    become problems.
    """
    by_name = {f.tool_name: f for f in functions}
    numbers: list[int | None] = []
    steps: list[Step] = []
    problems: list[Problem] = []
    for call in response.tool_calls:
        if call.name in _OWN:  # no step, and without a number
            numbers.append(None)
            continue
        # also of one that is refused: references count the calls as the model wrote them
        numbers.append(index := first)
        first += 1
        if why := _call_problem(call, by_name, index, len(steps)):
            problems.append(why)
            continue
        function, given = by_name[call.name], object_of(call.arguments)
        steps.append(Step(index, function.app_id, function.fn_name, given, function.action_type))
    answer = Answer(response, tuple(steps), tuple(problems), tuple(numbers))
    if not problems and not steps and (problem := _empty_problem(answer)):
        return replace(answer, problems=(Problem("", "", problem),))
    return answer


def _call_problem(
    call: ToolCall, by_name: Mapping[str, FunctionInfo], index: int, planned: int
) -> Problem | None:
    """Why this call cannot become a step, or None."""
    why, limit = "", ""
    if call.name not in by_name:
        why = "there is no such function"
    elif not isinstance(call.arguments, dict):
        why = "the arguments are not a JSON object"
    # a plan is bounded, the next answer may go on
    elif planned == MAX_STEPS:
        why, limit = "too many calls", str(MAX_STEPS)
    # a step can only use what ran before it
    elif any(n >= index for n in references(call.arguments)):
        why = "a reference points at a step that does not come before it"
    return Problem(call.name, "", why, limit, step=index) if why else None


def _empty_problem(answer: Answer) -> str:
    """What is wrong with an answer without steps; empty if it has text or searches."""
    # a search is answered with what it found
    if any(call.name == SEARCH.name for call in answer.response.tool_calls):
        return ""
    if answer.numbers:
        return f"{CONTINUE.name} alone does nothing: call what you need together with it"
    return "" if answer.text else "the answer was empty: call a function or reply in text"


def references(value: Any) -> set[int]:
    """The numbers of the steps that a value refers to."""
    if isinstance(value, str):
        return {int(m.group(1)) for m in _REFERENCE.finditer(value)}
    if isinstance(value, dict):
        value = list(value.values())
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def resolve_refs(value: Any, outcomes: Mapping[int, CallOutcome]) -> Any:
    """The value with references replaced: a whole-string reference yields the raw value with its
    type, others its text (JSON unless it is one).

    Raises Unbound where a step failed, has not run or holds no such path.
    """
    if isinstance(value, str):
        # types stay: an id that is a number remains one
        if whole := _REFERENCE.fullmatch(value.strip()):
            return _look_up(whole, outcomes)
        return _REFERENCE.sub(lambda m: _as_text(_look_up(m, outcomes)), value)
    if isinstance(value, dict):
        return {k: resolve_refs(v, outcomes) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve_refs(v, outcomes) for v in value]
    return value


def _as_text(value: Any) -> str:
    """A text as it is, what is none as JSON."""
    return value if isinstance(value, str) else dumps(value)


def _look_up(match: re.Match[str], outcomes: Mapping[int, CallOutcome]) -> Any:
    number, path = int(match.group(1)), match.group(2)
    outcome = outcomes.get(number)
    # what depends on a failed step fails, and nothing else
    if outcome is None or not outcome.ok:
        raise UnresolvedReference(number, path)
    value: Any = outcome.data
    for part in filter(None, path.split(".")):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise UnresolvedReference(number, path)
    return value


def next_wave(
    steps: Sequence[Step], finished: Mapping[int, CallOutcome], pending: Collection[int] = ()
) -> tuple[Step, ...]:
    """The steps to run now: the next one and the independent reads directly after it, without
    duplicates; none that is `pending` or depends on such a step."""
    blocked, waiting, wave = set(pending), list[Step](), list[Step]()
    for step in steps:
        # in order, so that what refers to a blocked one blocks in turn
        if blocked & {step.index, *references(step.arguments)}:
            blocked.add(step.index)
        elif step.index not in finished:
            waiting.append(step)
    for step in waiting:
        # not beside the first one, whose outcome then answers it, too
        is_twin = any(replace(s, index=step.index) == step for s in wave)
        if step.has_effect or is_twin or not references(step.arguments) <= finished.keys():
            break
        wave.append(step)
    # an effect alone; or what waits for a step that never comes, to be told so
    return tuple(wave or waiting[:1])
