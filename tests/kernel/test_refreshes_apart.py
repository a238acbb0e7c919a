"""Ten users in one batch: a handler that blocks its thread for one of them keeps nobody else."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

from webbee_kernel.refresh.refresh_queue import RefreshAsked, Wanted
from webbee_kernel.sdk import Context, Extension, User
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import UserKey, user_dict


def test_each_users_refresh_stands_alone() -> None:
    ext = Extension("office")
    blocked, released = threading.Event(), threading.Event()

    @ext.skeleton("state")
    async def state(ctx: Context) -> dict[str, Any]:
        if ctx.user.imperal_id == "u0":
            blocked.set()
            released.wait(60)
        return {"response": {"user": ctx.user.imperal_id}}

    harness = ExtensionHarness(ext)
    users = [replace(harness.user, imperal_id=f"u{n}") for n in range(10)]

    async def refresh(user: User) -> str:
        message = RefreshAsked(user_dict(user), (Wanted("office", "state", "effect"),))
        await harness.refresher.refresh(message)
        return await harness.refresher.refresh(message)

    async def batch() -> list[str]:
        first = asyncio.ensure_future(refresh(users[0]))
        await asyncio.to_thread(blocked.wait, 60)
        others = await asyncio.gather(*map(refresh, users[1:]))
        released.set()
        return [await first, *others]

    assert harness.run(batch()) == ["saved"] * 10  # the first too: nobody gave up on it
    for user in users:
        key = UserKey.of(user)
        stored = harness.run(harness.app.stores.skeleton.get(key, "office", "state"))
        assert stored.data == {"user": user.imperal_id}
