"""What an operator keeps in Parameter Store and Secrets Manager: webhook keys, configuration,
policy."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..catalogue import Catalogue
from ..config import Settings, layers_of
from ..errors import DispatchRefused, SettingsError, StorageUnavailable
from ..types import CallRequest, JSONObject
from .clients import ClientFactory, aws_client, error_code, in_thread

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider


KEPT_S: Final = 300
"""Seconds for which a key is not asked for again."""
LEAST_S: Final = 20.0
"""Seconds between two looks for the sake of addresses whose signature nobody knows: anybody may
send such."""
VERSIONS: Final = ("AWSCURRENT", "AWSPREVIOUS")
UNKNOWN: Final = "!"
"""A mark that says: the key could not be read, so no address can be told now."""

_log = logging.getLogger("webbee.webhooks")


class WebhookKeys:
    """Signs and recognises; with neither a key nor a secret, addresses name no tenant."""

    def __init__(
        self,
        settings: Settings,
        client_factory: ClientFactory = aws_client,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._given = tuple(settings.webhook_key.get_secret_value().split())
        self._secret = "" if self._given else settings.webhook_key_secret
        self._client_factory = client_factory
        self._now = now
        self._looked_at = float("-inf")
        self._providers: dict[str, SecretsProvider] = {}

    async def mark(self, tenant_id: str) -> str:
        """The tenant as an address names it; `UNKNOWN` where the key cannot be read."""
        try:
            keys = await self._keys()
        except Exception as error:
            why = error_code(error) or type(error).__name__
            _log.error("error=%s | the webhook key cannot be read", why)
            return UNKNOWN
        return mark_of(tenant_id, keys[0]) if keys else ""

    async def tenant(self, mark: str) -> str | None:
        """The tenant of a mark that was signed with either key; None for any other text. A mark
        that no known key made is looked up once more: its key may be new."""
        try:
            keys = await self._keys()
            if (found := _signed(mark, keys)) is None and self._may_look():
                found = _signed(mark, await self._keys(anew=True))
            return found
        except Exception as error:
            why = error_code(error) or type(error).__name__
            raise StorageUnavailable(
                f"the webhook key cannot be read ({why}); try again."
            ) from None

    def _may_look(self) -> bool:
        if not self._secret or self._now() - self._looked_at < LEAST_S:
            return False
        self._looked_at = self._now()
        return True

    async def _keys(self, *, anew: bool = False) -> tuple[str, ...]:
        if not self._secret:
            return self._given
        return tuple(await in_thread(self._read, anew))

    def _read(self, anew: bool) -> list[str]:
        found = (self._version(version, anew) for version in VERSIONS)
        return [key for key in found if key]

    def _version(self, version: str, anew: bool) -> str:
        """One version's value; empty for the one before the first."""
        from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

        try:
            options: dict[str, Any] = {"max_age": KEPT_S, "force_fetch": anew}
            return str(self._provider(version).get(self._secret, VersionStage=version, **options))
        except GetParameterError as error:
            cause = error.__cause__ or error.__context__
            if (
                version == VERSIONS[1]
                and cause
                and error_code(cause) == "ResourceNotFoundException"
            ):
                return ""
            raise (cause or error) from None

    def _provider(self, version: str) -> SecretsProvider:
        """powertools keeps values by name alone, so each version has a provider of its own."""
        from aws_lambda_powertools.utilities.parameters import SecretsProvider

        if version not in self._providers:
            client = self._client_factory("secretsmanager")
            self._providers[version] = SecretsProvider(boto3_client=client)
        return self._providers[version]


def _signed(mark: str, keys: tuple[str, ...]) -> str | None:
    return next((tenant for key in keys if (tenant := tenant_of(mark, key)) is not None), None)


SIGN = "~"
"""What a mark begins with, and nothing else that stands in its place."""
_BYTES = 15
_MARK: Final = r"~([A-Za-z0-9_-]+)\.([a-z2-7]{24})"
_ESCAPED: Final = r"_([0-9a-f]+)_"


def mark_of(tenant_id: str, key: str) -> str:
    """The tenant's mark; empty without a key."""
    return f"{SIGN}{escaped(tenant_id)}.{_signature(tenant_id, key)}" if key else ""


def tenant_of(mark: str, key: str) -> str | None:
    """The tenant of a mark that was made with this key; None for any other text."""
    found = re.fullmatch(_MARK, mark)
    if not (found and key):
        return None
    try:
        tenant_id = re.sub(_ESCAPED, lambda escape: chr(int(escape[1], 16)), found[1])
        signature = _signature(tenant_id, key)
    except (ValueError, OverflowError):
        return None
    same = hmac.compare_digest(found[2], signature)
    return tenant_id if same and escaped(tenant_id) == found[1] else None


def escaped(text: str) -> str:
    """Reversible: characters outside `A-Za-z0-9-` become `_hex_`, so no two texts ever meet."""
    return "".join(
        c if c.isascii() and (c.isalnum() or c == "-") else f"_{ord(c):x}_" for c in text
    )


def _signature(tenant_id: str, key: str) -> str:
    made = hmac.new(key.encode(), f"webhook#{tenant_id}".encode(), hashlib.sha256).digest()
    return base64.b32encode(made[:_BYTES]).decode().lower()


CONFIG_KEPT_S: Final = 300.0
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
        if self._config is None or self._now() - self._read_at > CONFIG_KEPT_S:
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


def read_policy(name: str, client_factory: ClientFactory = aws_client) -> str:
    """The parameter's text as it is when the function starts. A deployment that changes it
    publishes versions, whose processes are new; one that is rolled back reads the newer text.

    SettingsError where it cannot be read: nobody is answered without the rules.
    """
    from aws_lambda_powertools.utilities.parameters import SSMProvider
    from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

    try:
        return str(SSMProvider(boto3_client=client_factory("ssm")).get(name))
    except GetParameterError as error:
        cause = error.__cause__ or error.__context__
        why = (error_code(cause) if cause else "") or type(cause or error).__name__
        raise SettingsError(
            f"environment variable WEBBEE_POLICY_PARAMETER: {name} cannot be read ({why})",
            field="WEBBEE_POLICY_PARAMETER",
        ) from None
