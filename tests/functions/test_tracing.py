"""Spans as X-Ray's daemon receives them: datagrams on a socket of this machine."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.functions.support import deployed, event
from webbee_kernel.base.tracing import span, traced

ROOT = "1-5759e988-bd862e3fe1be46a994272793"
SAMPLED = f"Root={ROOT};Parent=53995c3f42cd8ad8;Sampled=1"


@pytest.fixture
def daemon() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.setblocking(False)
        yield listening


def received(daemon: socket.socket) -> list[dict[str, Any]]:
    found = []
    while True:
        try:
            header, document = daemon.recv(65_536).split(b"\n", 1)
        except BlockingIOError:
            return found
        assert json.loads(header) == {"format": "json", "version": 1}
        found.append(json.loads(document))


def address(daemon: socket.socket) -> str:
    return f"127.0.0.1:{daemon.getsockname()[1]}"


def turn(monkeypatch: pytest.MonkeyPatch, daemon: socket.socket, header: str) -> int:
    monkeypatch.setenv("AWS_XRAY_DAEMON_ADDRESS", address(daemon))
    monkeypatch.setenv("_X_AMZN_TRACE_ID", header)
    with deployed() as stack:
        handler = stack.handlers["chat_turn"].lambda_handler
        answer = handler(event("http_chat"), SimpleNamespace(function_version="8"))
        return int(answer["statusCode"])


def test_a_turn_is_a_span_of_its_phases_and_calls(
    monkeypatch: pytest.MonkeyPatch, daemon: socket.socket
) -> None:
    assert turn(monkeypatch, daemon, SAMPLED) == 200
    spans = received(daemon)
    names = {s["id"]: s["name"] for s in spans}
    parents = {s["name"]: names.get(s["parent_id"], s["parent_id"]) for s in spans}
    assert parents["Turn"] == "53995c3f42cd8ad8"  # the function's own segment
    assert {name for name, parent in parents.items() if parent == "Turn"} == {
        *("Read", "Classify", "Calls", "Narrate", "Record")
    }
    assert parents["call probe.save"] == "Calls"
    assert {(s["trace_id"], s["type"], s["fault"]) for s in spans} == {(ROOT, "subsegment", False)}
    assert all(s["start_time"] <= s["end_time"] for s in spans)
    request = event("http_chat")["requestContext"]["requestId"]
    assert {s["annotations"]["correlation_id"] for s in spans} == {request}  # as in the logs
    assert "hello" not in json.dumps(spans)


@pytest.mark.parametrize("header", ["", f"Root={ROOT};Parent=53995c3f42cd8ad8;Sampled=0"])
def test_what_is_not_sampled_sends_nothing(
    monkeypatch: pytest.MonkeyPatch, daemon: socket.socket, header: str
) -> None:
    assert turn(monkeypatch, daemon, header) == 200
    assert received(daemon) == []


def test_a_span_that_raises_is_marked_and_its_siblings_are_not() -> None:
    sent: list[bytes] = []
    with traced(SAMPLED, send=sent.append):
        with pytest.raises(ZeroDivisionError), span("broken"):
            raise ZeroDivisionError
        with span("next"):
            pass
    spans = [json.loads(datagram.split(b"\n", 1)[1]) for datagram in sent]
    assert [(s["name"], s["fault"]) for s in spans] == [("broken", True), ("next", False)]
    assert {s["parent_id"] for s in spans} == {"53995c3f42cd8ad8"}


def test_a_daemon_that_is_not_there_disturbs_nobody() -> None:
    with traced(SAMPLED, "127.0.0.1:1"), span("one"), span("two"):
        pass
