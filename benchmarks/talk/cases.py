"""The sets as values: conversations with what is expected, and remarks that must change nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

FOLDER = Path(__file__).parent
Language = Literal["en", "ru", "de", "es", "fr"]
Part = Literal["first", "sealed", "third"]
Wanted = str | bool | int | list[str] | dict[Literal["all"], list[str]]
"""What a value must be: this, one of these, or for `all` exactly these; `~word`: containing it."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(_Strict):
    """A call, `app.function`, and values that stand in its arguments or its result."""

    call: str
    arguments_contain: dict[str, Wanted] = {}


class Given(_Strict):
    """A call made before the conversation starts, so that there is something to talk about."""

    call: str
    arguments: dict[str, str | bool] = {}


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


class Expectation(_Strict):
    """What a turn must do; every part that is given must hold.

    `call`: this read ran. `effect`: exactly these writes ran. `asks`: this write waits for a yes.
    `answer_contains`: the reply holds each of these (`a|b`: either, `a*`: its beginning). `ask`: it
    asks back and nothing was written. `no_effect`: nothing was written and nothing waits.
    """

    call: str = ""
    arguments_contain: dict[str, Wanted] = {}
    effect: Annotated[tuple[Call, ...], BeforeValidator(_listed)] = ()
    asks: Call | None = None
    answer_contains: tuple[str, ...] = ()
    ask: bool = False
    no_effect: bool = False


class Turn(_Strict):
    """What the user says, and what may come of it."""

    say: str
    expect: Expectation | None = None
    expect_any: tuple[Expectation, ...] = ()

    @property
    def expected(self) -> Sequence[Expectation]:
        """The alternatives."""
        return (self.expect, *self.expect_any) if self.expect else self.expect_any


class Conversation(_Strict):
    """Four to eight turns with one user in a fresh world."""

    id: str
    language: Language
    about: str
    given: tuple[Given, ...] = ()
    turns: tuple[Turn, ...]


class Remark(_Strict):
    """A message that must change nothing, and the messages said before it."""

    id: str
    language: Language
    kind: str
    message: str
    after: tuple[str, ...] = ()


def conversations(part: Part) -> list[Conversation]:
    """One part of the conversations. Raises ValueError where an id stands twice."""
    found = TypeAdapter(list[Conversation]).validate_python(_rows("conversations", part))
    _unique([c.id for c in found])
    return found


def remarks(part: Part) -> list[Remark]:
    """One part of the remarks. Raises ValueError where an id or a message stands twice."""
    found = TypeAdapter(list[Remark]).validate_python(_rows("remarks", part))
    _unique([r.id for r in found])
    _unique([f"{r.after} {r.message}" for r in found])
    return found


def _rows(name: str, part: Part) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads(
        (FOLDER / f"{name}{'' if part == 'first' else f'_{part}'}.json").read_text("utf-8")
    )
    return rows


def _unique(names: Sequence[str]) -> None:
    if repeated := [name for name, n in Counter(names).items() if n > 1]:
        raise ValueError(f"these stand twice: {', '.join(repeated)}")
