"""Sign-ins as calls: finding one that has begun, and its end: exchanged, its account written, the
app told."""

from __future__ import annotations

import logging
from dataclasses import replace

from ..clock import iso
from ..config import Provider
from ..errors import CallError
from ..oauth import exchange, providers
from ..oauth.signin import SignIn, SignIns, account_id, client
from ..sdk.errors import ExtensionError
from ..stores.deployment import is_installed
from ..stores.paging import Collection
from ..surfaces.http import HttpClient
from ..types import CallOutcome, CallRequest, JSONObject, UserKey, failed, succeeded, user_dict
from . import unattended
from .context import ContextFactory
from .registry import LoadedExtension

_log = logging.getLogger("webbee.oauth")


async def find(
    contexts: ContextFactory, loaded: LoadedExtension, request: CallRequest
) -> CallOutcome:
    """The sign-in of provider `name` that `arguments.state` began; empty data when it is over or
    never was."""
    signin = await _begun(contexts, request)
    data = {"user": user_dict(signin.user), "key": signin.key} if signin else None
    return succeeded(request, data)


async def connect(
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
        data = await _store(contexts, loaded, signin, str(request.arguments["code"]))
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
    await unattended.run(
        contexts, loaded, replace(request, kind="event", name=connected, arguments=data)
    )
    said = " ".join(filter(None, (request.name, "account", data["email"], "connected")))
    panels = tuple(loaded.ext.panels)
    return succeeded(request, data, summary=said, action_type="write", panels=panels)


async def _begun(contexts: ContextFactory, request: CallRequest) -> SignIn | None:
    signins = SignIns(contexts.stores.cache, contexts.settings, contexts.clock)
    return await signins.find(request.app_id, request.name, str(request.arguments["state"]))


async def _store(
    contexts: ContextFactory, loaded: LoadedExtension, signin: SignIn, code: str
) -> JSONObject:
    """Exchange the code and write the account; what may be told of it."""
    key, ext = UserKey.of(signin.user), loaded.ext
    settings, documents = contexts.settings, contexts.stores.documents
    if not await is_installed(documents, settings, key, signin.app_id):
        raise CallError("PERMISSION_DENIED", f"{signin.app_id} is no longer installed")
    configured = providers.configured(settings)
    provider = providers.find(signin.provider, settings)
    secrets = contexts.secrets(key, signin.app_id)
    http = HttpClient(allow_private=signin.provider in configured or settings.private_http)
    named, secret = [await client(secrets, signin.provider, part) for part in ("id", "secret")]
    client_id = named or provider.client_id
    try:
        tokens = await exchange.exchange(http, provider, signin, code, client_id, secret)
        who = await exchange.identity(http, provider, tokens)
    except ExtensionError as error:
        raise CallError("BACKEND_5XX", f"{signin.provider} could not be asked: {error}") from None
    declared = ext.oauth_providers.get(signin.provider)
    collection = (declared.collection if declared else "") or f"{signin.provider}_accounts"
    data = exchange.account(signin.provider, tokens, who, contexts.clock.now())
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
