"""What of the deployment's settings a call has brought along, for the apps that it may run; the
settings of this process where a call brings none, as in tests and the demo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from pydantic import SecretStr

from ..config import Settings
from ..types import JSONObject

_brought: ContextVar[JSONObject | None] = ContextVar("app_settings", default=None)


@contextmanager
def bringing(configuration: JSONObject | None) -> Iterator[None]:
    """Apps are given this in here, and in what goes on from here."""
    token = _brought.set(configuration)
    try:
        yield
    finally:
        _brought.reset(token)


def config_layers(settings: Settings, tenant_id: str, app_id: str) -> tuple[JSONObject, ...]:
    """The app's configuration: the deployment's, then the tenant's."""
    brought = _brought.get()
    if brought is None:
        return settings.config_layers(tenant_id, app_id)
    return tuple((brought.get("config") or {}).get(app_id) or ())


def secret_fallbacks(settings: Settings, app_id: str) -> Mapping[str, SecretStr]:
    """Values of the variables that the app's app-wide secrets name."""
    brought = _brought.get()
    if brought is None:
        return settings.app_secrets
    found: Mapping[str, str] = (brought.get("secrets") or {}).get(app_id) or {}
    return {variable: SecretStr(value) for variable, value in found.items()}
