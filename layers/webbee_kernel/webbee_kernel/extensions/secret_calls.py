"""Secrets as calls: what a person sees and sets of them, in the place where they are used."""

from __future__ import annotations

from ..errors import CallError
from ..sdk.definitions import SecretDef
from ..sdk.errors import SecretTooLargeError
from ..surfaces import secrets
from ..types import CallOutcome, CallRequest, UserKey, succeeded, user_from
from .context import ContextFactory
from .registry import LoadedExtension


async def listed(
    contexts: ContextFactory, loaded: LoadedExtension, request: CallRequest
) -> CallOutcome:
    """Each declared secret and whether it is set; never a value."""
    client = contexts.secrets(_owner(request), request.app_id)
    return succeeded(request, {"secrets": await client.list()})


async def put(
    contexts: ContextFactory, loaded: LoadedExtension, request: CallRequest
) -> CallOutcome:
    """Set the secret `name` to `arguments.value`."""
    spec = _spec(loaded, request)
    where = secrets.path(_owner(request), request.app_id, spec)
    try:
        await secrets.put(contexts.stores.secrets, where, spec, request.arguments["value"])
    except SecretTooLargeError as error:
        raise CallError("VALIDATION_TYPE_ERROR", str(error), field="value") from None
    return succeeded(request, {"is_set": True})


async def delete(
    contexts: ContextFactory, loaded: LoadedExtension, request: CallRequest
) -> CallOutcome:
    """Remove the secret `name`; repeatable."""
    where = secrets.path(_owner(request), request.app_id, _spec(loaded, request))
    await contexts.stores.secrets.delete(where)
    return succeeded(request, {"is_set": False})


def _owner(request: CallRequest) -> UserKey:
    return UserKey.of(user_from(request.user))


def _spec(loaded: LoadedExtension, request: CallRequest) -> SecretDef:
    spec = loaded.ext.secrets.get(request.name)
    if spec is None:
        text = f"{request.app_id} declares no secret {request.name[:64]!r}"
        raise CallError("UNKNOWN_SUB_FUNCTION", text)
    return spec
