"""Parameter Store and Secrets Manager: webhook keys, extension configuration, operator policy, and
the secrets of users and apps."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from urllib.parse import quote, unquote

from ..catalogue import Catalogue
from ..config import Settings, layers_of
from ..errors import BadInput, DispatchRefused, SettingsError, StorageUnavailable
from ..types import CallRequest, JSONObject
from .clients import ClientFactory, aws_client, error_code, in_thread, outage

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.parameters import BaseProvider

CACHE_S: Final = 300
"""Seconds for which keys and configuration are cached; changing them needs no deployment."""
LOOKUP_INTERVAL_S: Final = 20.0
"""Least seconds between two key look-ups caused by unknown signatures, which anybody may send."""
VERSIONS: Final = ("AWSCURRENT", "AWSPREVIOUS")
UNKNOWN: Final = "!"
"""The mark where the key could not be read: no webhook URL is available now."""

_log = logging.getLogger("webbee.webhooks")


T = TypeVar("T")


class _CachedParameter(Generic[T]):
    """A value read from a service, again after `CACHE_S`; the old one is used in an outage."""

    def __init__(self, read: Callable[[], T], now: Callable[[], float]) -> None:
        self._read = read
        self._now = now
        self._value: T | None = None
        self._read_at = 0.0

    async def __call__(self, *, refresh: bool = False) -> T:
        now = self._now()
        if self._value is not None and not refresh and now - self._read_at <= CACHE_S:
            return self._value
        try:
            self._value = await in_thread(self._read)
        except Exception:
            if self._value is None:
                raise
        self._read_at = now
        return self._value


class WebhookKeys:
    """Signs and verifies the tenant in webhook URLs; without a key, URLs name no tenant."""

    def __init__(
        self,
        settings: Settings,
        client_factory: ClientFactory = aws_client,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._configured = tuple(settings.webhook_key.get_secret_value().split())
        # with a configured key Secrets Manager is never used
        self._secret = "" if self._configured else settings.webhook_key_secret
        self._client_factory = client_factory
        self._now = now
        self._looked_at = float("-inf")
        self._cached = _CachedParameter(self._read, now)

    async def mark(self, tenant_id: str) -> str:
        """The tenant's mark in a URL; `UNKNOWN` where the key cannot be read."""
        try:
            keys = await self._cached()
        except Exception as error:
            # no failure of the call: most calls use no webhook URL
            _log.error("error=%s | the webhook key cannot be read", _name(error))
            return UNKNOWN
        # the current key signs; the one before it is only recognised
        return mark_of(tenant_id, keys[0]) if keys else ""

    async def tenant(self, mark: str) -> str | None:
        """The tenant of a mark signed with either key; None for any other text. For an unknown
        signature the keys are read once more: they may be new."""
        try:
            found, now = _tenant_of_mark(mark, await self._cached()), self._now()
            may_look = self._secret and now - self._looked_at >= LOOKUP_INTERVAL_S
            if found is None and may_look:
                self._looked_at = now
                found = _tenant_of_mark(mark, await self._cached(refresh=True))
            return found
        except Exception as error:
            raise StorageUnavailable(
                f"the webhook key cannot be read ({_name(error)}); try again."
            ) from None

    def _read(self) -> tuple[str, ...]:
        if not self._secret:
            return self._configured
        return tuple(filter(None, map(self._version, VERSIONS)))

    def _version(self, version: str) -> str:
        """One version's value; empty for the one before the first."""
        from aws_lambda_powertools.utilities.parameters import SecretsProvider

        # one for each: powertools keeps values by name alone
        provider = SecretsProvider(boto3_client=self._client_factory("secretsmanager"))
        try:
            return _fetch(provider, self._secret, VersionStage=version)
        except Exception as error:
            if version == VERSIONS[1] and error_code(error) == "ResourceNotFoundException":
                return ""
            raise


def _fetch(provider: BaseProvider, name: str, **options: Any) -> str:
    """A provider's value; raises the service's own error."""
    from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

    try:
        return str(provider.get(name, **options))
    except GetParameterError as error:
        # callers look at the service's code, which powertools' wrapper does not have
        raise (error.__cause__ or error.__context__ or error) from None


def _name(error: Exception) -> str:
    return error_code(error) or type(error).__name__


def _tenant_of_mark(mark: str, keys: tuple[str, ...]) -> str | None:
    return next((tenant for key in keys if (tenant := tenant_of(mark, key)) is not None), None)


SIGN = "~"
"""Prefix of a mark; no other path part begins with it."""
# 15 bytes are 24 characters of base32, without padding
_BYTES = 15
_MARK: Final = r"~([A-Za-z0-9_-]+)\.([a-z2-7]{24})"
_ESCAPED: Final = r"_([0-9a-f]+)_"


def mark_of(tenant_id: str, key: str) -> str:
    """The tenant's mark; empty without a key."""
    return f"{SIGN}{escape(tenant_id)}.{_signature(tenant_id, key)}" if key else ""


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
    # one spelling only: `_61_` would be a second address of the tenant `a`
    return tenant_id if same and escape(tenant_id) == found[1] else None


def escape(text: str) -> str:
    """A reversible encoding: characters outside `A-Za-z0-9-` become `_hex_`."""
    return "".join(
        c if c.isascii() and (c.isalnum() or c == "-") else f"_{ord(c):x}_" for c in text
    )


def _signature(tenant_id: str, key: str) -> str:
    mac = hmac.new(key.encode(), f"webhook#{tenant_id}".encode(), hashlib.sha256).digest()
    return base64.b32encode(mac[:_BYTES]).decode().lower()


class AppConfiguration:
    """Extension configuration from the settings or from the parameter they name."""

    def __init__(
        self,
        settings: Settings,
        client_factory: ClientFactory = aws_client,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._client_factory = client_factory
        self._cached = _CachedParameter(self._read, now)

    async def of(self, request: CallRequest, catalogue: Catalogue) -> JSONObject:
        """`{"config": {app: [deployment's, tenant's]}, "secrets": {app: {variable: value}}}` of the
        apps that the call may run; DispatchRefused where the parameter cannot be read."""
        settings, secrets = self._settings, self._settings.app_secrets
        config = await self._cached() if settings.app_config_parameter else settings.app_config
        tenant_id = str(request.user.get("tenant_id", ""))
        app_ids = {request.app_id, *(request.arguments.get("sections") or {})}
        # a call may reach shared apps, so theirs are sent too
        apps = [a for a in catalogue.apps.values() if a.is_shared or a.app_id in app_ids]
        layers = {a.app_id: list(layers_of(config, tenant_id, a.app_id)) for a in apps}
        values = {
            a.app_id: {v: secrets[v].get_secret_value() for v in a.variables if v in secrets}
            for a in apps
        }
        return {"config": _without_empty(layers), "secrets": _without_empty(values)}

    def _read(self) -> JSONObject:
        try:
            text = _parameter(self._settings.app_config_parameter, self._client_factory)
            return dict(json.loads(text))
        except Exception as error:
            raise DispatchRefused(
                "the extensions' configuration cannot be read from WEBBEE_CONFIG_PARAMETER"
                f" ({_name(error)})"
            ) from None


def _parameter(name: str, client_factory: ClientFactory) -> str:
    from aws_lambda_powertools.utilities.parameters import SSMProvider

    return _fetch(SSMProvider(boto3_client=client_factory("ssm")), name, decrypt=True)


def _without_empty(by_app: JSONObject) -> JSONObject:
    return {app_id: found for app_id, found in by_app.items() if found}


def read_policy(name: str) -> str:
    """The operator's policy text from a parameter, read when the process starts; SettingsError
    where it cannot be read."""
    try:
        return _parameter(name, aws_client)
    except Exception as error:
        raise SettingsError(
            f"environment variable WEBBEE_POLICY_PARAMETER: {name} cannot be read ({_name(error)})",
            field="WEBBEE_POLICY_PARAMETER",
        ) from None


MAX_VALUE_BYTES = 8 * 1024
"""Bytes of a secret in Parameter Store: 4 KB in the standard tier, 8 KB above it."""


class SsmSecretStore:
    """`SecretStore` as parameters of type SecureString: encrypted by KMS, read one at a time, never
    kept; each method is one request.

    The path `tenant/user/app/name` becomes the parameter `<prefix>/tenant/user/app/name`. Names
    hold only letters, digits and `_ . -`, so any other character, and the dot itself, is written as
    `.` and two hex digits per UTF-8 byte: `auth0|42` becomes `auth0.7C42`, and no two paths share a
    name.
    """

    def __init__(
        self, prefix: str, client_factory: ClientFactory = aws_client, *, key: str = ""
    ) -> None:
        """`key` is the ARN of the KMS key that values are encrypted with; empty takes the
        account's own for parameters."""
        self._key = {"KeyId": key} if key else {}
        self._prefix = "/" + prefix.strip("/")
        self._client_factory = client_factory

    async def get(self, path: str) -> str | None:
        answer = await self._call("get_parameter", Name=self._name(path), WithDecryption=True)
        return str(answer["Parameter"]["Value"]) if answer else None

    async def set(self, path: str, value: str) -> None:
        size = len(value.encode())
        if not value or size > MAX_VALUE_BYTES:
            raise BadInput(
                f"A secret has 1 to {MAX_VALUE_BYTES} bytes; this one has {size}.",
                code="too_large",
                limit=MAX_VALUE_BYTES,
            )
        await self._call(
            "put_parameter",
            Name=self._name(path),
            Value=value,
            Type="SecureString",
            # the free standard tier wherever it will do: up to 4 KB, and 10,000 parameters
            Tier="Intelligent-Tiering",
            Overwrite=True,
            **self._key,
        )

    async def delete(self, path: str) -> bool:
        return await self._call("delete_parameter", Name=self._name(path)) is not None

    async def below(self, path: str) -> tuple[str, ...]:
        """Ten a request: what the service gives at once."""
        found: list[str] = []
        more: JSONObject = {}
        while True:
            answer = await self._call(
                "get_parameters_by_path", Path=self._name(path), Recursive=True, **more
            )
            for parameter in (answer or {}).get("Parameters", []):
                name = str(parameter["Name"]).removeprefix(f"{self._prefix}/")
                found.append(unquote(name.replace(".", "%")))
            # the token alone says that there is more: a page may be short, or empty
            if not answer or "NextToken" not in answer:
                return tuple(sorted(found))
            more = {"NextToken": answer["NextToken"]}

    def _name(self, path: str) -> str:
        parts = path.split("/")
        if not all(parts):
            raise ValueError(f"secret path {path!r} has an empty part")
        return "/".join([self._prefix, *map(_encode_part, parts)])

    async def _call(self, operation: str, **request: Any) -> JSONObject | None:
        """None where the parameter does not exist."""
        answer: JSONObject | None = await in_thread(self._send, operation, request)
        return answer

    def _send(self, operation: str, request: JSONObject) -> Any:
        try:
            return getattr(self._client_factory("ssm"), operation)(**request)
        except Exception as error:
            if error_code(error) == "ParameterNotFound":
                return None
            # from None: the original may quote the request with the secret's value
            what = "The parameter store"
            raise outage(error, what) or StorageUnavailable(
                f"{what} refused {operation} ({_name(error)})."
            ) from None


def _encode_part(part: str) -> str:
    # percent-encoding leaves these two as they are, and no parameter's name holds a `%`
    quoted = quote(part, safe="").replace(".", "%2E").replace("~", "%7E")
    return quoted.replace("%", ".")
