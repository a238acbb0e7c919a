"""Conversations as tables: what is said and called, step by step, and whether it is done at once."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import pytest

from tests.invariants.test_consent import World

Call = tuple[str, dict[str, Any]]


class Step(NamedTuple):
    """A message and the call that the model makes of it; `done` is how many effects that has, None
    where it does not matter."""

    said: str
    calls: tuple[Call, ...]
    done: int | None = None
    shown: tuple[str, ...] = ()
    """What its card holds."""
    gives: Mapping[str, Any] | None = None
    """What the called function returns."""
    reply: str = ""
    """What the narrator says from here on."""


Talk = list[Step]


def says(said: str, name: str = "", given: Mapping[str, Any] = {}, /, **more: Any) -> Step:
    return Step(said, ((name, {**given, **more}),) if name else ())


def waits(said: str, name: str, given: Mapping[str, Any] = {}, /, **more: Any) -> Step:
    """It does not run: it is proposed, or refused."""
    return says(said, name, given, **more)._replace(done=0)


def runs(said: str, name: str = "", given: Mapping[str, Any] = {}, /, **more: Any) -> Step:
    """It runs at once; without a call, what a card holds."""
    return says(said, name, given, **more)._replace(done=1)


YES = runs("yes")
FILES = says("List my files.", "list_files")


def played(world: World, talk: Iterable[Step]) -> None:
    for step in talk:
        before = len(world.done)
        world.narration = step.reply or world.narration
        world.results |= {name: step.gives for name, _ in step.calls if step.gives}
        body = world.say(step.said, *step.calls)
        assert step.done in (None, len(world.done) - before), step
        summary = body.get("confirmation", {}).get("summary", "")
        assert [text for text in step.shown if text not in summary] == [], summary


def cases(stories: Mapping[str, list[Talk]]) -> Callable[[Any], Any]:
    """A test's cases: each conversation under the sentence that it is told for."""
    params = [
        pytest.param(talk, id=f"{sentence}-{n}")
        for sentence, talks in stories.items()
        for n, talk in enumerate(talks)
    ]
    return pytest.mark.parametrize("talk", params)
