"""A function that starts from a snapshot: what init leaves behind, what each copy makes anew, and that
the first turn loads no module."""

import json
import random
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import uuid_utils

from tests.aws.test_clients import service
from tests.processes import said
from tests.stand_ins.service import Service
from webbee_kernel.api.function import Function
from webbee_kernel.aws.clients import aws_client

_ = service  # the fixture


class Warmed:
    """A service that notes when it was warmed up."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes
        self.done = threading.Event()

    def warm(self) -> None:
        self._notes.append("warm")
        self.done.set()

    async def handle(self, event: Any) -> str:
        return "answered"


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """The hooks that the runtime would call after a restore."""
    hooks: list[Callable[[], object]] = []
    module = ModuleType("snapshot_restore_py")
    module.register_after_restore = hooks.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", module)
    return hooks


def started(monkeypatch: pytest.MonkeyPatch, kind: str) -> tuple[Function, list[str]]:
    monkeypatch.setenv("AWS_LAMBDA_INITIALIZATION_TYPE", kind)
    monkeypatch.setenv("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9")
    for table in ("SKELETON", "AUDIT", "EVENTS", "SESSIONS", "CACHE", "STORE", "CONNECTIONS"):
        monkeypatch.setenv(f"WEBBEE_TABLE_{table}", "t")
    monkeypatch.setenv("WEBBEE_DISPATCH", "tool_dispatch")
    monkeypatch.setenv("WEBBEE_REFRESH_QUEUE_URL", "https://sqs.example/queue")
    notes: list[str] = []
    return Function("skeleton_refresh", lambda *_: Warmed(notes)), notes


def test_a_snapshot_is_warm_and_its_copies_open_connections_of_their_own(
    service: Service, restored: list[Callable[[], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, notes = started(monkeypatch, "snap-start")
    assert notes == ["warm"]
    for _ in range(2):
        aws_client("dynamodb").list_tables()
    state = random.getstate()
    for hook in restored:
        hook()
    aws_client("dynamodb").list_tables()
    first, second, third = (request.connection for request in service.requests)
    assert first == second != third
    assert (random.getstate() == state, uuid_utils.reseed_rng in restored) == (False, True)


@pytest.mark.usefixtures("service")
def test_an_init_that_somebody_waits_for_leaves_the_warm_up_to_the_first_event(
    restored: list[Callable[[], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    function, notes = started(monkeypatch, "on-demand")
    assert (notes, restored) == ([], [])
    for _ in range(2):
        assert function({}) == "answered"
    assert function.service().done.wait(60)  # type: ignore[attr-defined]
    assert notes == ["warm"]


# ---- the first turn


FIRST = """
import json, sys
from benchmarks.apps import RESULTS, results_kernel
from webbee_kernel.turn.kernel import warm_up

running = results_kernel()
warm_up()
running.registry.catalogue()  # a turn is given it: the function with the apps has made it
before = set(sys.modules)
running.chat("1 KB of rows")
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_the_first_turn_loads_no_module() -> None:
    assert json.loads(said(FIRST).splitlines()[-1]) == []
