"""Webhooks: other services' requests, handed to the extension that asked for them."""

from __future__ import annotations

from ..aws.webhook_keys import SIGN, WebhookKeys
from ..bootstrap import App
from ..catalogue import Dispatch
from ..errors import NotFound
from ..sdk.user import User
from ..types import WEBHOOK_USER, CallRequest, JSONObject, user_dict
from .apps import REFUSED
from .http import Answer, Request, Route

PATH = "/v1/ext/{app_id}/webhook/{path+}"


class Webhooks:
    """Public: there is no user, each extension checks its sender's signature."""

    def __init__(self, app: App, dispatch: Dispatch) -> None:
        self._app = app
        self._dispatch = dispatch
        self._keys = WebhookKeys(app.settings)

    @Route(f"GET {PATH}", public=True)  # where a challenge is asked for
    @Route(f"POST {PATH}", public=True)
    async def webhook(self, request: Request) -> Answer:
        """Hand a webhook to its extension, in the tenant that its address names; there is no
        user."""
        tenant_id, path = await self._named(request.path["path"])
        call = CallRequest(
            "webhook",
            user_dict(User(WEBHOOK_USER, role="system", tenant_id=tenant_id)),
            request.path["app_id"],
            path,
            _given(request),
            deadline_s=self._app.settings.call_seconds,
        )
        outcome = await self._dispatch.call(call)
        if outcome.error_code in REFUSED:
            raise NotFound(outcome.error, field="path")
        if not outcome.ok:
            error = {"code": outcome.error_code, "message": "the webhook failed"}
            return Answer({"error": error}, 500)
        status, headers, body = (outcome.data[k] for k in ("status", "headers", "body"))
        if isinstance(body, str):
            return Answer(body, status, headers.pop("content-type", "text/plain"), headers)
        return Answer(body, status, headers=headers)

    async def _named(self, path: str) -> tuple[str, str]:
        """Tenant and path of an address. Without a tenant it is that of the deployment's own; with
        one that was not signed here there is no such address."""
        settings = self._app.settings
        if not path.startswith(SIGN):
            return settings.tenant_ids[0], path
        mark, _, rest = path.partition("/")
        tenant_id = await self._keys.tenant(mark)
        if tenant_id is None:
            raise NotFound("there is no webhook at this address", field="path")
        return tenant_id, rest


def _given(request: Request) -> JSONObject:
    http = (request.event.get("requestContext") or {}).get("http") or {}
    method = str(http.get("method") or str(request.event.get("routeKey", "")).partition(" ")[0])
    return {
        "method": method.upper(),
        "headers": dict(request.headers),
        "body": request.raw().decode("utf-8", "replace"),
        "query": dict(request.query),
    }
