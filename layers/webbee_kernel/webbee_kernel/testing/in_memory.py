"""A whole kernel on memory stores, and the parts it shares with the harness."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from cronsim import CronSim, CronSimError

from ..background import LoopThread
from ..bootstrap import bootstrap, make_host, make_kernel
from ..clock import FrozenClock, new_id
from ..config import Settings
from ..extensions.context.http_client import HttpClient
from ..extensions.host import InlineDispatch
from ..extensions.registry import LoadedExtension, Registry, check_names, load_extension
from ..llm.protocol import Model
from ..llm.scripted import ScriptedModel
from ..refresh.refresh_queue import RefreshItem, RefreshQueue
from ..sdk import Extension, User
from ..sdk.context import HttpResponse
from ..stores import Stores
from ..stores.memory import MemoryEventStore, memory_stores
from ..stores.types import SessionMemory, UserState
from ..turn.kernel import Kernel, TurnRequest
from ..turn.late import KIND, LateResults
from ..turn.messages import Reply
from ..types import JSON, Event, SessionKey, UserKey

T = TypeVar("T")
NOW = "2026-05-15T17:21:04Z"
USER = User(imperal_id="alice", email="alice@example.com", tenant_id="test")


def registry_of(*extensions: str | Path | Extension | LoadedExtension) -> Registry:
    """A registry of extension folders or of `Extension` objects made in a test (under their own
    app_id)."""
    return Registry({e.app_id: e for e in [_load(e) for e in extensions]})


def _load(extension: str | Path | Extension | LoadedExtension) -> LoadedExtension:
    if isinstance(extension, LoadedExtension):
        return extension
    if isinstance(extension, Extension):
        return check_names(LoadedExtension(extension.app_id, extension))
    if not (Path(extension) / "main.py").is_file():
        raise FileNotFoundError(f"{extension} is no extension: there is no main.py in it")
    return load_extension(extension)


class RecordingQueue(RefreshQueue):
    """A refresh queue that records its requests."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.seen = 0

    async def ask(self, user: User, wanted: Sequence[RefreshItem]) -> None:
        """Record `(app_id, section, reason)` in `asked`, and count presence notes in `seen`."""
        sections = [w for w in wanted if w.app_id]
        self.asked.extend(sections)
        self.seen += len(wanted) - len(sections)


def minutes(cron: str, start: float, end: float) -> Iterator[float]:
    """The Unix seconds after `start`, up to `end`, at which a cron of five fields falls due.
    AssertionError where it is none."""
    try:
        due = CronSim(cron, datetime.fromtimestamp(start, UTC))
    except CronSimError as error:
        raise AssertionError(f"{cron!r} is no cron of five fields: {error}") from None
    for at in due:
        if at.timestamp() > end:
            return
        yield at.timestamp()


@dataclass(frozen=True, slots=True)
class HttpCall:
    """What the extension sent: `json`, `data`, `params` and `headers` as it gave them."""

    method: str
    url: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: JSON = None
    data: JSON = None


HttpFunction: TypeAlias = Callable[[HttpCall], JSON | tuple[int, JSON] | HttpResponse]
"""Takes a request; returns a body (dicts and lists as JSON, status 200), `(status, body)` or an
HttpResponse. What it raises is raised in the extension."""


def client_of(
    answer: HttpFunction | None, sent: list[HttpCall], *, allow_private: bool = True
) -> Callable[[], HttpClient]:
    """A factory of a test's `ctx.http`; TypeError where `answer` is no function."""
    if answer is None:
        return lambda: LocalHttp(allow_private=allow_private)
    if not callable(answer):
        raise TypeError(
            f"http= is a function of the request, not {type(answer).__name__}:"
            " lambda request: {…} answers with JSON, (404, {…}) with a status"
        )
    return lambda: FunctionHttp(answer, sent)


class LocalHttp(HttpClient):
    """Reaches servers by address only; ConnectionError for host names."""

    async def _resolve(self, host: str, port: int) -> str:
        try:
            ip_address("127.0.0.1" if host == "localhost" else host)
        except ValueError:
            raise ConnectionError(
                f"a test does not leave this machine: answer {host} with http=lambda request: {{…}}"
            ) from None
        return await super()._resolve(host, port)


class FunctionHttp(HttpClient):
    """Passes requests to a function and records them in `sent`."""

    def __init__(self, answer: HttpFunction, sent: list[HttpCall]) -> None:
        super().__init__(allow_private=True)
        self._answer = answer
        self._sent = sent

    async def request(self, method: str, url: str, **kwargs: Any) -> HttpResponse:
        """The function's answer."""
        options = {k: v for k, v in kwargs.items() if k in HttpCall.__dataclass_fields__ and v}
        call = HttpCall(method.upper(), url, **options)
        self._sent.append(call)
        answer = self._answer(call)
        if isinstance(answer, HttpResponse):
            return answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        raw = body if isinstance(body, str) else json.dumps(body)
        kind = "text/plain" if isinstance(body, str) else "application/json"
        return HttpResponse(status, {"content-type": kind}, raw.encode(), url)


NO_LIMITS: Final = {"WEBBEE_USER_REQUESTS_PER_MINUTE": "0"}
"""With a frozen clock all messages fall into one minute."""


class TestKernel:
    """A whole kernel on memory stores. `script` plays a scripted model; without it the embedded
    model answers."""

    # pytest would collect a class of this name
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
        http: HttpFunction | None = None,
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
            Settings.from_env({**NO_LIMITS, **(env or {})}),
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
            events.listen(self._on_event)

    def run(self, coro: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the kernel's loop."""
        return self._loop.run(coro)

    def _on_event(self, user: UserKey, event: Event) -> None:
        """As the event stream in a deployment: add late results to their turns."""
        if event.kind == KIND:
            # not waited for: the event may come from this very loop
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
        ask = self.ask(message, session_id=session_id, request_id=request_id, user=user)
        return self.run(self.kernel.turn(ask))

    def confirm(
        self, confirmation_id: str, accept: bool = True, *, session_id: str = "s1"
    ) -> Reply:
        """Answer a confirmation."""
        ask = self.ask("", session_id=session_id)
        return self.run(self.kernel.confirm(ask, confirmation_id, accept))

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
        session = SessionKey(self.key, session_id)
        return self.run(self.app.stores.sessions.read(session, now=self.clock.now()))

    def state(self) -> UserState:
        """The user's sections and installations."""
        return self.run(self.app.stores.skeleton.read(self.key))

    @property
    def key(self) -> UserKey:
        """Whose data it is."""
        return UserKey.of(self.user)
