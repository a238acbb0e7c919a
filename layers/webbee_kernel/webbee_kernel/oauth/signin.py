"""One sign-in: begun with a state that is kept for ten minutes, finished once, its account stored
as a document of the user."""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets as random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from ..clock import Clock
from ..config import Settings
from ..sdk.definitions import OAuthDef
from ..sdk.errors import OAuthNotConfigured, SecretNotDeclaredError
from ..sdk.user import User
from ..stores.protocols import CacheStore
from ..surfaces.secrets import SecretsClient
from ..types import SIGNIN_USER, UserKey, user_dict, user_from
from . import providers
from .states import new_state, state_key, tenant_of

SECONDS = 600
"""How long a person may take at the provider."""

_MODEL = "oauth"
_log = logging.getLogger("webbee.oauth")


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in that has begun. `key` is the hash of its state: what is stored cannot be used to
    finish it."""

    key: str
    user: User
    app_id: str
    provider: str
    verifier: str
    redirect_uri: str


class SignIns:
    """Begins sign-ins and finds them again. They stand in the cache table of their tenant, under a
    user no token can name."""

    def __init__(self, cache: CacheStore, settings: Settings, clock: Clock) -> None:
        self._cache = cache
        self._settings = settings
        self._clock = clock

    async def begin(
        self,
        user: User,
        app_id: str,
        name: str,
        declared: Mapping[str, OAuthDef],
        secrets: SecretsClient,
        login_hint: str | None,
    ) -> str:
        """The address at the provider to which the user's browser goes.

        Raises ValueError for an unknown provider, OAuthNotConfigured where the deployment lacks the
        client id or its own address, PermissionError in a system context: an account belongs to a
        user.
        """
        provider = providers.find(name, self._settings)
        if user.imperal_id.startswith("__"):
            raise PermissionError(
                "a sign-in needs a user: begin it in a user's call or with as_user"
            )
        redirect_uri = self._redirect_uri(app_id, name)
        client_id = await client(secrets, name, "id") or provider.client_id
        if not client_id:
            missing = (
                f"the app-wide secret {name}_client_id of {app_id} is not set (redirect address:"
                f" {redirect_uri})"
            )
            _log.warning("app=%s provider=%s | sign-in not begun: %s", app_id, name, missing)
            raise OAuthNotConfigured(
                f"{missing}; an operator sets it with PUT"
                f" /v1/extensions/{app_id}/secrets/{name}_client_id"
            )
        state, verifier = new_state(user.tenant_id), random.token_urlsafe(48)
        await self._keep(SignIn(state_key(state), user, app_id, name, verifier, redirect_uri))
        scopes = declared[name].scopes if name in declared else ()
        query = {
            "client_id": client_id,
            "response_type": "code",
            "redirect_uri": redirect_uri,
            "scope": " ".join(scopes),
            "state": state,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
            **provider.extra,
            **provider.targeted,
        } | ({"login_hint": login_hint} if login_hint else {})
        joint = "&" if "?" in provider.authorize_url else "?"
        return f"{provider.authorize_url}{joint}{urlencode(query)}"

    async def find(self, app_id: str, provider: str, state: str) -> SignIn | None:
        """The sign-in this state began; None when it is over, was begun for another app or
        provider, or never."""
        tenant_id = tenant_of(state)
        if not tenant_id:
            return None
        key = state_key(state)
        owner = UserKey(tenant_id, SIGNIN_USER)
        raw = await self._cache.get(owner, app_id, _MODEL, key, now=self._clock.now())
        if raw is None:
            return None
        kept = orjson.loads(raw)
        found = SignIn(**{**kept, "user": user_from(kept["user"])})
        return found if found.provider == provider else None

    async def _keep(self, signin: SignIn) -> None:
        kept = orjson.dumps(
            {
                **{k: v for k, v in asdict(signin).items() if k != "user"},
                "user": user_dict(signin.user),
            }
        )
        await self._cache.set(
            UserKey(signin.user.tenant_id, SIGNIN_USER),
            signin.app_id,
            _MODEL,
            signin.key,
            kept,
            expires_at=self._clock.now() + SECONDS,
        )

    def _redirect_uri(self, app_id: str, provider: str) -> str:
        if not self._settings.public_url:
            _log.warning(
                "app=%s provider=%s | sign-in not begun: WEBBEE_PUBLIC_URL is not set",
                app_id,
                provider,
            )
            raise OAuthNotConfigured(
                "the deployment does not know its own address: set WEBBEE_PUBLIC_URL (template"
                " parameter PublicUrl)"
            )
        return f"{self._settings.public_url.rstrip('/')}/v1/ext/{app_id}/oauth/{provider}/callback"


async def client(secrets: SecretsClient, provider: str, part: str) -> str:
    """The app's client `id` or `secret` at the provider; empty where it is neither declared nor
    set."""
    try:
        return await secrets.get(f"{provider}_client_{part}") or ""
    except SecretNotDeclaredError:
        return ""


def account_id(provider: str, identity: Mapping[str, Any]) -> str:
    """The document id of an account: the same account signed in again is the same document. Empty
    for an account without a name."""
    subject = identity.get("sub") or identity.get("email")
    if not subject:
        return ""
    digest = hashlib.sha256(str(subject).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{provider}-{digest[:16]}"


def _challenge(verifier: str) -> str:
    return (
        base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    )
