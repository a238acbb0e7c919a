"""Extension code that waits or blocks its thread is given up on in every function: its own call
fails, what comes next gets another thread, and what comes late arrives as an event."""

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, Person, deployed, until
from webbee_kernel import background
from webbee_kernel.aws.invoke import LambdaDispatch
from webbee_kernel.errors import DispatchUnanswered
from webbee_kernel.extensions import host
from webbee_kernel.extensions.host import ExtensionHost
from webbee_kernel.sdk import User
from webbee_kernel.types import CallOutcome, CallRequest, unfinished_outcome, user_dict

STUBBORN = Path(__file__).parent / "stubborn"


def host_of(stack: Stack) -> ExtensionHost:
    made: ExtensionHost = stack.handlers["tool_dispatch"].lambda_handler.service().host
    return made


pytestmark = pytest.mark.deployed(env={"WEBBEE_CALL_SECONDS": "1"})  # little patience


def released(stack: Stack) -> threading.Event:
    """What everything waits for that blocks."""
    ext: Any = host_of(stack).registry.loaded["stubborn"].ext
    event: threading.Event = ext.health.__globals__["released"]
    return event


@pytest.fixture
def stubborn(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A deployment with an extension that blocks wherever it is asked."""
    monkeypatch.setattr(host, "GRACE_S", 0.1)  # each call here is waited for so much longer
    with deployed(extensions=STUBBORN, env={"WEBBEE_CALL_SECONDS": "0.2"}) as running:
        released(running).clear()  # a process has one registry: a test before this one set it
        try:
            yield running
        finally:
            released(running).set()


def test_what_blocks_fails_alone_and_a_call_is_done_in_the_end(stubborn: Stack) -> None:
    """So do refreshes, alerts, hooks, listeners and probes, panels, webhooks and signals."""
    kinds = {"skeleton": "state", "alert": "state", "hook": "on_install", "event": "probe"}
    kinds["health"] = "health"
    user = user_dict(User("alice", tenant_id="acme"))
    for kind, name in kinds.items():
        request = CallRequest(kind, user, "stubborn", name, deadline_s=0.1)
        assert asyncio.run(host_of(stubborn).execute(request)).error_code == "BACKEND_TIMEOUT", kind
    person = Person(stubborn, ALICE)
    held = person.call("stubborn", "hold")
    assert held["error_code"] == "BACKEND_TIMEOUT"
    assert "WEBBEE_CALL_SECONDS" in held["error"], "the setting that would give it more time"
    assert person.call("stubborn", "__panel__board")["error_code"] == "BACKEND_TIMEOUT"
    webhook = person.send("POST", "/v1/ext/stubborn/webhook/hook", body="x")
    assert (webhook.status, webhook.error["code"]) == (500, "BACKEND_TIMEOUT")
    assert quick(person) == {"done": 0}
    signal = partial(stubborn.invoke, "skeleton_refresh", {"signal": "wake"})
    assert signal() == {"signal": "wake", "apps": {"stubborn": "error"}}
    dispatch = stubborn.handlers["skeleton_refresh"].lambda_handler.service().dispatch
    with patch.object(dispatch, "call", side_effect=DispatchUnanswered("away")):
        assert signal()["apps"] == {"stubborn": "dispatch_unavailable"}  # others hear it, too
    released(stubborn).set()
    until(lambda: signal()["apps"] == {"stubborn": "ok"})
    assert background.wait(60)  # what Lambda is kept awake for
    assert quick(person) == {"done": 1}


def quick(person: Person) -> Any:
    """What it answers as soon as the machine is quick enough, too."""
    return until(lambda: person.call("stubborn", "quick").body.get("data"))


def test_a_secret_nobody_confirms_is_no_success(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(dispatch: LambdaDispatch, request: CallRequest) -> CallOutcome:
        return unfinished_outcome(request)

    monkeypatch.setattr(LambdaDispatch, "call", late)
    path = "/v1/extensions/probe/secrets"
    asked = (("GET", path, None), ("PUT", f"{path}/token", {"value": "x"}))
    for method, where, body in (*asked, ("DELETE", f"{path}/token", None)):
        answer = person.send(method, where, body=body)
        assert (answer.status, answer.error["code"]) == (503, "dispatch_unavailable")
