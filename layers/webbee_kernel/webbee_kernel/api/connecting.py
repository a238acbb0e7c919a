"""The end of a sign-in: claimed once, exchanged, its account written, the app told."""

from __future__ import annotations

import logging
from dataclasses import replace

from ..base.clock import iso
from ..bootstrap import App
from ..errors import CallError
from ..events import panel_refresh
from ..extensions.audit import Audit
from ..extensions.host import ExtensionHost
from ..oauth import exchange, providers
from ..oauth.signin import SignIn, account_id, client
from ..sdk.errors import ExtensionError
from ..stores.installed import is_installed
from ..surfaces.http import HttpClient
from ..surfaces.secrets import SecretsClient
from ..values import CallOutcome, CallRequest, UserKey, failed, user_dict

WAIT_S = 20.0
"""Seconds a second delivery of the same answer waits for the first."""

_log = logging.getLogger("webbee.oauth")


async def connect(app: App, host: ExtensionHost, signin: SignIn, code: str) -> CallOutcome:
    """Finish it; always an outcome, `data` holds provider, email, collection and id, never a token.

    A code is exchanged once: whoever delivers it again gets the first outcome. Afterwards the app's
    listeners of `<app>.oauth_connected` are called, its panels are fetched again and the user reads
    a notification.
    """
    name = f"oauth_{signin.provider}"
    request = CallRequest(
        "function",
        user_dict(signin.user),
        signin.app_id,
        name,
        {"state": signin.key},
        "oauth",
        signin.key,
    )
    key = UserKey.of(signin.user)
    audit = Audit(app.stores.audit, app.clock, days=app.settings.audit_days)
    record = audit.open(request, "write")
    if earlier := await audit.claim(key, record, WAIT_S):
        return earlier
    try:
        data = await _store(app, host, signin, code)
        said = (
            f"{signin.provider} account {data['email']} connected"
            if data["email"]
            else f"{signin.provider} account connected"
        )
        panels = tuple(host.registry.extension(signin.app_id).ext.panels)
        outcome = CallOutcome(
            signin.app_id, name, "ok", data=data, summary=said, action_type="write", panels=panels
        )
    except CallError as error:
        _log.warning(
            "app=%s provider=%s code=%s | sign-in not finished: %s",
            signin.app_id,
            signin.provider,
            error.code,
            error,
        )
        outcome = failed(request, error.code, str(error), action_type="write")
    told = (
        (
            app.events.new(
                "notification",
                {"app_id": signin.app_id, "text": outcome.summary, "channel": "in_app"},
            ),
        )
        if outcome.ok
        else ()
    )
    events = panel_refresh(app.events, signin.app_id, outcome.panels) + told
    await audit.close(key, record, outcome, events, app.events.expires_at)
    if outcome.ok:
        connected = f"{signin.app_id}.oauth_connected"
        await host.execute(replace(request, kind="event", name=connected, arguments=outcome.data))
    return outcome


async def _store(app: App, host: ExtensionHost, signin: SignIn, code: str) -> dict[str, str]:
    """Exchange the code and write the account; what may be told of it."""
    key = UserKey.of(signin.user)
    ext = host.registry.extension(signin.app_id).ext
    if not await is_installed(app.stores.documents, app.settings, key, signin.app_id):
        raise CallError("PERMISSION_DENIED", f"{signin.app_id} is no longer installed")
    configured = app.settings.oauth_providers
    provider = providers.find(signin.provider, configured)
    secrets = SecretsClient(
        app.stores.secrets, key, signin.app_id, ext.secrets, fallbacks=app.settings.app_secrets
    )
    http = HttpClient(allow_private=signin.provider in configured or app.settings.private_http)
    credentials = [await client(secrets, signin.provider, part) for part in ("id", "secret")]
    try:
        tokens = await exchange.exchange(http, provider, signin, code, *credentials)
        who = await exchange.identity(http, provider, tokens)
    except ExtensionError as error:
        raise CallError("BACKEND_5XX", f"{signin.provider} could not be asked: {error}") from None
    declared = ext.oauth_providers.get(signin.provider)
    collection = (declared.collection if declared else "") or f"{signin.provider}_accounts"
    data = exchange.account(signin.provider, tokens, who, app.clock.now())
    at, doc_id = iso(app.clock.now()), account_id(signin.provider, who)
    documents = app.stores.documents
    if doc_id:
        stored = await documents.update(key, signin.app_id, collection, doc_id, data, now=at)
    else:
        stored = await documents.create(key, signin.app_id, collection, data, now=at)
    return {
        "provider": signin.provider,
        "email": who.get("email", ""),
        "collection": collection,
        "id": stored.id,
    }
