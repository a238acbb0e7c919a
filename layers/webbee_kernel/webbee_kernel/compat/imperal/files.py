"""`ctx.storage`: files as documents of the user and app, since a deployment has no bucket."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from ...sdk import context as kernel
from . import names as sdk
from .errors import in_their_words

INDEX = "imperal.storage"
CONTENT = "imperal.storage.content"
MAX_BYTES = 3_500_000
"""Bytes of one file: what is left of the store's 3.8 MB a document once the content is text."""


class Storage:
    """Files of one user and app. The bytes and their entry are two documents; the entry is written
    last and removed first."""

    def __init__(self, store: kernel.StoreClient, app_id: str) -> None:
        self._store = store
        self._app = app_id

    async def upload(
        self, path: str, data: bytes, content_type: str = "application/octet-stream"
    ) -> Any:
        """Keep a file of at most 3.5 MB; ValueError over that."""
        if len(data) > MAX_BYTES:
            raise ValueError(
                f"{path!r} has {len(data)} bytes; ctx.storage keeps at most {MAX_BYTES} a file"
            )
        name = _name(path)
        with in_their_words(self._app):
            await self._store.set(f"{CONTENT}/{name}", {"base64": base64.b64encode(data).decode()})
            entry = await self._store.set(
                f"{INDEX}/{name}", {"path": path, "size": len(data), "content_type": content_type}
            )
        return sdk.FileInfo(
            path=path, size=len(data), content_type=content_type, created_at=entry.created_at
        )

    async def download(self, path: str) -> bytes:
        """The file's bytes; FileNotFoundError where there is none."""
        with in_their_words(self._app):
            found = await self._store.get(CONTENT, _name(path))
        if found is None:
            raise FileNotFoundError(path)
        return base64.b64decode(found["base64"])

    async def delete(self, path: str) -> bool:
        """Remove it; whether it was there."""
        with in_their_words(self._app):
            there = await self._store.delete(INDEX, _name(path))
            await self._store.delete(CONTENT, _name(path))
        return there

    async def list(self, prefix: str = "") -> Any:
        """Files whose path starts so, at most 1,000."""
        with in_their_words(self._app):
            page = await self._store.query(INDEX, limit=1_000)
        files = [
            sdk.FileInfo(
                path=d["path"],
                size=d["size"],
                content_type=d["content_type"],
                created_at=d.created_at,
            )
            for d in page.data
            if str(d["path"]).startswith(prefix)
        ]
        return sdk.Page(data=files, has_more=page.has_more, cursor=page.cursor)


def _name(path: str) -> str:
    """A document id for any path."""
    return hashlib.sha256(path.encode()).hexdigest()
