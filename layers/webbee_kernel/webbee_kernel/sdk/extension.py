"""`Extension`: an app's registry of tools, skeleton sections, panels, schedules and hooks.

Decorators only record; nothing runs and nothing is imported from the kernel.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from .definitions import (
    ExposedDef,
    FunctionDef,
    Handler,
    OAuthDef,
    PanelDef,
    ScheduleDef,
    SecretDef,
    SkeletonDef,
    ToolDef,
    WebhookDef,
    once,
)

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=type[BaseModel])

REFRESH_PREFIX = "skeleton_refresh_"
ALERT_PREFIX = "skeleton_alert_"
PANEL_SLOTS = ("left", "right", "center")
MAX_INDEXES = 4
_SECTION_REFUSED = re.compile(r"[*?\[\]:/]")
_FIELD = re.compile(r"[^#\s\x00-\x1f+]{1,64}")


class Extension:
    """An app. `app_id` is a display wish: the id that counts is the folder's (or the manifest's).
    `titles` are its name by language, `columns` what fields of its results are called, by field and
    language: `{"state": {"de": "Stand"}}`, and a value of one as `state.done`. `capabilities`,
    `migrations_dir`, `actions_explicit` and `system` say nothing here.
    """

    def __init__(
        self,
        app_id: str,
        version: str = "0.1.0",
        capabilities: list[str] | None = None,
        migrations_dir: str | None = None,
        config_defaults: dict[str, Any] | None = None,
        *,
        display_name: str = "",
        description: str = "",
        icon: str = "",
        titles: Mapping[str, str] | None = None,
        columns: Mapping[str, Mapping[str, str]] | None = None,
        actions_explicit: bool = True,
        system: bool = False,
    ) -> None:
        self.app_id = app_id
        self.version = version
        self.config_defaults = dict(config_defaults or {})
        self.display_name = display_name or app_id
        self.description = description
        self.icon = icon
        self.titles, self.columns = dict(titles or {}), dict(columns or {})
        self.tools: dict[str, ToolDef] = {}
        self.skeletons: dict[str, SkeletonDef] = {}
        self.panels: dict[str, PanelDef] = {}
        self.secrets: dict[str, SecretDef] = {}
        self.oauth_providers: dict[str, OAuthDef] = {}
        self.schedules: dict[str, ScheduleDef] = {}
        self.signals: dict[str, Handler] = {}
        self.event_handlers: list[tuple[str, Handler]] = []
        self.webhooks: dict[tuple[str, str], WebhookDef] = {}
        self.exposed: dict[str, ExposedDef] = {}
        self.lifecycle: dict[str, Handler] = {}
        self.upgrades: dict[str, Handler] = {}
        self.health: Handler | None = None
        self.chats: list[ChatExtension] = []
        self.cache_models: dict[str, type[BaseModel]] = {}
        self.indexes: dict[str, tuple[str, ...]] = {}

    def tool(
        self, name: str, scopes: list[str] | None = None, description: str = ""
    ) -> Callable[[F], F]:
        """Register a plain tool: `async (ctx, **params)`, called from a message as a write.

        `skeleton_refresh_<section>` and `skeleton_alert_<section>` are the kernel's; the latter is
        `async (ctx, old, new) -> str`, whose text is told to the user; empty says nothing.
        """

        def record(func: Handler) -> None:
            section = name.removeprefix(REFRESH_PREFIX)
            if section != name:
                check_section_name(section)
            once(self.tools, name, ToolDef(name, func, tuple(scopes or ()), description), "tool")
            # one that `@ext.skeleton` has declared stays: it knows its ttl and alert
            if section != name and section not in self.skeletons:
                self.skeletons[section] = SkeletonDef(section, func, description=description)

        return self._recorded(record)

    def skeleton(
        self, section_name: str, *, alert: bool = False, ttl: int = 300, description: str = ""
    ) -> Callable[[F], F]:
        """Register a skeleton section: `async (ctx) -> {"response": {...}}`, at most 2 KB useful.

        It becomes the tool `skeleton_refresh_<section>`. `ttl` is in seconds (≥ 1), per user and
        section. Raises ValueError for an empty name or one holding any of `* ? [ ] : /`.
        """
        check_section_name(section_name)
        if ttl < 1:
            raise ValueError(
                f"ttl of skeleton section {section_name!r} is {ttl}: give at least 1 second"
            )

        def record(func: Handler) -> None:
            made = SkeletonDef(section_name, func, alert, ttl, description)
            once(self.skeletons, section_name, made, "skeleton section")
            name = REFRESH_PREFIX + section_name
            self.tools[name] = ToolDef(name, func, (), description)

        return self._recorded(record)

    def panel(
        self,
        panel_id: str,
        slot: str = "center",
        title: str = "",
        icon: str = "",
        refresh: str = "manual",
        center_overlay: bool = False,
        stale_while_revalidate: bool = True,
        cache_ttl: int = 60,
        **kwargs: Any,
    ) -> Callable[[F], F]:
        """Register a panel, in the slot left, right or center.

        Handler: `async (ctx, **params)` returning a tree of `ui`. `refresh` is `manual`, or
        `on_event:<type>,…`: an open page fetches it again as soon as one of these events is
        emitted for its user, by whichever app (`*` is any; the app's own may be named without the
        app). In any case it is fetched again when a result names it in `refresh_panels`. `icon` is
        a character or a Lucide name. What else may be given is kept, and nothing reads it. Raises
        ValueError for an unknown slot.
        """
        if slot not in PANEL_SLOTS:
            raise ValueError(
                f"slot of panel {panel_id!r} is {slot!r}: give one of {', '.join(PANEL_SLOTS)}"
            )
        options = {
            "center_overlay": center_overlay,
            "stale_while_revalidate": stale_while_revalidate,
            "cache_ttl": cache_ttl,
            **kwargs,
        }

        def record(func: Handler) -> None:
            made = PanelDef(panel_id, func, slot, title, icon, refresh, options)
            once(self.panels, panel_id, made, "panel")

        return self._recorded(record)

    def secret(
        self,
        name: str,
        description: str,
        *,
        required: bool = False,
        write_mode: str = "user",
        max_bytes: int = 4096,
        rotation_hint_days: int | None = None,
        scope: str = "user",
        env_fallback: str | None = None,
    ) -> Callable[[F], F]:
        """Declare a secret; usable as a decorator or as a plain call. `rotation_hint_days` is for
        the platform's own SDK."""
        if scope not in ("user", "app"):
            raise ValueError(f"scope of secret {name!r} is {scope!r}: give user or app")
        self.secrets[name] = SecretDef(
            name, description, required, write_mode, max_bytes, scope, env_fallback
        )
        return lambda func: func

    def oauth(
        self, provider: str, *, collection: str | None = None, scopes: list[str] | None = None
    ) -> None:
        """Let users connect accounts of a provider: `google`, `microsoft`, `yahoo`, or one the
        operator configured.

        `ctx.oauth_authorize_url(provider)` begins it. Declare the app-wide secrets
        `<provider>_client_id` and `<provider>_client_secret` too.
        """
        self.oauth_providers[provider] = OAuthDef(provider, collection or "", tuple(scopes or ()))

    def schedule(self, name: str, cron: str) -> Callable[[F], F]:
        """Register a job: 5-field cron in UTC, once per minute, fleet and tenant, as `__system__`.

        Handler: `async (ctx)`; what it returns stands in the audit.
        """
        return self._recorded(
            lambda func: once(self.schedules, name, ScheduleDef(name, func, cron), "schedule")
        )

    def signal(self, name: str) -> Callable[[F], F]:
        """Register a handler the kernel calls for a platform signal, as `__system__`.

        Handler: `async (ctx, **arguments)`.
        """
        return self._recorded(lambda func: once(self.signals, name, func, "signal"))

    def on_event(self, event_type: str) -> Callable[[F], F]:
        """Register a handler for events emitted by extensions; `*` hears them all.

        Handler: `async (ctx, data)`, for the user whom the event is about.
        """
        return self._recorded(lambda func: self.event_handlers.append((event_type, func)))

    def emits(self, event_type: str, *, schema_ref: str | None = None) -> Callable[[F], F]:
        """Say that this extension emits an event of this type: for who reads the code."""
        return lambda func: func

    def webhook(self, path: str, method: str = "POST", secret_header: str = "") -> Callable[[F], F]:
        """Register a webhook; senders get its address from `ctx.webhook_url(path)`.

        Handler: `async (ctx, headers, body, query_params)`: header names in lower case, the body as
        text, the query as a dict. It returns a dict (JSON, status 200), text, nothing, or
        `{"status_code", "headers", "body"}`. It runs as `__webhook__`: there is no user. Who sends
        is the handler's to check; without the header `secret_header` the answer is 401.
        """
        key = method.upper(), path.strip("/")
        return self._recorded(
            lambda func: once(
                self.webhooks, key, WebhookDef(key[1], func, key[0], secret_header), "webhook"
            )
        )

    def expose(self, name: str, action_type: str = "read") -> Callable[[F], F]:
        """Let other extensions call this method through `ctx.extensions.call`, from chat functions
        that are declared to do as much: `read`, `write` or `destructive`.

        Handler: `async (ctx, **params)` as the same user; JSON comes back.
        """
        return self._recorded(
            lambda func: once(
                self.exposed, name, ExposedDef(name, func, action_type), "exposed method"
            )
        )

    def cache_model(self, name: str) -> Callable[[M], M]:
        """Register a Pydantic model for typed `ctx.cache` values under a stable name of 1 to 128
        bytes, which is not `-`."""
        if name == "-" or not 1 <= len(name.encode()) <= 128:
            raise ValueError(f"cache model {name!r}: a name has 1 to 128 bytes, and is not -")

        def register(model: M) -> M:
            if not (isinstance(model, type) and issubclass(model, BaseModel)):
                raise TypeError(f"@ext.cache_model({name!r}) wants a pydantic BaseModel class")
            self.cache_models[name] = model
            return model

        return register

    def index(self, collection: str, field: str) -> None:
        """Keep the documents of a collection by one top-level field, and count them: a query with
        `order_by` or `where` of it, and `count`, read what they answer, however many there are.

        An index orders by the first 200 bytes of a text and 190 digits of a number. A write costs
        one unit more for each index (two where the value changes), and twice that with two for the
        count where a document comes or goes. Documents from before the declaration come in as the
        collection is read. Raises ValueError for a fifth index of a collection.
        """
        if not _FIELD.fullmatch(field):
            raise ValueError(
                f"index of {collection!r} by {field!r}: a field has 1 to 64 characters, no space, #"
                " or +"
            )
        fields = {*self.indexes.get(collection, ()), field}
        if len(fields) > MAX_INDEXES:
            raise ValueError(f"{collection!r} has {MAX_INDEXES} indexes: it can have no more")
        # sorted: what is declared in another order is the same declaration
        self.indexes[collection] = tuple(sorted(fields))

    def on_install(self, func: F) -> F:
        """Called once when a user installs the app. Hooks are `async (ctx)`, in system context."""
        return self._hook("on_install", func)

    def on_uninstall(self, func: F) -> F:
        """Called before a user's data of this app is purged."""
        return self._hook("on_uninstall", func)

    def on_enable(self, func: F) -> F:
        """Called when the app becomes active for a user."""
        return self._hook("on_enable", func)

    def on_disable(self, func: F) -> F:
        """Called when the app stops being active for a user."""
        return self._hook("on_disable", func)

    def on_upgrade(self, version: str) -> Callable[[F], F]:
        """Called when the app moves to `version` for a user."""
        return self._recorded(lambda func: self.upgrades.update({version: func}))

    def health_check(self, func: F) -> F:
        """Register the app's own probe: `async (ctx)` returns `{"status": "ok" or "degraded"}`."""
        self.health = func
        return func

    def _hook(self, name: str, func: F) -> F:
        self.lifecycle[name] = func
        return func

    @staticmethod
    def _recorded(record: Callable[[Any], object]) -> Callable[[F], F]:
        """A decorator that records a handler and leaves it as it is."""

        def register(func: F) -> F:
            record(func)
            return func

        return register


def check_section_name(name: str) -> None:
    """Raise ValueError unless a skeleton section may bear this name."""
    if not name or _SECTION_REFUSED.search(name) or not name.isprintable():
        raise ValueError(
            f"skeleton section name {name!r} is refused: give at least one character and none of *"
            " ? [ ] : /"
        )


AsyncF = TypeVar("AsyncF", bound=Callable[..., Awaitable[Any]])
ACTION_TYPES = ("read", "write", "destructive")


class ChatExtension:
    """The chat face of an extension: `chat = ChatExtension(ext)`, then `@chat.function(...)`."""

    def __init__(
        self,
        ext: Extension,
        tool_name: str | None = None,
        description: str = "",
        system_prompt: str = "",
        model: str | None = None,
        max_rounds: int = 10,
    ) -> None:
        self.ext = ext
        self.tool_name = tool_name or f"tool_{ext.app_id}_chat"
        self.description = description
        self.system_prompt = system_prompt
        self.functions: dict[str, FunctionDef] = {}
        ext.chats.append(self)

    def function(
        self,
        name: str,
        description: str,
        params: dict[str, Any] | None = None,
        action_type: str = "read",
        event: str = "",
        chain_callable: bool | None = None,
        effects: list[str] | None = None,
        id_projection: str | None = None,
        background: bool = False,
        long_running: bool = False,
        inputs: list[str] | None = None,
        outputs: list[str] | None = None,
        data_model: type | None = None,
        ui_builder: bool = False,
        *,
        examples: list[str] | None = None,
        scopes: list[str] | None = None,
        titles: Mapping[str, str] | None = None,
    ) -> Callable[[AsyncF], AsyncF]:
        """Register `async def f(ctx, params: Model) -> ActionResult` (or `f(ctx, **kwargs)`).

        `action_type` is read, write or destructive: destructive calls wait for the user's
        confirmation. With `event` a success is published as `<app_id>.<event>` to whoever listens
        with `@ext.on_event`. Results that do not fit `data_model` are logged with the fields that
        do not. `examples`, `scopes` and `titles` are this kernel's additions: phrases a user may
        say, scopes the caller must hold, and by language what the function does in a few words
        (`{"en": "add a task", "de": "Aufgabe anlegen"}`), which receipts, cards and forms say in
        the place of its name. `chain_callable`, `background`, `long_running`, `inputs`,
        `outputs` and `ui_builder` are hints, here as in the platform's own SDK: any function may
        be a step of a plan, and any call may go on past its turn. Raises ValueError for an unknown
        action type, for one given as `params`, and for a name that is taken.
        """
        if action_type not in ACTION_TYPES:
            raise ValueError(
                f"action_type of {name!r} is {action_type!r}: give one of {', '.join(ACTION_TYPES)}"
            )
        # the third by position: who writes an effect there means `action_type`
        if isinstance(params, str):
            raise ValueError(f"params of {name!r} is {params!r}: say action_type={params!r}")

        def register(func: AsyncF) -> AsyncF:
            made = FunctionDef(
                name=name,
                func=func,
                description=description,
                action_type=action_type,
                params=params,
                params_model=params_model(func),
                event=event,
                data_model=data_model,
                id_projection=id_projection,
                examples=tuple(examples or ()),
                scopes=tuple(scopes or ()),
                titles=dict(titles or {}),
            )
            once(self.functions, name, made, "chat function")
            return func

        return register


def params_model(func: Callable[..., Any]) -> type[BaseModel] | None:
    """The Pydantic model of the second parameter, if there is one."""
    names = list(inspect.signature(func).parameters)
    if len(names) < 2:
        return None
    try:
        hint = typing.get_type_hints(func).get(names[1])
    except (NameError, TypeError):  # an annotation that cannot be resolved is no model
        hint = func.__annotations__.get(names[1])
    return hint if isinstance(hint, type) and issubclass(hint, BaseModel) else None
