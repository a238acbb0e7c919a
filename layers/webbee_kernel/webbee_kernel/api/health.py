"""`GET /v1/health`: extensions loaded, tables reachable, versions."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from .. import __version__
from ..catalogue import AppInfo
from ..errors import KernelError
from ..sdk.records import User
from ..types import SYSTEM_USER, SessionKey, UserKey
from .router import Answer, Request, Route, Services

HEALTH_CACHE_S = 60.0
"""Seconds for which an app's answer holds."""

HEALTH_S = 6.0
"""Seconds the route waits for all apps together: one has 5."""


class Health:
    """What the deployment says of itself, to anybody."""

    def __init__(self, services: Services) -> None:
        self._app = services.app
        self._services = services
        self._said: dict[str, tuple[float, str]] = {}

    @Route("GET /v1/health", public=True, answer="HealthAnswer")
    async def health(self, request: Request) -> Answer:
        """503 where a table of this function does not answer."""
        # nobody's: no token can have such an id
        probe = UserKey("__health__", "__health__")
        stores, now = self._app.stores, self._app.clock.now()
        checks = {
            "sessions": stores.sessions.read(SessionKey(probe, "health"), now=now),
            "skeleton": stores.skeleton.read(probe),
            "events": stores.events.since(probe, "", now=now),
        }
        catalogue = await self._services.kernel.dispatch.catalogue()
        found, said = await asyncio.gather(
            asyncio.gather(*map(reachable, checks.values())), self._apps(catalogue.apps.values())
        )
        tables = dict(zip(checks, found, strict=True))
        healthy = all(v == "ok" for v in tables.values())
        body = {
            "status": "ok" if healthy else "degraded",
            "version": __version__,
            "model": self._app.model.name,
            "tables": tables,
            "extensions": said,
        }
        return Answer(body, 200 if healthy else 503)

    async def _apps(self, apps: Collection[AppInfo]) -> dict[str, str]:
        """What every app says of itself, asked side by side; `timeout` where one has not answered
        when the answer is due. Of one that failed to load the kind of error: its text is for the
        log, this route is public."""
        said = await asyncio.gather(*map(self._of, apps))
        return {app.app_id: answer for app, answer in zip(apps, said, strict=True)}

    async def _of(self, app: AppInfo) -> str:
        """The app's own health check, asked once a minute per process: the route is public."""
        if app.error or not app.has_health_check:
            return app.error.partition(":")[0] or "ok"
        now = self._app.clock.now()
        asked, answer = self._said.get(app.app_id, (0.0, ""))
        if now - asked > HEALTH_CACHE_S:
            answer = await self._asked(app.app_id)
            self._said[app.app_id] = (now, answer)
        return answer

    async def _asked(self, app_id: str) -> str:
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
    """`ok`, or the code of what kept a table from answering."""
    try:
        await check
    except KernelError as error:
        return error.code
    return "ok"
