"""Extensions of `imperal-sdk` as they are deployed: built into the layer with the SDK, on Lambda's
Python, under its runtime emulator; and servers of the Model Context Protocol over HTTP."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from local.mcp_servers import as_json
from tests.emulator.conftest import LOGICAL_IDS, recorded
from tests.emulator.runtime import MACHINE, Built, Emulator, lay_out
from tests.mcp.conftest import Told, approve, no_connection_outlives_its_test, told
from tests.processes import ran
from webbee_kernel.api.extension_routes import PANEL_PREFIXES
from webbee_kernel.mcp.connections import McpServer

ROOT = Path(__file__).parents[2]
APPS = ("shelf", "mason", "pulse")


@pytest.fixture(scope="module")
def with_sdk(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The build with another extensions layer: three extensions of that SDK and what they
    require."""
    sources, artefacts = tmp_path_factory.mktemp("extensions"), tmp_path_factory.mktemp("build")
    for name in ("Makefile", "check_requirements.py", "constraints.txt"):
        shutil.copy(ROOT / "extensions" / name, sources)
    for app in APPS:
        shutil.copytree(ROOT / "tests/compat/extensions" / app, sources / app)
    for made in Path(os.environ["WEBBEE_BUILT"]).iterdir():
        if made.is_dir() and made.name != "ExtensionsLayer":
            (artefacts / made.name).symlink_to(made)
    layer = artefacts / "ExtensionsLayer"
    environment = {**os.environ, "PATH": f"{ROOT / '.venv-313/bin'}:{os.environ['PATH']}"}
    command = ["make", "build-ExtensionsLayer", f"ARTIFACTS_DIR={layer}", f"ARCH={MACHINE}"]
    done = ran(*command, cwd=sources, env=environment)
    assert done.returncode == 0, done.stderr
    assert (layer / "python/imperal_sdk").is_dir()
    return lay_out(artefacts, tmp_path_factory.mktemp("lambda-imperal"))


@pytest.fixture(scope="module")
def tools(with_sdk: Built, environment: Callable[[str], dict[str, str]]) -> Iterator[Emulator]:
    variables = environment("tool_dispatch") | {
        "WEBBEE_EXTENSIONS_DIR": str(with_sdk.opt / "webbee_extensions"),
        "AWS_ACCESS_KEY_ID": "imperal-tests",  # no call here brings a session
    }
    with Emulator(with_sdk, "ToolDispatchFunction", variables) as running:
        yield running


def call(tools: Emulator, app_id: str, function: str, /, **params: Any) -> Any:
    """A call as chat_turn sends it; a panel's tree, a function's outcome."""
    panel = function.startswith(PANEL_PREFIXES)
    asked = {"app_id": app_id, "name": function.removeprefix("__panel__"), "arguments": params}
    asked |= {"kind": "panel" if panel else "function", "request_id": function}
    answer = tools.invoke(recorded("invoke_call") | asked)
    return answer["ui"] if panel else answer


def test_they_load_and_are_in_the_catalogue(tools: Emulator) -> None:
    catalogue = tools.invoke(recorded("invoke_catalogue"))
    assert {app["app_id"]: app["error"] for app in catalogue["apps"]} == dict.fromkeys(APPS, "")


def test_a_chat_function_a_panel_and_an_app_work(tools: Emulator) -> None:
    added = call(tools, "shelf", "add_book", title="Emma", pages=474)
    assert (added["status"], added["data"]["title"]) == ("ok", "Emma")
    assert call(tools, "shelf", "__tray__out")["ui"]["type"] == "TrayResponse"


def test_clients_built_by_hand_reach_the_endpoint_between_two_freezes(tools: Emulator) -> None:
    for written in (10, 20):
        made = call(tools, "mason", "many", count=10)
        assert (made["status"], made["data"]["count"]) == ("ok", written), made


__all__ = ["no_connection_outlives_its_test", "told"]


@pytest.mark.usefixtures("cloud")
def test_the_built_cell_calls_a_server_over_http(
    told: Told, built: Built, environment: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    """One that was approved as it is."""
    server, folder = McpServer(id="sums", url=told.url), tmp_path / "extensions"
    shutil.copytree(built.opt / "webbee_extensions", folder)
    approve(folder, server)
    variables = environment("tool_dispatch") | {
        "WEBBEE_MCP_SERVERS": as_json([server]),
        "WEBBEE_EXTENSIONS_DIR": str(folder),
    }
    with Emulator(built, LOGICAL_IDS["tool_dispatch"], variables) as cell:
        outcome = call(cell, "sums", "add", a=1, b=2)
        assert (outcome["status"], outcome["data"]) == ("ok", {"sum": 3}), outcome
        assert call(cell, "sums", "add", a="x")["error_code"].startswith("VALIDATION")
    assert len(told.calls) == 1
