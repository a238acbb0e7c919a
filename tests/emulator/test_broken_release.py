"""A release that fails every turn, as built: what its version emits is what the deployment's alarm
counts, while Lambda sees no error."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from local.aws import lambda_api
from local.template import load_template
from tests.alarms import alarm, embedded, state
from tests.emulator.conftest import LOGICAL_IDS, Cloud, recorded
from tests.emulator.runtime import Built, Emulator

NOW = 1_779_000_000.0
BROKEN = "    async def turn(self, ask: TurnRequest) -> Reply:\n"


@pytest.fixture(scope="module")
def broken(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The same build with a defect in it: every turn divides by zero."""
    root = tmp_path_factory.mktemp("broken")
    shutil.copytree(built.root, root, dirs_exist_ok=True)
    kernel = root / "opt/python/webbee_kernel/turn/kernel.py"
    source = kernel.read_text("utf-8")
    head, rest = source.split(BROKEN)
    kernel.write_text(f"{head}{BROKEN}        raise ZeroDivisionError\n{rest}", "utf-8")
    for compiled in Path(kernel.parent, "__pycache__").glob("kernel.*.pyc"):
        compiled.unlink()
    return replace(built, root=root)


@pytest.fixture(scope="module")
def canary(
    broken: Built, cloud: Cloud, environment: Callable[[str], dict[str, str]]
) -> Iterator[Emulator]:
    """Version 8 of chat_turn, beside the good one."""
    env = environment("chat_turn") | {"AWS_LAMBDA_FUNCTION_VERSION": "8"}
    with lambda_api({env["WEBBEE_DISPATCH"]: cloud.functions["tool_dispatch"]}) as url:
        env["AWS_ENDPOINT_URL_LAMBDA"] = url
        with Emulator(broken, LOGICAL_IDS["chat_turn"], env) as emulator:
            yield emulator


def rings(logs: str, version: str) -> str:
    """The state of chat_turn's rollback alarm for a version, from what it wrote this minute."""
    rollback = json.dumps(alarm(load_template(), "ChatTurnRelease"))
    watched = json.loads(rollback.replace('"Value": "8"', f'"Value": "{version}"'))
    points = [p for line in logs.splitlines() for p in embedded(line, NOW - 30)]
    return state(watched, points, NOW)


def test_a_release_that_fails_every_turn_is_no_function_error_and_rings_its_alarm(
    canary: Emulator,
) -> None:
    for _ in range(3):
        answer = canary.invoke(recorded("http_chat"))  # ProcessEnded, were it one
        assert answer["statusCode"] == 500
    assert rings(canary.logs(), "8") == "ALARM"


def test_the_release_beside_it_is_quiet(cloud: Cloud) -> None:
    for _ in range(3):
        assert cloud.invoke("chat_turn", recorded("http_chat"))["statusCode"] == 200
    assert rings(cloud.functions["chat_turn"].logs(), "$LATEST") == "OK"
