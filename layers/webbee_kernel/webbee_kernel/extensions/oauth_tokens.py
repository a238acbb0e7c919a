"""OAuth providers, known ones and an operator's; a code for tokens, and whose account they open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..config import Provider, Settings
from ..errors import CallError
from ..sdk.records import User
from ..types import JSONObject, object_of, of_token

if TYPE_CHECKING:
    from .context.http_client import HttpClient


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
