"""One extension on memory stores."""

from __future__ import annotations

import copy
import json
from collections.abc import Coroutine, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..background import LoopThread
from ..bootstrap import App, bootstrap, make_host, make_once_dispatch, make_refresher
from ..catalogue import Dispatch
from ..clock import FrozenClock, new_id
from ..config import Settings
from ..extensions.context import ContextFactory
from ..extensions.context.services import path as secret_path
from ..extensions.error_mapping import Fault
from ..extensions.host import ExtensionHost, InlineDispatch
from ..extensions.registry import LoadedExtension
from ..llm.protocol import Model
from ..refresh.due import Refresher, system_user
from ..refresh.refresh_queue import NEW, RefreshItem, RefreshRequest
from ..sdk import ActionResult, Context, Extension, User, ui
from ..stores import Stores
from ..stores.memory import memory_stores
from ..types import CallOutcome, CallRequest, Event, JSONObject, UserKey, user_dict
from .in_memory import NOW, USER, HttpCall, HttpFunction, T, client_of, minutes, registry_of

KINDS = ("alert", "fault", "notification", "panel_refresh", "progress", "result", "turn")


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """What the sender of a webhook gets."""

    status: int
    headers: Mapping[str, str]
    body: Any


class NoData(dict[str, Any]):
    """The empty data of a failed call: comparisons and look-ups show the error."""

    def __init__(self, error: str) -> None:
        super().__init__()
        self._error = error

    def __repr__(self) -> str:
        return f"<no data: {self._error}>"

    def __missing__(self, key: str) -> Any:
        raise KeyError(f"{key}: {self!r}")


class ExtensionHarness:
    """One extension on memory stores, with a synchronous interface."""

    def __init__(
        self,
        extension: str | Path | Extension | LoadedExtension,
        *,
        user: User | None = None,
        language: str | None = None,
        secrets: Mapping[str, str] | None = None,
        now: str | float = NOW,
        call_seconds: float = 10.0,
        config: Mapping[str, Any] | None = None,
        model: Model | None = None,
        stores: Stores | None = None,
        http: HttpFunction | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`http` answers `ctx.http`: a function of a call (`method url params headers json data`)
        that gives a body (dicts and lists as JSON), `(status, body)` or a whole response; what it
        raises, the extension meets. Without it no other machine is reached by name. `sent` has what
        was sent, `faults` what the extension's code raised. `env` are settings of the deployment.
        TypeError for an `http` that is no function, ValueError for a secret that is not declared.
        """
        base = user or USER
        self.user = User(**{**asdict(base), "language": language or base.language})
        self.clock = FrozenClock(now)
        self.registry = registry_of(extension)
        self.app_id = next(iter(self.registry.loaded))
        env = {
            "WEBBEE_CALL_SECONDS": str(call_seconds),
            # servers that a test starts stand on this machine
            "WEBBEE_HTTP_ALLOW_PRIVATE": "true",
            "WEBBEE_CONFIG": json.dumps({self.app_id: dict(config or {})}),
            # faults are kept, and told with text and line, as to an author
            "WEBBEE_DEVELOP": "true",
            "WEBBEE_PUBLIC_URL": "https://api.example.com",
            **(env or {}),
        }
        used_stores = stores or memory_stores()
        self.app: App = bootstrap(
            Settings.from_env(env), stores=used_stores, clock=self.clock, llm=model
        )
        self.host: ExtensionHost = make_host(self.app, self.registry)
        self.dispatch: Dispatch = make_once_dispatch(self.app, InlineDispatch(self.host))
        self.refresher: Refresher = make_refresher(self.app, self.dispatch)
        self.sent: list[HttpCall] = []
        self.host.contexts.http = client_of(http, self.sent)
        self._loop = LoopThread("extension-harness")
        for name, value in (secrets or {}).items():
            self.set_secret(name, value)

    @property
    def now(self) -> float:
        """The clock, in Unix seconds."""
        return self.clock.now()

    @property
    def key(self) -> UserKey:
        """The key of the user's data."""
        return UserKey.of(self.user)

    def run(self, coro: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the harness's loop."""
        return self._loop.run(coro)

    def advance(self, seconds: float) -> None:
        """Move the clock."""
        self.clock.advance(seconds)

    def set_secret(self, name: str, value: str) -> None:
        """Set a declared secret as its user would; ValueError for one that is not declared."""
        declared = self.registry.loaded[self.app_id].ext.secrets
        if (spec := declared.get(name)) is None:
            names = ", ".join(sorted(declared)) or "none"
            raise ValueError(f"{self.app_id} declares no secret {name!r}; it declares {names}")
        self.run(self.app.stores.secrets.set(secret_path(self.key, self.app_id, spec), value))

    def outcome(self, function: str, /, **params: Any) -> CallOutcome:
        """Call a chat function; the kernel's outcome with duration, panels and problems."""
        return self._execute("function", function, params)

    def call(self, function: str, /, **params: Any) -> ActionResult:
        """Call a chat function through the kernel's dispatch; its ActionResult. Of an exception
        `error` has text and line, pytest shows the frames among the captured log, and a comparison
        of the data that is not there shows the error."""
        o = self.outcome(function, **params)
        error = self._error_text(o)
        status = "success" if o.ok else "error"
        return ActionResult(
            status,
            o.data if o.ok or o.data else NoData(error),
            o.summary,
            error or None,
            o.retryable,
            o.ui,
            list(o.panels),
            o.error_code,
            ui.Call(o.undo["function"], **o.undo["params"]) if o.undo else None,
        )

    def panel(self, panel_id: str, /, **params: Any) -> Any:
        """A panel's UI tree as JSON; AssertionError when the panel failed."""
        return self._done("panel", panel_id, params).ui["ui"]

    def skeleton(self, section: str) -> JSONObject:
        """Run the section's refresh handler as the loop does, save it, return what was stored."""
        for reason in (NEW, "effect"):
            items = (RefreshItem(self.app_id, section, reason),)
            self.run(self.refresher.refresh(RefreshRequest(user_dict(self.user), items)))
        stored = self.run(self.app.stores.skeleton.get(self.key, self.app_id, section))
        assert stored is not None and stored.data is not None, (
            f"section {section!r} was not saved:"
            f" {self._latest(section) or (stored.last_error if stored else 'no such section')}"
        )
        return dict(stored.data)

    def webhook(
        self,
        path: str,
        body: str | JSONObject = "",
        *,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> WebhookAnswer:
        """What a sender gets; a dict is sent as JSON. AssertionError when the handler failed."""
        text = body if isinstance(body, str) else json.dumps(body)
        request = {
            "method": method.upper(),
            "headers": {k.lower(): v for k, v in (headers or {}).items()},
            "body": text,
            "query": dict(query or {}),
        }
        data = self._done("webhook", path.strip("/"), request).data
        return WebhookAnswer(data["status"], data["headers"], data["body"])

    def schedule(self, name: str) -> Any:
        """Run a job as the schedule would, as the system; what it returned."""
        minute = self.clock.now() // 60 * 60
        return self._done("schedule", name, {"minute": minute}, system=True).data

    def signal(self, name: str, /, **arguments: Any) -> Any:
        """A platform signal, as the system; what its handler returned."""
        return self._done("signal", name, arguments, system=True).data

    def event(self, event_type: str, data: JSONObject) -> None:
        """An event, told to whoever listens, as the app and for the user. AssertionError when a
        listener failed."""
        before = self.faults[-1:]
        self._done("event", event_type, data)
        assert self.faults[-1:] == before, f"a listener failed: {self.faults[-1]}"

    def hook(self, name: str, version: str = "") -> None:
        """A lifecycle hook: on_install, on_uninstall, on_enable, on_disable, on_upgrade."""
        self._done("hook", name, {"version": version})

    def exposed(self, method: str, /, **params: Any) -> Any:
        """A method that other extensions may call, as one of them would."""
        return self.run(self.context().extensions.call(self.app_id, method, **params))

    def health(self) -> JSONObject:
        """What the app says of its health."""
        return dict(self._done("health", "health", {}).data)

    def travel(self, seconds: float) -> tuple[str, ...]:
        """Let time pass: jobs that fall due run at their minute, sections are refreshed at its end.
        The names of the jobs that ran, in order."""
        end = self.clock.now() + seconds
        jobs = self.registry.loaded[self.app_id].ext.schedules
        due = sorted(
            (at, name) for name, j in jobs.items() for at in minutes(j.cron, self.now, end)
        )
        for at, name in due:
            self.advance(at - self.clock.now())
            self.schedule(name)
        self.advance(end - self.clock.now())
        for section in self.registry.loaded[self.app_id].ext.skeletons:
            self.skeleton(section)
        return tuple(name for _, name in due)

    def as_user(self, user: str | User, *, tenant_id: str = "") -> ExtensionHarness:
        """The same app, stores and clock for another user, of another tenant where one is named."""
        other = copy.copy(self)
        changes = asdict(user) if isinstance(user, User) else {"imperal_id": user, "email": ""}
        tenant = {"tenant_id": tenant_id} if tenant_id else {}
        other.user = User(**{**asdict(self.user), **changes, **tenant})
        return other

    def alert(self, section: str, *, old: JSONObject, new: JSONObject) -> str:
        """The alert tool's text, empty where there is nothing to say."""
        outcome = self._execute("alert", section, {"old": old, "new": new})
        return str(outcome.data["text"]) if outcome.ok else ""

    def events(self, kind: str = "") -> tuple[Event, ...]:
        """What the page would be told, of one kind where it is named: alert, fault, notification,
        panel_refresh, progress, result or turn."""
        assert kind in ("", *KINDS), f"no event is {kind!r}: give one of {', '.join(KINDS)}"
        return tuple(e for e in self.run(self.app.events.since(self.key)) if kind in ("", e.kind))

    def context(self, *, system: bool = False) -> Context:
        """A `Context` to call a handler with directly."""
        contexts: ContextFactory = self.host.contexts
        return contexts.make(self.user, self.app_id, system=system)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What the extension's code has raised so far, the newest last."""
        return tuple(self.host.contexts.faults.recent)

    def _error_text(self, outcome: CallOutcome) -> str:
        fault = next((f for f in self.faults if f.incident == outcome.incident), None)
        return f"{outcome.fn_name} failed: {fault}" if fault else outcome.error

    def _latest(self, name: str) -> str:
        fault = next((f for f in reversed(self.faults) if f.what.endswith(f" {name}")), None)
        return str(fault or "")

    def _done(
        self, kind: str, name: str, params: JSONObject, *, system: bool = False
    ) -> CallOutcome:
        """A call of this kind; AssertionError with what its code raised."""
        outcome = self._execute(kind, name, params, system=system)
        assert outcome.ok, f"{outcome.error_code}: {self._error_text(outcome)}"
        return outcome

    def _execute(
        self, kind: str, name: str, params: JSONObject, *, system: bool = False
    ) -> CallOutcome:
        user = system_user(self.user.tenant_id) if system else self.user
        request = CallRequest(
            kind=kind,
            user=user_dict(user),
            app_id=self.app_id,
            name=name,
            arguments=params,
            session_id="harness",
            request_id=new_id(),
            deadline_s=self.app.settings.call_seconds,
        )
        return self.run(self.dispatch.call(request))
