"""An account that the kernel's sign-in stored is one that the SDK's own token refresh
understands."""

from __future__ import annotations

import json
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from imperal_sdk.oauth_tokens import PROVIDER_TOKEN_URLS

from tests.compat.conftest import Bench
from tests.functions.provider import CLIENT, Provider, provider
from webbee_kernel.extensions.registry import Registry
from webbee_kernel.oauth.signin import account_id
from webbee_kernel.types import CallOutcome


def sign_in(bench: Bench, acme: Provider) -> CallOutcome:
    """As the person and the callback do it."""
    url = bench.call("courier", "connect")["url"]
    back = acme.consent(url)
    assert parse_qs(urlsplit(url).query)["scope"] == ["openid email"]
    arguments = {"state": back["state"], "code": back["code"]}
    return bench.call_of("connect", "courier", "google", arguments)


def test_an_account_is_stored_as_the_sdks_refresh_reads_it(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider() as acme:
        bench = Bench(
            registry,
            WEBBEE_OAUTH_PROVIDERS=json.dumps({"google": json.loads(acme.configuration)["acme"]}),
        )
        for name, value in CLIENT.items():
            bench.set_secret("courier", f"google_{name}", value)
        assert sign_in(bench, acme).data == {
            "provider": "google",
            "email": "sarah@acme.example",
            "collection": "google_accounts",
            "id": account_id("google", acme.claims),
        }
        monkeypatch.setitem(PROVIDER_TOKEN_URLS, "google", f"{acme.address}/token")
        [before] = bench.documents("courier", "google_accounts")
        assert (before["access_token"], before["refresh_token"]) == ("access-1", "refresh-1")
        assert before["expires_at"] == int(bench.clock.now()) + 3600 < time.time()

        # the bench's clock stands in the past, so the stored token has expired
        renewed = bench.call("courier", "renew")
        [kept] = bench.documents("courier", "google_accounts")
        assert renewed["token"] == kept["access_token"] == "access-renewed"
        assert (kept["refresh_token"], kept["email"]) == ("refresh-1", "sarah@acme.example")
        # a result is remembered, and models read it: a token in it is masked
        assert renewed["kept"]["refresh_token"] == "[secret]"
