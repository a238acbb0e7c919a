"""The sets as values: conversations with what is expected, and remarks that must change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

FOLDER = Path(__file__).parent
Language = Literal["en", "ru", "de", "es", "fr"]
Wanted = str | bool | int | list[str] | dict[Literal["all"], list[str]]
"""What a value must be: this, one of these, or for `all` exactly these; `~word`: containing it."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(_Strict):
    """A call, `app.function`, and values that stand in its arguments or its result; `tells` are
    texts that stand in any of them."""

    call: str
    arguments_contain: dict[str, Wanted] = {}
    tells: tuple[str, ...] = ()


class Given(_Strict):
    """A call made before the conversation starts, so that there is something to talk about."""

    call: str
    arguments: dict[str, str | bool] = {}


class Letter(_Strict):
    """A mail in the user's mailbox, newest first in a list of them."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    sender: str = Field(alias="from")
    from_name: str
    subject: str
    body: str


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


class Expectation(_Strict):
    """What a turn must do; every part that is given must hold.

    `call`: this read ran. `effect`: exactly these writes ran. `asks`: this write waits for a yes.
    `answer_contains`: the reply holds each of these (`a|b`: either, `a*`: its beginning). `ask`: it
    asks back and nothing was written. `may_ask`: asking back is as good.
    `no_effect`: nothing was written and nothing waits.
    """

    call: str = ""
    arguments_contain: dict[str, Wanted] = {}
    effect: Annotated[tuple[Call, ...], BeforeValidator(_listed)] = ()
    asks: Call | None = None
    answer_contains: tuple[str, ...] = ()
    ask: bool = False
    may_ask: bool = False
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
    letters: tuple[Letter, ...] | None = None
    """Instead of the demo mailbox."""
    turns: tuple[Turn, ...]


class Remark(_Strict):
    """A message that must change nothing, and the messages said before it."""

    id: str
    language: Language
    kind: str
    message: str
    after: tuple[str, ...] = ()


def path_of(name: str) -> Path:
    """The file of a set: `conversations`, `remarks` or `own_conversations`."""
    return FOLDER / f"{name}.json"


def unique(names: Sequence[str]) -> None:
    """Raises ValueError where a name stands twice."""
    if repeated := [name for name, n in Counter(names).items() if n > 1]:
        raise ValueError(f"these stand twice: {', '.join(repeated)}")


def folded(value: Any) -> str:
    """For comparing: no letter case, no yo, single spaces, no quotes or stops at the ends."""
    return " ".join(str(value).casefold().replace("\u0451", "\u0435").split()).strip(
        " .!,;:'\"\u00ab\u00bb\u201c\u201d"
    )
