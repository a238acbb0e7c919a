"""The commands of docs/deploy.md, in containers."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.emulator.conftest import LOGICAL_IDS
from tests.emulator.runtime import ROOT
from tests.sam_local.conftest import Sam

pytestmark = pytest.mark.timeout(900)
EVENTS = sorted((ROOT / "events").glob("*.json"))


@pytest.fixture(scope="module")
def serving(sam: Sam) -> Iterator[Sam]:
    """With `start-lambda`, through which chat_turn and skeleton_refresh call tool_dispatch."""
    with sam.serving("start-lambda", "http://127.0.0.1:3001/"):
        yield sam


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_sam_local_invoke_answers(serving: Sam, path: Path) -> None:
    answer = serving.invoke(LOGICAL_IDS[path.stem.partition("-")[0]], path)
    assert answer.get("statusCode", 200) == 200, answer
    assert answer.get("batchItemFailures", []) == []


def test_chat_turn_calls_tool_dispatch_through_start_lambda(serving: Sam) -> None:
    answer = serving.invoke("ChatTurnFunction", ROOT / "events/chat_turn-chat.json")
    body: dict[str, Any] = json.loads(answer["body"])
    assert (answer["statusCode"], body["status"]) == (200, "ok"), body
    assert body["calls"], body
    assert {call["status"] for call in body["calls"]} == {"ok"}


def test_start_api_serves_the_public_routes(sam: Sam) -> None:
    with (
        sam.serving("start-api", "http://127.0.0.1:3000/"),
        urllib.request.urlopen("http://127.0.0.1:3000/", timeout=120) as page,
    ):
        assert page.headers.get_content_type() == "text/html"
