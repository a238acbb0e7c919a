"""The documented `sam local` commands: events and env.json fit the built functions; where a Docker
engine is, the commands themselves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.emulator import MACHINE, ROOT
from local.template import environment, load_template
from tests.emulator.conftest import LOGICAL_IDS, Cloud
from webbee_kernel.config import Settings

EVENTS = sorted((ROOT / "events").glob("*.json"))
ENV: dict[str, dict[str, str]] = json.loads((ROOT / "env.json").read_text("utf-8"))


def test_every_function_has_events() -> None:
    assert {path.name.partition("-")[0] for path in EVENTS} == set(LOGICAL_IDS)


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_a_documented_event_is_answered_by_the_built_function(cloud: Cloud, path: Path) -> None:
    function = path.name.partition("-")[0]
    answer: Any = cloud.invoke(function, json.loads(path.read_text("utf-8")))
    assert answer.get("statusCode", 200) == 200, answer
    assert answer.get("batchItemFailures", []) == []


@pytest.mark.parametrize("function", LOGICAL_IDS)
def test_env_json_starts_the_function_and_overrides_only_what_the_template_declares(
    function: str,
) -> None:
    given = ENV[LOGICAL_IDS[function]]
    assert (
        given.keys() <= environment(load_template(), LOGICAL_IDS[function]).keys()
    )  # sam ignores others
    settings = Settings.from_env(given, function)  # type: ignore[arg-type]
    for noun in ("sessions", "skeleton", "cache", "store", "audit", "events"):
        assert settings.table(noun) in ("", f"{noun.capitalize()}Table")  # what `make aws` creates


@pytest.fixture(scope="module")
def engine() -> None:
    docker = shutil.which("docker")
    if (
        docker is None
        or subprocess.run([docker, "info"], capture_output=True, timeout=20).returncode
    ):
        pytest.skip("no Docker engine answers here: sam local runs functions in containers")


@pytest.fixture(scope="module")
def listening(engine: None) -> Iterator[None]:
    """`make aws HOST=0.0.0.0`."""
    command = [sys.executable, "-m", "local.aws_server", "--host", "0.0.0.0"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        assert "listens" in server.stdout.readline()
        yield
    finally:
        server.terminate()
        server.wait(10)


def sam_local(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    build = Path(os.environ["WEBBEE_BUILT"]) / "template.yaml"
    overrides = f"JwtIssuer=https://login.example.com JwtAudience=webbee Architecture={MACHINE}"
    command = [
        ROOT / ".venv-sam/bin/sam",
        "local",
        *arguments,
        "--template",
        build,
        "--parameter-overrides",
        overrides,
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, **more)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "event", ["tool_dispatch-catalogue", "skeleton_refresh-install", "chat_turn-sessions"]
)
def test_sam_local_invoke_answers(listening: None, event: str) -> None:
    name = LOGICAL_IDS[event.partition("-")[0]]
    done = sam_local("invoke", name, "--event", f"events/{event}.json")
    answer = json.loads(
        done.stdout.strip().splitlines()[-1]
    )  # it exits with 0 even when the function failed
    assert "errorType" not in answer, done.stderr
    assert answer.get("statusCode", 200) == 200, answer


@pytest.mark.timeout(900)
def test_sam_local_start_api_serves_the_public_routes(listening: None) -> None:
    import urllib.error
    import urllib.request

    build = Path(os.environ["WEBBEE_BUILT"]) / "template.yaml"
    overrides = f"JwtIssuer=https://login.example.com JwtAudience=webbee Architecture={MACHINE}"
    command = [
        ROOT / ".venv-sam/bin/sam",
        "local",
        "start-api",
        "--template",
        build,
        "--parameter-overrides",
        overrides,
    ]
    served = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 600
        while True:
            try:
                with urllib.request.urlopen("http://127.0.0.1:3000/", timeout=120) as page:
                    assert page.headers.get_content_type() == "text/html"
                    return
            except (urllib.error.URLError, ConnectionError):
                assert time.monotonic() < deadline
                time.sleep(1)
    finally:
        served.terminate()
        served.wait(30)
