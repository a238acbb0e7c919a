"""Providers an extension may sign its users in with: three known ones, and those an operator adds.
Values only."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..config import Provider, Settings


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


def configured(settings: Settings) -> Mapping[str, Provider]:
    """The operator's providers: those of the deployment, and each server's own."""
    of_servers = {
        str(s.get("provider") or s.get("id")): Provider.model_validate(s["oauth"])
        for s in settings.mcp_servers
        if s.get("oauth")
    }
    return {**of_servers, **settings.oauth_providers}


def find(name: str, settings: Settings) -> Provider:
    """The operator's provider of this name, else the known one; ValueError naming those there
    are."""
    own = configured(settings)
    found = own.get(name) or KNOWN.get(name)
    if found is None:
        raise ValueError(
            f"unknown oauth provider {name!r}: give one of {', '.join(sorted({*KNOWN, *own}))},"
            " or describe it in WEBBEE_OAUTH_PROVIDERS"
        )
    return found
