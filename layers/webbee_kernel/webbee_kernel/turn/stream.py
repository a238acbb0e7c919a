"""Turn stream: who follows a turn while it runs, and who may stop it.

A turn sends its follower frames (docs/live.md) without waiting for readers, except for the first
frame, which is sent before a model is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..llm.protocol import Hear
from ..types import JSONObject, Step

if TYPE_CHECKING:
    from ..grounding import Evidence

T = TypeVar("T")


class TurnStopped(Exception):
    """The user stopped the turn while it waited for a model; it never leaves `turn`."""


class Follower:
    """Follows one turn. Without `tell` there is no reader, and the reply is not streamed."""

    def __init__(
        self,
        request_id: str = "",
        tell: Callable[[JSONObject], None] | None = None,
        sent: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`tell` queues a frame without blocking; `sent` waits until all queued frames are sent."""
        self._request_id = request_id
        self._tell = tell
        self.has_reader = tell is not None
        """Whether the reply is streamed to a reader."""
        self._sent = sent
        self._stop = asyncio.Event()
        self.is_stopped = False
        """Whether the turn was asked to stop; no further call starts."""
        self.started = asyncio.Event()
        """Set once the turn has read its memory and is not a repeated request."""
        self.is_detached = False
        """Whether the client was told that the turn continues and may poll."""
        self.has_lease = False
        """Whether a lease is renewed while the turn runs."""

    def stop(self) -> None:
        self.is_stopped = True
        self._stop.set()

    async def begin(self, session_id: str) -> None:
        """The turn begins, before any model is asked."""
        self.started.set()
        self.tell("turn.started", session_id=session_id)
        if self._sent:
            await self._sent()

    def tell(self, kind: str, /, **told: Any) -> None:
        """Send a frame to the reader, if any."""
        if self._tell:
            self._tell({"type": kind, "request_id": self._request_id, **told})

    def call(self, kind: str, step: Step, app: str, told: JSONObject) -> None:
        """Report `call.started` or `call.ended`; `app` is the display name, `told` the visible
        arguments or result."""
        which = {"app_id": step.app_id, "fn_name": step.fn_name, "display_name": app}
        self.tell(kind, call=step.index, **which, action_type=step.action_type, **told)

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """The work's result. Raises TurnStopped, with the work cancelled, if the user stops the
        turn first."""
        if self is NOBODY:
            return await work
        task = asyncio.ensure_future(work)
        stop = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
            # what ended at the same moment counts: its tokens are spent
            if not task.done():
                raise TurnStopped
            return task.result()
        finally:
            stop.cancel()
            if not task.done():
                task.cancel()


NOBODY = Follower()
"""Follows any number of turns, and stops none."""

MAX_REPLY = 8_000
"""Characters of a reply."""
CHECK_STEP = 240
"""Characters between checks after the first sentence; whole sentences are checked once."""
RETRY_FACTOR = 1.5
"""A part that failed the check is checked again when it has grown by this factor, since a total may
precede its parts; the total cost stays linear."""


@dataclass(slots=True)
class StreamingReply:
    """One streamed reply. `shown` is the text shown so far; text that begins with `hidden_prefix`
    is not a reply. `evidence` is set before the first piece."""

    evidence: Evidence | None
    say: Hear | None
    hidden_prefix: str = "\0"
    shown: str = ""
    _received: str = ""
    _next: int = 0

    def begin(self) -> None:
        """A model starts writing, or continues after the shown text."""
        self._received, self._next = "", 0

    def hear(self, piece: str) -> None:
        """The next piece: show new complete sentences that pass the check."""
        self._received += piece
        if len(self._received) < self._next:
            return
        from ..grounding import check, complete

        text = self.full_text(self._received)
        known = len(self.shown)
        end = known + complete(text[known:])
        if end <= known or end > MAX_REPLY or text.startswith(self.hidden_prefix):
            return
        if check(text[known:end], evidence=self.evidence).grounded:
            self._next = len(self._received) + CHECK_STEP
            self.finish(text[:end])
        else:
            self._next = known + int(RETRY_FACTOR * (len(self._received) - known)) + CHECK_STEP

    def full_text(self, received: str) -> str:
        """The whole reply: the shown text and the model's text, which may repeat it."""
        text, shown = received.lstrip(), self.shown.rstrip()
        if text.startswith(shown):
            return text
        # it repeats what was shown, and is not through with it yet
        if shown.startswith(text):
            return self.shown
        return self.shown + ("" if self.shown[-1:].isspace() else " ") + text

    def finish(self, text: str) -> None:
        """Show the rest of a checked reply."""
        # nothing that was read can be taken back: a text that differs is not shown
        if self.say and text.startswith(self.shown) and len(text) > len(self.shown):
            self.say(text[len(self.shown) :])
            self.shown = text
