"""ctx.cache: short-lived values of one user and app. Every limit is checked before any I/O."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from ..clock import Clock
from ..invariants import breach, limit
from ..sdk.context import ModelT
from ..stores import codec as jsontext
from ..types import UserKey

if TYPE_CHECKING:
    from ..stores.dynamodb.user_items import CacheStore

MAX_BYTES = limit("I-CACHE-VALUE-SIZE-CAP-64KB")
MAX_TTL = limit("I-CACHE-TTL-CAP-300S")
MIN_TTL = 5
MAX_KEY = limit("I-CACHE-KEY-SAFETY")
PLAIN = "-"
"""The model name of plain JSON values; a registered name cannot be a single dash."""

_KEY = re.compile(rf"[A-Za-z0-9_\-:]{{1,{MAX_KEY}}}")
_log = logging.getLogger("webbee.cache")


@dataclass(frozen=True)
class CacheClient:
    """`ctx.cache` of one call."""

    store: CacheStore
    user: UserKey
    app_id: str
    models: Mapping[str, type[BaseModel]]
    clock: Clock

    async def get(self, key: str, model: type[BaseModel] | None = None) -> Any:
        """The value, or None when there is none or it expired. Typed values are validated again; a
        stale shape is a miss."""
        check_key(key)
        name = self._name(model)
        raw = await self.store.get(self.user, self.app_id, name, key, now=self.clock.now())
        # also for what expired: the store compares with `now`, whatever DynamoDB's sweep has done
        if raw is None:
            return None
        if model is None:
            return jsontext.loads(raw.decode())
        try:
            return model.model_validate_json(raw)
        except ValidationError:
            _log.warning(
                "app=%s model=%s | cached value no longer fits its model", self.app_id, name
            )
            return None

    async def set(self, key: str, value: Any, ttl_seconds: int = 60) -> None:
        """Keep `value` (a registered model's instance or plain JSON) for 5 to 300 seconds."""
        check_key(key)
        check_ttl(ttl_seconds)
        name, raw = self._encode(value)
        await self._write(name, key, raw, ttl_seconds)

    async def delete(self, key: str) -> None:
        check_key(key)
        await self.store.delete(self.user, self.app_id, (PLAIN, *self.models), key)

    async def get_or_fetch(
        self,
        key: str,
        model: type[ModelT] | None,
        fetcher: Callable[[], Awaitable[Any]],
        ttl_seconds: int = 60,
    ) -> Any:
        """The cached value, or what `fetcher` returns, cached.

        The fetched value is returned even when writing it fails. Limits are checked before the
        fetch where possible.
        """
        check_key(key)
        check_ttl(ttl_seconds)
        name = self._name(model)
        cached = await self.get(key, model)
        # a cached null counts as nothing: the fetcher is asked again
        if cached is not None:
            return cached
        value = await fetcher()
        try:
            actual, raw = self._encode(value)
            if actual != name:
                raise TypeError(f"fetcher of {key!r} returned {type(value).__name__}, not {name}")
            await self._write(name, key, raw, ttl_seconds)
        except Exception as error:
            _log.warning(
                "app=%s error=%s | fetched value served but not cached",
                self.app_id,
                type(error).__name__,
            )
        return value

    def _name(self, model: type[BaseModel] | None) -> str:
        if model is None:
            return PLAIN
        for name, known in self.models.items():
            if known is model:
                return name
        raise TypeError(
            f"{getattr(model, '__name__', model)!r} is not registered: decorate it with"
            " @ext.cache_model(name)"
        )

    def _encode(self, value: Any) -> tuple[str, bytes]:
        if isinstance(value, BaseModel):
            name, raw = self._name(type(value)), value.model_dump_json().encode()
        else:
            try:
                name, raw = PLAIN, jsontext.dumps(value).encode()
            except TypeError as error:
                raise TypeError(
                    "ctx.cache takes JSON values or registered models, not"
                    f" {type(value).__name__}: {error}"
                ) from None
        if len(raw) > MAX_BYTES:
            raise ValueError(
                breach(
                    "I-CACHE-VALUE-SIZE-CAP-64KB",
                    f"This value has {len(raw)} bytes: store less, or use ctx.store.",
                )
            )
        return name, raw

    async def _write(self, name: str, key: str, raw: bytes, ttl: int) -> None:
        await self.store.set(
            self.user, self.app_id, name, key, raw, expires_at=self.clock.now() + ttl
        )


def check_key(key: str) -> None:
    """I-CACHE-KEY-SAFETY: TypeError for a non-string, ValueError for a bad one."""
    if not isinstance(key, str):
        raise TypeError(breach("I-CACHE-KEY-SAFETY", f"This key is a {type(key).__name__}."))
    if not _KEY.fullmatch(key):
        raise ValueError(
            breach("I-CACHE-KEY-SAFETY", f"This key has {len(key)} characters: {key[:40]!r}.")
        )


def check_ttl(ttl: int) -> None:
    """I-CACHE-TTL-CAP-300S: TypeError for anything but an int, ValueError outside 5 to 300."""
    # True would be one second
    if isinstance(ttl, bool) or not isinstance(ttl, int):
        raise TypeError(
            breach("I-CACHE-TTL-CAP-300S", f"This ttl_seconds is a {type(ttl).__name__}.")
        )
    if not MIN_TTL <= ttl <= MAX_TTL:
        raise ValueError(breach("I-CACHE-TTL-CAP-300S", f"This ttl_seconds is {ttl}."))
