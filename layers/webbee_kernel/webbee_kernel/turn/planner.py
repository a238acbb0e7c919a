"""Planner: from a model's tool calls to steps, and from references to values. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..base.text import dumps
from ..catalogue import FunctionInfo
from ..llm.protocol import ModelResponse
from ..values import CallOutcome, Plan, Step
from .prompt import Problem

MAX_STEPS = 10
"""Calls a single answer of the classifier may plan."""

_REFERENCE = re.compile(r"\{\{\s*steps\.(\d+)(?:\.data)?((?:\.[A-Za-z0-9_-]+)*)\s*\}\}")


class Unbound(Exception):
    """A reference points at nothing; carries the step it wanted."""

    def __init__(self, step: int, path: str) -> None:
        super().__init__(f"steps.{step}.data{path} does not exist")
        self.step = step
        self.path = path


def plan(
    response: ModelResponse, functions: Sequence[FunctionInfo], first: int = 0
) -> tuple[Plan, tuple[Problem, ...]]:
    """Steps in the order the model gave, numbered from `first`, and what has to be told back to it.

    Unknown tools, arguments that are no JSON object, references to later steps and an 11th call
    become problems.
    """
    by_name = {f.tool_name: f for f in functions}
    steps: list[Step] = []
    same: dict[
        int, int
    ] = {}  # a call asked for twice in one answer runs once; later references mean the first
    problems: list[Problem] = []
    for index, call in enumerate(response.tool_calls, first):
        function = by_name.get(call.name)
        if function is None:
            problems.append(Problem(call.name[:80], "", "there is no such function"))
        elif not isinstance(call.arguments, dict):
            problems.append(Problem(call.name, "", "the arguments are not a JSON object"))
        elif len(steps) == MAX_STEPS:
            problems.append(Problem(call.name, "", "too many calls", str(MAX_STEPS)))
        elif any(n >= index for n in references(call.arguments)):
            problems.append(
                Problem(call.name, "", "a reference points at a step that does not come before it")
            )
        else:
            step = Step(
                index,
                function.app_id,
                function.fn_name,
                _renumbered(call.arguments, same),
                function.action_type,
            )
            twin = next((s for s in steps if replace(s, index=index) == step), None)
            if twin is None:
                steps.append(step)
            else:
                same[index] = twin.index
    if not problems and not steps and not response.text.strip():
        problems.append(Problem("", "", "the answer was empty: call a function or reply in text"))
    return Plan(tuple(steps), response.text.strip()), tuple(problems)


def _renumbered(value: Any, same: Mapping[int, int]) -> Any:
    """The value with references to a repeated call pointing at its first occurrence."""
    if not same:
        return value
    if isinstance(value, str):
        return _REFERENCE.sub(
            lambda m: m[0].replace(f"steps.{m[1]}", f"steps.{same.get(int(m[1]), int(m[1]))}", 1),
            value,
        )
    if isinstance(value, Mapping):
        return {k: _renumbered(v, same) for k, v in value.items()}
    return [_renumbered(v, same) for v in value] if isinstance(value, list) else value


def references(value: Any) -> set[int]:
    """The numbers of the steps that a value refers to."""
    if isinstance(value, str):
        return {int(m.group(1)) for m in _REFERENCE.finditer(value)}
    if isinstance(value, Mapping):
        return set().union(*(references(v) for v in value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*(references(v) for v in value)) if value else set()
    return set()


def bind(value: Any, outcomes: Mapping[int, CallOutcome]) -> Any:
    """The value with references replaced: a whole-string reference yields the raw value with its
    type, others its text (JSON unless it is one).

    Raises Unbound where a step failed, has not run or holds no such path.
    """
    if isinstance(value, str):
        if whole := _REFERENCE.fullmatch(value.strip()):
            return _look_up(whole, outcomes)
        return _REFERENCE.sub(lambda m: _as_text(_look_up(m, outcomes)), value)
    if isinstance(value, Mapping):
        return {k: bind(v, outcomes) for k, v in value.items()}
    if isinstance(value, list):
        return [bind(v, outcomes) for v in value]
    return value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def _look_up(match: re.Match[str], outcomes: Mapping[int, CallOutcome]) -> Any:
    number, path = int(match.group(1)), match.group(2)
    outcome = outcomes.get(number)
    if outcome is None or not outcome.ok:
        raise Unbound(number, path)
    value: Any = outcome.data
    for part in filter(None, path.split(".")):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise Unbound(number, path)
    return value


def next_wave(steps: Sequence[Step], finished: Mapping[int, CallOutcome]) -> tuple[Step, ...]:
    """What may run now: the next step, and with it the reads right behind it that wait for nothing
    unfinished."""
    waiting = [s for s in steps if s.index not in finished]
    if not waiting or waiting[0].has_effect:
        return tuple(waiting[:1])
    wave: list[Step] = []
    for step in waiting:
        if step.has_effect or not references(step.arguments) <= finished.keys():
            break
        wave.append(step)
    return tuple(wave) or (waiting[0],)
