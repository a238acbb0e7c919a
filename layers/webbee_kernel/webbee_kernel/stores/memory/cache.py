"""Cache entries in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict

from ...values import UserKey
from ..keys import app_key, entry_key


class MemoryCacheStore:
    """`CacheStore` in memory."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._entries: dict[str, dict[str, tuple[bytes, float]]] = defaultdict(dict)

    async def get(
        self, user: UserKey, app_id: str, model: str, key: str, *, now: float
    ) -> bytes | None:
        with self._lock:
            entry = self._entries[app_key(user, app_id)].get(entry_key(model, key))
        return entry[0] if entry and now < entry[1] else None

    async def set(
        self, user: UserKey, app_id: str, model: str, key: str, value: bytes, *, expires_at: float
    ) -> None:
        with self._lock:
            self._entries[app_key(user, app_id)][entry_key(model, key)] = (bytes(value), expires_at)

    async def delete(self, user: UserKey, app_id: str, models: tuple[str, ...], key: str) -> None:
        with self._lock:
            entries = self._entries[app_key(user, app_id)]
            for model in models:
                entries.pop(entry_key(model, key), None)

    async def purge(self, user: UserKey, app_id: str) -> int:
        with self._lock:
            return len(self._entries.pop(app_key(user, app_id), ()))
