"""`tool_dispatch`: invoked by `chat_turn`, and over HTTP for panels, direct calls, secrets and
webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..base.clock import Clock
from ..base.ids import new_id
from ..base.metrics import answered, record
from ..base.system import WEBHOOK_USER
from ..bootstrap import App, bootstrap, make_host, make_queue
from ..config import Settings
from ..errors import BadInput, CallError, KernelError, NotAllowed, NotFound
from ..extensions.host import ExtensionHost
from ..oauth.signin import SignIn
from ..refresh.asking import after_effects
from ..sdk.context import User
from ..sdk.definitions import SecretDef
from ..sdk.errors import SecretTooLargeError
from ..stores.installed import is_installed
from ..surfaces import secrets
from ..values import CallOutcome, CallRequest, UserKey, user_dict
from ..values.plain import JSONObject
from . import answers
from .http import Answer, Request, Route, Router
from .identity import has_role, require_role
from .signin import SignInPages
from .wire import CallBody, SecretBody

PANEL_PREFIX = "__panel__"
PANEL_PREFIXES = (PANEL_PREFIX, "__tray__", "__widget__")
"""Tray items and widgets of `imperal-sdk` extensions are panels under their whole name."""

REFUSED: Mapping[str, type[KernelError]] = {
    "UNKNOWN_TOOL": NotFound,
    "UNKNOWN_SUB_FUNCTION": NotFound,
    "PERMISSION_DENIED": NotAllowed,
}
"""Outcomes that are errors of the request, not results of the function."""

BROKEN = ("INTERNAL", "BACKEND_TIMEOUT")
"""Outcomes of code that raised or did not come back, as against those it chose."""


class ToolService:
    """The routes and the invocation of `tool_dispatch`."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        *,
        app: App | None = None,
        host: ExtensionHost | None = None,
    ) -> None:
        self.app = app or bootstrap(settings, clock=clock)
        self.host = host or make_host(self.app)
        self._queue = make_queue(self.app)
        self.router = Router(
            (
                Route(
                    "POST /v1/extensions/{app_id}/call",
                    self.call,
                    body=CallBody,
                    answer=answers.CallAnswer | answers.PanelAnswer,
                ),
                Route(
                    "GET /v1/extensions/{app_id}/secrets",
                    self.list_secrets,
                    answer=answers.SecretsAnswer,
                ),
                Route(
                    "PUT /v1/extensions/{app_id}/secrets/{name}",
                    self.put_secret,
                    body=SecretBody,
                    answer=answers.SecretState,
                ),
                Route(
                    "DELETE /v1/extensions/{app_id}/secrets/{name}",
                    self.delete_secret,
                    answer=answers.SecretState,
                ),
                Route("GET /v1/ext/{app_id}/webhook/{path+}", self.webhook, public=True),
                Route("POST /v1/ext/{app_id}/webhook/{path+}", self.webhook, public=True),
                *SignInPages(self.app, self.host, self._connected).routes(),
            )
        )

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """An HTTP API event, a call from `chat_turn`, or its question for the catalogue."""
        if "requestContext" in event:
            return await self.router.serve(event)
        if event.get("kind") == "catalogue":
            return self.host.catalogue.to_dict()
        try:
            known = {
                k: v for k, v in event.items() if k in CallRequest.__dataclass_fields__
            }  # a newer chat_turn may say more
            outcome = await self._execute(CallRequest(**known))
        except KernelError as error:
            answered(failed=True)
            return {"unavailable": error.body()["error"]}
        answered(failed=False)
        return asdict(outcome)

    async def _execute(self, call: CallRequest) -> CallOutcome:
        """The call's outcome, counted."""
        outcome = await self.host.execute(call)
        record("Calls")
        record("CallFailures", outcome.error_code in BROKEN)
        return outcome

    async def call(self, request: Request) -> Answer:
        """A chat function or a panel (`__panel__<id>`), through the same guards as a turn's; the
        click is the user's consent."""
        body = request.body(CallBody)
        app_id, _ = self._declared(request)
        user = request.caller
        if not await is_installed(
            self.app.stores.documents, self.app.settings, UserKey.of(user), app_id
        ):
            raise NotAllowed(
                f"{app_id} is not installed for this user: PUT"
                f" /v1/extensions/{app_id}/installation",
                field="app_id",
            )
        panel = body.function.startswith(PANEL_PREFIXES)
        call = CallRequest(
            kind="panel" if panel else "function",
            user=user_dict(user),
            app_id=app_id,
            name=body.function.removeprefix(PANEL_PREFIX),
            arguments=body.params,
            session_id="direct",
            request_id=body.request_id or new_id(),
            deadline_s=self.app.settings.call_seconds,
        )
        outcome = await self._execute(call)
        if outcome.ok and outcome.action_type != "read":
            await self._queue.ask(user, after_effects(self.host.catalogue, [app_id]))
        if panel and outcome.ok:
            return Answer(outcome.ui)
        if refusal := REFUSED.get(outcome.error_code):
            raise refusal(outcome.error, code=outcome.error_code, field="function")
        return Answer(_result(asdict(outcome)))

    async def list_secrets(self, request: Request) -> Answer:
        """Declared secrets, whether each is set and whether the caller may set it; never a
        value."""
        app_id, declared = self._declared(request)
        client = secrets.SecretsClient(
            self.app.stores.secrets,
            UserKey.of(request.caller),
            app_id,
            declared,
            fallbacks=self.app.settings.app_secrets,
        )
        may_all = has_role(request.caller, "operator")
        described = [
            {
                "description": d.description,
                "scope": d.scope,
                "max_bytes": d.max_bytes,
                "writable": may_all or d.scope == "user",
            }
            for d in declared.values()
        ]
        return Answer(
            {"secrets": [s | d for s, d in zip(await client.list(), described, strict=True)]}
        )

    async def put_secret(self, request: Request) -> Answer:
        """Set one; app-wide secrets need the role operator."""
        app_id, spec = self._spec(request)
        value = request.body(SecretBody).value
        try:
            await secrets.put(
                self.app.stores.secrets,
                secrets.path(UserKey.of(request.caller), app_id, spec),
                spec,
                value,
            )
        except SecretTooLargeError as error:
            raise BadInput(str(error), field="value", limit=spec.max_bytes) from None
        return Answer({"name": spec.name, "is_set": True})

    async def delete_secret(self, request: Request) -> Answer:
        """Remove one."""
        app_id, spec = self._spec(request)
        await self.app.stores.secrets.delete(secrets.path(UserKey.of(request.caller), app_id, spec))
        return Answer({"name": spec.name, "is_set": False})

    async def webhook(self, request: Request) -> Answer:
        """Hand a webhook to its extension; there is no user."""
        method = str(
            ((request.event.get("requestContext") or {}).get("http") or {}).get("method")
            or str(request.event.get("routeKey", "")).partition(" ")[0]
        )
        given = {
            "method": method.upper(),
            "headers": dict(request.headers),
            "body": request.raw().decode("utf-8", "replace"),
            "query": dict(request.query),
        }
        call = CallRequest(
            "webhook",
            user_dict(User(WEBHOOK_USER, role="system")),
            request.path["app_id"],
            request.path["path"],
            given,
            deadline_s=self.app.settings.call_seconds,
        )
        outcome = await self._execute(call)
        if outcome.error_code in REFUSED:
            raise NotFound(outcome.error, field="path")
        if not outcome.ok:
            error = {"code": outcome.error_code, "message": "the webhook failed"}
            return Answer({"error": error}, 500)
        status, headers, body = (outcome.data[k] for k in ("status", "headers", "body"))
        if isinstance(body, str):
            return Answer(body, status, headers.pop("content-type", "text/plain"), headers)
        return Answer(body, status, headers=headers)

    async def _connected(self, signin: SignIn) -> None:
        """An account was connected: the app's sections know it at the next refresh, which is asked
        for now."""
        await self._queue.ask(signin.user, after_effects(self.host.catalogue, [signin.app_id]))

    def _declared(self, request: Request) -> tuple[str, dict[str, SecretDef]]:
        app_id = request.path["app_id"]
        try:
            return app_id, self.host.registry.extension(app_id).ext.secrets
        except CallError as error:
            raise NotFound(str(error), field="app_id") from None

    def _spec(self, request: Request) -> tuple[str, SecretDef]:
        app_id, declared = self._declared(request)
        name = request.path["name"]
        if name not in declared:
            raise NotFound(
                f"{app_id} declares no secret {name[:64]!r}; it declares:"
                f" {', '.join(declared) or 'none'}",
                field="name",
            )
        if declared[name].scope == "app":
            require_role(request.caller, "operator")
        return app_id, declared[name]


def _result(outcome: JSONObject) -> JSONObject:
    shown = (
        "app_id",
        "fn_name",
        "status",
        "data",
        "summary",
        "error",
        "error_code",
        "retryable",
        "ui",
        "duration_ms",
        "problems",
        "incident",
    )
    body = {k: outcome[k] for k in shown if outcome[k] not in ("", None, ())}
    return body | {
        "refresh_panels": [{"app_id": outcome["app_id"], "panel_id": p} for p in outcome["panels"]]
    }
