"""Installation copies and the cached catalogue of a deployment.

Turns read installations from the skeleton table; direct calls read a copy among the user's
documents, because `tool_dispatch` must not use the skeleton table. The catalogue is cached in the
sessions table, which extension code cannot reach, by function version, so that a new process of
`chat_turn` need not wait for `tool_dispatch`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from ..catalogue import Catalogue
from ..clock import Clock
from ..config import Settings
from ..errors import BadInput, StorageUnavailable
from ..types import UserKey
from .codec import compress, decompress, dumps, loads
from .paging import Collection

if TYPE_CHECKING:
    from .dynamodb.document_store import DocumentStore
    from .dynamodb.user_items import CacheStore

KERNEL_APP = "_kernel"
"""The kernel's own documents; no extension can bear this id."""

COLLECTION = "installations"


async def is_installed(
    documents: DocumentStore, settings: Settings, user: UserKey, app_id: str
) -> bool:
    """The user's own decision, or the deployment's default."""
    record = await documents.get(Collection(user, KERNEL_APP, COLLECTION), app_id)
    return bool(record["installed"]) if record else settings.installed_by_default(app_id)


async def write_copy(
    documents: DocumentStore, user: UserKey, app_id: str, installed: bool, now: str
) -> None:
    """Write the copy that direct calls read."""
    copies, data = Collection(user, KERNEL_APP, COLLECTION), {"installed": installed}
    await documents.update(copies, app_id, data, now=now, replace=True)


OWNER: Final = UserKey("deployed", "__kernel__")
"""A user key that no token can have."""
MODEL: Final = "catalogue"
SECONDS: Final = 90 * 86_400
"""Seconds that a catalogue is cached: 90 days."""

_log = logging.getLogger("webbee.deployed")


class CachedCatalogue:
    """The catalogue of one version of `tool_dispatch`; up to 400 KB, compressed some 6,000
    functions."""

    def __init__(self, store: CacheStore, version: str, clock: Clock) -> None:
        self._store = store
        self._version = version
        self._clock = clock

    async def find(self) -> Catalogue | None:
        """The cached catalogue; None also where the table does not answer."""
        try:
            found = await self._store.get(
                OWNER, KERNEL_APP, MODEL, self._version, now=self._clock.now()
            )
        except StorageUnavailable:
            return None
        return Catalogue.from_dict(loads(decompress(found))) if found else None

    async def put(self, catalogue: Catalogue) -> None:
        """Cache it; one that is too large or cannot be written is only logged."""
        packed = compress(dumps(catalogue.to_dict()))
        until = self._clock.now() + SECONDS
        try:
            await self._store.set(OWNER, KERNEL_APP, MODEL, self._version, packed, expires_at=until)
        except (BadInput, StorageUnavailable) as error:
            _log.warning("error=%s | the catalogue was not kept", type(error).__name__)
