"""An effect whose request was not taken is asked for again; one that may have been is never done
twice, and its user is told that nobody knows. Through the dispatch, over real connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.aws.service import Reply, Service, served
from webbee_kernel.aws import clients
from webbee_kernel.aws.invoke import LambdaDispatch
from webbee_kernel.errors import DispatchRefused, DispatchUnanswered
from webbee_kernel.types import CallOutcome, CallRequest, to_dict

USER = {"imperal_id": "alice", "tenant_id": "acme"}
EFFECT = CallRequest("function", USER, "mail", "send", {"to": "bob"}, effect="e1", deadline_s=20)
DONE = to_dict(CallOutcome("mail", "send", "ok", data={"sent": True}))


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with served() as running:
        monkeypatch.setenv("AWS_ENDPOINT_URL", running.url)
        clients.forget_clients()
        yield running
    clients.forget_clients()


def send(dispatch: LambdaDispatch, **change: str) -> CallOutcome:
    return asyncio.run(dispatch.call(replace(EFFECT, **change)))


def test_an_effect_over_a_kept_connection_that_was_closed_is_done_once(service: Service) -> None:
    dispatch = LambdaDispatch("cell")
    service.script[:] = [Reply(DONE), Reply(DONE, last=True), Reply(DONE)]
    assert send(dispatch, effect="e1").ok and send(dispatch, effect="e2").ok
    assert service.closed.wait(30)
    outcome = send(dispatch, effect="e3")
    assert (outcome.status, outcome.data) == ("ok", {"sent": True})
    assert [r.json["effect"] for r in service.requests] == ["e1", "e2", "e3"]
    first, second, third = (r.connection for r in service.requests)
    assert first == second != third


@pytest.mark.parametrize("lost", [Reply(drop=True), Reply(b"", 500)], ids=["no answer", "500"])
def test_an_effect_whose_request_was_taken_and_not_answered_stays_unknown(
    service: Service, lost: Reply
) -> None:
    service.script[:] = [lost, Reply(DONE)]
    with pytest.raises(DispatchUnanswered):
        send(LambdaDispatch("cell"))
    assert [r.json["effect"] for r in service.requests] == ["e1"]


def test_an_effect_that_reached_nobody_was_certainly_not_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and never listens
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{nobody.getsockname()[1]}")
        clients.forget_clients()
        with pytest.raises(DispatchRefused):
            asyncio.run(LambdaDispatch("cell").call(replace(EFFECT, deadline_s=0.5)))
    clients.forget_clients()
