"""Which user has which app, kept where each function may read it.

The skeleton table's record is read by every turn, for free; a copy among the user's documents is
read by direct calls, because `tool_dispatch` must not touch the skeleton table.
"""

from __future__ import annotations

from ..config import Settings
from ..values import UserKey
from .declared import Collection
from .protocols import DocumentStore

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
