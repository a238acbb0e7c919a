"""The routes of the Model Context Protocol, and who calls them: `POST /v1/mcp` is public at the
gateway, so that a client without a token is told where its user signs in."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

import orjson
from urllib3 import PoolManager
from urllib3.exceptions import HTTPError

from ..clock import Clock
from ..config import Settings
from ..errors import BadInput, NotAuthenticated, StorageUnavailable
from ..mcp.json_rpc import INTERNAL, McpBody, Waiting
from ..observability import bind, user_hash
from ..sdk.records import User
from ..types import JSONObject, from_token, object_of, user_from
from .identity import user_of
from .mcp_server import McpServer
from .router import Answer, Request, Route, Services

PATH: Final = "/v1/mcp"
METADATA: Final = "/.well-known/oauth-protected-resource"


def shaped(status: int, body: JSONObject) -> JSONObject:
    """An error outside of any message, in JSON-RPC's form."""
    error = body["error"]
    told = {"code": INTERNAL, "message": error["message"], "data": error}
    return {"jsonrpc": "2.0", "id": None, "error": told}


ME: Final = "/v1/me"
ASK_S: Final = 5.0
"""Seconds the gateway has to answer."""
KEPT_S: Final = 300.0
"""Seconds for which an accepted token is not checked again, at most until it expires."""
MOST: Final = 1_000
"""Checked tokens that a process remembers."""


class Callers:
    """Authenticates callers: the gateway is asked whose a token is, by `GET /v1/me`."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, User]] = OrderedDict()
        self._http = PoolManager()

    async def of(self, request: Request) -> User:
        """The caller. BadInput for query parameters, NotAuthenticated without a token, or with one
        that the gateway refuses; StorageUnavailable where it cannot be asked."""
        if request.query:
            named = min(request.query)[:64]
            raise BadInput(f"there is no query parameter {named!r}", field=named)
        context = request.event.get("requestContext") or {}
        if context.get("authorizer"):  # an authoriser stands before this route after all
            return user_of(request.event)
        token = _bearer(request.headers)
        ends = self._ends(token)
        # hashed: no token stays in memory for longer than its request
        key, now = hashlib.sha256(token.encode()).hexdigest(), self._clock.now()
        until, user = self._known.get(key, (0.0, None))
        if user is None or until <= now:
            base = self._settings.public_url or f"https://{context.get('domainName', '')}"
            user = await asyncio.to_thread(self._ask, base, token)
            self._known[key] = (min(now + KEPT_S, ends), user)
            if len(self._known) > MOST:
                self._known.popitem(last=False)
        bind(user=user_hash(user.tenant_id, user.imperal_id))
        return user

    def _ends(self, token: str) -> float:
        """When the token ends, by its own claim, which the gateway checks; now without one.
        NotAuthenticated for a token that no issuer of this deployment has given out."""
        claims, now = _claims(token), self._clock.now()
        ends = claims.get("exp")
        ends = float(ends) if isinstance(ends, int | float) else now
        issuer = self._settings.issuer
        if issuer and (claims.get("iss") != issuer or ends <= now):
            raise NotAuthenticated("the token is of another issuer, or over", field="Authorization")
        return ends

    def _ask(self, base: str, token: str) -> User:
        headers = {"authorization": f"Bearer {token}"}
        url = base.rstrip("/") + ME
        try:
            # a redirect would carry the token to wherever it points
            answer = self._http.request(
                "GET", url, headers=headers, timeout=ASK_S, redirect=False, retries=False
            )
            if answer.status in (401, 403):
                raise NotAuthenticated("the token is not accepted", field="Authorization")
            if answer.status == 200:
                return user_from(orjson.loads(answer.data))
            why = f"status {answer.status}"
        except (HTTPError, ValueError, TypeError) as error:
            why = type(error).__name__
        told = f"the token could not be looked at ({why}): try again"
        raise StorageUnavailable(told, code="token_unchecked")


def _bearer(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip().isascii() or not token.strip():
        raise NotAuthenticated("send Authorization: Bearer <token>", field="Authorization")
    return token.strip()


def _claims(token: str) -> JSONObject:
    """The unverified claims of a JWT; empty for another token."""
    parts = token.split(".")
    try:
        return object_of(from_token(parts[1])) if len(parts) == 3 else {}
    except ValueError:
        return {}


class Mcp:
    """The endpoint, and the metadata of where a client's user signs in."""

    def __init__(self, services: Services) -> None:
        self._app = services.app
        self._callers = Callers(self._app.settings, self._app.clock)
        self._server = McpServer(services)

    @Route(
        f"POST {PATH}",
        public=True,
        body=McpBody,
        answer=JSONObject,
        accepted=type(None),
        errors=shaped,
        failure=JSONObject,
    )
    async def post(self, request: Request) -> Answer:
        """One message of the Model Context Protocol, one answer; 202 for a notification. Without a
        token that counts 401, which says where there are some."""
        try:
            user = await self._callers.of(request)
        except NotAuthenticated as error:
            # the way on which a client finds out where its user signs in (RFC 9728)
            where = f'Bearer resource_metadata="{self._base(request)}{METADATA}{PATH}"'
            told = shaped(error.status, error.body())
            return Answer(told, error.status, headers={"www-authenticate": where})
        return await self._server.post(request._replace(user=user))

    @Route(f"GET {PATH}", answer=JSONObject, errors=shaped, failure=JSONObject)
    async def get(self, request: Request) -> Answer:
        """The result of a call that waited for its user, for a client that comes back for it with
        `Last-Event-ID`; else refused with 405: nothing is pushed over this protocol."""
        if waits := Waiting.of(request.headers.get("last-event-id", "")):
            return await self._server.resume(request, waits)
        return _not_allowed("nothing is pushed over this protocol")

    @Route(f"DELETE {PATH}", answer=JSONObject, errors=shaped, failure=JSONObject)
    async def delete(self, request: Request) -> Answer:
        """Refused with 405: nothing is kept of a session that could be ended."""
        return _not_allowed("nothing is kept of a session")

    @Route(f"GET {METADATA}", public=True, answer=JSONObject)
    @Route(f"GET {METADATA}{PATH}", public=True, answer=JSONObject)
    async def metadata(self, request: Request) -> Answer:
        """Where a client's user signs in (RFC 9728)."""
        settings = self._app.settings
        told: JSONObject = {
            "resource": self._base(request) + PATH,
            "resource_name": "Webbee",
            "bearer_methods_supported": ["header"],
        }
        if settings.issuer:
            told["authorization_servers"] = [settings.issuer]
        return Answer(told)

    def _base(self, request: Request) -> str:
        """The deployment's own address."""
        scheme = request.headers.get("x-forwarded-proto", "http")
        host = request.headers.get("host", "localhost")
        return (self._app.settings.public_url or f"{scheme}://{host}").rstrip("/")


def _not_allowed(why: str) -> Answer:
    told = {"error": {"code": "method_not_allowed", "message": why}}
    return Answer(shaped(405, told), 405, headers={"allow": "GET, POST"})
