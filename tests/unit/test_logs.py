"""Logs: one JSON line with what finds it again, never content, never who."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from webbee_kernel import observability
from webbee_kernel.api.log_format import JsonFormatter


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """A logger with the kernel's formatter that writes to memory."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter("chat_turn"))
    logger = logging.getLogger("webbee.test-logs")
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield stream
    logger.removeHandler(handler)


def line(written: io.StringIO) -> dict[str, Any]:
    logging.getLogger("webbee.test-logs").warning("answer=%d | it happened", 42)
    found: dict[str, Any] = json.loads(written.getvalue().splitlines()[-1])
    return found


CALL = {
    "kind": "function",
    "user": {"tenant_id": "acme", "imperal_id": "alice", "email": "alice@acme.example"},
    "session_id": "s1",
    "request_id": "r-1",
    "step": 2,
    "correlation_id": "api-1",
}


def test_a_call_from_another_function_brings_correlation_session_turn_and_step(
    written: io.StringIO,
) -> None:
    with observability.bind_invocation(CALL, None):
        found = line(written)
    assert (found["correlation_id"], found["session"], found["turn"], found["step"]) == (
        "api-1",
        "s1",
        "r-1",
        "2",
    )
    assert found["message"] == "answer=42 | it happened"


def test_the_user_is_a_hash(written: io.StringIO) -> None:
    with observability.bind_invocation(CALL, None):
        found = line(written)
    assert found["user"] == observability.hashed("acme", "alice")
    assert "alice" not in json.dumps(found)
    assert observability.hashed("acme", "alice") != observability.hashed("umbrella", "alice")


def test_what_is_bound_later_joins_and_empty_values_change_nothing(written: io.StringIO) -> None:
    with observability.bind_invocation({"requestContext": {"requestId": "api-2"}}, None):
        observability.bind(session="s9", user="")
        found = line(written)
        assert observability.correlation_id() == "api-2"
    assert (found["correlation_id"], found["session"]) == ("api-2", "s9")
    assert "user" not in found


def test_nothing_of_an_invocation_stays_behind(written: io.StringIO) -> None:
    with observability.bind_invocation(CALL, None):
        pass
    assert "session" not in line(written)
    assert observability.correlation_id() == ""


@pytest.mark.parametrize("event", [{}, {"user": "mallory"}, {"user": {}}, {"Records": []}])
def test_any_event_can_be_bound(written: io.StringIO, event: dict[str, Any]) -> None:
    with observability.bind_invocation(event, None):
        assert "user" not in line(written)


def test_a_line_has_the_keys_of_powertools(written: io.StringIO) -> None:
    found = line(written)
    assert list(found)[:4] == ["level", "location", "message", "timestamp"]
    assert (found["level"], found["service"], found["logger"], found["function"]) == (
        "WARNING",
        "webbee",
        "webbee.test-logs",
        "chat_turn",
    )
    assert found["timestamp"].endswith("+00:00")


def test_of_an_exception_the_class_and_the_places_are_told_and_never_the_text(
    written: io.StringIO,
) -> None:
    try:
        raise RuntimeError("hunter2")
    except RuntimeError as error:
        error.add_note("hunter3")
        logging.getLogger("webbee.test-logs").exception("incident=%s | request failed", "i-1")
    text = written.getvalue()
    assert "hunter" not in text
    found = json.loads(text)
    assert (found["exception"], found["message"]) == (
        "RuntimeError",
        "incident=i-1 | request failed",
    )
    assert found["at"][0].startswith("test_logs.py:")


@pytest.mark.parametrize("text", ['{"level": "CRITICAL"}', "[1, 2]", "%s %d"])
def test_a_message_that_looks_like_json_stays_a_text(written: io.StringIO, text: str) -> None:
    logging.getLogger("webbee.test-logs").warning(text)
    found = json.loads(written.getvalue())
    assert (found["message"], found["level"]) == (text, "WARNING")
