"""A plain answer of the classifier, shown while it is written: the sentences that stand, as soon as
they are whole. What was shown stays; a call that follows leaves it as the reply's beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .speaking import Speech

if TYPE_CHECKING:
    from .state import TurnState

MAX_ANSWER = 8_000
"""Characters of a plain answer that are shown while it is written."""

_NOTHING_UNSPOKEN = "\0"


class PlainAnswer:
    """What was shown of a turn's plain answer, over all its rounds."""

    def __init__(self) -> None:
        self._speech: Speech | None = None

    @property
    def said(self) -> str:
        """What was shown so far, as models may see it."""
        return self._speech.said.rstrip() if self._speech else ""

    def begin(self, state: TurnState) -> None:
        """The classifier starts to write. Evidence is gathered when it does."""
        if self._speech:
            self._speech.begin()
        self._state = state

    def hear(self, piece: str) -> None:
        """It wrote on."""
        if self._speech is None:
            from .unfounded import evidence_of

            state = self._state
            tell, unmask = state.follower.tell, state.masker.unmask_text
            self._speech = Speech(
                evidence_of(state),
                lambda text: tell("text", text=unmask(text)),
                MAX_ANSWER,
                _NOTHING_UNSPOKEN,
            )
        self._speech.hear(piece)

    def whole(self, text: str) -> str:
        """The reply that a text makes with what was shown before it."""
        return self._speech.whole(text) if self._speech and self._speech.said else text
