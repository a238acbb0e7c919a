"""Installing: gives a user an app, and takes it away with everything the kernel kept for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from ..catalogue import Dispatch
from ..clock import Clock, iso
from ..sdk.records import User
from ..stores.deployment import remember
from ..stores.protocols import Stores
from ..stores.types import Installation, Section
from ..types import CallRequest, UserKey, user_dict
from .due import RefreshSender
from .refresh_queue import RefreshQueue, UserDue, after_effects
from .refresh_user import who_of

HOOK_S = 10
_log = logging.getLogger("webbee.refresh")


class Installs(Protocol):
    """Who gives users apps and takes them away: in this process or in skeleton_refresh's."""

    async def install(self, user: User, app_id: str, *, refresh: bool = False) -> None:
        """Give the user the app; repeatable. With `refresh` its sections are refreshed at once."""
        ...

    async def uninstall(self, user: User, app_id: str) -> dict[str, int]:
        """Take it away; how many sections and cached values went with it. Repeatable."""
        ...


class Installer:
    """Both ways, each repeatable."""

    def __init__(
        self,
        dispatch: Dispatch,
        stores: Stores,
        clock: Clock,
        queue: RefreshQueue,
        sender: Callable[[], RefreshSender],
    ) -> None:
        self._dispatch = dispatch
        self._stores = stores
        self._clock = clock
        self._queue = queue
        self._sender = sender

    async def install(self, user: User, app_id: str, *, refresh: bool = False) -> None:
        """Record it, have its sections refreshed at once or when the user's message comes."""
        await self._give(user, app_id)
        if refresh:
            catalogue = await self._dispatch.catalogue()
            await self._queue.ask(user, after_effects(catalogue, [app_id]))
        else:
            await self._soon(user)

    async def _soon(self, user: User) -> None:
        """Have the user's timer looked at now: no tick does that before it falls due again."""
        try:
            await self._sender().send([UserDue({**user_dict(user), "scopes": []})])
        except Exception as error:
            _log.warning("error=%s | the first refresh has to wait", type(error).__name__)

    async def _give(self, user: User, app_id: str) -> None:
        """Record it, call `on_install` and `on_enable` the first time, and put its sections on the
        user's timer, due now.

        Whoever's record is the first calls the hooks: of two requests at the same time one does.
        """
        key = UserKey.of(user)
        now = self._clock.now()
        app = (await self._dispatch.catalogue()).apps[app_id]
        before = await self._write(key, app_id, True, app.version)
        if before is None or not before.installed:
            await self._hooks(user, app_id, "on_install", "on_enable")
        elif before.version != app.version:
            await self._hooks(user, app_id, "on_upgrade", version=app.version)
        sections = [Section(app_id, s.section, ttl=s.ttl, due_at=now) for s in app.sections]
        if sections:
            await self._stores.skeleton.register(key, sections, who=who_of(user))

    async def uninstall(self, user: User, app_id: str) -> dict[str, int]:
        """Call the hooks, then purge skeleton, due rows and cache of this app and user; how many
        went. No one else is touched."""
        key = UserKey.of(user)
        if (await self._stores.skeleton.read(key)).has(app_id, default=True):
            await self._hooks(user, app_id, "on_disable", "on_uninstall")
        await self._write(key, app_id, False, "")
        return {
            "sections": await self._stores.skeleton.purge(key, app_id),
            "cache": await self._stores.cache.purge(key, app_id),
        }

    async def _write(
        self, key: UserKey, app_id: str, installed: bool, version: str
    ) -> Installation | None:
        """Both records; what the first one said before."""
        at = iso(self._clock.now())
        before = await self._stores.skeleton.put_installation(
            key, Installation(app_id, installed, version, at)
        )
        await remember(self._stores.documents, key, app_id, installed, at)
        return before

    async def _hooks(self, user: User, app_id: str, *names: str, version: str = "") -> None:
        """A failing hook is logged where it runs; it cannot keep a user from leaving."""
        for name in names:
            request = CallRequest("hook", user_dict(user), app_id, name, {"version": version})
            await self._dispatch.call(replace(request, deadline_s=HOOK_S))
