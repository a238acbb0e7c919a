"""What is deployed, and which user has which app of it.

The skeleton table's record of an installation is read by every turn, for free; a copy among the
user's documents is read by direct calls, because `tool_dispatch` must not touch the skeleton table.

The catalogue of a deployment is kept where a new process of `chat_turn` reads it, instead of
waiting for a process of `tool_dispatch` to load every extension. It lies in the sessions table,
which no credentials of extension code reach, under the version of the function that said it:
another deployment has another.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from ..catalogue import Catalogue
from ..clock import Clock
from ..config import Settings
from ..errors import StorageUnavailable
from ..types import UserKey
from .codec import INLINE_BYTES, dumps, loads, squeeze, unpack
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
    record = await documents.get(_copies(user), app_id)
    return bool(record["installed"]) if record else settings.installed_by_default(app_id)


async def remember(
    documents: DocumentStore, user: UserKey, app_id: str, installed: bool, now: str
) -> None:
    """Keep the copy that direct calls read."""
    data = {"installed": installed}
    await documents.update(_copies(user), app_id, data, now=now, replace=True)


def _copies(user: UserKey) -> Collection:
    return Collection(user, KERNEL_APP, COLLECTION)


WHOSE: Final = UserKey("deployed", "__kernel__")
"""Nobody's: no token can have such a user id."""
MODEL: Final = "catalogue"
SECONDS: Final = 90 * 86_400
"""A deployment that stands for longer is asked once more."""

_log = logging.getLogger("webbee.deployed")


class CachedCatalogue:
    """The catalogue of one version of `tool_dispatch`; up to 190,000 bytes, compressed some 3,000
    functions."""

    def __init__(self, store: CacheStore, version: str, clock: Clock) -> None:
        self._store = store
        self._version = version
        self._clock = clock

    async def find(self) -> Catalogue | None:
        """As another process was told it; None also where the table does not answer."""
        try:
            found = await self._store.get(
                WHOSE, KERNEL_APP, MODEL, self._version, now=self._clock.now()
            )
        except StorageUnavailable:
            return None
        return Catalogue.from_dict(loads(unpack(found))) if found else None

    async def put(self, catalogue: Catalogue) -> None:
        """Leave it; what is too large, or cannot be written, costs the next process a wait."""
        packed = squeeze(dumps(catalogue.to_dict()))
        if len(packed) > INLINE_BYTES:
            _log.warning("bytes=%d | the catalogue is too large to be kept", len(packed))
            return
        until = self._clock.now() + SECONDS
        try:
            await self._store.set(WHOSE, KERNEL_APP, MODEL, self._version, packed, expires_at=until)
        except StorageUnavailable as error:
            _log.warning("error=%s | the catalogue was not kept", type(error).__name__)
