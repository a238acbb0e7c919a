"""ctx.time, ctx.log, ctx.notify, ctx.ai, ctx.extensions and ctx.secrets: declared names
only, per user or per app, whose values never reach a log."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator, Mapping, Set
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from pydantic import SecretStr

from ...clock import Clock, iso
from ...invariants import limit
from ...llm.protocol import Model, ModelRequest
from ...sdk.definitions import SecretDef
from ...sdk.exceptions import (
    CircularCallError,
    SecretNotDeclaredError,
    SecretTooLargeError,
)
from ...sdk.records import User
from ...stores.event_log import EventLog
from ...stores.item_keys import secret_part
from ...stores.protocols import SecretStore
from ...text import one_line
from ...types import WEBHOOK_USER, JSONObject, UserKey
from .. import redaction
from ..redaction import hidden, secret_fields
from .store_client import answered, need_system

MAX_MESSAGE = 2_000


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> JSONObject:
    """A configuration with another laid over it: objects are merged, the rest is replaced."""
    found = dict(base)
    for key, value in over.items():
        are_objects = isinstance(found.get(key), Mapping) and isinstance(value, Mapping)
        found[key] = merged(found[key], value) if are_objects else value
    return found


class TimeContext:
    """`ctx.time`: the kernel's clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)

    def timestamp(self) -> float:
        return self._clock.now()

    def iso(self) -> str:
        return iso(self._clock.now())


class _Written:
    """What `ctx.log(…)` returns: code written for the platform's SDK awaits it."""

    def __await__(self) -> Generator[Any, None, None]:
        # waits for nothing: the `yield` only makes this a generator, as await needs one
        yield from ()


class Log:
    """`ctx.log`: one structured line per message, cut to 2,000 characters, without the secrets that
    this call has read (`revealed`) and without fields that look like one: on an author's machine
    (`develop`) those raise ValueError."""

    def __init__(
        self, app_id: str, revealed: Set[str] = frozenset(), *, develop: bool = False
    ) -> None:
        self._app = app_id
        self._revealed = revealed
        self._develop = develop
        self._logger = logging.getLogger("webbee.extension")

    def __call__(self, message: str, level: str = "info") -> Awaitable[None]:
        self._write(getattr(logging, level.upper(), logging.INFO), message, {})
        return _Written()

    def info(self, message: str, **fields: Any) -> None:
        self._write(logging.INFO, message, fields)

    def warning(self, message: str, **fields: Any) -> None:
        self._write(logging.WARNING, message, fields)

    def error(self, message: str, **fields: Any) -> None:
        self._write(logging.ERROR, message, fields)

    def _write(self, level: int, message: str, fields: JSONObject) -> None:
        shown = {k: hidden(v, self._revealed) for k, v in fields.items()}
        if secrets := secret_fields(shown):
            named = ", ".join(secrets)
            if self._develop:
                raise ValueError(f"{named} of a log line looks like a secret: leave it out")
            shown |= dict.fromkeys(secrets, redaction.MASK)
            self._logger.warning("app=%s | masked in a log line: %s", self._app, named)
        pairs = "".join(f" {k}={one_line(v, 200)}" for k, v in shown.items())
        said = one_line(hidden(message, self._revealed), MAX_MESSAGE)
        redaction.trace().lines.append(f"{said} ({pairs.strip()})" if pairs else said)
        self._logger.log(level, "app=%s%s | %s", self._app, pairs, said)


class NotifyClient:
    """`ctx.notify`: a message outside the turn, shown by the page."""

    def __init__(
        self, events: EventLog, user: UserKey, app_id: str, *, system: bool = False
    ) -> None:
        self._events = events
        self._user = user
        self._app = app_id
        self._system = system

    async def send(self, message: str, channel: str = "in_app", **kwargs: Any) -> None:
        """At most 2,000 characters; `channel` is kept for the page to sort by."""
        text = one_line(message, MAX_MESSAGE)
        if not text:
            raise ValueError("a notification needs text")
        await self._events.emit(
            self._user, "notification", {"app_id": self._app, "text": text, "channel": channel}
        )

    def for_user(self, user_id: str) -> NotifyClient:
        need_system("I-AS-USER-1", "notify.for_user", self._system)
        other = UserKey(self._user.tenant_id, user_id)
        return NotifyClient(self._events, other, self._app, system=True)


MAX_PROMPT = 100_000
MAX_TOKENS = 4_096


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """What the model wrote."""

    text: str
    model: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    stop_reason: str = ""
    tokens_used: int = 0


class AIClient:
    """`ctx.ai` of one call."""

    def __init__(self, model: Model, user: User) -> None:
        self._model = model
        self._user = user

    async def complete(self, prompt: str, model: str = "", **kwargs: Any) -> CompletionResult:
        """Complete a prompt of at most 100,000 characters; `system` and `max_tokens` (≤ 4,096) are
        understood.

        The deployment decides which model answers; `model` is accepted for compatibility and
        ignored. Raises ModelUnavailable when it does not answer.
        """
        if not isinstance(prompt, str) or not 1 <= len(prompt) <= MAX_PROMPT:
            raise ValueError(f"prompt must be text of 1 to {MAX_PROMPT} characters")
        request = ModelRequest(
            role="ai",
            system=str(kwargs.get("system", "")),
            prompt=prompt,
            max_tokens=min(int(kwargs.get("max_tokens", 1024)), MAX_TOKENS),
            language=self._user.language,
        )
        r = await self._model.complete(request)
        read, written = r.usage.input_tokens, r.usage.output_tokens
        usage = {"input_tokens": read, "output_tokens": written}
        return CompletionResult(r.text, self._model.name, usage, r.stop_reason, read + written)


MAX_NESTED = limit("I-HUB-DISPATCH-NO-CYCLE")

Call = Callable[[str, str, JSONObject, tuple[str, ...]], Awaitable[Any]]
Emit = Callable[[str, JSONObject, tuple[str, ...]], Awaitable[None]]


class ExtensionsClient:
    """`ctx.extensions` of one call. `stack` holds the `app.method` calls that led here."""

    def __init__(self, stack: tuple[str, ...], call: Call, emit: Emit) -> None:
        self._stack = stack
        self._call = call
        self._emit = emit

    async def call(self, app_id: str, method: str, **params: Any) -> Any:
        """Call a method another extension exposes, as the same user. Raises CircularCallError,
        ExtensionError."""
        return await self._call(app_id, method, params, self._with(f"{app_id}.{method}"))

    async def emit(self, event_type: str, data: JSONObject) -> None:
        """Tell every installed extension that listens with `@ext.on_event`; their failures are
        logged, not raised.

        Raises CircularCallError for an event that handling this very event would emit again.
        """
        if not isinstance(data, dict):
            raise TypeError(f"event data is a dict, not {type(data).__name__}")
        await self._emit(event_type, data, self._with(f"event:{event_type}"))

    def _with(self, target: str) -> tuple[str, ...]:
        stack = (*self._stack, target)
        if target in self._stack or len(stack) > MAX_NESTED:
            raise CircularCallError(list(stack))
        return stack


APP_WIDE = "_app"
"""Stands for the user in the path of a secret that all users of a tenant share."""


class SecretsClient:
    """`ctx.secrets` of one call."""

    def __init__(
        self,
        store: SecretStore,
        user: UserKey,
        app_id: str,
        declared: dict[str, SecretDef],
        *,
        system: bool = False,
        revealed: set[str] | None = None,
        fallbacks: Mapping[str, SecretStr] = MappingProxyType({}),
    ) -> None:
        """`revealed` collects the values this call gets to see, for `ctx.log` to leave out;
        `fallbacks` are the variables that app-wide secrets may name."""
        self._fallbacks = fallbacks
        self._revealed = set() if revealed is None else revealed
        self._store = store
        self._user = user
        self._app = app_id
        self._declared = declared
        self._system = system

    def __repr__(self) -> str:
        return f"SecretsClient(app={self._app!r})"

    async def get(self, name: str) -> str | None:
        """The value, or None when nobody has set it; of an app-wide secret else that of the
        variable it names as `env_fallback`."""
        value, spec = await answered(self._store.get(self._path(name))), self._spec(name)
        if value is None and spec.scope == "app":
            named = self._fallbacks.get(spec.env_fallback or "")
            value = named.get_secret_value() if named else None
        if value:
            self._revealed.add(value)
        return value

    async def set(self, name: str, value: str) -> None:
        spec = self._writable(name)
        await answered(put(self._store, self._path(name), spec, value))
        self._revealed.add(value)

    async def delete(self, name: str) -> bool:
        self._writable(name)
        return await answered(self._store.delete(self._path(name)))

    async def is_set(self, name: str) -> bool:
        return await self.get(name) is not None

    async def list(self) -> list[dict[str, object]]:
        """The declared names and whether each is set; never a value."""
        return [
            {"name": n, "is_set": await self.is_set(n), "required": s.required}
            for n, s in self._declared.items()
        ]

    def for_user(self, user_id: str) -> SecretsClient:
        """Another user's secrets of this app. System context only, but for `__webhook__`."""
        need_system("I-SECRETS-USER-SCOPED", "for_user", self._system or user_id == WEBHOOK_USER)
        other = copy(self)
        other._user = UserKey(self._user.tenant_id, user_id)
        return other

    def _spec(self, name: str) -> SecretDef:
        if name not in self._declared:
            raise SecretNotDeclaredError(
                f"secret {name!r} is not declared: add @ext.secret({name!r}, description) to"
                f" {self._app}"
            )
        return self._declared[name]

    def _writable(self, name: str) -> SecretDef:
        if (spec := self._spec(name)).write_mode == "user":
            raise PermissionError(
                f"secret {name!r} is set and removed by the user, not by the extension"
                " (write_mode='user')"
            )
        return spec

    def _path(self, name: str) -> str:
        return path(self._user, self._app, self._spec(name))


def path(user: UserKey, app_id: str, spec: SecretDef) -> str:
    """`tenant/user/app/name`; each part holds only characters a parameter path may hold."""
    owner = APP_WIDE if spec.scope == "app" else secret_part(user.imperal_id)
    return f"{secret_part(user.tenant_id)}/{owner}/{app_id}/{secret_part(spec.name)}"


async def put(store: SecretStore, where: str, spec: SecretDef, value: str) -> None:
    """Check the size and write."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"secret {spec.name!r} must be a non-empty string")
    if (size := len(value.encode())) > spec.max_bytes:
        raise SecretTooLargeError(
            f"secret {spec.name!r} has {size} bytes; the limit is {spec.max_bytes}, max_bytes= of"
            " its declaration"
        )
    await store.set(where, value)
