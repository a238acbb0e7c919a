"""Installer: gives a user an app, and takes it away with everything the kernel kept for it."""

from __future__ import annotations

from dataclasses import replace

from ..base.clock import Clock, iso
from ..sdk.context import User
from ..stores.protocols import Stores
from ..values import Installation, Section, UserKey, user_dict
from .host import ExtensionHost
from .installations import is_installed_in, remember

HOOK_S = 10


class Installer:
    """Both ways, each repeatable."""

    def __init__(self, host: ExtensionHost, stores: Stores, clock: Clock) -> None:
        self._host = host
        self._stores = stores
        self._clock = clock

    async def install(self, user: User, app_id: str) -> None:
        """Record it, call `on_install` and `on_enable` the first time, and put its sections on the
        clock.

        Whoever's record is the first calls the hooks: of two requests at the same time one does.
        """
        key = UserKey(user.tenant_id, user.imperal_id)
        now = self._clock.now()
        ext = self._host.extension(app_id).ext
        before = await self._write(key, app_id, True, ext.version)
        if before is None or not before.installed:
            await self._hooks(user, app_id, "on_install", "on_enable")
        elif before.version != ext.version and (upgrade := ext.upgrades.get(ext.version)):
            await self._host.hook(user, app_id, upgrade, HOOK_S)
        for definition in ext.skeletons.values():
            section = Section(
                app_id,
                definition.section,
                ttl=definition.ttl,
                due_at=now,
                user=user_dict(replace(user, scopes=())),
            )
            await self._stores.skeleton.register(key, section)

    async def uninstall(self, user: User, app_id: str) -> dict[str, int]:
        """Call the hooks, then purge skeleton, due rows and cache of this app and user; how many
        went. No one else is touched."""
        key = UserKey(user.tenant_id, user.imperal_id)
        if is_installed_in(await self._stores.skeleton.read(key), app_id, default=True):
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

    async def _hooks(self, user: User, app_id: str, *names: str) -> None:
        """A failing hook is logged; it cannot keep a user from leaving."""
        loaded = self._host.registry.loaded.get(app_id)
        for name in names:
            if loaded and (hook := loaded.ext.lifecycle.get(name)):
                await self._host.hook(user, app_id, hook, HOOK_S)
