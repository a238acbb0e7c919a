"""Sign-ins with other services: begun, found again by the state that a provider brings back,
finished: a code for tokens, and whose account they open; tokens renewed, by one call for all.
Providers are known ones and an operator's."""

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
from ..sdk.records import Document, User
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
from .context.factory import CallContext
from .context.http_client import HttpClient

KNOWN: Final[Mapping[str, Provider]] = MappingProxyType(
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
"""How long a person may take at the provider."""
MAX_TOKEN = 16_384
SOON_S = 60
"""Seconds before its end at which a token is renewed: it has to last until the service looks."""
RENEWING_S = 15.0
"""Seconds for which a renewal is one call's, which is longer than a provider may take."""
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
    """The operator's provider of this name, else the known one; ValueError naming those there
    are."""
    there = {**KNOWN, **configured_providers(settings)}
    if name not in there:
        raise ValueError(
            f"unknown oauth provider {name!r}: give one of {', '.join(sorted(there))},"
            " or describe it in WEBBEE_OAUTH_PROVIDERS"
        )
    return there[name]


class SignIn(NamedTuple):
    """A sign-in that has begun. `key` is the hash of its state: what is stored cannot be used to
    finish it."""

    key: str
    user: User
    app_id: str
    provider: str
    verifier: str
    redirect_uri: str


async def begin(ctx: CallContext, name: str, login_hint: str | None) -> str:
    """The address at the provider to which the user's browser goes. The sign-in stands in the cache
    table of its tenant, under a user no token can name.

    Raises ValueError for an unknown provider, OAuthNotConfigured where the deployment lacks the
    client id or its own address, PermissionError in a system context: an account belongs to a user.
    """
    user, app_id = ctx._user, ctx._app
    provider = find_provider(name, ctx._settings)
    if user.imperal_id.startswith("__"):
        raise PermissionError("a sign-in needs a user: begin it in a user's call or with as_user")
    redirect_uri = _redirect_uri(ctx._settings, app_id, name)
    client_id = await _client(ctx, name, "id") or provider.client_id
    if not client_id:
        raise _not_configured(
            f"the app-wide secret {name}_client_id of {app_id} is not set (redirect address:"
            f" {redirect_uri}); an operator sets it with PUT"
            f" /v1/extensions/{app_id}/secrets/{name}_client_id"
        )
    state, verifier = new_state(user.tenant_id), token_urlsafe(48)
    hashed = hashlib.sha256(verifier.encode()).digest()
    signin = SignIn(state_key(state), user, app_id, name, verifier, redirect_uri)
    kept = orjson.dumps({**signin._asdict(), "user": user_dict(user)})
    owner, ends = UserKey(user.tenant_id, SIGNIN_USER), ctx._now() + SECONDS
    await ctx._stores.cache.set(owner, app_id, _MODEL, signin.key, kept, expires_at=ends)
    declared = ctx._ext.oauth_providers.get(name)
    query = {
        "client_id": client_id,
        "response_type": "code",
        "redirect_uri": redirect_uri,
        "scope": " ".join(declared.scopes if declared else ()),
        "state": state,
        # RFC 7636 wants it without padding
        "code_challenge": base64.urlsafe_b64encode(hashed).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        **provider.extra,
        **provider.resource_parameter,
    } | ({"login_hint": login_hint} if login_hint else {})
    joint = "&" if "?" in provider.authorize_url else "?"
    return f"{provider.authorize_url}{joint}{urlencode(query)}"


def _redirect_uri(settings: Settings, app_id: str, name: str) -> str:
    if not settings.public_url:
        raise _not_configured(
            "the deployment does not know its own address: set WEBBEE_PUBLIC_URL (template"
            " parameter PublicUrl)"
        )
    return f"{settings.public_url.rstrip('/')}/v1/ext/{app_id}/oauth/{name}/callback"


def _not_configured(why: str) -> OAuthNotConfigured:
    _log.warning("a sign-in was not begun: %s", why)
    return OAuthNotConfigured(why)


async def _client(ctx: CallContext, provider: str, part: str) -> str:
    """The app's client `id` or `secret` at the provider; empty where it is neither declared nor
    set."""
    try:
        return await ctx.secrets.get(f"{provider}_client_{part}") or ""
    except SecretNotDeclaredError:
        return ""


async def _begun(ctx: CallContext, request: CallRequest) -> SignIn | None:
    """The sign-in that `arguments.state` began; None when it is over, was begun for another app or
    provider, or never."""
    state = str(request.arguments["state"])
    owner = UserKey(tenant_of_state(state), SIGNIN_USER)
    if not owner.tenant_id:
        return None
    cache, key = ctx._stores.cache, state_key(state)
    raw = await cache.get(owner, request.app_id, _MODEL, key, now=ctx._now())
    if raw is None:
        return None
    kept = orjson.loads(raw)
    found = SignIn(**{**kept, "user": user_from(kept["user"])})
    return found if found.provider == request.name else None


async def find_signin(ctx: CallContext, request: CallRequest) -> CallOutcome:
    """The sign-in of provider `name` that `arguments.state` began; empty data when it is over or
    never was."""
    signin = await _begun(ctx, request)
    return ok_outcome(request, signin and {"user": user_dict(signin.user), "key": signin.key})


async def connect_account(ctx: CallContext, request: CallRequest) -> CallOutcome:
    """Finish the sign-in of provider `name` with the code in `arguments`; `data` of the outcome
    holds provider, email, collection and id, never a token.

    Afterwards the app's listeners of `<app>.oauth_connected` are called.
    """
    try:
        signin = await _begun(ctx, request)
        if signin is None:
            raise CallError("PERMISSION_DENIED", "the sign-in is over")
        own = ctx._factory.make(signin.user, signin.app_id)
        data = await _store_account(own, signin, str(request.arguments["code"]))
    except CallError as error:
        told = (request.app_id, request.name, error.code, error)
        _log.warning("app=%s provider=%s code=%s | sign-in not finished: %s", *told)
        return failed_outcome(request, error.code, str(error), action_type="write")
    # its outcome is not looked at: the account is connected, whatever listeners do
    connected = f"{request.app_id}.oauth_connected"
    event = replace(request, kind="event", name=connected, arguments=data)
    await system_calls.run_system_call(ctx, event)
    said = " ".join(filter(None, (request.name, "account", data["email"], "connected")))
    panels = tuple(ctx._ext.panels)
    return ok_outcome(request, data, summary=said, action_type="write", panels=panels)


async def _store_account(ctx: CallContext, signin: SignIn, code: str) -> JSONObject:
    """Exchange the code and write the account, as `imperal_sdk.oauth_tokens` reads it; what may be
    told of it. A missing refresh token leaves the one that is there."""
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
    accounts = Collection(UserKey.of(signin.user), signin.app_id, collection)
    # of a provider that tells nothing of accounts but opens one server, the user has one
    doc_id = account_id(name, who) or (name if provider.resource else "")
    if doc_id:
        stored = await documents.update(accounts, doc_id, data, now=iso(now))
    else:
        stored = await documents.create(accounts, data, now=iso(now))
    told = {"provider": name, "email": who.get("email", "")}
    return {**told, "collection": collection, "id": stored.id}


def _account(name: str, tokens: JSONObject, who: Mapping[str, str], now: float) -> JSONObject:
    lifetime = str(tokens.get("expires_in", ""))
    # some providers send the number as a text
    seconds = int(lifetime) if re.fullmatch(r"[0-9]{1,9}", lifetime) else 3600
    kept = ("access_token", "refresh_token", "scope", "token_type")
    return {
        "provider": name,
        **{k: who[k] for k in ("email", "name") if k in who},
        **{k: tokens[k] for k in kept if _is_token(tokens.get(k))},
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
    """The token of an account (its document's id, empty for the first), empty where none is
    connected. One that ends is renewed by the call that claims it, since a refresh token may be
    good once; others wait for what that brings.

    Raises CallError: PERMISSION_DENIED where the account has to be connected again, BACKEND_5XX and
    BACKEND_TIMEOUT where the provider cannot answer.
    """
    collection = _collection(ctx, name)
    while True:
        found = await _found(ctx, collection, account)
        if found is None:
            return ""
        now = ctx._now()
        if (found.get("expires_at") or 0) >= now + SOON_S:
            return _revealed(ctx, found["access_token"])
        if (found.get("renewing_until") or 0) > now:
            await asyncio.sleep(PAUSE_S)
            continue
        claim = {"renewing_until": now + RENEWING_S}
        with suppress(StoreConflict):
            mine = await ctx.store.update(collection, found.id, claim, if_match=found.etag)
            return _revealed(ctx, await _renewed(ctx, name, collection, mine))


async def _found(ctx: CallContext, collection: str, account: str) -> Document | None:
    if account:
        return await ctx.store.get(collection, account)
    return next(iter((await ctx.store.query(collection, limit=1)).data), None)


def _revealed(ctx: CallContext, token: str) -> str:
    ctx._revealed.add(token)
    return token


async def _renewed(ctx: CallContext, name: str, collection: str, mine: Document) -> str:
    """A fresh token for the account that this call has claimed."""
    grant = {"grant_type": "refresh_token", "refresh_token": mine.get("refresh_token") or ""}
    try:
        fresh = _account(name, await _tokens(ctx, name, **grant), {}, ctx._now())
    except CallError as error:
        await _keep(ctx, collection, mine, {})
        if error.code != "PERMISSION_DENIED":
            raise
        told = f"the sign-in with {name} is over: connect the account again"
        raise CallError(error.code, told) from None
    await _keep(ctx, collection, mine, fresh)
    return str(fresh["access_token"])


async def _keep(ctx: CallContext, collection: str, mine: Document, fresh: JSONObject) -> None:
    """End the claim with what it brought, unless somebody has signed in or out meanwhile."""
    held: Document | None = mine
    while held and held.get("refresh_token") == mine.get("refresh_token"):
        data = {**fresh, "renewing_until": 0}
        with suppress(StoreConflict):
            await ctx.store.update(collection, mine.id, data, if_match=held.etag)
            return
        held = await ctx.store.get(collection, mine.id)


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
    own_id, secret = await _client(ctx, name, "id"), await _client(ctx, name, "secret")
    client = {"client_id": own_id or provider.client_id, "client_secret": secret}
    form = {k: v for k, v in {**grant, **client, **provider.resource_parameter}.items() if v}
    try:
        asked = "POST", provider.token_url, TOKEN_S
        status, body = await _ask(_http(ctx, name), *asked, data=form)
    except TimeoutError:
        raise CallError("BACKEND_TIMEOUT", f"{name} did not answer in {TOKEN_S:g} s") from None
    except (OSError, ValueError):
        raise CallError("BACKEND_5XX", f"{name} could not be reached") from None
    if status == 200 and _is_token(body.get("access_token")):
        return body
    said = str(body.get("error", ""))
    reason = said if _CODE.fullmatch(said) else f"status {status}"
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
            status, told = await _ask(http, "GET", provider.userinfo_url, IDENTITY_S, bearer)
            claims |= told if status == 200 else {}
        except (OSError, ValueError):  # the account is connected all the same, without a name
            pass
    return {k: str(claims[k])[:320] for k in ("sub", "email", "name") if claims.get(k)}


async def _ask(
    http: HttpClient,
    method: str,
    url: str,
    seconds: float,
    headers: Mapping[str, str] = MappingProxyType({}),
    **sent: Any,
) -> tuple[int, JSONObject]:
    """Status and object of a provider's answer; the object is empty where it gave none."""
    more = {"headers": {"accept": "application/json", **headers}, **sent}
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
