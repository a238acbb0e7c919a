"""Secrets of an app: what a person may see and set of them. The values live where extensions run;
none ever comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ..bootstrap import App
from ..errors import BadInput, NotFound
from ..sdk.user import User
from ..turn.kernel import Kernel
from ..types import WEBHOOK_USER, CallOutcome, CallRequest, JSONObject, user_dict
from . import answers
from .apps import loaded_app
from .http import Answer, Request, Route
from .identity import has_role, require_role
from .wire import SecretBody

OWNER = {"user": Literal["__webhook__"]}
ONE = "/v1/extensions/{app_id}/secrets/{name}"


class AppSecrets:
    """Lists, sets and removes them, for users; app-wide secrets and those of the webhooks for an
    operator."""

    def __init__(self, app: App, kernel: Kernel) -> None:
        self._app = app
        self._kernel = kernel

    @Route("GET /v1/extensions/{app_id}/secrets", answer=answers.SecretsAnswer, params=OWNER)
    async def listed(self, request: Request) -> Answer:
        """Declared secrets, whether each is set and whether the caller may set it; never a
        value."""
        declared = await self._declared(request)
        found = await self._ask(request, "secrets", "secrets")
        may_all = has_role(request.caller, "operator")
        described = [
            {
                "description": d["description"],
                "scope": d["scope"],
                "max_bytes": d["max_bytes"],
                "writable": may_all or d["scope"] == "user",
            }
            for d in declared.values()
        ]
        pairs = zip(found.data["secrets"], described, strict=True)
        return Answer({"secrets": [s | d for s, d in pairs]})

    @Route(f"PUT {ONE}", body=SecretBody, answer=answers.SecretState, params=OWNER)
    async def put(self, request: Request) -> Answer:
        """Set one; app-wide secrets need the role operator."""
        spec = await self._spec(request)
        value = request.body(SecretBody).value
        outcome = await self._ask(request, "secret_put", spec["name"], {"value": value})
        if not outcome.ok:
            raise BadInput(outcome.error, field="value", limit=spec["max_bytes"])
        return Answer({"name": spec["name"], "is_set": True})

    @Route(f"DELETE {ONE}", answer=answers.SecretState, params=OWNER)
    async def delete(self, request: Request) -> Answer:
        """Remove one."""
        spec = await self._spec(request)
        await self._ask(request, "secret_delete", spec["name"])
        return Answer({"name": spec["name"], "is_set": False})

    async def _ask(
        self, request: Request, kind: str, name: str, arguments: JSONObject | None = None
    ) -> CallOutcome:
        call = CallRequest(
            kind,
            user_dict(_owner(request)),
            request.path["app_id"],
            name,
            arguments or {},
            deadline_s=self._app.settings.call_seconds,
        )
        return await self._kernel.dispatch.call(call)

    async def _declared(self, request: Request) -> dict[str, JSONObject]:
        info = await loaded_app(self._kernel, request)
        return {str(s["name"]): s for s in info.secrets}

    async def _spec(self, request: Request) -> JSONObject:
        declared, name = await self._declared(request), request.path["name"]
        if name not in declared:
            raise NotFound(
                f"{request.path['app_id']} declares no secret {name[:64]!r}; it declares:"
                f" {', '.join(declared) or 'none'}",
                field="name",
            )
        if declared[name]["scope"] == "app":
            require_role(request.caller, "operator")
        return declared[name]


def _owner(request: Request) -> User:
    """Whose secrets: the caller's, or with `user=__webhook__` those that the app's webhooks read,
    which an operator of the tenant sets."""
    named = request.query.get("user", "")
    if not named:
        return request.caller
    require_role(request.caller, "operator")
    if named != WEBHOOK_USER:
        raise BadInput(f"user: {WEBHOOK_USER} or none", field="user")
    return replace(request.caller, imperal_id=WEBHOOK_USER, email="")
