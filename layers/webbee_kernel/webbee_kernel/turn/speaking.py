"""Speaking: a reply that is shown while it is written, sentence by sentence, each once it is
checked. What was shown is never taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..grounding import Evidence

Say = Callable[[str], None]
"""Shows a piece of the reply; together the pieces are how it begins."""


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
    _checked: int = 0
    _begun: int = 0

    def begin(self) -> None:
        """A model starts to write, or starts again behind what was said."""
        self._heard, self._checked = "", 0
        self._begun += 1

    def hear(self, piece: str) -> None:
        """The model wrote on. What is not shown to be true waits for the sentences behind it: a
        total may stand before its parts."""
        from ..grounding import check, complete

        self._heard += piece
        text = self.whole(self._heard)
        end = complete(text)
        if end <= max(len(self.said), self._checked) or text.startswith(self.unspoken):
            return
        self._checked = end
        if end <= self.most and check(text[:end], evidence=self.evidence).grounded:
            self.finish(text[:end])

    def whole(self, written: str) -> str:
        """The reply that a model's text makes with what was said before it, whether or not the
        model repeats that; a second one without the lines that defend it."""
        from ..grounding import undefended

        text, said = written.lstrip(), self.said.rstrip()
        if self._begun > 1:
            text = undefended(text)
        if text.startswith(said):
            return text
        if said.startswith(text):
            return self.said
        gap = "" if self.said[-1:].isspace() else " "
        return self.said + gap + text

    def defences(self, written: str) -> dict[str, str]:
        """Where a second reply says that words of it come from."""
        from ..grounding import defences

        return defences(written) if self._begun > 1 else {}

    def finish(self, text: str) -> None:
        """Show what of a checked reply was not shown yet."""
        if self.say and text.startswith(self.said) and len(text) > len(self.said):
            self.say(text[len(self.said) :])
            self.said = text
