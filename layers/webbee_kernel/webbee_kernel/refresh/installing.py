"""Installing: gives a user an app, and takes it away with everything the kernel kept for it."""

from __future__ import annotations

from dataclasses import replace

from ..base.clock import Clock, iso
from ..dispatch import Dispatch
from ..sdk.context import User
from ..stores.installed import remember
from ..stores.protocols import Stores
from ..values import CallRequest, Installation, Section, UserKey, user_dict
from .one_user import who_of

HOOK_S = 10


class Installer:
    """Both ways, each repeatable."""

    def __init__(self, dispatch: Dispatch, stores: Stores, clock: Clock) -> None:
        self._dispatch = dispatch
        self._stores = stores
        self._clock = clock

    async def install(self, user: User, app_id: str) -> None:
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
