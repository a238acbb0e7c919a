"""Forty turns as they were agreed on: what the model read, what ran, what was remembered, what was said.
A difference is a change that users see."""

import pytest

from .stories import STORIES, play


def test_there_are_forty_turns() -> None:
    assert sum(map(len, STORIES.values())) == 40


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_told_as_agreed(story: str) -> None:
    for number, (turn, agreed) in enumerate(
        zip(play(STORIES[story]), STORIES[story], strict=True), 1
    ):
        assert turn == agreed, f"turn {number} of {story!r}"
