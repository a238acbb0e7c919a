"""ctx.time, ctx.log, ctx.notify, ctx.ai, ctx.extensions and ctx.secrets: declared names
only, per user or per app, whose values never reach a log."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...aws.parameters import MAX_VALUE_BYTES, escape
from ...clock import iso
from ...errors import CallError
from ...invariants import limit
from ...llm.options import MAX_PROMPT, MAX_TOKENS
from ...llm.protocol import ModelRequest
from ...sdk.definitions import SecretDef
from ...sdk.exceptions import CircularCallError, SecretNotDeclaredError, SecretTooLargeError
from ...stores import SecretStore, panel_refresh
from ...text import one_line
from ...types import JSONObject, UserKey
from .. import redaction
from ..error_mapping import run_contained
from ..redaction import hide_secrets, mask_line, secret_fields
from ..registry import secret_fallbacks
from .store_client import check_answer

if TYPE_CHECKING:
    from . import CallContext

MAX_MESSAGE = 2_000


def merge(base: Mapping[str, Any], override: Mapping[str, Any]) -> JSONObject:
    """A configuration with another laid over it: objects are merged, the rest is replaced."""
    found = dict(base)
    for key, value in override.items():
        are_objects = isinstance(found.get(key), Mapping) and isinstance(value, Mapping)
        found[key] = merge(found[key], value) if are_objects else value
    return found


class TimeContext:
    """`ctx.time`: the kernel's clock."""

    def __init__(self, ctx: CallContext) -> None:
        self._now = ctx._now

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC)

    def timestamp(self) -> float:
        return self._now()

    def iso(self) -> str:
        return iso(self._now())


class _Done:
    """What `ctx.log(…)` returns: code written for the platform's SDK awaits it."""

    def __await__(self) -> Generator[Any, None, None]:
        # waits for nothing: the `yield` only makes this a generator, as await needs one
        yield from ()


class Log:
    """`ctx.log`: one structured line per message, cut to 2,000 characters, without the secrets that
    this call has read, without what looks like one, and without fields that do: on an author's
    machine those raise ValueError."""

    def __init__(self, ctx: CallContext) -> None:
        self._app = ctx._app
        self._secrets_read = ctx._secrets_read
        self._develop = ctx._settings.develop
        self._logger = logging.getLogger("webbee.extension")

    def __call__(self, message: str, level: str = "info") -> Awaitable[None]:
        self._write(getattr(logging, level.upper(), logging.INFO), message, {})
        return _Done()

    def info(self, message: str, **fields: Any) -> None:
        self._write(logging.INFO, message, fields)

    def warning(self, message: str, **fields: Any) -> None:
        self._write(logging.WARNING, message, fields)

    def error(self, message: str, **fields: Any) -> None:
        self._write(logging.ERROR, message, fields)

    def _write(self, level: int, message: str, fields: JSONObject) -> None:
        shown = {k: hide_secrets(v, self._secrets_read) for k, v in fields.items()}
        if secrets := secret_fields(shown):
            names = ", ".join(secrets)
            if self._develop:
                raise ValueError(f"{names} of a log line looks like a secret: leave it out")
            shown |= dict.fromkeys(secrets, redaction.MASK)
            self._logger.warning("app=%s | masked in a log line: %s", self._app, names)
        pairs = "".join(f" {k}={one_line(v, 200)}" for k, v in shown.items())
        line = mask_line(one_line(hide_secrets(message, self._secrets_read), MAX_MESSAGE))
        redaction.trace().lines.append(f"{line} ({pairs.strip()})" if pairs else line)
        self._logger.log(level, "app=%s%s | %s", self._app, pairs, line)


class NotifyClient:
    """`ctx.notify`: a message outside the turn, shown by the page."""

    def __init__(self, ctx: CallContext) -> None:
        self._ctx = ctx

    async def send(self, message: str, channel: str = "in_app", **kwargs: Any) -> None:
        """At most 2,000 characters; `channel` is kept for the page to sort by."""
        text = one_line(message, MAX_MESSAGE)
        if not text:
            raise ValueError("a notification needs text")
        await self._ctx._emit("notification", {"text": text, "channel": channel})

    def for_user(self, user_id: str) -> NotifyClient:
        return NotifyClient(self._ctx._for_user(user_id, "I-AS-USER-1", "notify.for_user"))


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

    def __init__(self, ctx: CallContext) -> None:
        self._model = ctx._factory.model
        self._language = ctx._user.language

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
            language=self._language,
        )
        r = await self._model.complete(request)
        read, written = r.usage.input_tokens, r.usage.output_tokens
        usage = {"input_tokens": read, "output_tokens": written}
        return CompletionResult(r.text, self._model.name, usage, r.stop_reason, read + written)


DESTROYS = 2
_REACH = {"read": 0, "write": 1}
"""What functions do, the least first; what is declared as neither may destroy."""
MAX_NESTED = limit("I-HUB-DISPATCH-NO-CYCLE")


class ExtensionsClient:
    """`ctx.extensions` of one call: other extensions, asked as the same user."""

    def __init__(self, ctx: CallContext) -> None:
        self._ctx = ctx
        self._apps = ctx._factory.registry.loaded

    async def call(self, app_id: str, method: str, **params: Any) -> Any:
        """Call a method another extension exposes, as the same user. Raises CircularCallError,
        ExtensionError."""
        stack = self._with(f"{app_id}.{method}")
        loaded = self._apps.get(app_id)
        exposed = loaded.ext.exposed.get(method) if loaded else None
        if exposed is None:
            raise CallError("UNKNOWN_SUB_FUNCTION", f"{app_id} exposes no method {method!r}")
        if not await self._ctx._has_app(app_id):
            raise CallError("PERMISSION_DENIED", f"{app_id} is not installed for this user")
        # consent goes by what the called function declares: nothing behind it does more
        own, theirs = self._ctx._effect, exposed.action_type
        if _REACH.get(theirs, DESTROYS) > _REACH.get(own, DESTROYS):
            why = f"{app_id}.{method} is declared {theirs}: no function declared {own} reaches it"
            raise CallError("PERMISSION_DENIED", why)
        return await run_contained(exposed.func(self._ctx._of_app(app_id, stack), **params))

    async def emit(self, event_type: str, data: JSONObject) -> None:
        """Tell every installed extension that listens with `@ext.on_event`; their failures are
        logged, not raised. Then open pages fetch the panels again that wait for such an event.

        Raises CircularCallError for an event that handling this very event would emit again.
        """
        if not isinstance(data, dict):
            raise TypeError(f"event data is a dict, not {type(data).__name__}")
        stack = self._with(f"event:{event_type}")
        for app_id, loaded in self._apps.items():
            for wanted, handler in loaded.ext.event_handlers:
                if wanted in (event_type, "*") and await self._ctx._has_app(app_id):
                    try:
                        await run_contained(handler(self._ctx._of_app(app_id, stack), data))
                    except Exception as error:
                        self._ctx._faults.report(error, app_id, f"event {event_type}")
        # the system's own users have no page
        if not self._ctx._user.id.startswith("__"):
            await self._show(event_type)

    async def _show(self, event_type: str) -> None:
        events = self._ctx._factory.events
        for app_id, loaded in self._apps.items():
            panels = [p.panel_id for p in loaded.ext.panels.values() if p.hears(event_type, app_id)]
            if panels and await self._ctx._has_app(app_id):
                for event in panel_refresh(events, app_id, tuple(panels)):
                    await events.put(self._ctx._key, event)

    def _with(self, target: str) -> tuple[str, ...]:
        stack = (*self._ctx._stack, target)
        if target in self._ctx._stack or len(stack) > MAX_NESTED:
            raise CircularCallError(list(stack))
        return stack


APP_WIDE = "_app"
"""Stands for the user in the path of a secret that all users of a tenant share."""


class SecretsClient:
    """`ctx.secrets` of one call."""

    def __init__(self, ctx: CallContext) -> None:
        self._ctx = ctx
        self._store = ctx._stores.secrets
        self._declared = ctx._ext.secrets

    async def get(self, name: str) -> str | None:
        """The value, or None when nobody has set it; of an app-wide secret else that of the
        variable it names as `env_fallback`."""
        value, spec = await check_answer(self._store.get(self._path(name))), self._spec(name)
        if value is None and spec.scope == "app":
            told = secret_fallbacks(self._ctx._settings, self._ctx._app)
            named = told.get(spec.env_fallback or "")
            value = named.get_secret_value() if named else None
        if value:
            self._ctx._secrets_read.add(value)
        return value

    async def set(self, name: str, value: str) -> None:
        spec = self._writable(name)
        await check_answer(put(self._store, self._path(name), spec, value))
        self._ctx._secrets_read.add(value)

    async def delete(self, name: str) -> bool:
        self._writable(name)
        return await check_answer(self._store.delete(self._path(name)))

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
        return SecretsClient(self._ctx._for_user(user_id, "I-SECRETS-USER-SCOPED", "for_user"))

    def _spec(self, name: str) -> SecretDef:
        if name not in self._declared:
            raise SecretNotDeclaredError(
                f"secret {name!r} is not declared: add @ext.secret({name!r}, description) to"
                f" {self._ctx._app}"
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
        return path(self._ctx._key, self._ctx._app, self._spec(name))


def path(user: UserKey, app_id: str, spec: SecretDef) -> str:
    """`tenant/user/app/name`; each part holds only characters a parameter path may hold."""
    owner = APP_WIDE if spec.scope == "app" else escape(user.imperal_id)
    return f"{escape(user.tenant_id)}/{owner}/{app_id}/{escape(spec.name)}"


async def put(store: SecretStore, where: str, spec: SecretDef, value: str) -> None:
    """Check the size and write."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"secret {spec.name!r} must be a non-empty string")
    most = min(spec.max_bytes, MAX_VALUE_BYTES)
    if (size := len(value.encode())) > most:
        raise SecretTooLargeError(
            f"secret {spec.name!r} has {size} bytes; the limit is {most}, max_bytes= of its"
            f" declaration, {MAX_VALUE_BYTES} at most"
        )
    await store.set(where, value)
