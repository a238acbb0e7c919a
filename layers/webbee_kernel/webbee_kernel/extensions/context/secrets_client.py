"""ctx.secrets: declared names only, per user or per app; values never reach a log."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import SecretStr

from ...invariants import breach
from ...sdk.definitions import SecretDef
from ...sdk.exceptions import SecretNotDeclaredError, SecretTooLargeError, SystemContextRequired
from ...stores.item_keys import secret_part
from ...stores.protocols import SecretStore
from ...types import WEBHOOK_USER, UserKey
from .store_client import answered

APP_WIDE = "_app"
"""Stands for the user in the path of a secret that all users of a tenant share."""


class SecretsClient:
    """`ctx.secrets` of one call."""

    def __init__(
        self,
        store: SecretStore,
        user: UserKey,
        app_id: str,
        declared: dict[str, SecretDef],
        *,
        system: bool = False,
        revealed: set[str] | None = None,
        fallbacks: Mapping[str, SecretStr] = MappingProxyType({}),
    ) -> None:
        """`revealed` collects the values this call gets to see, for `ctx.log` to leave out;
        `fallbacks` are the variables that app-wide secrets may name."""
        self._fallbacks = fallbacks
        self._revealed = set() if revealed is None else revealed
        self._store = store
        self._user = user
        self._app = app_id
        self._declared = declared
        self._system = system

    def __repr__(self) -> str:
        return f"SecretsClient(app={self._app!r})"

    async def get(self, name: str) -> str | None:
        """The value, or None when nobody has set it; of an app-wide secret else that of the
        variable it names as `env_fallback`."""
        value = await answered(self._store.get(self._path(name)))
        if (
            value is None
            and (variable := self._spec(name).env_fallback)
            and self._spec(name).scope == "app"
            and variable in self._fallbacks
        ):
            value = self._fallbacks[variable].get_secret_value()
        if value:
            self._revealed.add(value)
        return value

    async def set(self, name: str, value: str) -> None:
        if self._spec(name).write_mode == "user":
            raise PermissionError(
                f"secret {name!r} is set by the user, not by the extension (write_mode='user')"
            )
        await answered(put(self._store, self._path(name), self._spec(name), value))
        self._revealed.add(value)

    async def delete(self, name: str) -> bool:
        if self._spec(name).write_mode == "user":
            raise PermissionError(
                f"secret {name!r} is removed by the user, not by the extension (write_mode='user')"
            )
        return await answered(self._store.delete(self._path(name)))

    async def is_set(self, name: str) -> bool:
        return await self.get(name) is not None

    async def list(self) -> list[dict[str, object]]:
        """The declared names and whether each is set; never a value."""
        return [
            {"name": n, "is_set": await self.is_set(n), "required": s.required}
            for n, s in self._declared.items()
        ]

    def for_user(self, user_id: str) -> SecretsClient:
        """Another user's secrets of this app. System context only, but for `__webhook__`."""
        if not self._system and user_id != WEBHOOK_USER:
            raise SystemContextRequired(
                breach(
                    "I-SECRETS-USER-SCOPED", "for_user was called for an ordinary user's request."
                )
            )
        other = UserKey(self._user.tenant_id, user_id)
        return SecretsClient(
            self._store,
            other,
            self._app,
            self._declared,
            system=self._system,
            revealed=self._revealed,
            fallbacks=self._fallbacks,
        )

    def _spec(self, name: str) -> SecretDef:
        if name not in self._declared:
            raise SecretNotDeclaredError(
                f"secret {name!r} is not declared: add @ext.secret({name!r}, description) to"
                f" {self._app}"
            )
        return self._declared[name]

    def _path(self, name: str) -> str:
        return path(self._user, self._app, self._spec(name))


def path(user: UserKey, app_id: str, spec: SecretDef) -> str:
    """`tenant/user/app/name`; each part holds only characters a parameter path may hold."""
    owner = APP_WIDE if spec.scope == "app" else secret_part(user.imperal_id)
    return f"{secret_part(user.tenant_id)}/{owner}/{app_id}/{secret_part(spec.name)}"


async def put(store: SecretStore, where: str, spec: SecretDef, value: str) -> None:
    """Check the size and write."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"secret {spec.name!r} must be a non-empty string")
    if (size := len(value.encode())) > spec.max_bytes:
        raise SecretTooLargeError(
            f"secret {spec.name!r} has {size} bytes; the limit is {spec.max_bytes}, max_bytes= of"
            " its declaration"
        )
    await store.set(where, value)
