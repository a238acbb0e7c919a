"""Requests for refreshes: one batch behind the recorded turn, which a slow queue cannot hold up."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from webbee_kernel.refresh import refresh_queue
from webbee_kernel.refresh.refresh_queue import SqsRefreshQueue, Wanted
from webbee_kernel.sdk import User

ALICE = User("alice", tenant_id="acme", scopes=("chat",))


class Queue:
    """An SQS client that keeps what it is sent, or answers only when it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[dict[str, Any]]] = []
        self.answers = threading.Event()
        self.answers.set()
        self.refuses = False

    def send_message_batch(self, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's own names
        self.batches.append([json.loads(e["MessageBody"]) for e in Entries])
        self.answers.wait(30)
        return {"Failed": [{"Id": "0"}]} if self.refuses else {}


PATIENCE_S = refresh_queue.PATIENCE_S


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    """A queue that is waited for, however slow the machine is."""
    monkeypatch.setattr(refresh_queue, "PATIENCE_S", 60.0)
    queue = Queue()
    yield queue
    queue.answers.set()


def ask(client: Queue, wanted: list[Wanted]) -> None:
    asyncio.run(SqsRefreshQueue("https://queue", lambda _: client).ask(ALICE, wanted))


def test_reasons_of_every_kind_go_out_in_one_batch(client: Queue) -> None:
    ask(client, [Wanted("mail", "inbox", "effect"), Wanted("notes", "all", "stale"), SEEN])
    [batch] = client.batches
    assert [(m["kind"], m.get("wanted")) for m in batch] == [
        ("refresh_asked", [["mail", "inbox", "effect"], ["notes", "all", "stale"]]),
        ("user_seen", None),
    ]
    assert all(m["user"]["imperal_id"] == "alice" and m["user"]["scopes"] == [] for m in batch)


SEEN = Wanted("", "", "seen")


def test_nothing_to_ask_for_sends_nothing(client: Queue) -> None:
    ask(client, [])
    assert client.batches == []


def test_a_queue_that_does_not_answer_is_waited_for_a_moment_and_logged(
    client: Queue, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PATIENCE_S == 0.5
    monkeypatch.setattr(refresh_queue, "PATIENCE_S", 0.01)
    client.answers.clear()
    queue = SqsRefreshQueue("https://queue", lambda _: client)

    async def both() -> None:
        await queue.ask(ALICE, [SEEN])
        assert not client.answers.is_set()
        client.answers.set()

    with caplog.at_level(logging.WARNING, "webbee.queue"):
        asyncio.run(both())
    assert "refresh request not sent" in caplog.text and "TimeoutError" in caplog.text


def test_a_refused_request_is_logged_and_never_raised(
    client: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    client.refuses = True
    with caplog.at_level(logging.WARNING, "webbee.queue"):
        ask(client, [SEEN])
    assert "refresh request not sent" in caplog.text
