"""The built cell and servers of the protocol over HTTP: the client's own layer, as it is deployed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from local.mcp_servers import as_json
from tests.clients.conftest import npm
from tests.emulator.conftest import LOGICAL_IDS, recorded
from tests.emulator.runtime import Built, Emulator
from tests.mcp.conftest import Told, approve, no_connection_outlives_its_test, told
from webbee_kernel.mcp.client.servers import McpServer

__all__ = ["no_connection_outlives_its_test", "npm", "told"]

EVERYTHING = "@modelcontextprotocol/server-everything/dist/index.js"
START_S = 60.0


def _listens(port: int) -> bool:
    with closing(socket.socket()) as knocking:
        return knocking.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def everything(npm: Path) -> Iterator[str]:
    """The reference server of npm, over HTTP."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
    command = [str(npm / ".bin/node"), str(npm / EVERYTHING), "streamableHttp"]
    environment = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        deadline = time.monotonic() + START_S
        while not _listens(port) and time.monotonic() < deadline:
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
        server.terminate()


@pytest.fixture
def cell(
    built: Built, environment: Callable[[str], dict[str, str]], cloud: Any, tmp_path: Path
) -> Iterator[Callable[[McpServer], Callable[..., dict[str, Any]]]]:
    """A cell whose one server was approved as it is: `(name, **arguments)` calls a function."""
    running: list[Emulator] = []

    def started(server: McpServer) -> Callable[..., dict[str, Any]]:
        folder = tmp_path / "extensions"
        shutil.copytree(built.opt / "webbee_extensions", folder)
        approve(folder, server)
        variables = environment("tool_dispatch") | {
            "WEBBEE_MCP_SERVERS": as_json([server]),
            "WEBBEE_EXTENSIONS_DIR": str(folder),
        }
        emulator = Emulator(built, LOGICAL_IDS["tool_dispatch"], variables)
        emulator.start()
        running.append(emulator)

        def call(name: str, **arguments: Any) -> dict[str, Any]:
            event = recorded("invoke_call")
            asked = {"app_id": server.id, "name": name, "arguments": arguments}
            outcome: dict[str, Any] = emulator.invoke({**event, **asked})
            return outcome

        return call

    yield started
    for emulator in running:
        emulator.stop()


def test_the_built_cell_calls_a_server_over_http(told: Told, cell: Any) -> None:
    call = cell(McpServer(id="sums", url=told.url))
    outcome = call("add", a=1, b=2)
    assert (outcome["status"], outcome["data"]) == ("ok", {"sum": 3}), outcome
    assert call("add", a="x")["error_code"].startswith("VALIDATION")
    assert len(told.calls) == 1


def test_the_built_cell_calls_a_server_that_nobody_here_wrote(everything: str, cell: Any) -> None:
    call = cell(McpServer(id="everything", url=everything))
    outcome = call("echo", message="a word")
    assert outcome["status"] == "ok", outcome
    assert "a word" in str(outcome["data"])
