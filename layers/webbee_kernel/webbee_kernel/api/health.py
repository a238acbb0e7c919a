"""`GET /v1/health`: extensions loaded, tables reachable, versions."""

from __future__ import annotations

import asyncio
from typing import Any

from .. import __version__
from ..catalogue import AppInfo
from ..errors import KernelError
from ..sdk.result import User
from ..types import SYSTEM_USER, SessionKey, UserKey
from .router import Answer, Request, Route, Services

HEALTH_CACHE_S = 60.0
"""Seconds for which an app's answer is cached."""

HEALTH_S = 6.0
"""Seconds for which the route waits for an app, whose own limit is 5."""


class Health:
    """The public health check."""

    def __init__(self, services: Services) -> None:
        self._app = services.app
        self._services = services
        self._answers: dict[str, tuple[float, str]] = {}

    @Route("GET /v1/health", public=True, answer="HealthAnswer")
    async def health(self, request: Request) -> Answer:
        """503 where a table of this function does not answer."""
        # no token can have such an id
        probe = UserKey("__health__", "__health__")
        stores, now = self._app.stores, self._app.clock.now()
        checks = {
            "sessions": stores.sessions.read(SessionKey(probe, "health"), now=now),
            "skeleton": stores.skeleton.read(probe),
            "events": stores.events.since(probe, "", now=now),
        }
        apps = (await self._services.kernel.dispatch.catalogue()).apps
        found, answers = await asyncio.gather(
            asyncio.gather(*map(reachable, checks.values())),
            asyncio.gather(*map(self._of, apps.values())),
        )
        tables = dict(zip(checks, found, strict=True))
        healthy = all(v == "ok" for v in tables.values())
        body = {
            "status": "ok" if healthy else "degraded",
            "version": __version__,
            "model": self._app.model.name,
            "tables": tables,
            "extensions": dict(zip(apps, answers, strict=True)),
        }
        return Answer(body, 200 if healthy else 503)

    async def _of(self, app: AppInfo) -> str:
        """The app's own health check, run once a minute per process since the route is public; of
        an app that failed to load the class of the error."""
        if app.error or not app.has_health_check:
            return app.error.partition(":")[0] or "ok"
        now = self._app.clock.now()
        asked_at, answer = self._answers.get(app.app_id, (0.0, ""))
        if now - asked_at > HEALTH_CACHE_S:
            answer = await self._check(app.app_id)
            self._answers[app.app_id] = (now, answer)
        return answer

    async def _check(self, app_id: str) -> str:
        # a deployment may serve no tenant but its own
        tenant_id = self._app.settings.tenant_ids[0]
        nobody = User(SYSTEM_USER, role="system", tenant_id=tenant_id)
        asked = self._services.call("health", nobody, app_id, "health", deadline_s=5.0)
        try:
            outcome = await asyncio.wait_for(asked, HEALTH_S)
        except TimeoutError:
            return "timeout"
        except KernelError:
            return "error"
        return str((outcome.data or {}).get("status", "error")) if outcome.ok else "error"


async def reachable(check: Any) -> str:
    """`ok`, or the code of a table's error."""
    try:
        await check
    except KernelError as error:
        return error.code
    return "ok"
