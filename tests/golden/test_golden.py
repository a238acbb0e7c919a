"""Forty turns as they were agreed on: what the model read, what ran, what was remembered, what was said.

A difference is a change that users see. Where it is wanted: `make python ARGS='-m tests.golden.write'`,
and look at the difference before you commit it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .stories import STORIES, play

AGREED = json.loads(Path(__file__).with_name("golden.json").read_text("utf-8"))


def test_there_are_forty_turns() -> None:
    assert sum(len(turns) for turns in STORIES.values()) == 40
    assert set(AGREED) == set(STORIES)


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_told_as_agreed(story: str) -> None:
    turns = play(STORIES[story])
    for number, (turn, agreed) in enumerate(zip(turns, AGREED[story], strict=True), 1):
        assert turn == agreed, f"turn {number} of {story!r}"
