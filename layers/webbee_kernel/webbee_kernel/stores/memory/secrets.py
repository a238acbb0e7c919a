"""Secrets in a dict, for tests: nothing is encrypted."""

from __future__ import annotations

import threading


class MemorySecretStore:
    """`SecretStore` in memory."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._values: dict[str, str] = {}

    async def get(self, path: str) -> str | None:
        with self._lock:
            return self._values.get(path)

    async def set(self, path: str, value: str) -> None:
        with self._lock:
            self._values[path] = value

    async def delete(self, path: str) -> bool:
        with self._lock:
            return self._values.pop(path, None) is not None

    async def below(self, path: str) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(name for name in self._values if name.startswith(f"{path}/")))
