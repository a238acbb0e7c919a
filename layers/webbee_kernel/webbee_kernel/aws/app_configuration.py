"""What of the deployment's own settings goes to `tool_dispatch` with a call: the configuration and
the app-wide secrets' variables of the app that is called, for the caller's tenant.

The process in which extensions run has none of it before. With them go those of apps whose code the
call may run too: apps that expose methods to others, or listen to events.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..catalogue import Catalogue
from ..config import Settings, layers_of
from ..errors import DispatchRefused
from ..types import CallRequest, JSONObject
from .clients import ClientFactory, aws_client, error_code, in_thread

KEPT_S: Final = 300.0
"""Seconds after which the parameter is read anew: a change of it needs no deployment."""


class AppConfiguration:
    """The settings' own configuration, or that of the parameter which they name."""

    def __init__(
        self,
        settings: Settings,
        client_factory: ClientFactory = aws_client,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._client_factory = client_factory
        self._now = now
        self._config: JSONObject | None = None
        self._read_at = 0.0

    async def of(self, request: CallRequest, catalogue: Catalogue) -> JSONObject:
        """`{"config": {app: [deployment's, tenant's]}, "secrets": {app: {variable: value}}}` of the
        apps that the call may run; DispatchRefused where the parameter cannot be read."""
        config, secrets = await self._whole(), self._settings.app_secrets
        tenant_id = str(request.user.get("tenant_id", ""))
        called = {request.app_id, *(request.arguments.get("sections") or {})}
        apps = [a for a in catalogue.apps.values() if a.is_shared or a.app_id in called]
        layers = {a.app_id: list(layers_of(config, tenant_id, a.app_id)) for a in apps}
        values = {
            a.app_id: {v: secrets[v].get_secret_value() for v in a.variables if v in secrets}
            for a in apps
        }
        return {"config": _filled(layers), "secrets": _filled(values)}

    async def _whole(self) -> JSONObject:
        name = self._settings.app_config_parameter
        if not name:
            return self._settings.app_config
        if self._config is None or self._now() - self._read_at > KEPT_S:
            self._config = await in_thread(self._read, name)
            self._read_at = self._now()
        return self._config

    def _read(self, name: str) -> JSONObject:
        try:
            answer = self._client_factory("ssm").get_parameter(Name=name, WithDecryption=True)
            return dict(json.loads(answer["Parameter"]["Value"]))
        except Exception as error:
            if self._config is not None:
                return self._config
            why = error_code(error) or type(error).__name__
            raise DispatchRefused(
                f"the extensions' configuration cannot be read from WEBBEE_CONFIG_PARAMETER ({why})"
            ) from None


def _filled(by_app: Mapping[str, Any]) -> JSONObject:
    return {app_id: found for app_id, found in by_app.items() if found}
