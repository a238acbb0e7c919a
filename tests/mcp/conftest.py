"""A server of the protocol, and a kernel that has it as an app."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.mcp_servers import Seen, look, write
from tests.mcp.server import Told, obedient
from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.mcp.connections import SESSIONS, McpServer
from webbee_kernel.mcp.server_tools import read_approvals
from webbee_kernel.sdk import User
from webbee_kernel.testing import TestKernel
from webbee_kernel.types import CallOutcome, CallRequest, user_dict

NOW = "2026-05-15T17:21:04Z"


@pytest.fixture
def told() -> Iterator[Told]:
    with obedient() as running:
        yield running


@pytest.fixture(autouse=True)
def no_connection_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """The server is there until its sessions have taken leave of it."""
    if "told" in request.fixturenames:
        request.getfixturevalue("told")
    yield
    SESSIONS.close()


def seen(server: McpServer, token: str = "") -> Seen:
    return asyncio.run(look(SESSIONS, server, token, NOW))


def approve(folder: Path, *servers: McpServer, token: str = "") -> None:
    known = read_approvals(folder)
    write(folder, known | {s.id: seen(s, token).approval for s in servers})


def configured(folder: Path, *servers: McpServer) -> dict[str, str]:
    """The environment of a deployment that has these servers."""
    listed = json.dumps([s.model_dump(mode="json", exclude_defaults=True) for s in servers])
    return {"WEBBEE_MCP_SERVERS": listed, "WEBBEE_EXTENSIONS_DIR": str(folder)}


def kernel(folder: Path, *servers: McpServer, **options: Any) -> TestKernel:
    """A kernel whose extensions are these servers, as far as they are approved."""
    env = {**configured(folder, *servers), **options.pop("env", {})}
    return TestKernel(env=env, **options)


@pytest.fixture
def server(told: Told, tmp_path: Path) -> McpServer:
    found = McpServer(id="sums", url=told.url, name="Sums")
    approve(tmp_path, found)
    return found


@pytest.fixture
def k(server: McpServer, tmp_path: Path) -> TestKernel:
    return kernel(tmp_path, server)


def calls(*planned: tuple[str, dict[str, Any]]) -> ModelResponse:
    return ModelResponse(tool_calls=tuple(ToolCall(name, arguments) for name, arguments in planned))


def ask(
    k: TestKernel, app_id: str, name: str, arguments: dict[str, Any], *, user: User | None = None
) -> CallOutcome:
    """A call past any turn, as the cell gets it."""
    request = CallRequest("function", user_dict(user or k.user), app_id, name, arguments)
    outcome: CallOutcome = k.run(k.kernel.dispatch.call(request))
    return outcome
