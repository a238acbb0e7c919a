"""The fixtures' deployment: all extensions of `extensions/` in one process, on memory stores."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stand_ins.service import Reply, Request, served
from webbee_kernel.background import LoopThread
from webbee_kernel.bootstrap import (
    App,
    bootstrap,
    make_host,
    make_installer,
    make_once_dispatch,
    make_refresher,
    make_scheduler,
)
from webbee_kernel.clock import FrozenClock, new_id
from webbee_kernel.config import Settings
from webbee_kernel.extensions.context import services
from webbee_kernel.extensions.host import ExtensionHost, InlineDispatch
from webbee_kernel.extensions.registry import Registry, load_folder
from webbee_kernel.llm.protocol import ModelResponse
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.refresh.due import system_user
from webbee_kernel.refresh.refresh_queue import JobDue, RefreshItem, RefreshRequest
from webbee_kernel.sdk import User
from webbee_kernel.stores import Collection
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.types import WEBHOOK_USER, CallOutcome, CallRequest, Event, UserKey, user_dict

EXTENSIONS = Path(__file__).parent / "extensions"
ALICE = User(
    imperal_id="alice", email="alice@example.com", tenant_id="acme", language="ru", scopes=("chat",)
)
BOB = User(imperal_id="bob", email="bob@example.com", tenant_id="acme")


class Bench:
    """Calls extensions as the functions do; everything a plain method, the event loop out of
    sight."""

    def __init__(self, registry: Registry, **more: str) -> None:
        self.clock = FrozenClock("2026-05-15T17:21:04Z")
        config = {"weather": {"units": {"degrees": "C"}, "base": "http://unset.invalid"}}
        env = {
            "WEBBEE_HTTP_ALLOW_PRIVATE": "true",
            "WEBBEE_PUBLIC_URL": "https://bee.example",
            "WEBBEE_CONFIG": json.dumps(config),
            **more,
        }
        model = FunctionModel(lambda request: ModelResponse(text=f"Dear {request.prompt[-3:]},"))
        self.app: App = bootstrap(
            Settings.from_env(env), stores=memory_stores(), clock=self.clock, llm=model
        )
        self.host: ExtensionHost = make_host(self.app, registry)
        self.dispatch = make_once_dispatch(self.app, InlineDispatch(self.host))
        self._loop = LoopThread("bench")

    def run(self, coro: Any) -> Any:
        return self._loop.run(coro, timeout=120)

    def outcome(
        self,
        app_id: str,
        name: str,
        /,
        *,
        user: User = ALICE,
        kind: str = "function",
        **arguments: Any,
    ) -> CallOutcome:
        whose = {"session_id": "s1", "request_id": new_id(), "deadline_s": 10.0}
        request = CallRequest(kind, user_dict(user), app_id, name, arguments, **whose)
        found: CallOutcome = self.run(self.dispatch.call(request))
        return found

    def call(self, app_id: str, name: str, /, *, user: User = ALICE, **arguments: Any) -> Any:
        found = self.outcome(app_id, name, user=user, **arguments)
        assert found.ok, (found.error_code, found.error)
        return found.data

    def panel(self, app_id: str, panel_id: str, /, **params: Any) -> Any:
        found = self.outcome(app_id, panel_id, kind="panel", **params)
        assert found.ok, (found.error_code, found.error)
        return found.ui["ui"]

    def webhook(
        self,
        app_id: str,
        path: str,
        body: str = "",
        *,
        method: str = "POST",
        headers: dict[str, str] | None = None,
        **query: str,
    ) -> tuple[int, dict[str, str], Any]:
        given = {"method": method, "headers": headers or {}, "body": body, "query": query}
        found = self.call_of("webhook", app_id, path, given, User(WEBHOOK_USER, role="system"))
        if not found.ok:
            return 500, {}, {"error": {"code": found.error_code, "message": found.error}}
        return found.data["status"], found.data["headers"], found.data["body"]

    def call_of(
        self, kind: str, app_id: str, name: str, arguments: dict[str, Any], user: User = ALICE
    ) -> CallOutcome:
        """A call that no model made."""
        request = CallRequest(kind, user_dict(user), app_id, name, arguments)
        outcome: CallOutcome = self.run(self.dispatch.call(request))
        return outcome

    def refresh(self, app_id: str, section: str) -> str:
        refresher = make_refresher(self.app, self.dispatch)
        asked = RefreshRequest(user_dict(ALICE), (RefreshItem(app_id, section, "new"),))
        outcome: str = self.run(refresher.refresh(asked))
        return outcome

    def section(self, app_id: str, section: str, user: User = ALICE) -> Any:
        found = self.run(self.app.stores.skeleton.get(key(user), app_id, section))
        return found.data if found else None

    def schedule(self, app_id: str, job: str) -> str:
        message = JobDue(user_dict(system_user("acme")), app_id, job, self.clock.now())
        outcome: str = self.run(make_scheduler(self.app, self.dispatch).run(message))
        return outcome

    def signal(self, name: str, **data: Any) -> dict[str, str]:
        who = system_user("acme")
        return {
            app_id: self.call_of("signal", app_id, name, data, who).status
            for app_id, app in self.host.catalogue.apps.items()
            if name in app.signals
        }

    def install(self, app_id: str, user: User = ALICE, *, uninstall: bool = False) -> None:
        installer = make_installer(self.app, self.dispatch)
        self.run(
            installer.uninstall(user, app_id) if uninstall else installer.install(user, app_id)
        )

    def documents(self, app_id: str, collection: str, user: User = ALICE) -> list[dict[str, Any]]:
        page = self.run(
            self.app.stores.documents.query(
                Collection(key(user), app_id, collection),
                where=None,
                order_by=None,
                limit=100,
                cursor=None,
            )
        )
        return [d.data for d in page.data]

    def events(self, kind: str = "", user: User = ALICE) -> list[Event]:
        """What the page would be told."""
        return [e for e in self.run(self.app.events.since(key(user))) if kind in ("", e.kind)]

    def set_secret(self, app_id: str, name: str, value: str, user: User = ALICE) -> None:
        spec = self.host.registry.loaded[app_id].ext.secrets[name]
        self.run(self.app.stores.secrets.set(services.path(key(user), app_id, spec), value))

    def context(
        self, app_id: str, tool_type: str = "tool", *, user: User = ALICE, system: bool = False
    ) -> Any:
        """The SDK's context, as a handler of the app gets it."""
        from webbee_kernel.compat.adopt import Adopted
        from webbee_kernel.compat.platform_context import KernelContext

        ext = self.host.registry.loaded[app_id].ext
        return KernelContext(
            self.host.contexts.make(user, app_id, system=system),
            Adopted(app_id, ext, {}, ext.cache_models),
            tool_type,
        )


def key(user: User) -> UserKey:
    return UserKey(user.tenant_id, user.imperal_id)


@pytest.fixture(scope="session")
def registry() -> Registry:
    return load_folder(EXTENSIONS)


@pytest.fixture
def bench(registry: Registry) -> Bench:
    return Bench(registry)


@pytest.fixture
def service() -> Iterator[str]:
    def answer(request: Request) -> Reply:
        if request.at == "/away":
            return Reply({}, 302, {"location": "/away"})
        sent = request.headers
        told = {"degrees": 21, "auth": sent.get("authorization"), "key": sent.get("x-key")}
        kind = {"content-type": "application/json"}
        return Reply(told, 404 if request.at == "/missing" else 200, kind)

    with served(answer=answer) as service:
        yield service.url
