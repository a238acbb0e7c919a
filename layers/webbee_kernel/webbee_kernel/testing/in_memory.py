"""A whole kernel on memory stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..background import LoopThread
from ..bootstrap import bootstrap, make_host, make_kernel
from ..clock import FrozenClock, new_id
from ..config import Settings
from ..extensions.host import InlineDispatch
from ..extensions.registry import LoadedExtension
from ..llm.protocol import Model
from ..llm.scripted import ScriptedModel
from ..sdk import Extension, User
from ..stores.memory import MemoryEventStore, memory_stores
from ..stores.protocols import Stores
from ..stores.types import SessionMemory, UserState
from ..turn.kernel import Kernel, TurnRequest
from ..turn.late import KIND, LateResults
from ..turn.messages import Reply
from ..types import Event, SessionKey, UserKey
from .doubles import NOW, USER, Answering, HttpCall, RecordingQueue, client_of, registry_of

UNHURRIED: Final = {"WEBBEE_USER_REQUESTS_PER_MINUTE": "0"}
"""On a clock that stands still all messages fall into one minute."""


class TestKernel:
    """A whole kernel on memory stores. `script` plays a scripted model; without it the embedded
    model answers."""

    __test__ = False

    def __init__(
        self,
        extensions: Sequence[str | Path | Extension | LoadedExtension] = (),
        *,
        script: Sequence[Any] | None = None,
        model: Model | None = None,
        user: User = USER,
        now: str | float = NOW,
        env: Mapping[str, str] | None = None,
        stores: Stores | None = None,
        http: Answering | None = None,
    ) -> None:
        """`http` answers `ctx.http`, and `sent` has what was sent; without it no name of another
        machine is reached."""
        self.user = user
        self.clock = FrozenClock(now)
        self.model: Model | None = model or (
            ScriptedModel(list(script)) if script is not None else None
        )
        self.queue = RecordingQueue()
        self.registry = registry_of(*extensions)
        self.app = bootstrap(
            Settings.from_env({**UNHURRIED, **(env or {})}),
            stores=stores or memory_stores(),
            clock=self.clock,
            llm=self.model,
        )
        self.sent: list[HttpCall] = []
        host = make_host(self.app, self.registry)
        private = self.app.settings.private_http
        host.contexts.http = client_of(http, self.sent, allow_private=private)
        self.kernel: Kernel = make_kernel(
            self.app, dispatch=InlineDispatch(host), queue=self.queue, registry=self.registry
        )
        self._loop = LoopThread("test-kernel", eager=True)
        self._late = LateResults(
            self.app.settings, self.app.stores, self.kernel.dispatch, self.clock
        )
        events = self.app.stores.events
        if isinstance(events, MemoryEventStore):
            events.follow(self._heard)

    def run(self, coro: Any) -> Any:
        """Run a coroutine on the kernel's loop."""
        return self._loop.run(coro)

    def _heard(self, user: UserKey, event: Event) -> None:
        """What the stream of events does in a deployment: late results join their turns."""
        if event.kind == KIND:
            self._loop.submit(self._late.take(user, event))

    def chat(
        self,
        message: str,
        *,
        session_id: str = "s1",
        request_id: str = "",
        user: User | None = None,
    ) -> Reply:
        """One turn."""
        reply: Reply = self.run(
            self.kernel.turn(
                self.ask(message, session_id=session_id, request_id=request_id, user=user)
            )
        )
        return reply

    def confirm(
        self, confirmation_id: str, accept: bool = True, *, session_id: str = "s1"
    ) -> Reply:
        """Answer a confirmation."""
        reply: Reply = self.run(
            self.kernel.confirm(self.ask("", session_id=session_id), confirmation_id, accept)
        )
        return reply

    def ask(
        self,
        message: str,
        *,
        session_id: str = "s1",
        request_id: str = "",
        user: User | None = None,
    ) -> TurnRequest:
        """The kernel's own request value."""
        return TurnRequest(user or self.user, session_id, message, request_id or new_id())

    def prompt(self, message: str, *, session_id: str = "s1") -> str:
        """The text the classifier would read for this message; nothing is called or stored."""
        view = self.run(self.kernel.view(self.ask(message, session_id=session_id)))
        return str(view.opening.prompt.text)

    def memory(self, session_id: str = "s1") -> SessionMemory:
        """What the session remembers."""
        memory: SessionMemory = self.run(
            self.app.stores.sessions.read(SessionKey(self.key, session_id), now=self.clock.now())
        )
        return memory

    def state(self) -> UserState:
        """The user's sections and installations."""
        state: UserState = self.run(self.app.stores.skeleton.read(self.key))
        return state

    @property
    def key(self) -> UserKey:
        """Whose data it is."""
        return UserKey.of(self.user)
