"""A call that a message may ask for, and which of several is the best."""

from __future__ import annotations

from dataclasses import dataclass

from ...types import JSONObject
from ..protocol import ToolSpec
from .examples import Pattern, parameters
from .slot_values import Unclear


@dataclass(frozen=True, slots=True)
class Command:
    """A call and how it was found: `loose` words that were taken as they stand, `unclear` the
    record that has to be chosen first; `whole` unless the text that it takes may hold more than one
    thing; `colons` that its slots took, behind which another reading may have its text."""

    tool: ToolSpec
    arguments: JSONObject
    pattern: Pattern
    loose: int = 0
    unclear: Unclear | None = None
    whole: bool = True
    pointed: bool = False
    colons: int = 0

    @property
    def missing(self) -> list[str]:
        """Required parameters without a value."""
        known = parameters(self.tool).values()
        return [p.name for p in known if p.required and p.name not in self.arguments]

    @property
    def is_sure(self) -> bool:
        """Whether it may be called as it is."""
        exact = self.pattern.exact or self.tool.action_type == "read"
        return exact and self.whole and not self.missing and self.unclear is None


def worth(command: Command) -> tuple[bool, bool, bool, int, int, bool, int]:
    """What is best comes first: what is clear and whole, then what takes no colon and the fewest
    words as they stand, then what was shown before."""
    return (
        bool(command.missing),
        not command.whole,
        command.unclear is not None and not command.unclear.named,
        command.colons,
        command.loose,
        not command.pointed,
        -len(command.pattern.fixed),
    )
