"""Sign-ins with other services: begun, found again by the state that a provider brings back,
finished: a code for tokens, and whose account they open. Providers are known ones and an
operator's."""

from __future__ import annotations

import base64
import hashlib
import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from secrets import token_urlsafe
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode

import orjson

from ..clock import Clock, iso
from ..config import Provider, Settings
from ..errors import CallError
from ..sdk.definitions import OAuthDef
from ..sdk.exceptions import ExtensionError, OAuthNotConfigured, SecretNotDeclaredError
from ..sdk.records import User
from ..stores.deployment import is_installed
from ..stores.item_keys import new_state, state_key, tenant_of_state
from ..stores.paging import Collection
from ..types import (
    SIGNIN_USER,
    CallOutcome,
    CallRequest,
    JSONObject,
    UserKey,
    failed,
    object_of,
    of_token,
    succeeded,
    user_dict,
    user_from,
)
from . import system_calls
from .context.factory import ContextFactory
from .context.http_client import HttpClient
from .context.services import SecretsClient
from .registry import LoadedExtension

if TYPE_CHECKING:
    from ..stores.dynamodb.user_items import CacheStore


def _known(authorize_url: str, token_url: str, userinfo_url: str, **extra: str) -> Provider:
    return Provider(
        authorize_url=authorize_url, token_url=token_url, userinfo_url=userinfo_url, extra=extra
    )


KNOWN: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "google": _known(
            "https://accounts.google.com/o/oauth2/v2/auth",
            "https://oauth2.googleapis.com/token",
            "https://openidconnect.googleapis.com/v1/userinfo",
            access_type="offline",  # without it and a prompt there is no refresh token
            prompt="consent",
        ),
        "microsoft": _known(
            "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
            "https://login.microsoftonline.com/common/oauth2/v2.0/token",
            "https://graph.microsoft.com/oidc/userinfo",
            response_mode="query",
        ),
        "yahoo": _known(
            "https://api.login.yahoo.com/oauth2/request_auth",
            "https://api.login.yahoo.com/oauth2/get_token",
            "https://api.login.yahoo.com/openid/v1/userinfo",
        ),
    }
)
"""Addresses from the providers' own discovery documents, as published in 2026-11."""


def configured_providers(settings: Settings) -> Mapping[str, Provider]:
    """The operator's providers: those of the deployment, and each server's own."""
    of_servers = {
        str(s.get("provider") or s.get("id")): Provider.model_validate(s["oauth"])
        for s in settings.mcp_servers
        if s.get("oauth")
    }
    return {**of_servers, **settings.oauth_providers}


def find_provider(name: str, settings: Settings) -> Provider:
    """The operator's provider of this name, else the known one; ValueError naming those there
    are."""
    own = configured_providers(settings)
    found = own.get(name) or KNOWN.get(name)
    if found is None:
        raise ValueError(
            f"unknown oauth provider {name!r}: give one of {', '.join(sorted({*KNOWN, *own}))},"
            " or describe it in WEBBEE_OAUTH_PROVIDERS"
        )
    return found


TOKEN_S = 10.0
IDENTITY_S = 5.0
_CODE = re.compile(r"[a-z_]{1,64}")
_MAX_TOKEN = 16_384


class SignIn(NamedTuple):
    """A sign-in that has begun. `key` is the hash of its state: what is stored cannot be used to
    finish it."""

    key: str
    user: User
    app_id: str
    provider: str
    verifier: str
    redirect_uri: str


async def exchange(
    http: HttpClient,
    provider: Provider,
    signin: SignIn,
    code: str,
    client_id: str,
    client_secret: str,
) -> JSONObject:
    """The provider's token answer.

    Raises CallError: PERMISSION_DENIED where the provider refuses, BACKEND_5XX and BACKEND_TIMEOUT
    where it cannot answer. The text names the provider's own error code and nothing else of its
    answer.
    """
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": signin.redirect_uri,
        "client_id": client_id,
        "code_verifier": signin.verifier,
        **provider.targeted,
    } | ({"client_secret": client_secret} if client_secret else {})
    headers = {"accept": "application/json"}
    try:
        answer = await http.request(
            "POST",
            provider.token_url,
            data=form,
            headers=headers,
            timeout=TOKEN_S,
            follow_redirects=False,
        )
    except TimeoutError:
        raise CallError(
            "BACKEND_TIMEOUT", f"{signin.provider} did not answer in {TOKEN_S:g} s"
        ) from None
    except (OSError, ValueError):
        raise CallError("BACKEND_5XX", f"{signin.provider} could not be reached") from None
    body = _json_object(answer)
    if answer.status_code == 200 and _is_token(body.get("access_token")):
        return body
    said = str(body.get("error", ""))
    reason = said if _CODE.fullmatch(said) else f"status {answer.status_code}"
    raise CallError(
        "BACKEND_5XX" if answer.status_code >= 500 else "PERMISSION_DENIED",
        f"{signin.provider} gave no tokens ({reason})",
    )


async def identity(http: HttpClient, provider: Provider, tokens: Mapping[str, Any]) -> JSONObject:
    """`sub`, `email` and `name` of the account, as far as the provider tells; empty where it does
    not.

    The id token came from the provider itself over TLS, so its signature says nothing more (OpenID
    Connect Core, 3.1.3.7).
    """
    claims = _claims(tokens.get("id_token"))
    if not claims.get("email") and provider.userinfo_url:
        try:
            headers = {
                "authorization": f"Bearer {tokens['access_token']}",
                "accept": "application/json",
            }
            answer = await http.request(
                "GET",
                provider.userinfo_url,
                headers=headers,
                timeout=IDENTITY_S,
                follow_redirects=False,
            )
            claims = {**claims, **(_json_object(answer) if answer.status_code == 200 else {})}
        except (OSError, ValueError):  # the account is connected all the same, without a name
            pass
    return {k: str(claims[k])[:320] for k in ("sub", "email", "name") if claims.get(k)}


def account(
    provider: str, tokens: Mapping[str, Any], who: Mapping[str, Any], now: float
) -> JSONObject:
    """The account document: what `imperal_sdk.oauth_tokens` reads, `expires_at` in Unix seconds. A
    missing refresh token leaves the one that is there."""
    lifetime = str(tokens.get("expires_in", ""))
    seconds = int(lifetime) if re.fullmatch(r"[0-9]{1,9}", lifetime) else 3600
    kept = {
        k: tokens[k]
        for k in ("access_token", "refresh_token", "scope", "token_type")
        if _is_token(tokens.get(k))
    }
    return {
        "provider": provider,
        **{k: who[k] for k in ("email", "name") if k in who},
        **kept,
        "expires_at": int(now) + seconds,
    }


def _is_token(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_TOKEN


def _json_object(answer: Any) -> JSONObject:
    try:
        return object_of(answer.json())
    except ValueError:
        return {}


def _claims(token: Any) -> JSONObject:
    try:
        return object_of(of_token(str(token).split(".")[1]))
    except (IndexError, ValueError):
        return {}


SECONDS = 600
"""How long a person may take at the provider."""

_MODEL = "oauth"
_log = logging.getLogger("webbee.oauth")


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
        provider = find_provider(name, self._settings)
        if user.imperal_id.startswith("__"):
            raise PermissionError(
                "a sign-in needs a user: begin it in a user's call or with as_user"
            )
        redirect_uri = self._redirect_uri(app_id, name)
        client_id = await client_credential(secrets, name, "id") or provider.client_id
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
        state, verifier = new_state(user.tenant_id), token_urlsafe(48)
        hashed = hashlib.sha256(verifier.encode()).digest()
        await self._keep(SignIn(state_key(state), user, app_id, name, verifier, redirect_uri))
        scopes = declared[name].scopes if name in declared else ()
        query = {
            "client_id": client_id,
            "response_type": "code",
            "redirect_uri": redirect_uri,
            "scope": " ".join(scopes),
            "state": state,
            "code_challenge": base64.urlsafe_b64encode(hashed).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            **provider.extra,
            **provider.targeted,
        } | ({"login_hint": login_hint} if login_hint else {})
        joint = "&" if "?" in provider.authorize_url else "?"
        return f"{provider.authorize_url}{joint}{urlencode(query)}"

    async def find(self, app_id: str, provider: str, state: str) -> SignIn | None:
        """The sign-in this state began; None when it is over, was begun for another app or
        provider, or never."""
        tenant_id = tenant_of_state(state)
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
        kept = orjson.dumps({**signin._asdict(), "user": user_dict(signin.user)})
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


async def client_credential(secrets: SecretsClient, provider: str, part: str) -> str:
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


async def find_signin(
    contexts: ContextFactory, loaded: LoadedExtension, request: CallRequest
) -> CallOutcome:
    """The sign-in of provider `name` that `arguments.state` began; empty data when it is over or
    never was."""
    signin = await _begun(contexts, request)
    data = {"user": user_dict(signin.user), "key": signin.key} if signin else None
    return succeeded(request, data)


async def connect_account(
    contexts: ContextFactory, loaded: LoadedExtension, request: CallRequest
) -> CallOutcome:
    """Finish the sign-in of provider `name` with the code in `arguments`; `data` of the outcome
    holds provider, email, collection and id, never a token.

    Afterwards the app's listeners of `<app>.oauth_connected` are called.
    """
    try:
        signin = await _begun(contexts, request)
        if signin is None:
            raise CallError("PERMISSION_DENIED", "the sign-in is over")
        data = await _store_account(contexts, loaded, signin, str(request.arguments["code"]))
    except CallError as error:
        _log.warning(
            "app=%s provider=%s code=%s | sign-in not finished: %s",
            request.app_id,
            request.name,
            error.code,
            error,
        )
        return failed(request, error.code, str(error), action_type="write")
    connected = f"{request.app_id}.oauth_connected"
    await system_calls.run_system_call(
        contexts, loaded, replace(request, kind="event", name=connected, arguments=data)
    )
    said = " ".join(filter(None, (request.name, "account", data["email"], "connected")))
    panels = tuple(loaded.ext.panels)
    return succeeded(request, data, summary=said, action_type="write", panels=panels)


async def _begun(contexts: ContextFactory, request: CallRequest) -> SignIn | None:
    signins = SignIns(contexts.stores.cache, contexts.settings, contexts.clock)
    return await signins.find(request.app_id, request.name, str(request.arguments["state"]))


async def _store_account(
    contexts: ContextFactory, loaded: LoadedExtension, signin: SignIn, code: str
) -> JSONObject:
    """Exchange the code and write the account; what may be told of it."""
    key, ext = UserKey.of(signin.user), loaded.ext
    settings, documents = contexts.settings, contexts.stores.documents
    if not await is_installed(documents, settings, key, signin.app_id):
        raise CallError("PERMISSION_DENIED", f"{signin.app_id} is no longer installed")
    configured = configured_providers(settings)
    provider = find_provider(signin.provider, settings)
    secrets = contexts.secrets(key, signin.app_id)
    http = HttpClient(allow_private=signin.provider in configured or settings.private_http)
    named, secret = [
        await client_credential(secrets, signin.provider, part) for part in ("id", "secret")
    ]
    client_id = named or provider.client_id
    try:
        tokens = await exchange(http, provider, signin, code, client_id, secret)
        who = await identity(http, provider, tokens)
    except ExtensionError as error:
        raise CallError("BACKEND_5XX", f"{signin.provider} could not be asked: {error}") from None
    declared = ext.oauth_providers.get(signin.provider)
    collection = (declared.collection if declared else "") or f"{signin.provider}_accounts"
    data = account(signin.provider, tokens, who, contexts.clock.now())
    accounts = Collection(key, signin.app_id, collection)
    at, doc_id = iso(contexts.clock.now()), _document(signin, provider, who)
    if doc_id:
        stored = await documents.update(accounts, doc_id, data, now=at)
    else:
        stored = await documents.create(accounts, data, now=at)
    return {
        "provider": signin.provider,
        "email": who.get("email", ""),
        "collection": collection,
        "id": stored.id,
    }


def _document(signin: SignIn, provider: Provider, who: JSONObject) -> str:
    """The account's document. Of a provider that tells nothing of accounts but opens one server,
    the user has one: connecting again renews it."""
    return account_id(signin.provider, who) or (signin.provider if provider.resource else "")
