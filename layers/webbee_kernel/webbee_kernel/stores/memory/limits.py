"""Counts against limits in dicts."""

from __future__ import annotations

import threading
from collections import Counter

from ...values import Used, UserKey
from ..keys import tenant_key, user_key


class MemoryLimitStore:
    """`LimitStore` in memory."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._requests: Counter[tuple[str, int]] = Counter()
        self._tokens: Counter[tuple[str, int]] = Counter()

    async def take(
        self, user: UserKey, *, minute: int, requests: int, tokens: int, spent: int = 0
    ) -> Used | None:
        key, day = user_key(user), minute // 1440
        with self._lock:
            used = Used(self._requests[key, minute], self._tokens[key, day])
            if requests and used.requests >= requests:
                return used
            if tokens and used.tokens + spent >= tokens:
                return used
            self._requests[key, minute] += 1
            self._tokens[key, day] += spent
            return None

    async def spend(self, user: UserKey, *, day: int, tokens: int) -> None:
        self._add(user_key(user), day, tokens)

    async def spend_together(self, tenant_id: str, *, day: int, tokens: int) -> int:
        return self._add(tenant_key(tenant_id), day, tokens)

    async def together(self, tenant_id: str, *, day: int) -> int:
        with self._lock:
            return self._tokens[tenant_key(tenant_id), day]

    def _add(self, key: str, day: int, tokens: int) -> int:
        with self._lock:
            self._tokens[key, day] += tokens
            return self._tokens[key, day]
