"""Runner: calls handlers of extensions and makes outcomes of what they do. The host lets it run on
a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError

from ..arguments import no_placeholders
from ..base import background
from ..base.clock import Clock
from ..channels.cache import InFlight
from ..channels.skeleton import SkeletonReader
from ..config import Settings
from ..errors import CallError, KernelError, StorageUnavailable
from ..events import EventLog, panel_refresh
from ..llm.protocol import Model
from ..sdk.context import Context, User
from ..sdk.extension import ALERT_PREFIX
from ..sdk.result import ui_dict
from ..stores.protocols import Stores
from ..values import AuditRecord, CallOutcome, CallRequest, UserKey, failed, user_dict, user_from
from .audit import Audit
from .context import ContextFactory
from .outcomes import from_exception, from_return, plain_json, validation_failed, webhook_answer
from .registry import LoadedExtension, Registry

SYSTEM_USER = "__system__"
HEALTH_S = 5.0
LATE_S = 150.0
"""Seconds a handler may go on past its turn; the function's own timeout (190 s) is longer."""
WEBHOOK_USER = "__webhook__"
_log = logging.getLogger("webbee.runner")


@dataclass(frozen=True, slots=True)
class _Call:
    """What a request resolved to: the handler, its arguments and how it counts."""

    handler: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    action_type: str = "read"


class ExtensionRunner:
    """Runs calls of loaded extensions: validates, claims effects, enforces the deadline,
    records."""

    def __init__(
        self, registry: Registry, stores: Stores, settings: Settings, clock: Clock, model: Model
    ) -> None:
        self.registry = registry
        self.catalogue = registry.catalogue()
        self.events = EventLog(stores.events, clock, hours=settings.event_hours)
        self._settings = settings
        self._audit = Audit(stores.audit, clock, days=settings.audit_days)
        self.contexts = ContextFactory(
            registry, stores, settings, clock, model, self.events, InFlight()
        )

    async def execute(self, request: CallRequest) -> CallOutcome:
        """Run one call of kind function, check or panel to its outcome. Never raises for what the
        extension did."""
        started = time.perf_counter()
        try:
            loaded = self.extension(request.app_id)
            if request.kind == "health":
                return CallOutcome(
                    request.app_id, "health", "ok", data=await self.health(request.app_id)
                )
            call = self._resolve(loaded, request)
            if isinstance(call, CallOutcome):
                return call
            outcome = await self._run(loaded, request, call)
        except KernelError:
            raise
        except Exception as error:
            outcome = from_exception(error, request)
        return replace(outcome, duration_ms=int((time.perf_counter() - started) * 1000))

    def extension(self, app_id: str) -> LoadedExtension:
        """The loaded extension, or CallError UNKNOWN_TOOL."""
        loaded = self.registry.loaded.get(app_id)
        if loaded is None:
            reason = self.registry.failed.get(app_id)
            raise CallError(
                "UNKNOWN_TOOL",
                f"there is no app {app_id[:64]!r}"
                + (f": it failed to load ({reason})" if reason else ""),
            )
        return loaded

    async def refresh(
        self, user: User, app_id: str, section: str, reader: SkeletonReader, timeout_s: float
    ) -> Any:
        """Run a section's handler with system scopes as the real user; its raw return value. Raises
        what it raises."""
        definition = self.extension(app_id).ext.skeletons.get(section)
        if definition is None:
            raise CallError("UNKNOWN_SUB_FUNCTION", f"{app_id} has no skeleton section {section!r}")
        actor = replace(user, scopes=("*",))
        ctx = self.contexts.make(actor, app_id, skeleton=reader)
        async with asyncio.timeout(timeout_s):
            return await definition.func(ctx)

    async def alert(
        self,
        user: User,
        app_id: str,
        section: str,
        old: dict[str, Any],
        new: dict[str, Any],
        timeout_s: float,
    ) -> str:
        """The alert tool's text, empty where there is nothing to say or no such tool. Raises what
        it raises."""
        tool = self.extension(app_id).ext.tools.get(ALERT_PREFIX + section)
        if tool is None:
            return ""
        ctx = self.contexts.make(replace(user, scopes=("*",)), app_id)
        async with asyncio.timeout(timeout_s):
            answer = await tool.func(ctx, old=old, new=new)
        text = answer.get("response") if isinstance(answer, dict) else answer
        return text.strip() if isinstance(text, str) else ""

    async def run_as_system(self, request: CallRequest, func: Any, **kwargs: Any) -> CallOutcome:
        """A schedule's or signal's handler in system context; always an outcome."""
        ctx = self.contexts.make(user_from(request.user), request.app_id, system=True)
        return await self._invoke(
            self.extension(request.app_id), request, _Call(func, (), kwargs, "write"), ctx
        )

    async def emit(self, user: User, app_id: str, event_type: str, data: dict[str, Any]) -> None:
        """Tell every listener of an event, as the app and for the user; a failing one is logged."""
        await self.contexts.make(user, app_id).extensions.emit(event_type, data)

    async def health(self, app_id: str) -> dict[str, Any]:
        """What the app's own health check says, or that it has none; an error is a status, never
        raised."""
        check = self.extension(app_id).ext.health
        if check is None:
            return {"status": "ok"}
        request = CallRequest(
            "health",
            user_dict(User(SYSTEM_USER, role="system", scopes=("*",))),
            app_id,
            "health",
            deadline_s=HEALTH_S,
        )
        outcome = await self.run_as_system(request, check)
        if not outcome.ok:
            return {"status": "error", "error_code": outcome.error_code}
        return outcome.data if isinstance(outcome.data, dict) and outcome.data else {"status": "ok"}

    async def hook(self, user: User, app_id: str, func: Any, timeout_s: float) -> None:
        """Run a lifecycle hook in system context; what it raises is logged, never passed on."""
        ctx = self.contexts.make(replace(user, scopes=("*",)), app_id, system=True)
        try:
            async with asyncio.timeout(timeout_s):
                await func(ctx)
        except (Exception, SystemExit) as error:
            _log.warning(
                "app=%s hook=%s error=%s | lifecycle hook failed",
                app_id,
                getattr(func, "__name__", "?"),
                type(error).__name__,
            )

    async def webhook(
        self,
        app_id: str,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
        query: dict[str, str],
    ) -> tuple[int, dict[str, str], Any]:
        """Run a webhook as `__webhook__`; status, headers and body. Raises CallError where there is
        no such webhook."""
        loaded = self.extension(app_id)
        hook = loaded.ext.webhooks.get((method, path.strip("/")))
        if hook is None:
            raise CallError("UNKNOWN_SUB_FUNCTION", f"{app_id} has no webhook {method} {path}")
        if hook.secret_header and not headers.get(hook.secret_header.lower()):
            return (
                401,
                {},
                {
                    "error": {
                        "code": "not_authenticated",
                        "message": f"the header {hook.secret_header} is missing",
                    }
                },
            )
        ctx = self.contexts.make(
            User(WEBHOOK_USER, role="system", scopes=("*",)), app_id, system=True
        )
        try:
            async with asyncio.timeout(self._settings.call_seconds):
                return webhook_answer(
                    await hook.func(ctx, headers, body.decode("utf-8", "replace"), query)
                )
        except (Exception, SystemExit) as error:
            _log.warning(
                "app=%s webhook=%s error=%s | webhook failed", app_id, path, type(error).__name__
            )
            return 500, {}, {"error": {"code": "INTERNAL", "message": "the webhook failed"}}

    def _resolve(self, loaded: LoadedExtension, request: CallRequest) -> _Call | CallOutcome:
        user = user_from(request.user)
        if request.kind == "panel":
            panel = loaded.ext.panels.get(request.name)
            if panel is None:
                raise CallError(
                    "UNKNOWN_SUB_FUNCTION", f"{request.app_id} has no panel {request.name!r}"
                )
            return _Call(panel.func, (), request.arguments)
        function = loaded.function(request.name)
        if function is None:
            raise CallError(
                "UNKNOWN_SUB_FUNCTION", f"{request.app_id} has no function {request.name!r}"
            )
        if missing := [s for s in function.scopes if not user.has_scope(s)]:
            raise CallError(
                "PERMISSION_DENIED", f"{request.name} needs the scope {', '.join(missing)}"
            )
        no_placeholders(request.arguments)
        try:
            args, kwargs = _arguments(function.params_model, request.arguments)
        except ValidationError as error:
            return validation_failed(error, request, function.action_type)
        if request.kind == "check":
            return CallOutcome(
                request.app_id,
                request.name,
                "ok",
                action_type=function.action_type,
                step=request.step,
            )
        return _Call(function.func, args, kwargs, function.action_type)

    async def _run(self, loaded: LoadedExtension, request: CallRequest, call: _Call) -> CallOutcome:
        user = user_from(request.user)
        key = UserKey(user.tenant_id, user.imperal_id)
        if request.kind == "panel":
            return await self._panel(request, call, user)
        record = self._audit.open(request, call.action_type)
        if call.action_type != "read" and (
            earlier := await self._audit.claim(key, record, request.deadline_s)
        ):
            return earlier
        work = asyncio.ensure_future(
            self._finish(loaded, request, call, record, self.contexts.make(user, request.app_id))
        )
        await asyncio.wait({work}, timeout=request.deadline_s)
        if work.done():
            return work.result()
        background.start(self._deliver_late(work, key, request), f"late-{record.record_id}")
        text = (
            f"{request.name} is still running after {request.deadline_s:g} s; its result will"
            " arrive as an event"
        )
        return failed(request, "BACKEND_TIMEOUT", text, action_type=call.action_type)

    async def _finish(
        self,
        loaded: LoadedExtension,
        request: CallRequest,
        call: _Call,
        record: AuditRecord,
        ctx: Context,
    ) -> CallOutcome:
        """Run the handler to its end, however late, and record it."""
        key = UserKey(ctx.user.tenant_id, ctx.user.imperal_id)
        outcome = await self._invoke(
            loaded, replace(request, deadline_s=max(request.deadline_s, LATE_S)), call, ctx
        )
        events = (
            panel_refresh(self.events, request.app_id, outcome.panels)
            if call.action_type != "read"
            else ()
        )
        try:
            await self._audit.close(key, record, outcome, events, self.events.expires_at)
        except StorageUnavailable:
            if call.action_type == "read":
                raise
            _log.error(
                "app=%s function=%s | done, but its record could not be completed",
                request.app_id,
                request.name,
            )
        return outcome

    async def _deliver_late(
        self, work: asyncio.Future[CallOutcome], key: UserKey, request: CallRequest
    ) -> None:
        """What outlived its turn arrives as an event, never lost."""
        outcome = await work
        told = {
            "app_id": request.app_id,
            "fn_name": request.name,
            "status": outcome.status,
            "text": outcome.summary or outcome.error,
        }
        await self.events.emit(
            key, "result", {**told, "session_id": request.session_id, "data": outcome.data}
        )

    async def _invoke(
        self, loaded: LoadedExtension, request: CallRequest, call: _Call, ctx: Context
    ) -> CallOutcome:
        started = time.perf_counter()
        try:
            async with asyncio.timeout(request.deadline_s):
                value = await call.handler(ctx, *call.args, **call.kwargs)
            outcome = from_return(value, request, tuple(loaded.ext.panels), call.action_type)
        except asyncio.CancelledError:
            raise
        except (
            BaseException
        ) as error:  # a handler may even call sys.exit: it ends the call, not the turn
            if isinstance(error, KeyboardInterrupt):
                raise
            _log.warning(
                "app=%s function=%s error=%s | handler failed",
                request.app_id,
                request.name,
                type(error).__name__,
            )
            outcome = from_exception(error, request, call.action_type)
        return replace(outcome, duration_ms=int((time.perf_counter() - started) * 1000))

    async def _panel(self, request: CallRequest, call: _Call, user: User) -> CallOutcome:
        ctx = self.contexts.make(user, request.app_id)
        try:
            async with asyncio.timeout(request.deadline_s):
                node = ui_dict(await call.handler(ctx, **call.kwargs))
        except (Exception, SystemExit) as error:
            _log.warning(
                "app=%s panel=%s error=%s | panel failed",
                request.app_id,
                request.name,
                type(error).__name__,
            )
            return from_exception(error, request)
        if isinstance(node, dict) and "ui" in node:
            node = ui_dict(node["ui"])
        return CallOutcome(
            request.app_id,
            request.name,
            "ok",
            ui=plain_json({"ui": node, "panel_id": request.name}),
        )


def _arguments(
    model: type[BaseModel] | None, arguments: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """`(params,)` for a handler with a Pydantic parameter, keyword arguments for the others."""
    return ((model.model_validate(arguments),), {}) if model else ((), dict(arguments))
