"""`make run` notices a model server of this machine: asked of real servers on loopback."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from local.models import PORTS, ModelServer, Search
from local.run import welcome


@contextmanager
def server(body: bytes, status: int = 200) -> Iterator[tuple[int, list[str]]]:
    """A server on a port of its own, and the requests it got."""
    asked: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    try:
        yield running.server_address[1], asked
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def models(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": n} for n in names]}).encode()


def found(port: int, own_port: int = 0) -> list[ModelServer]:
    search = Search(own_port, {port: "Ollama"}, seconds=60)
    search.wait(60)
    return search.found()


def test_a_server_that_lists_models_is_named_with_the_command_that_uses_it() -> None:
    with server(models("nomic-embed-text", "llama3.1:8b")) as (port, asked):
        (one,) = found(port)

    assert one.command == f"make run 'MODEL=openai:http://127.0.0.1:{port}/v1#llama3.1:8b'"
    assert asked == ["/v1/models"]
    assert one.command in welcome("http://127.0.0.1:8000", {}, [one])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>another program</html>", 200),
        (models("llama3"), 401),
        (models("x; rm -rf ~"), 200),
        (models("text-embedding-3"), 200),
        (b'{"data": "none"}', 200),
        (b"[1]", 200),
    ],
)
def test_what_is_no_model_server_or_names_no_usable_model_is_passed_over(
    body: bytes, status: int
) -> None:
    with server(body, status) as (port, _):
        assert found(port) == []


def test_the_own_port_is_never_asked() -> None:
    with server(models("llama3")) as (port, asked):
        assert found(port, own_port=port) == []
    assert asked == []


def test_a_port_that_accepts_and_says_nothing_holds_nothing_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        search = Search(0, {silent.getsockname()[1]: "LM Studio"})

        assert search.found() == []
        search.wait(60)
        assert search.found() == []


def test_the_ports_of_the_four_servers_are_known() -> None:
    assert set(PORTS.values()) == {"Ollama", "LM Studio", "vLLM", "llama.cpp"}
    assert set(PORTS) == {11434, 1234, 8000, 8001, 8080}
