"""`skeleton_refresh`: the schedule's tick, the refresh queue, and installations."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import orjson

from ..base.clock import Clock
from ..base.logs import bind, hashed
from ..base.metrics import answered, flush, record
from ..bootstrap import (
    App,
    bootstrap,
    make_host,
    make_installer,
    make_queue,
    make_refresher,
    make_scheduler,
)
from ..config import Settings
from ..errors import NotFound
from ..extensions.host import ExtensionHost
from ..refresh.asking import after_effects
from ..refresh.due import RefreshSender
from ..refresh.schedules import system_user
from ..sdk.context import User
from ..values import (
    CallRequest,
    JobDue,
    RefreshAsked,
    RefreshMessage,
    ShardDue,
    UserDue,
    user_dict,
)
from ..values.plain import JSONObject
from ..values.refreshing import from_wire
from . import answers
from .http import Answer, Request, Route, Router
from .wire import InstallationBody

_log = logging.getLogger("webbee.refresh")


class RefreshService:
    """What `skeleton_refresh` does with each kind of event."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        *,
        app: App | None = None,
        host: ExtensionHost | None = None,
        sender: RefreshSender | None = None,
    ) -> None:
        self.app = app or bootstrap(settings, clock=clock)
        self.host = host or make_host(self.app)
        self.refresher = make_refresher(self.app, self.host)
        self.scheduler = make_scheduler(self.app, self.host)
        self._sender = sender
        self._installer = make_installer(self.app, self.host)
        self.router = Router(
            (
                Route(
                    "PUT /v1/extensions/{app_id}/installation",
                    self.install,
                    body=InstallationBody,
                    answer=answers.InstallationAnswer,
                ),
                Route(
                    "DELETE /v1/extensions/{app_id}/installation",
                    self.uninstall,
                    answer=answers.InstallationAnswer,
                ),
            )
        )

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """An EventBridge tick, a batch of SQS messages, an HTTP API event, or an operator's
        `{"signal": name, "data": {…}}`."""
        if "Records" in event:
            return await self._batch(event["Records"])
        if "requestContext" in event:
            return await self.router.serve(event)
        if signal := event.get("signal"):
            return {"signal": signal, "apps": await self._signal(str(signal), event)}
        record("Ticks")
        flush()  # a tick that is ended before it ends was one
        jobs = await self.scheduler.tick(self._queue())
        return {"queued": await self.refresher.tick(self._queue()), "jobs": jobs}

    async def _signal(self, name: str, event: Mapping[str, Any]) -> dict[str, str]:
        """Call every app's handler of a platform signal, one after the other; status by app id."""
        who = user_dict(system_user(str(event.get("tenant_id") or "default")))
        data, seconds = dict(event.get("data") or {}), self.app.settings.call_seconds
        outcomes: dict[str, str] = {}
        for app_id, app in self.host.catalogue.apps.items():
            if name in app.signals:
                request = CallRequest("signal", who, app_id, name, data, deadline_s=seconds)
                outcomes[app_id] = (await self.host.execute(request)).status
        return outcomes

    async def install(self, request: Request) -> Answer:
        """Install an app for the caller; repeatable. With `refresh` its sections are refreshed at
        once."""
        app_id = self._app(request)
        if reason := self.host.registry.failed.get(app_id):
            raise NotFound(
                f"{app_id} cannot be installed: it failed to load ({reason})", field="app_id"
            )
        refresh = request.body(InstallationBody).refresh if request.raw() else False
        await self._installer.install(request.caller, app_id)
        if refresh:
            await make_queue(self.app).ask(
                request.caller, after_effects(self.host.catalogue, [app_id])
            )
        else:
            await self._soon(request.caller)
        return Answer({"app_id": app_id, "installed": True})

    async def _soon(self, user: User) -> None:
        """Have the user's timer looked at now: no tick does that before it falls due again."""
        try:
            await self._queue().send([UserDue({**user_dict(user), "scopes": []})])
        except Exception as error:
            _log.warning("error=%s | the first refresh has to wait", type(error).__name__)

    async def uninstall(self, request: Request) -> Answer:
        """Uninstall it: its skeleton, cache and due rows of this user go at once; repeatable."""
        app_id = self._app(request)
        purged = await self._installer.uninstall(request.caller, app_id)
        return Answer({"app_id": app_id, "installed": False, "purged": purged})

    async def _batch(self, records: list[JSONObject]) -> JSONObject:
        """Work on all messages side by side; what could not be done is reported so that only it
        comes again."""
        done = await asyncio.gather(*(self._message(r) for r in records))
        return {
            "batchItemFailures": [
                {"itemIdentifier": r["messageId"]}
                for r, ok in zip(records, done, strict=True)
                if not ok
            ]
        }

    async def _message(self, record: JSONObject) -> bool:
        """Whether the message is dealt with. One that cannot be read comes again, by then perhaps
        to the version that knows it, and ends in the dead-letter queue."""
        try:
            message = from_wire(orjson.loads(record["body"]))
            bind(correlation_id=message.correlation_id, **_whose(message))
            outcome = await self._dealt_with(message)
        except Exception as error:
            _log.error(
                "message=%s error=%s | refresh not done, will come again",
                record.get("messageId"),
                type(error).__name__,
            )
            answered(failed=True)
            return False
        answered(failed=False)
        return outcome != "busy" or not isinstance(message, RefreshAsked)

    async def _dealt_with(self, message: RefreshMessage) -> str:
        if isinstance(message, JobDue):
            return await self.scheduler.run(message)
        return await self.refresher.refresh(message, self._queue())

    def _queue(self) -> RefreshSender:
        if self._sender is None:
            from ..aws.sqs import SqsRefreshQueue

            self._sender = SqsRefreshQueue(self.app.settings.refresh_queue_url)
        return self._sender

    def _app(self, request: Request) -> str:
        app_id = request.path["app_id"]
        if app_id not in self.host.catalogue.apps:
            raise NotFound(f"there is no extension {app_id[:64]!r}", field="app_id")
        return app_id


def _whose(message: RefreshMessage) -> dict[str, str]:
    """The user of a message, as the log names them."""
    if isinstance(message, ShardDue):
        return {}
    user = message.user
    return {"user": hashed(str(user.get("tenant_id", "")), str(user.get("imperal_id", "")))}
