"""Metrics: counted where things happen, one line an invocation."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from webbee_kernel.observability import (
    EMITTED,
    MAX_VALUES,
    answered,
    flush,
    measure,
    measure_model,
    metered,
    timed,
    turn_ended,
)


def written(work: Any, namespace: str = "Webbee/test") -> list[dict[str, Any]]:
    found: list[str] = []
    with metered("chat_turn", namespace, lambda: {"correlation_id": "c-1"}, write=found.append):
        work()
    return [json.loads(text) for text in found]


def test_counts_are_summed_and_times_are_kept_one_by_one() -> None:
    def work() -> None:
        measure("DynamoDBCalls")
        measure("DynamoDBCalls", 2)
        measure("ClassifyMs", 5)
        measure("ClassifyMs", 7)

    [found] = written(work)
    assert (found["DynamoDBCalls"], found["ClassifyMs"]) == ([3], [5, 7])
    assert (found["service"], found["function"], found["correlation_id"]) == (
        "webbee",
        "chat_turn",
        "c-1",
    )
    [directive] = found["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Webbee/test"
    assert directive["Dimensions"] == [["service", "function"]]
    assert directive["Metrics"] == [
        {"Name": "DynamoDBCalls", "Unit": "Count"},
        {"Name": "ClassifyMs", "Unit": "Milliseconds"},
    ]


def test_a_line_holds_no_more_values_than_the_format_allows() -> None:
    [found] = written(lambda: [measure("RefreshLagSeconds", n) for n in range(MAX_VALUES + 5)])
    assert len(found["RefreshLagSeconds"]) == MAX_VALUES


def counted(work: Any, version: str) -> list[dict[str, Any]]:
    found: list[str] = []
    with metered("chat_turn", "Webbee/test", dict, version=version, write=found.append):
        work()
    return [json.loads(text) for text in found]


def test_a_deployment_s_variables_add_no_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alarms name the dimensions, and the template gives each function a service's name."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "webbee")

    def work() -> None:
        answered(failed=True)
        measure_model("narrator", "m", {"ModelErrors": 1})

    dimensions = [f["_aws"]["CloudWatchMetrics"][0]["Dimensions"][0] for f in counted(work, "8")]
    assert dimensions == [["service", "function"], ["function", "version"], ["role", "model"]]


@pytest.mark.parametrize("name", ["Refreshes", "RefreshFailures"])
def test_a_share_has_both_its_counts_in_every_line(name: str) -> None:
    for found in counted(lambda: measure(name), "8"):
        assert found["Refreshes"] + found["RefreshFailures"] == (
            [1, 0] if name == "Refreshes" else [0, 1]
        )


def test_what_was_flushed_is_not_written_again() -> None:
    def work() -> None:
        measure("Ticks")
        flush()
        measure("DynamoDBCalls")

    assert [f.get("Ticks") for f in counted(work, "8")] == [[1], None]
    assert [f.get("DynamoDBCalls") for f in counted(work, "8")] == [None, [1]]


def test_nothing_is_written_without_a_namespace_or_without_figures() -> None:
    assert written(lambda: measure("Turns"), namespace="") == []
    assert written(lambda: None) == []


def test_counting_outside_an_invocation_does_nothing() -> None:
    measure("Turns")
    assert written(lambda: None) == []


def test_a_metric_that_is_not_in_the_table_is_a_defect() -> None:
    with pytest.raises(AssertionError, match="Tuns"):
        measure("Tuns")


def test_an_invocation_that_fails_still_writes_what_it_counted() -> None:
    found: list[str] = []

    def fail() -> None:
        measure("Turns")
        raise RuntimeError

    with pytest.raises(RuntimeError), metered("chat_turn", "n", dict, write=found.append):
        fail()
    assert json.loads(found[0])["Turns"] == [1]


def test_a_phase_is_timed_even_when_it_fails_and_in_tasks_of_its_own() -> None:
    @timed("CallsMs")
    async def phase(fails: bool) -> str:
        if fails:
            raise RuntimeError
        return "done"

    async def both() -> list[Any]:
        return await asyncio.gather(phase(False), phase(True), return_exceptions=True)

    answers: list[Any] = []
    [found] = written(lambda: answers.extend(asyncio.run(both())))
    assert answers[0] == "done"
    assert len(found["CallsMs"]) == 2


def test_a_turn_counts_itself_its_failure_and_its_masked_values() -> None:
    [found] = written(lambda: turn_ended("error", 3))
    assert (found["Turns"], found["TurnErrors"], found["MaskedValues"]) == ([1], [1], [3])


def test_every_metric_has_a_unit_of_cloudwatch_and_a_meaning() -> None:
    assert {m.unit for m in EMITTED.values()} <= {"Count", "Milliseconds", "Seconds", "None"}
    assert all(m.meaning and m.functions for m in EMITTED.values())


def test_models_have_a_line_of_their_own_by_role_and_model() -> None:
    def work() -> None:
        measure("Turns")
        measure_model("classifier", "bedrock:a", {"ModelLatency": 5, "InputTokens": 100})
        measure_model("classifier", "bedrock:a", {"ModelLatency": 7, "InputTokens": 20})
        measure_model("narrator", "bedrock:b", {"ModelErrors": 1})

    turn, classifier, narrator = written(work)
    assert turn["Turns"] == [1]
    assert (classifier["role"], classifier["model"], classifier["function"]) == (
        "classifier",
        "bedrock:a",
        "chat_turn",
    )
    assert (classifier["ModelLatency"], classifier["InputTokens"]) == ([5, 7], [120])
    assert narrator["ModelErrors"] == [1]
    for found in (classifier, narrator):
        [directive] = found["_aws"]["CloudWatchMetrics"]
        assert (directive["Namespace"], directive["Dimensions"]) == (
            "Webbee/test",
            [["role", "model"]],
        )
        assert found["correlation_id"] == "c-1"
