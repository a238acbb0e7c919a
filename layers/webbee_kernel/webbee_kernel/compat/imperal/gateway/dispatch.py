"""Who may ask for what: finds a request's route, checks whom it names, and puts errors into
statuses."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import unquote

from ....errors import KernelError
from ....sdk.errors import SystemContextRequired
from .. import names as sdk
from ..handbuilt import Gateway
from .routes import ROUTES, Asked, Route
from .wire import Answer, Refused, Request

RETRY_S = 30
"""Seconds after which a client may ask again while the store is gone."""
UNTOLD_TENANT = "default"
"""What the SDK's store client names where nobody told it the tenant."""
_log = logging.getLogger("webbee.imperal")


async def answer(request: Request, gateway: Gateway) -> Answer:
    """Serve a request for the call that its token stands for. Never raises; what it says holds
    nothing of the deployment."""
    try:
        return Answer(200, await _serve(request, gateway))
    except Exception as error:
        if refused := _refusal(error):
            return refused.answer
        _log.exception("app=%s method=%s | the gateway failed", gateway.app_id, request.method)
        return Refused(500, "internal error").answer


async def _serve(request: Request, gateway: Gateway) -> Any:
    route, parts = _route(request)
    body = request.json()
    own = {
        "extension_id": (gateway.app_id,),
        "ext_id": (gateway.app_id,),
        "tenant_id": (gateway.ctx.user.tenant_id, UNTOLD_TENANT),
    }
    for name, allowed in own.items():
        said = (
            request.query.get(name),
            body.get(name),
            _header(request, "X-" + name.replace("_", "-")),
        )
        if any(value not in ("", None, *allowed) for value in said):
            raise Refused(403, f"{name}: a token of one app and tenant opens no other")
    user = (
        _header(request, "X-Acting-User")
        or body.get("user_id")
        or request.query.get("user_id")
        or ""
    )
    if not isinstance(user, str):
        raise Refused(422, "user_id: a string is wanted")
    ctx = gateway.acting(user, system=route.system)
    return await route.handler(Asked(ctx, gateway.app_id, request.query, body, **parts))


def _route(request: Request) -> tuple[Route, dict[str, str]]:
    """The first route that fits. `all` and `list_users` are a document's id too: the SDK's clients
    send `limit` where they mean the list."""
    fitting = [(route, found) for route in ROUTES if (found := route.match(request.path))]
    for route, found in fitting:
        if route.method == request.method and (not route.system or "limit" in request.query):
            return route, {name: unquote(part) for name, part in found.groupdict().items()}
    raise _refused({route.method for route, _ in fitting})


def _refused(methods: set[str]) -> Refused:
    """Of a path that takes these methods; of one that takes none, nothing is there."""
    if not methods:
        served = ", ".join(f"{r.method} {r.path}" for r in ROUTES)
        return Refused(404, f"this deployment serves {served} and nothing else")
    taken = ", ".join(sorted(methods))
    return Refused(405, f"this path takes {taken}", Allow=taken)


def _header(request: Request, name: str) -> str:
    """A header that holds UTF-8; http.server reads Latin-1."""
    return (
        str(request.headers.get(name) or "").encode("latin-1", "replace").decode("utf-8", "replace")
    )


def _refusal(error: Exception) -> Refused | None:
    """The status of an error that a client can act on; None for a defect."""
    found: Refused | None = None
    match error:
        case Refused():
            found = error
        case SystemContextRequired():
            found = Refused(
                403, "only schedules, signals and webhooks act for another user, or for all"
            )
        case sdk.StoreConflict():
            found = Refused(
                409,
                {
                    "message": "the document changed: read it again",
                    "current_etag": error.current_etag,
                },
            )
        case sdk.StoreUnavailable() | KernelError(status=503) | sdk.APIError(status_code=503):
            found = Refused(
                503, f"unavailable; try again in {RETRY_S} s", **{"Retry-After": str(RETRY_S)}
            )
        case KernelError():
            found = Refused(error.status, error.code)
        case ValueError() | TypeError() if type(error) in (
            ValueError,
            TypeError,
        ):  # what the clients say about an argument
            found = Refused(422, str(error))
    return found
