"""Who calls `POST /v1/mcp`: the route is public at the gateway, so that a client without a token is
told where its user signs in."""

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
from ..observability import bind, user_hash
from ..sdk.result import User
from ..types import from_token, object_of, user_from
from .identity import user_of
from .router import Request

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
        parts, now = token.split("."), self._clock.now()
        try:
            claims = object_of(from_token(parts[1])) if len(parts) == 3 else {}
        except ValueError:
            claims = {}
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
