"""Metrics, counted where things happen, one line an invocation; logs, one JSON line with what finds it
again, never content, never who."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest

from webbee_kernel import observability
from webbee_kernel.api.function import JsonFormatter
from webbee_kernel.observability import (
    bind_invocation,
    collect_metrics,
    count_request,
    measure,
    measure_all,
    record_duration,
)


def written(work: Any, namespace: str = "Webbee/test", version: str = "") -> list[dict[str, Any]]:
    metrics = collect_metrics("chat_turn", namespace, version=version)
    with (
        redirect_stdout(StringIO()) as out,
        bind_invocation({"correlation_id": "c-1"}, None),
        metrics,
    ):
        work()
    return [json.loads(text) for text in out.getvalue().splitlines()]


def test_counts_are_summed_times_kept_one_by_one_and_a_deployments_variables_add_no_dimension(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Alarms name the dimensions, and the template gives each function a service's name."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "webbee")

    def work() -> None:
        measure("DynamoDBCalls")
        measure("DynamoDBCalls", 2)
        measure("ClassifyMs", 5)
        measure("ClassifyMs", 7)
        count_request(failed=True)
        measure_all({"ModelErrors": 1}, ("narrator", "m"))

    assert written(work, namespace="") == []
    found, *others = written(work, version="8")
    named = {"service": "webbee", "function": "chat_turn", "correlation_id": "c-1"}
    assert found.items() >= {**named, "DynamoDBCalls": [3], "ClassifyMs": [5, 7]}.items()
    [told] = found["_aws"]["CloudWatchMetrics"]
    assert (told["Namespace"], told["Dimensions"]) == ("Webbee/test", [["service", "function"]])
    units = {metric["Name"]: metric["Unit"] for metric in told["Metrics"]}
    assert units.items() >= {"DynamoDBCalls": "Count", "ClassifyMs": "Milliseconds"}.items()
    dimensions = [f["_aws"]["CloudWatchMetrics"][0]["Dimensions"][0] for f in others]
    assert dimensions == [["function", "version"], ["role", "model"]]


def test_a_phase_is_timed_even_when_it_fails_and_in_tasks_of_its_own() -> None:
    @record_duration("CallsMs")
    async def phase(fails: bool) -> str:
        if fails:
            raise RuntimeError
        return "done"

    async def both() -> list[Any]:
        return await asyncio.gather(phase(False), phase(True), return_exceptions=True)

    answers: list[Any] = []
    [found] = written(lambda: answers.extend(asyncio.run(both())))
    assert (answers[0], len(found["CallsMs"])) == ("done", 2)
    with pytest.raises(AssertionError, match="Tuns"):  # is in no table
        measure("Tuns")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """A logger with the kernel's formatter that writes to memory."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter("chat_turn"))
    logger = logging.getLogger("webbee.test-log")
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield stream
    logger.removeHandler(handler)


def line(log: io.StringIO) -> dict[str, Any]:
    logging.getLogger("webbee.test-log").warning("answer=%d | it happened", 42)
    found: dict[str, Any] = json.loads(log.getvalue().splitlines()[-1])
    return found


CALL = {
    "kind": "function",
    "user": {"tenant_id": "acme", "imperal_id": "alice", "email": "alice@acme.example"},
    "session_id": "s1",
    "request_id": "r-1",
    "step": 2,
    "correlation_id": "api-1",
}


def test_a_call_brings_correlation_session_turn_step_and_its_users_hash(log: io.StringIO) -> None:
    with observability.bind_invocation(CALL, None):
        found = line(log)
    told = {"correlation_id": "api-1", "session": "s1", "turn": "r-1", "step": "2"}
    told |= {"message": "answer=42 | it happened", "user": observability.user_hash("acme", "alice")}
    assert found.items() >= told.items()
    assert "alice" not in json.dumps(found)
    assert observability.user_hash("acme", "alice") != observability.user_hash("umbrella", "alice")
    assert "session" not in line(log)  # nothing of an invocation stays behind
    assert observability.correlation_id() == ""
    events: list[dict[str, Any]] = [{}, {"user": "mallory"}, {"user": {}}, {"Records": []}]
    for event in events:  # any can be bound
        with observability.bind_invocation(event, None):
            assert "user" not in line(log)


def test_of_an_exception_class_and_places_are_told_and_never_the_text(log: io.StringIO) -> None:
    try:
        raise RuntimeError("hunter2")
    except RuntimeError as error:
        error.add_note("hunter3")
        logging.getLogger("webbee.test-log").exception("incident=%s | request failed", "i-1")
    text = log.getvalue()
    assert "hunter" not in text
    found = json.loads(text)
    assert found["exception"] == "RuntimeError"
    assert found["message"] == "incident=i-1 | request failed"
    assert found["at"][0].startswith("test_observability.py:")
