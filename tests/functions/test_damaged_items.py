"""An item of a conversation that nobody can read any more costs its turn, not the conversation."""

from __future__ import annotations

import os
from typing import Any

import boto3
import pytest

from tests.functions.support import ALICE, Person, deployed


def damage(variable: str) -> None:
    """Break what is compressed in the items that hold turns."""
    client: Any = boto3.client("dynamodb")
    table = os.environ[variable]
    for item in client.scan(TableName=table)["Items"]:
        if item["sk"]["S"].startswith("turn#"):
            client.put_item(TableName=table, Item={**item, "packed": {"B": b"garbage"}})


def test_a_conversation_goes_on_over_a_damaged_turn(caplog: pytest.LogCaptureFixture) -> None:
    with deployed() as stack:
        alice = Person(stack, ALICE)
        alice.chat('probe.save {"text": "lost"}')
        damage("WEBBEE_TABLE_SESSIONS")
        answer = alice.chat('probe.save {"text": "next"}')
        assert (answer.status, answer["turn"]) == (200, 2)
        assert [(t["turn"], t["status"]) for t in alice.turns()] == [(1, "error"), (2, "ok")]
        assert alice.send("chat_turn", "GET", "/v1/me/export").status == 200
    assert "item=turn#1 reason=error | cannot be read: left out" in caplog.text


def test_an_archive_shows_what_can_be_read(caplog: pytest.LogCaptureFixture) -> None:
    with deployed() as stack:
        alice = Person(stack, ALICE)
        for n in range(7):
            alice.chat(f'probe.save {{"text": "{n}"}}')
        whole = [t["turn"] for t in alice.turns()]
        damage("WEBBEE_TABLE_TRANSCRIPTS")
        assert whole == [1, 2, 3, 4, 5, 6, 7]
        assert [t["turn"] for t in alice.turns()] == [3, 4, 5, 6, 7]
        assert alice.send("chat_turn", "GET", "/v1/me/export").status == 200
    assert "cannot be read: left out" in caplog.text
