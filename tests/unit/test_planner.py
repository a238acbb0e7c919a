"""From a model's calls to steps, and from references to values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.json_values import json_values
from webbee_kernel.catalogue import FunctionInfo
from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.turn.plan import (
    MAX_STEPS,
    UnresolvedReference,
    next_wave,
    read_answer,
    resolve_refs,
)
from webbee_kernel.types import CallOutcome, Step

LIST = FunctionInfo("mail", "list", "List")
KEYS = st.text("abcdefg_-0123456789", min_size=1, max_size=6)
VALUES = json_values(KEYS)


def ok(data: Any, step: int = 0) -> CallOutcome:
    return CallOutcome("mail", "list", "ok", data=data, step=step)


def test_ten_calls_are_planned_and_an_eleventh_is_a_problem() -> None:
    calls = tuple(ToolCall("mail__list", {"page": n}) for n in range(MAX_STEPS + 1))
    found = read_answer(ModelResponse(tool_calls=calls), [LIST], 0)
    assert len(found.steps) == MAX_STEPS
    assert [(p.problem, p.limit) for p in found.problems] == [("too many calls", "10")]


@given(VALUES, st.lists(KEYS | st.integers(0, 3), max_size=3))
def test_a_reference_gives_the_very_value_with_its_type(value: Any, path: list[Any]) -> None:
    data: Any = value
    for part in reversed(path):
        data = {part: data, "other": 1} if isinstance(part, str) else [*([None] * part), data]
    reference = "{{steps.4.data" + "".join(f".{p}" for p in path) + "}}"
    bound = resolve_refs({"x": reference, "y": [reference]}, {4: ok(data)})
    assert repr(bound) == repr({"x": value, "y": [value]})


def test_a_reference_to_nothing_or_to_a_failure_is_unbound_and_none_is_read_in_a_result() -> None:
    failed = CallOutcome("mail", "list", "error", data={"id": 1})
    for of in ("0.data.no", "0.data.list.1", "0.data.id.x", "1.data.id", "2.data.id"):
        with pytest.raises(UnresolvedReference):
            resolve_refs({"x": f"a {{{{steps.{of}}}}}"}, {0: ok({"id": 7, "list": [1]}), 2: failed})
    outcomes = {0: ok({"a": "{{steps.0.data.b}}", "b": "secret"})}
    for text in ("{}", "x {}"):
        bound = resolve_refs(text.format("{{steps.0.data.a}}"), outcomes)
        assert bound == text.format("{{steps.0.data.b}}")


def steps(*kinds: str) -> tuple[Step, ...]:
    """`r` a read, `w` a write, `r0` a read that needs step 0, `s` the same read as any other `s`."""
    found = []
    for i, kind in enumerate(kinds):
        plain = kind if kind == "s" else i
        given = {"x": f"{{{{steps.{kind[1]}.data.id}}}}" if len(kind) > 1 else plain}
        found.append(Step(i, "mail", "f", given, "write" if kind[0] == "w" else "read"))
    return tuple(found)


@pytest.mark.parametrize(
    ("kinds", "waves"),
    [
        ([], []),
        (["r", "r", "r"], [[0, 1, 2]]),
        (["r", "w", "r"], [[0], [1], [2]]),
        (["w", "w"], [[0], [1]]),
        (["r", "r", "w"], [[0, 1], [2]]),
        (["r", "r0", "r"], [[0], [1, 2]]),
        (["r", "r", "r0", "r"], [[0, 1], [2, 3]]),
        (["s", "r", "s", "r"], [[0, 1], [2, 3]]),
    ],
)
def test_reads_run_together_and_writes_in_order(kinds: list[str], waves: list[list[int]]) -> None:
    planned, finished = steps(*kinds), {}
    seen = []
    while wave := next_wave(planned, finished):
        seen.append([s.index for s in wave])
        finished |= {s.index: ok({}, s.index) for s in wave}
    assert seen == waves
