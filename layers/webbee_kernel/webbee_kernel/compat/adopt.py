"""Converts the registries of an `imperal_sdk` extension to the kernel's own `Extension`."""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from .. import compat as sdk
from ..clock import iso
from ..extensions.outcomes import keywords
from ..sdk import ChatExtension, Extension, FunctionDef
from ..sdk.context import Context
from ..sdk.definitions import (
    ExposedDef,
    PanelDef,
    ScheduleDef,
    SecretDef,
    SkeletonDef,
    ToolDef,
    WebhookDef,
)
from ..sdk.extension import (
    ACTION_TYPES,
    ALERT_PREFIX,
    PANEL_SLOTS,
    REFRESH_PREFIX,
    check_section_name,
)
from .conversion import (
    accepted,
    action_result,
    alert_text,
    arguments_model,
    context_name,
    model_parameter,
    presentable,
    snapshot,
    webhook_answer,
)
from .platform_context import Adopted, KernelContext

SYNTHETIC = "__"
"""Names of tools that are panels, trays and webhooks start so."""

SLOTS = {"overlay": "center", "bottom": "center", "chat-sidebar": "right"}
"""The SDK's further panel slots, and where they go here."""

TRAY = "__tray__"
WIDGET = "__widget__"


def adopt(app_id: str, main: ModuleType) -> Extension | None:
    """The extension of a loaded folder as the kernel's own, under the folder's id; None where its
    modules define none."""
    theirs = next(_extensions(main), None)
    if theirs is None:
        return None
    models = dict(getattr(theirs, "_cache_models", {}))
    app = Adopted(app_id, theirs, dict(getattr(theirs, "secrets", {})), models)
    ours = Extension(
        app_id,
        str(theirs.version),
        config_defaults=dict(theirs.config_defaults),
        display_name=theirs.display_name or app_id,
        description=theirs.description,
        # an SVG is neither a character nor an icon's name: a page would show its text
        icon="" if theirs.icon.lstrip().startswith("<") else theirs.icon,
    )
    ours.cache_models.update(models)
    ours.secrets.update({name: _secret(spec) for name, spec in app.secrets.items()})
    for declared in getattr(theirs, "oauth_providers", {}).values():
        ours.oauth(declared.provider, collection=declared.collection, scopes=declared.scopes)
    _functions(app, ours)
    _sections(app, ours)
    _panels(app, ours)
    _reactions(app, ours)
    return ours


def _extensions(main: ModuleType) -> Iterator[Any]:
    """Extensions among the attributes of `main.py`, then of the folder's other modules."""
    package = main.__name__.rpartition(".")[0] + "."
    # a copy: other threads may import meanwhile
    others = [m for name, m in sorted(sys.modules.copy().items()) if name.startswith(package)]
    for module in (main, *others):
        yield from (value for value in vars(module).values() if isinstance(value, sdk.Extension))


def _functions(app: Adopted, ours: Extension) -> None:
    """Chat functions with their models, and the plain tools and `App` tools that a user's message
    may call too."""
    for name, theirs in getattr(app.ext, "_chat_extensions", {}).items():
        chat = ChatExtension(ours, str(name), theirs.description, theirs.system_prompt)
        chat.functions.update({f.name: _function(app, f) for f in theirs.functions.values()})
    _plain_tools(app, ours)


def _plain_tools(app: Adopted, ours: Extension) -> None:
    known = {name for chat in ours.chats for name in chat.functions}
    schemas: Mapping[str, Any] = getattr(app.ext, "_tool_schemas", {})
    found = {
        name: _app_tool(app, tool, schemas[name]) if name in schemas else _tool(app, tool)
        for name, tool in app.ext.tools.items()
        if not name.startswith((SYNTHETIC, REFRESH_PREFIX, ALERT_PREFIX)) and name not in known
    }
    if found:
        ChatExtension(ours, f"{app.app_id}_tools").functions.update(found)


def _function(app: Adopted, theirs: Any) -> FunctionDef:
    parameter, model = (
        getattr(theirs, "_pydantic_param", ""),
        getattr(theirs, "_pydantic_model", None),
    )
    if model is None:
        parameter, model = model_parameter(theirs.func)
    described = theirs.params if isinstance(theirs.params, dict) else {}
    return FunctionDef(
        name=theirs.name,
        func=function(app, theirs.func, parameter),
        description=theirs.description,
        action_type=theirs.action_type if theirs.action_type in ACTION_TYPES else "write",
        params=described,
        params_model=model or arguments_model(theirs.func, described),
        event=theirs.event,
        data_model=getattr(theirs, "_return_model", None),
        id_projection=theirs.id_projection or None,
    )


def _tool(app: Adopted, theirs: Any) -> FunctionDef:
    """`@ext.tool` says nothing of effects: it counts as a write, which runs once per request and
    refreshes what it may have changed."""
    parameter, model = model_parameter(theirs.func)
    model = model or arguments_model(theirs.func, {})
    return FunctionDef(
        theirs.name,
        function(app, theirs.func, parameter),
        theirs.description,
        "write",
        params_model=model,
    )


def _app_tool(app: Adopted, theirs: Any, schema: Mapping[str, Any]) -> FunctionDef:
    """A tool of a 6.x `App`. Its scopes are those the app requests for itself, granted by its
    installation: users need not have them."""
    action = "destructive" if schema.get("destructive") else "write"
    model = arguments_model(theirs.func, schema.get("parameters", {}).get("properties", {}))
    return FunctionDef(
        theirs.name,
        function(app, theirs.func, place=context_name(theirs.func)),
        theirs.description,
        action,
        params=schema.get("parameters"),
        params_model=model,
    )


def _sections(app: Adopted, ours: Extension) -> None:
    """Skeleton sections and alert tools, found by their names; ttl and alert are those of
    `@ext.skeleton` where it was used."""
    for name, tool in app.ext.tools.items():
        if name.startswith(ALERT_PREFIX):
            ours.tools[name] = ToolDef(name, alert(app, tool.func), description=tool.description)
        elif name.startswith(REFRESH_PREFIX):
            section = name.removeprefix(REFRESH_PREFIX)
            check_section_name(section)
            said = getattr(tool, "_skeleton", {})
            # unless it says otherwise, a section with an alert tool wants it asked
            alerts = bool(said.get("alert_on_change", f"{ALERT_PREFIX}{section}" in app.ext.tools))
            refresh = handler(app, tool.func, "skeleton", snapshot)
            ours.skeletons[section] = SkeletonDef(
                section, refresh, alerts, max(1, int(said.get("ttl") or 300)), tool.description
            )
            ours.tools[name] = ToolDef(name, refresh, description=tool.description)


def _panels(app: Adopted, ours: Extension) -> None:
    """Panels, tray items and widgets. All are panels here; the latter two keep the names of their
    tools in the SDK."""
    for panel_id, said in app.ext.panels.items():
        if not _is_secrets_panel(panel_id, said):
            call = handler(app, app.ext.tools[f"__panel__{panel_id}"].func, "panel")
            slot = said.get("slot", "center")
            slot = slot if slot in PANEL_SLOTS else SLOTS.get(slot, "center")
            title, icon, refresh = (
                str(said.get(key) or "") for key in ("title", "icon", "refresh")
            )
            ours.panels[panel_id] = PanelDef(panel_id, call, slot, title, icon, refresh, dict(said))
    _trays_and_widgets(app, ours)


def _trays_and_widgets(app: Adopted, ours: Extension) -> None:
    for tray in getattr(app.ext, "tray_items", {}).values():
        name = TRAY + tray.tray_id
        options = {
            k: getattr(tray, k)
            for k in ("zone", "order", "badge_style", "icon_color")
            if hasattr(tray, k)
        }
        call = handler(app, tray.func, "panel")
        ours.panels[name] = PanelDef(name, call, "tray", tray.tooltip, tray.icon, "manual", options)
    for name, tool in app.ext.tools.items():
        if name.startswith(WIDGET):
            title = tool.description.removeprefix("Widget: ")
            ours.panels[name] = PanelDef(name, handler(app, tool.func, "panel"), "right", title)


def _is_secrets_panel(panel_id: str, said: Mapping[str, Any]) -> bool:
    """Whether it is the panel that the SDK adds by itself: it links to a page of the platform, and
    the kernel's page lists secrets without it."""
    return (
        panel_id == "secrets" and said.get("icon") == "KeyRound" and said.get("title") == "Secrets"
    )


def _reactions(app: Adopted, ours: Extension) -> None:
    """Everything that is called without a user's message."""
    ext = app.ext
    for job in ext.schedules.values():
        ours.schedules[job.name] = ScheduleDef(job.name, handler(app, job.func), job.cron)
    for signal in ext.signals.values():
        ours.signals[signal.name] = handler(app, signal.func)
    for event in ext.event_handlers:
        ours.event_handlers.append((event.event_type, listener(app, event.func, event.event_type)))
    _callable_by_others(app, ours)
    for name, step in ext.lifecycle.items():
        if step.version:
            ours.upgrades[step.version] = handler(app, step.func)
        else:
            ours.lifecycle[name] = handler(app, step.func)
    if check := getattr(ext, "_health_check", None):
        ours.health = handler(app, check.func, finish=lambda v: action_result(presentable(v)))


def _callable_by_others(app: Adopted, ours: Extension) -> None:
    """Methods for other extensions, and webhooks."""
    ext = app.ext
    for method in ext.exposed.values():
        ours.exposed[method.name] = ExposedDef(
            method.name, handler(app, method.func, finish=lambda v: v), method.action_type
        )
    for path, hook in ext.webhooks.items():
        for verb in _methods(hook.method):
            bare = path.strip("/")
            # The SDK leaves the check of `secret_header` to the handler: handshakes arrive without
            # it.
            ours.webhooks[(verb, bare)] = WebhookDef(bare, webhook(app, hook.func, verb), verb)


def _methods(method: str) -> tuple[str, ...]:
    """`POST`, or what a comma list or `ANY` stands for; the API has GET and POST routes."""
    named = {m.strip().upper() for m in method.replace("|", ",").split(",")}
    return ("GET", "POST") if named & {"ANY", "*"} else tuple(sorted(named))


def _secret(spec: Any) -> SecretDef:
    return SecretDef(
        spec.name,
        spec.description,
        bool(spec.required),
        spec.write_mode,
        int(spec.max_bytes),
        getattr(spec, "scope", "user"),
        getattr(spec, "env_fallback", None),
    )


Handler = Callable[..., Awaitable[Any]]
Finish = Callable[[Any], Any]
_log = logging.getLogger("webbee.imperal")


async def run(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a handler; one that is not async runs in a thread, so that it cannot block others."""
    if inspect.iscoroutinefunction(func):
        return await func(*args, **kwargs)
    # a partial or a wrapper is no coroutine function, and may return one all the same
    value = await asyncio.to_thread(func, *args, **kwargs)
    return await value if inspect.isawaitable(value) else value


def handler(
    app: Adopted, func: Callable[..., Any], tool_type: str = "tool", finish: Finish = presentable
) -> Handler:
    """`(ctx, **kwargs)`: panels, refreshes, schedules, signals, exposed methods, hooks."""

    async def call(ctx: Context, **kwargs: Any) -> Any:
        return finish(await run(func, KernelContext(ctx, app, tool_type), **kwargs))

    return call


def function(
    app: Adopted, func: Callable[..., Any], parameter: str = "", place: str | None = None
) -> Handler:
    """A chat function: `params` is the kernel's validated model, passed whole as `parameter` or,
    without one, as keywords. A tool of a 6.x `App` gets the context as the keyword `place`, or not
    at all where that is empty."""

    async def call(ctx: Context, params: BaseModel | None = None, /, **kwargs: Any) -> Any:
        theirs = KernelContext(ctx, app, "chat_fn")
        if params is not None:
            kwargs = {parameter: params} if parameter else keywords(params)
        if place is None:
            return action_result(await run(func, theirs, **kwargs))
        return action_result(await run(func, **kwargs | ({place: theirs} if place else {})))

    return call


def alert(app: Adopted, func: Callable[..., Any]) -> Handler:
    """An alert tool `skeleton_alert_<section>(ctx, old=, new=)`; it gets those that it takes."""

    async def call(ctx: Context, *, old: dict[str, Any], new: dict[str, Any]) -> Any:
        given = accepted(func, {"old": old, "new": new})
        return alert_text(await run(func, KernelContext(ctx, app, "tool"), **given))

    return call


def listener(app: Adopted, func: Callable[..., Any], event_type: str) -> Handler:
    """An event handler `(ctx, event)`, where the event is the SDK's `Event` and a dict of its data
    at once."""

    async def call(ctx: Context, data: dict[str, Any]) -> Any:
        event = _Event(
            event_type=event_type,
            timestamp=iso(ctx.time.timestamp()),
            user_id=ctx.user.imperal_id,
            tenant_id=ctx.user.tenant_id,
            data=dict(data),
        )
        return await run(func, KernelContext(ctx, app, "tool"), event)

    return call


def webhook(app: Adopted, func: Callable[..., Any], method: str) -> Handler:
    """A webhook, called with those of `headers`, `body` (text) and `query_params` that it takes, or
    with one `request`."""
    names = [*inspect.signature(func).parameters][1:]
    is_whole = len(names) == 1 and names[0] not in ("headers", "body", "query_params", "kwargs")

    async def call(ctx: Context, headers: dict[str, str], body: str, query: dict[str, str]) -> Any:
        given = {"headers": headers, "body": body, "query_params": query}
        if is_whole:
            request = sdk.WebhookRequest(method=method, **{**given, "body": body.encode()})
            arguments = {names[0]: request}
        else:
            arguments = accepted(func, given)
        return webhook_answer(await run(func, KernelContext(ctx, app, "tool"), **arguments))

    return call


class _Event(sdk.Event, dict[str, Any]):  # type: ignore[misc]
    """The SDK's `Event` that is a dict too: the data's own keys first, then the envelope's.
    Published handlers read `event.data["id"]`, `event["data"]["id"]` and `event["id"]`."""

    def __init__(self, **envelope: Any) -> None:
        sdk.Event.__init__(self, **envelope)
        dict.update(self, {**envelope, "type": self.event_type, **self.data})
