"""Following: who watches a turn while it runs, and who may stop it.

A turn tells its follower what happens, as frames (docs/live.md), and never waits for anybody to
read them, but for the first: that one has left before a model is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..types import JSONObject, Step

if TYPE_CHECKING:
    from ..grounding import Evidence

T = TypeVar("T")


class TurnStopped(Exception):
    """The user stopped the turn while it waited for a model; it never leaves `turn`."""


class Follower:
    """Watches one turn. Without `tell` nobody reads along, and the reply is written in one
    piece."""

    def __init__(
        self,
        request_id: str = "",
        tell: Callable[[JSONObject], None] | None = None,
        sent: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`tell` takes a frame and returns at once; `sent` waits until all it took have left."""
        self._request_id = request_id
        self._tell = tell
        self.has_reader = tell is not None
        """Whether anybody reads the reply while it is written."""
        self._sent = sent
        self._stop = asyncio.Event()
        self.is_stopped = False
        """Whether the turn was asked to stop: no further call starts."""
        self.started = asyncio.Event()
        """Set once the turn has read its memory and is no repetition."""
        self.is_detached = False
        """Whether whoever asked was answered that it goes on, and may ask again how it goes."""
        self.has_lease = False
        """Whether somebody says that the turn runs, for as long as it does."""

    def stop(self) -> None:
        """Ask the turn to stop."""
        self.is_stopped = True
        self._stop.set()

    async def begin(self, session_id: str) -> None:
        """The turn begins: nothing was asked of a model yet."""
        self.started.set()
        self.tell("turn.started", session_id=session_id)
        if self._sent:
            await self._sent()

    def tell(self, kind: str, /, **told: Any) -> None:
        """Send a frame to whoever reads along."""
        if self._tell:
            self._tell({"type": kind, "request_id": self._request_id, **told})

    def call(self, kind: str, step: Step, app: str, told: JSONObject) -> None:
        """A call begins (`call.started`) or has ended (`call.ended`); `app` is its app's display
        name, `told` what may be shown of its arguments or its end."""
        which = {"app_id": step.app_id, "fn_name": step.fn_name, "display_name": app}
        self.tell(kind, call=step.index, **which, action_type=step.action_type, **told)

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """The work's result; TurnStopped, the work cancelled, where the user stops the turn
        first."""
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


class _Nobody(Follower):
    """Watches any number of turns, and stops none."""

    async def begin(self, session_id: str) -> None:
        """Nobody asked."""

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """Nobody does."""
        return await work


NOBODY = _Nobody()


Say = Callable[[str], None]
"""Shows a piece of the reply; together the pieces are how it begins."""

CHECK_STEP = 240
"""Characters that are checked at a time, the first sentence aside: whole sentences, each once."""
RETRY_FACTOR = 1.5
"""Times the length at which a stretch could not be shown at which it is looked at again: a total
may stand before its parts. What all looks cost together stays linear."""


@dataclass(slots=True)
class StreamingReply:
    """One reply as it comes. `said` is what was shown of it, `most` how long it may get in
    characters; what begins with `unspoken` is no reply. There is `evidence` when it is first
    heard."""

    evidence: Evidence | None
    say: Say | None
    max_size: int
    hidden_prefix: str = "\0"
    shown: str = ""
    _received: str = ""
    _next: int = 0

    def begin(self) -> None:
        """A model starts to write, or starts again behind what was said."""
        self._received, self._next = "", 0

    def hear(self, piece: str) -> None:
        """The model wrote on: show the sentences that are new and stand."""
        self._received += piece
        if len(self._received) < self._next:
            return
        from ..grounding import check, complete

        text = self.full_text(self._received)
        known = len(self.shown)
        end = known + complete(text[known:])
        if end <= known or end > self.max_size or text.startswith(self.hidden_prefix):
            return
        if check(text[known:end], evidence=self.evidence).grounded:
            self._next = len(self._received) + CHECK_STEP
            self.finish(text[:end])
        else:
            self._next = known + int(RETRY_FACTOR * (len(self._received) - known)) + CHECK_STEP

    def full_text(self, received: str) -> str:
        """The reply that a model's text makes with what was said before it, whether or not the
        model repeats that."""
        text, shown = received.lstrip(), self.shown.rstrip()
        if text.startswith(shown):
            return text
        # it repeats what was shown, and is not through with it yet
        if shown.startswith(text):
            return self.shown
        gap = "" if self.shown[-1:].isspace() else " "
        return self.shown + gap + text

    def finish(self, text: str) -> None:
        """Show what of a checked reply was not shown yet."""
        # nothing that was read can be taken back: a text that differs is not shown
        if self.say and text.startswith(self.shown) and len(text) > len(self.shown):
            self.say(text[len(self.shown) :])
            self.shown = text
