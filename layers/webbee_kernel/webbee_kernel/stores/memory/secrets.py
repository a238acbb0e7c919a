"""Secrets in a dict, for tests: nothing is encrypted."""

from __future__ import annotations


class MemorySecretStore:
    """`SecretStore` in memory."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    async def get(self, path: str) -> str | None:
        return self._values.get(path)

    async def set(self, path: str, value: str) -> None:
        self._values[path] = value

    async def delete(self, path: str) -> bool:
        return self._values.pop(path, None) is not None

    async def below(self, path: str) -> tuple[str, ...]:
        return tuple(sorted(name for name in list(self._values) if name.startswith(f"{path}/")))
