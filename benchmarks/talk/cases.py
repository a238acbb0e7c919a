"""The sets as values: conversations with what is expected of each turn, and remarks that must
change nothing.

What a person expected in words, `tasks.add 'buy milk' or notes.write 'milk'`, stands as the calls
that these name. The shipped apps lack some functions that were named: there nothing may be written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

FOLDER = Path(__file__).parent
Language = Literal["en", "ru", "de", "es", "fr"]


@dataclass(frozen=True, slots=True)
class Write:
    """A call that writes, `app.function`; `tells` are texts that stand in its values."""

    call: str
    tells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A call made before the conversation starts, so that there is something to talk about."""

    call: str
    arguments: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail in the user's mailbox, newest first in a list of them."""

    sender: str
    from_name: str
    subject: str
    body: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a turn must do, every part of it: `read` ran, exactly the writes `effects` ran, the
    reply holds each of `says`. `may_ask`: asking back is as good."""

    read: str = ""
    effects: tuple[Write, ...] = ()
    says: tuple[str, ...] = ()
    may_ask: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user says, and the alternatives of what may come of it."""

    say: str
    expected: tuple[Expectation, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Some turns with one user in a world of his own."""

    id: str
    language: Language
    given: tuple[Given, ...]
    letters: tuple[Letter, ...]
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """A message that must change nothing."""

    id: str
    language: Language
    say: str


def conversations(name: str = "conversations") -> list[Conversation]:
    """Those of the file `conversations`, or `own_conversations`."""
    return TypeAdapter(list[Conversation]).validate_json((FOLDER / f"{name}.json").read_bytes())


def remarks() -> list[Remark]:
    """The hundred remarks."""
    return TypeAdapter(list[Remark]).validate_json((FOLDER / "remarks.json").read_bytes())
