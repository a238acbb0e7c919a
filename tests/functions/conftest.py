import gc
from collections.abc import Iterator
from typing import Any

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, BOB, Person, deployed
from webbee_kernel.api import turns
from webbee_kernel.clock import FrozenClock
from webbee_kernel.refresh import refresh_queue
from webbee_kernel.stores import audit_trail
from webbee_kernel.stores.dynamodb import transcripts


@pytest.fixture
def clock() -> FrozenClock:
    """Moves only when a test says so; who asks for it has a deployment with it."""
    return FrozenClock()


@pytest.fixture
def deployment() -> dict[str, Any]:
    """What `deployed` is given, where a module or a mark of this name does not say otherwise."""
    return {}


@pytest.fixture
def stack(request: pytest.FixtureRequest, deployment: dict[str, Any]) -> Iterator[Stack]:
    """A fresh deployment whose model does as it is told."""
    mark = request.node.get_closest_marker("deployed")
    options = {**deployment, **(mark.kwargs if mark else {})}
    if "clock" in request.fixturenames:
        options["clock"] = request.getfixturevalue("clock")
    with deployed(**options) as running:
        yield running


@pytest.fixture
def alice(stack: Stack) -> Person:
    return Person(stack, ALICE)


@pytest.fixture
def bob(stack: Stack) -> Person:
    return Person(stack, BOB)


@pytest.fixture
def person(stack: Stack, request: pytest.FixtureRequest) -> Person:
    """The test's own, where the deployment is not."""
    return Person(stack, {**ALICE, "sub": f"user-{abs(hash(request.node.nodeid))}"})


@pytest.fixture(scope="module", autouse=True)
def loops_ended() -> Iterator[None]:
    """A file's deployments are gone with it: each has threads and open files until collected."""
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def nothing_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """No write is left out for being slow: on a busy machine any is."""
    monkeypatch.setattr(transcripts, "PATIENCE_S", 3600.0)
    monkeypatch.setattr(refresh_queue, "PATIENCE_S", 60.0)
    monkeypatch.setattr(audit_trail, "FOLLOW_S", 60.0)


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a turn does after its first second is left out."""
    monkeypatch.setattr(turns, "BEAT_S", 3600.0)
