"""Who sends a message to `POST /v1/mcp`. An MCP client without a token has to be told where its
user signs in, in the 401 itself (RFC 9728), and API Gateway's authoriser cannot say that: so this
one route has none, and the function asks API Gateway about the token, by `GET /v1/me` with it.

Nothing here verifies a token: what the gateway's authoriser refuses is refused.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import functools
import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import orjson

from ...clock import Clock
from ...config import Settings
from ...errors import BadInput, NotAuthenticated, StorageUnavailable
from ...observability import bind, hashed
from ...sdk.user import User
from ...types import JSONObject, user_from
from ..http import Request
from ..identity import user_of

if TYPE_CHECKING:
    from urllib3 import PoolManager

ME: Final = "/v1/me"
ASK_S: Final = 5.0
"""Seconds the gateway has to answer."""
KEPT_S: Final = 300.0
"""Seconds for which a token that was accepted is not asked about again, at most as long as it
lasts."""
MOST: Final = 1_000
"""Tokens of which a process remembers whose they are."""


class Callers:
    """Finds out who calls."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, User]] = OrderedDict()

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
        key, now = hashlib.sha256(token.encode()).hexdigest(), self._clock.now()
        until, user = self._known.get(key, (0.0, None))
        if user is None or until <= now:
            base = self._settings.public_url or f"https://{context.get('domainName', '')}"
            user = await asyncio.to_thread(_asked, base, token)
            self._keep(key, min(now + KEPT_S, ends), user)
        bind(user=hashed(user.tenant_id, user.imperal_id))
        return user

    def _ends(self, token: str) -> float:
        """When the token ends, by its own word, which the gateway checks; now for one that does not
        say. NotAuthenticated for what no issuer of this deployment can have given out, before
        anybody is asked."""
        claims, now = _claims(token), self._clock.now()
        ends = claims.get("exp")
        ends = float(ends) if isinstance(ends, int | float) else now
        issuer = self._settings.issuer
        if issuer and (claims.get("iss") != issuer or ends <= now):
            raise NotAuthenticated("the token is of another issuer, or over", field="Authorization")
        return ends

    def _keep(self, key: str, until: float, user: User) -> None:
        self._known[key] = (until, user)
        if len(self._known) > MOST:
            self._known.popitem(last=False)


def _bearer(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip().isascii() or not token.strip():
        raise NotAuthenticated("send Authorization: Bearer <token>", field="Authorization")
    return token.strip()


@functools.cache
def _connections() -> PoolManager:
    from urllib3 import PoolManager

    return PoolManager()


def _asked(base: str, token: str) -> User:
    """Whose token it is, as the gateway and the function behind it say."""
    from urllib3.exceptions import HTTPError

    headers = {"authorization": f"Bearer {token}"}
    try:
        answer = _connections().request(
            "GET",
            base.rstrip("/") + ME,
            headers=headers,
            timeout=ASK_S,
            redirect=False,
            retries=False,
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


def _claims(token: str) -> JSONObject:
    """What a JWT says of itself; empty for another token. Nothing of it is believed."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        found = orjson.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error):
        return {}
    return found if isinstance(found, dict) else {}
