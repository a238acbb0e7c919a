"""Speaking: a reply that is shown while it is written, as far as it was checked. What was shown is
never taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..grounding import Evidence

Say = Callable[[str], None]
"""Shows a piece of the reply; together the pieces are how it begins."""

STRETCH = 240
"""Characters that are checked at a time, the first sentence aside: whole sentences, each once."""
AGAIN = 1.5
"""Times the length at which a stretch could not be shown at which it is looked at again: a total
may stand before its parts. What all looks cost together stays linear."""


@dataclass(slots=True)
class Speech:
    """One reply as it comes. `said` is what was shown of it, `most` how long it may get in
    characters; what begins with `unspoken` is no reply."""

    evidence: Evidence
    say: Say | None
    most: int
    unspoken: str
    said: str = ""
    _heard: str = ""
    _next: int = 0

    def begin(self) -> None:
        """A model starts to write, or starts again behind what was said."""
        self._heard, self._next = "", 0

    def hear(self, piece: str) -> None:
        """The model wrote on: show the sentences that are new and stand."""
        from ..grounding import check, complete

        self._heard += piece
        if len(self._heard) < self._next:
            return
        text = self.whole(self._heard)
        known = len(self.said)
        end = known + complete(text[known:])
        if end <= known or end > self.most or text.startswith(self.unspoken):
            return
        if check(text[known:end], evidence=self.evidence).grounded:
            self._next = len(self._heard) + STRETCH
            self.finish(text[:end])
        else:
            self._next = known + int(AGAIN * (len(self._heard) - known)) + STRETCH

    def whole(self, written: str) -> str:
        """The reply that a model's text makes with what was said before it, whether or not the
        model repeats that."""
        text, said = written.lstrip(), self.said.rstrip()
        if text.startswith(said):
            return text
        if said.startswith(text):
            return self.said
        gap = "" if self.said[-1:].isspace() else " "
        return self.said + gap + text

    def finish(self, text: str) -> None:
        """Show what of a checked reply was not shown yet."""
        if self.say and text.startswith(self.said) and len(text) > len(self.said):
            self.say(text[len(self.said) :])
            self.said = text
