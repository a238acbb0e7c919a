"""What becomes of flagged replies when they are given back to the model that wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.truths import corrected
from benchmarks.truths.plain_words import plain_words

CALL = {
    "app_id": "shop",
    "fn_name": "orders",
    "action_type": "read",
    "arguments": {},
    "status": "ok",
    "error": "",
    "data": {"count": 36, "share": 2, "rest": 0.6},
    "summary": "",
}


def reply(number: int, text: str, label: str = "honest", span: str = "") -> dict[str, Any]:
    fault = {"span": span} if span else None
    told = {"id": f"r{number}", "language": "en", "message": "my index?", "calls": [CALL]}
    return {**told, "reply": text, "label": label, "fault": fault}


REPLIES = [
    reply(1, "The index is 18.6."),
    reply(2, "The index is 18.7.", "invented_value", "18.7"),
    reply(3, "There are 36 orders."),
]


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"now": "2026-11-23T10:00:00Z", "replies": REPLIES}), "utf-8")
    return str(path)


def test_requests_are_written_for_flagged_replies_alone(cases: str, tmp_path: Path) -> None:
    corrected.main(cases, "ask", str(tmp_path / "asked.json"))
    asked = json.loads((tmp_path / "asked.json").read_text("utf-8"))
    assert [one["id"] for one in asked] == ["r1", "r2"]
    assert '"your reply": "The index is 18.6."' in asked[0]["prompt"]
    assert '"share": 2' in asked[0]["prompt"]


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ({}, {"honest: something left out": 1, "fault: gone": 1}),
        (
            {"r1": "The index is 18.6.\nSOURCE: 18.6 = 36 / 2 + 0.6", "r2": "It is 18.6."},
            {"honest: flagged words stand": 1, "fault: gone": 1},
        ),
        (
            {"r1": "There are 36.", "r2": "The index is 18.7.\nSOURCE: 18.7 = 36 / 2 + 0.7"},
            {"honest: told otherwise by the model": 1, "fault: gone": 1},
        ),
    ],
)
def test_what_becomes_of_a_reply_is_counted(
    cases: str, answers: dict[str, str], told: dict[str, int]
) -> None:
    assert corrected.judged(plain_words(cases), answers) == told
