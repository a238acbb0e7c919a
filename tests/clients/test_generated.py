"""Clients that generators make of docs/openapi.json: they compile, and do what a person would."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from local.reference import OPENAPI as PATH
from local.world import World
from tests.clients.running import alone, node

HERE = Path(__file__).parent


def test_the_generated_python_client(world: World, pypi: Path, tmp_path: Path) -> None:
    made = alone(
        pypi,
        *("openapi-python-client", "generate", "--meta", "none", "--fail-on-warning"),
        *("--path", str(PATH), "--output-path", str(tmp_path / "webbee_kernel_client")),
        *("--config", str(HERE / "openapi.yml")),
    )
    assert made.returncode == 0, made.stdout + made.stderr
    ran = alone(pypi, "python", str(HERE / "openapi_client.py"), str(tmp_path), world.url)
    assert ran.returncode == 0, ran.stderr
    check(json.loads(ran.stdout))


def test_the_generated_typescript_client(world: World, npm: Path, tmp_path: Path) -> None:
    for name in ("tsconfig.json", "openapi_client.ts"):
        shutil.copy(HERE / name, tmp_path)
    tool = str(npm / "@hey-api/openapi-ts/bin/run.js")
    wanted = ("-i", str(PATH), "-o", str(tmp_path / "generated"), "-c", "@hey-api/client-fetch")
    steps: list[subprocess.CompletedProcess[str]] = [
        node(npm, tool, *wanted, "--no-log-file"),
        node(npm, str(npm / "typescript/bin/tsc"), "-p", str(tmp_path)),
        node(npm, str(tmp_path / "js/openapi_client.js"), world.url),
    ]
    for step in steps:
        assert step.returncode == 0, step.stdout + step.stderr
    check(json.loads(steps[-1].stdout))


def check(told: dict[str, Any]) -> None:
    assert told["added"]["status"] == "ok"
    assert told["listed"]["data"]["tasks"][0]["title"] == "buy milk"
    assert told["asked"]["status"] == "confirmation"
    assert told["done"]["calls"][0]["fn_name"] == "delete"
    assert [row["session_id"] for row in told["sessions"]["sessions"]] == ["generated"]
    assert (len(told["turns"]), told["wrong"]["error"]["code"]) == (2, "not_found")
    assert {app["app_id"] for app in told["apps"]["extensions"]} >= {"mail", "notes", "tasks"}
    assert told["health"]["status"] == "ok"
    assert '"kind"' in told["export"] or '"type"' in told["export"]
