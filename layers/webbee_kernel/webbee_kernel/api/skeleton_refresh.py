"""`skeleton_refresh`: the schedule, the refresh queue and installations; no extension code."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import orjson

from ..bootstrap import (
    App,
    bootstrap,
    make_dispatch,
    make_installer,
    make_once_dispatch,
    make_queue,
    make_refresher,
    make_scheduler,
)
from ..catalogue import Dispatch
from ..clock import Clock
from ..config import Settings
from ..errors import KernelError
from ..observability import bind, count_request, flush, measure, user_hash
from ..refresh.due import system_user
from ..refresh.refresh_queue import (
    JobDue,
    OpenEffect,
    RefreshMessage,
    RefreshQueue,
    RefreshRequest,
    ShardDue,
    from_wire,
    open_effect,
)
from ..types import CallRequest, JSONObject, UserKey, user_dict, user_from

_log = logging.getLogger("webbee.refresh")


class RefreshService:
    """Handles the events of `skeleton_refresh`."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        *,
        app: App | None = None,
        dispatch: Dispatch | None = None,
        sender: RefreshQueue | None = None,
    ) -> None:
        self.app = app or bootstrap(settings, clock=clock)
        self.dispatch = make_once_dispatch(self.app, dispatch or make_dispatch(self.app))
        self.refresher = make_refresher(self.app, self.dispatch)
        self.scheduler = make_scheduler(self.app, self.dispatch)
        self._sender = sender or make_queue(self.app)
        self._installer = make_installer(self.app, self.dispatch, self._sender)

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """An EventBridge tick, a batch of SQS messages, an installation, or an operator's
        `{"signal": name, "data": {…}}`."""
        if "Records" in event:
            return await self._batch(event["Records"])
        if event.get("kind") in ("install", "uninstall"):
            return await self._installation(event)
        if signal := event.get("signal"):
            return {"signal": signal, "apps": await self._signal(str(signal), event)}
        measure("Ticks")
        flush()  # counted even if it is cut off
        # first: finding jobs takes longer, and fails for other reasons
        queued = await self.refresher.tick(self._sender)
        return {"queued": queued, "jobs": await self.scheduler.tick(self._sender)}

    async def _signal(self, name: str, event: Mapping[str, Any]) -> dict[str, str]:
        """Call every app's handler of a platform signal, one after the other; status by app id."""
        who = user_dict(system_user(str(event.get("tenant_id") or self.app.settings.tenant_ids[0])))
        data, seconds = dict(event.get("data") or {}), self.app.settings.call_seconds
        outcomes: dict[str, str] = {}
        for app_id, app in (await self.dispatch.catalogue()).apps.items():
            if name in app.signals:
                request = CallRequest("signal", who, app_id, name, data, deadline_s=seconds)
                try:
                    outcomes[app_id] = (await self.dispatch.call(request)).status
                except KernelError as error:  # or those behind it would never hear of it
                    outcomes[app_id] = error.code
        return outcomes

    async def _installation(self, event: Mapping[str, Any]) -> JSONObject:
        """An installation for a user whom `chat_turn` has authenticated."""
        user, app_id = user_from(event["user"]), str(event["app_id"])
        try:
            if event["kind"] == "uninstall":
                return {"purged": await self._installer.uninstall(user, app_id)}
            await self._installer.install(user, app_id, refresh=bool(event.get("refresh")))
        except KernelError as error:
            count_request(failed=True)
            # an answer: an exception would lose code and status
            return {"unavailable": error.body()["error"]}
        return {}

    async def _batch(self, records: list[JSONObject]) -> JSONObject:
        """Handle the messages concurrently; failed ones are reported and delivered again."""
        done = await asyncio.gather(*map(self._message, records))
        return {
            "batchItemFailures": [
                {"itemIdentifier": r["messageId"]}
                for r, ok in zip(records, done, strict=True)
                if not ok
            ]
        }

    async def _message(self, record: JSONObject) -> bool:
        """Whether the message is done. One that cannot be read is delivered again, perhaps to a
        version that knows it, and ends in the dead-letter queue."""
        try:
            message = from_wire(orjson.loads(record["body"]))
            # one id from the turn that asked to the refresh, in both functions' logs
            bind(correlation_id=message.correlation_id, **_whose(message))
            if isinstance(message, JobDue):
                outcome = await self.scheduler.run(message)
            elif isinstance(message, OpenEffect):
                outcome = await self._settle(message)
            else:
                outcome = await self.refresher.refresh(message, self._sender)
        except Exception as error:
            _log.error(
                "message=%s error=%s | refresh not done, will come again",
                record.get("messageId"),
                _reason(error),
            )
            count_request(failed=True)
            return False
        count_request(failed=False)
        return outcome != "busy" or not isinstance(message, RefreshRequest)

    async def _settle(self, message: OpenEffect) -> str:
        """Write the record of an effect that has ended meanwhile, or check again later."""
        user = UserKey.of(user_from(message.user))
        if await self.dispatch.settle(user, message.record):
            return "recorded"
        await self._sender.send([open_effect(message.user, message.record)])
        return "open"


def _whose(message: RefreshMessage) -> dict[str, str]:
    """The user of a message for the log."""
    if isinstance(message, ShardDue):
        return {}
    user = message.user
    return {"user": user_hash(str(user.get("tenant_id", "")), str(user.get("imperal_id", "")))}


def _reason(error: Exception) -> str:
    """The error's class, and of an outage its text, which names a table or a service."""
    name = type(error).__name__
    outage = isinstance(error, KernelError) and error.status >= 500
    return f"{name} ({error})" if outage else name
