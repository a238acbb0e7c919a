"""OAuth sign-ins with other services: authorize URL, callback state, code exchange, account
identity, and token renewal by one call at a time."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from secrets import token_urlsafe
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import orjson

from ..clock import iso
from ..config import Provider, Settings
from ..errors import CallError
from ..sdk.exceptions import (
    ExtensionError,
    OAuthNotConfigured,
    SecretNotDeclaredError,
    StoreConflict,
)
from ..sdk.result import Document, User
from ..stores.item_keys import new_state, state_key, tenant_of_state
from ..stores.paging import Collection
from ..types import (
    SIGNIN_USER,
    CallOutcome,
    CallRequest,
    JSONObject,
    UserKey,
    failed_outcome,
    from_token,
    object_of,
    ok_outcome,
    user_dict,
    user_from,
)
from . import system_calls
from .context import CallContext
from .context.http_client import HttpClient

PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "google": Provider(
            authorize_url="https://accounts.google.com/o/oauth2/v2/auth",
            token_url="https://oauth2.googleapis.com/token",  # noqa: S106
            userinfo_url="https://openidconnect.googleapis.com/v1/userinfo",
            # without these two there is no refresh token
            extra={"access_type": "offline", "prompt": "consent"},
        ),
        "microsoft": Provider(
            authorize_url="https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
            token_url="https://login.microsoftonline.com/common/oauth2/v2.0/token",  # noqa: S106
            userinfo_url="https://graph.microsoft.com/oidc/userinfo",
            extra={"response_mode": "query"},
        ),
        "yahoo": Provider(
            authorize_url="https://api.login.yahoo.com/oauth2/request_auth",
            token_url="https://api.login.yahoo.com/oauth2/get_token",  # noqa: S106
            userinfo_url="https://api.login.yahoo.com/openid/v1/userinfo",
        ),
    }
)
"""Addresses from the providers' own discovery documents, as published in 2026-11."""

TOKEN_S = 10.0
IDENTITY_S = 5.0
SECONDS = 600
"""Seconds that a sign-in may take."""
MAX_TOKEN = 16_384
RENEW_BEFORE_S = 60
"""Seconds before its expiry at which a token is renewed."""
RENEWAL_S = 15.0
"""Seconds of a call's claim on a renewal, longer than the provider's timeout."""
PAUSE_S = 0.2
_CODE = re.compile(r"[a-z_]{1,64}")
_MODEL = "oauth"
_log = logging.getLogger("webbee.oauth")


def configured_providers(settings: Settings) -> Mapping[str, Provider]:
    """The operator's providers: those of the deployment, and each server's own."""
    of_servers = {
        str(s.get("provider") or s.get("id")): Provider.model_validate(s["oauth"])
        for s in settings.mcp_servers
        if s.get("oauth")
    }
    # the deployment's word wins over what a server's entry says
    return {**of_servers, **settings.oauth_providers}


def find_provider(name: str, settings: Settings) -> Provider:
    """The operator's provider of this name, else the built-in one; ValueError with the available
    names."""
    providers = {**PROVIDERS, **configured_providers(settings)}
    if name not in providers:
        raise ValueError(
            f"unknown oauth provider {name!r}: give one of {', '.join(sorted(providers))},"
            " or describe it in WEBBEE_OAUTH_PROVIDERS"
        )
    return providers[name]


class SignIn(NamedTuple):
    """A pending sign-in. `key` is the hash of its state, so the stored value cannot finish it."""

    key: str
    user: User
    app_id: str
    provider: str
    verifier: str
    redirect_uri: str


async def begin_sign_in(ctx: CallContext, name: str, login_hint: str | None) -> str:
    """The provider's authorize URL for the user's browser; the pending sign-in is cached for ten
    minutes.

    Raises ValueError for an unknown provider, OAuthNotConfigured where the client id or the public
    URL is not set, PermissionError in a system context.
    """
    user, app_id = ctx._user, ctx._app
    provider = find_provider(name, ctx._settings)
    if user.imperal_id.startswith("__"):
        raise PermissionError("a sign-in needs a user: begin it in a user's call or with as_user")
    redirect_uri = _redirect_uri(ctx._settings, app_id, name)
    client_id = await _client(ctx, name, "id") or provider.client_id
    if not client_id:
        raise OAuthNotConfigured(
            f"the app-wide secret {name}_client_id of {app_id} is not set (redirect address:"
            f" {redirect_uri}); an operator sets it with PUT"
            f" /v1/extensions/{app_id}/secrets/{name}_client_id"
        )
    state, verifier = new_state(user.tenant_id), token_urlsafe(48)
    challenge = hashlib.sha256(verifier.encode()).digest()
    signin = SignIn(state_key(state), user, app_id, name, verifier, redirect_uri)
    value = orjson.dumps({**signin._asdict(), "user": user_dict(user)})
    owner, ends = UserKey(user.tenant_id, SIGNIN_USER), ctx._now() + SECONDS
    await ctx._stores.cache.set(owner, app_id, _MODEL, signin.key, value, expires_at=ends)
    declared = ctx._ext.oauth_providers.get(name)
    query = {
        "client_id": client_id,
        "response_type": "code",
        "redirect_uri": redirect_uri,
        "scope": " ".join(declared.scopes if declared else ()),
        "state": state,
        # RFC 7636 wants it without padding
        "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        **provider.extra,
        **provider.resource_parameter,
    } | ({"login_hint": login_hint} if login_hint else {})
    joint = "&" if "?" in provider.authorize_url else "?"
    return f"{provider.authorize_url}{joint}{urlencode(query)}"


def _redirect_uri(settings: Settings, app_id: str, name: str) -> str:
    if not settings.public_url:
        raise OAuthNotConfigured(
            "the deployment does not know its own address: set WEBBEE_PUBLIC_URL (template"
            " parameter PublicUrl)"
        )
    return f"{settings.public_url.rstrip('/')}/v1/ext/{app_id}/oauth/{name}/callback"


async def _client(ctx: CallContext, provider: str, part: str) -> str:
    """The app's client `id` or `secret` at the provider; empty if neither declared nor set."""
    try:
        return await ctx.secrets.get(f"{provider}_client_{part}") or ""
    except SecretNotDeclaredError:
        return ""


async def _read_sign_in(ctx: CallContext, request: CallRequest) -> SignIn | None:
    """The pending sign-in of `arguments.state`; None if expired or of another app or provider."""
    state = str(request.arguments["state"])
    owner = UserKey(tenant_of_state(state), SIGNIN_USER)
    if not owner.tenant_id:
        return None
    cache, key = ctx._stores.cache, state_key(state)
    raw = await cache.get(owner, request.app_id, _MODEL, key, now=ctx._now())
    if raw is None:
        return None
    fields = orjson.loads(raw)
    found = SignIn(**{**fields, "user": user_from(fields["user"])})
    return found if found.provider == request.name else None


async def find_signin(ctx: CallContext, request: CallRequest) -> CallOutcome:
    """The pending sign-in of provider `name` and `arguments.state`; empty data without one."""
    signin = await _read_sign_in(ctx, request)
    return ok_outcome(request, signin and {"user": user_dict(signin.user), "key": signin.key})


async def connect_account(ctx: CallContext, request: CallRequest) -> CallOutcome:
    """Finish the sign-in of provider `name` with the code in `arguments`; `data` of the outcome
    holds provider, email, collection and id, never a token.

    Afterwards the app's listeners of `<app>.oauth_connected` are called.
    """
    try:
        signin = await _read_sign_in(ctx, request)
        if signin is None:
            raise CallError("PERMISSION_DENIED", "the sign-in is over")
        user_ctx = ctx._factory.make(signin.user, signin.app_id)
        data = await _store_account(user_ctx, signin, str(request.arguments["code"]))
    except CallError as error:
        log_values = (request.app_id, request.name, error.code, error)
        _log.warning("app=%s provider=%s code=%s | sign-in not finished: %s", *log_values)
        return failed_outcome(request, error.code, str(error), action_type="write")
    # its outcome is not looked at: the account is connected, whatever listeners do
    connected = f"{request.app_id}.oauth_connected"
    event = replace(request, kind="event", name=connected, arguments=data)
    await system_calls.run_system_call(ctx, event)
    summary = " ".join(filter(None, (request.name, "account", data["email"], "connected")))
    panels = tuple(ctx._ext.panels)
    return ok_outcome(request, data, summary=summary, action_type="write", panels=panels)


async def _store_account(ctx: CallContext, signin: SignIn, code: str) -> JSONObject:
    """Exchange the code and write the account, as `imperal_sdk.oauth_tokens` reads it; its public
    fields. Without a new refresh token the stored one stays."""
    name = signin.provider
    provider = find_provider(name, ctx._settings)
    # ten minutes may have passed since the sign-in began
    if not await ctx._has_app(signin.app_id):
        raise CallError("PERMISSION_DENIED", f"{signin.app_id} is no longer installed")
    form = {"code": code, "redirect_uri": signin.redirect_uri, "code_verifier": signin.verifier}
    tokens = await _tokens(ctx, name, grant_type="authorization_code", **form)
    who = await _identity(_http(ctx, name), provider, tokens)
    now, documents = ctx._now(), ctx._stores.documents
    declared = ctx._ext.oauth_providers.get(name)
    # a provider that says nothing of scopes gave those that were asked for
    scope = " ".join(declared.scopes if declared else ())
    data = _account(name, {"scope": scope, **tokens}, who, now)
    collection = _collection(ctx, name)
    accounts = Collection(UserKey.of(signin.user), signin.app_id, collection, now=now)
    # a provider without account identity that serves one resource has one account
    doc_id = account_id(name, who) or (name if provider.resource else "")
    if doc_id:
        stored = await documents.update(accounts, doc_id, data, now=iso(now))
    else:
        stored = await documents.create(accounts, data, now=iso(now))
    account = {"provider": name, "email": who.get("email", "")}
    return {**account, "collection": collection, "id": stored.id}


def _account(name: str, tokens: JSONObject, who: Mapping[str, str], now: float) -> JSONObject:
    lifetime = str(tokens.get("expires_in", ""))
    # some providers send the number as a text
    seconds = int(lifetime) if re.fullmatch(r"[0-9]{1,9}", lifetime) else 3600
    fields = ("access_token", "refresh_token", "scope", "token_type")
    return {
        "provider": name,
        **{k: who[k] for k in ("email", "name") if k in who},
        **{k: tokens[k] for k in fields if _is_token(tokens.get(k))},
        "expires_at": int(now) + seconds,
    }


def account_id(provider: str, identity: Mapping[str, Any]) -> str:
    """The document id of an account: the same account signed in again is the same document. Empty
    for an account without a name."""
    subject = identity.get("sub") or identity.get("email")
    if not subject:
        return ""
    digest = hashlib.sha256(str(subject).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{provider}-{digest[:16]}"


def _collection(ctx: CallContext, name: str) -> str:
    declared = ctx._ext.oauth_providers.get(name)
    return (declared.collection if declared else "") or f"{name}_accounts"


async def access_token(ctx: CallContext, name: str, account: str) -> str:
    """The access token of an account (document id, empty for the first), empty where none is
    connected. A single call renews an expiring token, since a refresh token may be usable once;
    others wait.

    Raises CallError: PERMISSION_DENIED where the account has to be connected again, BACKEND_5XX and
    BACKEND_TIMEOUT where the provider cannot answer.
    """
    collection = _collection(ctx, name)
    while True:
        if account:
            found = await ctx.store.get(collection, account)
        else:
            found = next(iter((await ctx.store.query(collection, limit=1)).data), None)
        if found is None:
            return ""
        now = ctx._now()
        if (found.get("expires_at") or 0) >= now + RENEW_BEFORE_S:
            token = str(found["access_token"])
            break
        if (found.get("renewing_until") or 0) > now:
            await asyncio.sleep(PAUSE_S)
            continue
        claim = {"renewing_until": now + RENEWAL_S}
        with suppress(StoreConflict):
            claimed = await ctx.store.update(collection, found.id, claim, if_match=found.etag)
            token = await _renew(ctx, name, collection, claimed)
            break
    ctx._secrets_read.add(token)
    return token


async def _renew(ctx: CallContext, name: str, collection: str, claimed: Document) -> str:
    """Renew the token of the account that this call has claimed."""
    grant = {"grant_type": "refresh_token", "refresh_token": claimed.get("refresh_token") or ""}
    try:
        fresh = _account(name, await _tokens(ctx, name, **grant), {}, ctx._now())
    except CallError as error:
        await _end_claim(ctx, collection, claimed, {})
        if error.code != "PERMISSION_DENIED":
            raise
        text = f"the sign-in with {name} is over: connect the account again"
        raise CallError(error.code, text) from None
    await _end_claim(ctx, collection, claimed, fresh)
    return str(fresh["access_token"])


async def _end_claim(
    ctx: CallContext, collection: str, claimed: Document, fresh: JSONObject
) -> None:
    """End the claim and store the result, unless the user signed in or out meanwhile."""
    current: Document | None = claimed
    while current and current.get("refresh_token") == claimed.get("refresh_token"):
        data = {**fresh, "renewing_until": 0}
        with suppress(StoreConflict):
            await ctx.store.update(collection, claimed.id, data, if_match=current.etag)
            return
        current = await ctx.store.get(collection, claimed.id)


def _http(ctx: CallContext, name: str) -> HttpClient:
    # an operator's provider may stand in the deployment's network, a known one not
    is_own = name in configured_providers(ctx._settings)
    return HttpClient(allow_private=True) if is_own else ctx._factory.http()


async def _tokens(ctx: CallContext, name: str, **grant: str) -> JSONObject:
    """The provider's answer to a grant.

    Raises CallError: PERMISSION_DENIED where the provider refuses, BACKEND_5XX and BACKEND_TIMEOUT
    where it cannot answer. The text names the provider's own error code and nothing else of its
    answer.
    """
    provider = find_provider(name, ctx._settings)
    client_id, secret = await _client(ctx, name, "id"), await _client(ctx, name, "secret")
    client = {"client_id": client_id or provider.client_id, "client_secret": secret}
    form = {k: v for k, v in {**grant, **client, **provider.resource_parameter}.items() if v}
    try:
        target = "POST", provider.token_url, TOKEN_S
        status, body = await _request(_http(ctx, name), *target, data=form)
    except TimeoutError:
        raise CallError("BACKEND_TIMEOUT", f"{name} did not answer in {TOKEN_S:g} s") from None
    except (OSError, ValueError):
        raise CallError("BACKEND_5XX", f"{name} could not be reached") from None
    if status == 200 and _is_token(body.get("access_token")):
        return body
    error = str(body.get("error", ""))
    reason = error if _CODE.fullmatch(error) else f"status {status}"
    code = "BACKEND_5XX" if status >= 500 else "PERMISSION_DENIED"
    raise CallError(code, f"{name} gave no tokens ({reason})")


async def _identity(
    http: HttpClient, provider: Provider, tokens: Mapping[str, Any]
) -> dict[str, str]:
    """`sub`, `email` and `name` of the account, as far as the provider tells; empty where it does
    not.

    The id token came from the provider itself over TLS, so its signature says nothing more (OpenID
    Connect Core, 3.1.3.7).
    """
    claims = _claims(tokens.get("id_token"))
    if not claims.get("email") and provider.userinfo_url:
        bearer = {"authorization": f"Bearer {tokens['access_token']}"}
        try:
            status, answer = await _request(http, "GET", provider.userinfo_url, IDENTITY_S, bearer)
            claims |= answer if status == 200 else {}
        except (OSError, ValueError):  # the account is connected all the same, without a name
            pass
    return {k: str(claims[k])[:320] for k in ("sub", "email", "name") if claims.get(k)}


async def _request(
    http: HttpClient,
    method: str,
    url: str,
    seconds: float,
    headers: Mapping[str, str] = MappingProxyType({}),
    **body: Any,
) -> tuple[int, JSONObject]:
    """Status and JSON object of a provider's response; `{}` where it has none."""
    more = {"headers": {"accept": "application/json", **headers}, **body}
    # codes and tokens go where the provider's address leads, and nowhere further
    try:
        answer = await http.request(method, url, timeout=seconds, follow_redirects=False, **more)
    except ExtensionError as error:
        raise CallError("BACKEND_5XX", f"the provider could not be asked: {error}") from None
    try:
        return answer.status_code, object_of(answer.json())
    except ValueError:
        return answer.status_code, {}


def _is_token(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_TOKEN


def _claims(token: Any) -> JSONObject:
    try:
        return object_of(from_token(str(token).split(".")[1]))
    except (IndexError, ValueError):
        return {}
