"""Calls that no model made: sections, alerts, hooks, webhooks, jobs, signals, events, health,
panels.

Each is a `CallRequest` of its kind and ends as a `CallOutcome`, so that it can travel to wherever
extension code runs:

| kind       | name            | arguments                      | outcome's data                  |
|------------|-----------------|--------------------------------|---------------------------------|
| `skeleton` | section         | `snapshots`: those stored      | the dict to store               |
| `skeletons`| –               | `sections`, `snapshots` by app | each one's, see the host        |
| `alert`    | section         | `old`, `new`                   | `{"text"}`, empty: nothing      |
| `hook`     | `on_install` …  | `version`, of `on_upgrade`     | none                            |
| `webhook`  | path            | `method headers body query`    | `{"status", "headers", "body"}` |
| `schedule` | job             | `minute`                       | what the job returned           |
| `signal`   | signal          | the signal's                   | what the handler returned       |
| `event`    | event type      | the event's                    | none                            |
| `health`   | `health`        | none                           | `{"status", …}`                 |
| `panel`    | panel           | its own                        | none; its tree is the `ui`      |
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from ..channels.skeleton import Snapshots, check_size, inner
from ..errors import CallError, NotAuthenticated
from ..sdk.definitions import SecretDef
from ..sdk.exceptions import SecretTooLargeError
from ..sdk.extension import ALERT_PREFIX
from ..sdk.result import ui_dict
from ..types import JSON, WEBHOOK_USER, CallOutcome, CallRequest, JSONObject, ok_outcome, user_from
from .context import CallContext, ContextFactory, services
from .error_mapping import original_error, run_contained
from .outcomes import MAX_SUMMARY, clean, from_return, plain_json, webhook_answer
from .redaction import mask_secrets

Handler: TypeAlias = Callable[[CallContext, CallRequest], Awaitable[JSON | CallOutcome]]

SYSTEM = ("hook", "webhook", "schedule", "signal", "health")
"""Kinds whose context reaches other users."""
PRIVILEGED = ("skeleton", "alert", "hook", "webhook")
"""Kinds that run with the system's scopes."""


def context_of(contexts: ContextFactory, request: CallRequest) -> CallContext:
    """The context of a call; a webhook has no user, a section may read its last snapshot."""
    user, kind = user_from(request.user), request.kind
    if kind in PRIVILEGED:
        user = replace(user, scopes=("*",))
    if kind == "webhook":
        user = replace(user, imperal_id=WEBHOOK_USER, role="system")
    skeleton = Snapshots(request.arguments.get("snapshots") or {}) if kind == "skeleton" else None
    return contexts.make(user, request.app_id, system=kind in SYSTEM, skeleton=skeleton)


async def run_system_call(ctx: CallContext, request: CallRequest) -> CallOutcome:
    """Run one such call before its deadline; errors become an outcome and a log line."""
    try:
        data = await run_contained(SYSTEM_CALLS[request.kind](ctx, request), request.deadline_s)
    except Exception as error:
        outcome = await ctx._faults.outcome(error, request)
        if request.kind == "panel" or isinstance(error, CallError | TimeoutError):
            return outcome
        return replace(outcome, error=type(original_error(error)).__name__)
    return data if isinstance(data, CallOutcome) else ok_outcome(request, data)


async def _section(ctx: CallContext, request: CallRequest) -> JSONObject:
    """A section's handler, with system scopes as the real user."""
    if (definition := ctx._ext.skeletons.get(request.name)) is None:
        raise missing(request, "skeleton section")
    data = check_size(plain_json(inner(await definition.func(ctx))))
    remedy = "" if ctx._settings.develop else None
    masked_data: JSONObject = mask_secrets(data, (request.app_id, request.name), remedy)
    return masked_data


async def _alert(ctx: CallContext, request: CallRequest) -> JSONObject:
    """The alert tool's text; empty where there is nothing to say or no such tool."""
    if (tool := ctx._ext.tools.get(ALERT_PREFIX + request.name)) is None:
        return {"text": ""}
    old, new = request.arguments.get("old") or {}, request.arguments.get("new") or {}
    answer = await tool.func(ctx, old=old, new=new)
    text = answer.get("response") if isinstance(answer, dict) else answer
    return {"text": clean(text.strip(), MAX_SUMMARY) if isinstance(text, str) else ""}


async def _hook(ctx: CallContext, request: CallRequest) -> None:
    """A lifecycle hook in system context; an app without it has nothing to do."""
    version = str(request.arguments.get("version", ""))
    upgrade = request.name == "on_upgrade"
    hook = ctx._ext.upgrades.get(version) if upgrade else ctx._ext.lifecycle.get(request.name)
    if hook is not None:
        await hook(ctx)


async def _webhook(ctx: CallContext, request: CallRequest) -> JSONObject:
    """A webhook as `__webhook__`: there is no user."""
    arguments = request.arguments
    hook = ctx._ext.webhooks.get((str(arguments["method"]), request.name.strip("/")))
    if hook is None:
        raise missing(request, f"webhook {arguments['method']}")
    # only its presence: the handler checks the value
    if hook.secret_header and not arguments["headers"].get(hook.secret_header.lower()):
        error = NotAuthenticated(f"the header {hook.secret_header} is missing")
        return {"status": error.status, "headers": {}, "body": error.body()}
    answer = await hook.func(ctx, arguments["headers"], arguments["body"], arguments["query"])
    return webhook_answer(answer)


async def _job(ctx: CallContext, request: CallRequest) -> JSON:
    if (job := ctx._ext.schedules.get(request.name)) is None:
        raise missing(request, "schedule")
    return _data_of(await job.func(ctx), request)


async def _signal(ctx: CallContext, request: CallRequest) -> JSON:
    if (handler := ctx._ext.signals.get(request.name)) is None:
        raise missing(request, "handler of the signal")
    return _data_of(await handler(ctx, **request.arguments), request)


async def _health(ctx: CallContext, request: CallRequest) -> JSON:
    """What the app's own health check says, or that it has none."""
    if ctx._ext.health is None:
        return {"status": "ok"}
    found = _data_of(await ctx._ext.health(ctx), request)
    return found if isinstance(found, dict) and found else {"status": "ok"}


async def _panel(ctx: CallContext, request: CallRequest) -> CallOutcome:
    """A panel's tree for its user, as plain JSON."""
    if (panel := ctx._ext.panels.get(request.name)) is None:
        raise missing(request, "panel")
    node = ui_dict(await panel.func(ctx, **request.arguments))
    if isinstance(node, dict) and "ui" in node:
        # `{"ui": node}` and a bare node are both fine
        node = ui_dict(node["ui"])
    return ok_outcome(request, ui=plain_json({"ui": node, "panel_id": request.name}))


def _data_of(value: JSON, request: CallRequest) -> JSON:
    if request.kind in ("schedule", "signal") and isinstance(value, str | int | float | list):
        return plain_json(value)  # nobody but the audit reads it
    outcome = from_return(value, request, (), "write")
    if not outcome.ok:
        raise CallError(outcome.error_code, outcome.error)
    return outcome.data


def missing(request: CallRequest, what: str, reason: str = "") -> CallError:
    """There is no such thing in the app."""
    text = f"{request.app_id} has no {what} {request.name[:64]!r}"
    return CallError("UNKNOWN_SUB_FUNCTION", ": ".join(filter(None, (text, reason))))


SYSTEM_CALLS: Mapping[str, Handler] = MappingProxyType(
    {
        "skeleton": _section,
        "alert": _alert,
        "hook": _hook,
        "webhook": _webhook,
        "schedule": _job,
        "signal": _signal,
        "event": lambda ctx, request: ctx.extensions.emit(request.name, request.arguments),
        "health": _health,
        "panel": _panel,
    }
)
"""What runs each kind."""


async def list_secrets(ctx: CallContext, request: CallRequest) -> CallOutcome:
    """Each declared secret and whether it is set; never a value."""
    return ok_outcome(request, {"secrets": await services.SecretsClient(ctx).list()})


async def put_secret(ctx: CallContext, request: CallRequest) -> CallOutcome:
    """Set the secret `name` to `arguments.value`."""
    spec, where = _secret(ctx, request)
    try:
        await services.put(ctx._stores.secrets, where, spec, request.arguments["value"])
    except SecretTooLargeError as error:
        raise CallError("VALIDATION_TYPE_ERROR", str(error), field="value") from None
    return ok_outcome(request, {"is_set": True})


async def delete_secret(ctx: CallContext, request: CallRequest) -> CallOutcome:
    """Remove the secret `name`; repeatable."""
    await ctx._stores.secrets.delete(_secret(ctx, request)[1])
    return ok_outcome(request, {"is_set": False})


def _secret(ctx: CallContext, request: CallRequest) -> tuple[SecretDef, str]:
    """A secret's declaration and path."""
    spec = ctx._ext.secrets.get(request.name)
    if spec is None:
        raise missing(request, "secret")
    return spec, services.path(ctx._key, request.app_id, spec)
