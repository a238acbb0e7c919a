"""What a case is: a message, the calls of its turn, a reply, and what is wrong with the reply, if
anything is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
Record: TypeAlias = Mapping[str, JSON]

NOW = "2026-05-15T17:21:04Z"


@dataclass(frozen=True)
class Call:
    """One call of the turn as the narrator was shown it; `status` is `ok` or `error`."""

    app_id: str
    fn_name: str
    action_type: str
    arguments: Mapping[str, JSON] = field(default_factory=dict)
    status: str = "ok"
    error: str = ""
    data: JSON = None
    summary: str = ""


@dataclass(frozen=True)
class Fault:
    """One planted fault: its kind, the words in the reply that are wrong, and the words that
    would have been right ("" when none).
    """

    kind: str
    span: str
    right: str = ""


@dataclass(frozen=True)
class Piece:
    """A stretch of a reply; one with a `role` shows `value`, the field `field` of record number
    `record`, in the given form.
    """

    text: str
    role: str = ""
    value: JSON = None
    record: int = -1
    field: str = ""
    form: str = ""


@dataclass(frozen=True)
class Case:
    """One reply to check. `kind` names the honest shape or the fault; `fault` is None for an
    honest reply.
    """

    id: str
    language: str
    message: str
    calls: tuple[Call, ...]
    reply: str
    kind: str
    fault: Fault | None = None
    now: str = NOW
    policy: str = ""
    pieces: tuple[Piece, ...] = field(default=(), compare=False, repr=False)


class UnfitError(Exception):
    """The drawn records do not suit the drawn kind; another draw will."""


def joined(pieces: Sequence[Piece]) -> str:
    """The reply's text."""
    return "".join(p.text for p in pieces)
