"""Values for the contract tests, and the means to let callers race."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from webbee_kernel.sdk.result import Document
from webbee_kernel.stores import Collection, Stores
from webbee_kernel.stores.types import PendingConfirmation, Section, ToolCallDigest, Turn
from webbee_kernel.types import AuditRecord, Event, SessionKey, UserKey

ALICE = UserKey("acme", "alice")
BOB = UserKey("acme", "bob")
SESSION = SessionKey(ALICE, "s1")
LATER = 2_000_000_000
NOW = "2026-05-15T17:21:04Z"
Declared = tuple[tuple[str, ...], float]
"""The indexed fields of a collection, and when they are told."""
UNDECLARED: Declared = ((), 0.0)


def turn(seq: int, **changes: Any) -> Turn:
    at = f"2026-05-15T17:{seq:02d}:00Z"
    told = Turn(seq, at, "ok", f"письмо {seq}", f"ответ {seq}", f"r{seq}")
    digests = (ToolCallDigest("mail", "list_inbox", '{"unread": 8}'),)
    given = {"apps": ("mail",), "digests": digests, "vault": {"<EMAIL_1>": "sarah@example.com"}}
    response = {"reply": f"ответ {seq}", "n": 2**70, "share": 0.1}
    return replace(told, **{**given, "response": response, **changes})


def pending(confirmation_id: str = "conf_0123456789ab") -> PendingConfirmation:
    step = {"app_id": "mail", "fn_name": "delete", "args": {"id": 2**63}}
    told = ("delete it", "r9", (step,), "Delete one letter")
    return PendingConfirmation(confirmation_id, LATER, *told)


def section(name: str = "inbox", *, app_id: str = "mail", **changes: Any) -> Section:
    return Section(app_id, name, **{"due_at": 1000.5, **changes})


def record(record_id: str = "01", **changes: Any) -> AuditRecord:
    given: dict[str, Any] = {
        "record_id": record_id,
        "at": NOW,
        "app_id": "mail",
        "fn_name": "send",
        "action_type": "write",
        "session_id": "s1",
        "request_id": "r1",
        "step": 0,
        "args_hash": "ab12",
        "status": "success",
        "duration_ms": 12,
        "outcome": {"status": "success", "summary": "sent", "data": {"id": 2**65}},
    }
    return AuditRecord(**{**given, **changes})


def event(event_id: str = "e1", **changes: Any) -> Event:
    return replace(Event(event_id, NOW, "notification", {"text": "готово"}), **changes)


class Kept:
    """The documents of one collection: each method of the store, its place given."""

    def __init__(self, stores: Stores, place: Collection) -> None:
        self._documents, self.place = stores.documents, place

    def __getattr__(self, method: str) -> Any:
        when = {"now": NOW} if method in ("create", "update") else {}
        return partial(getattr(self._documents, method), self.place, **when)

    async def add(self, *rows: dict[str, Any]) -> list[Document]:
        return [await self.create(row) for row in rows]

    async def data(self, doc_id: str) -> dict[str, Any] | None:
        """What a document holds; None where there is none."""
        found = await self.get(doc_id)
        return found and found.data

    async def pages(self, field: str, **options: Any) -> list[list[Any]]:
        """Every page's values of one field."""
        found, cursor = [], None
        while True:
            page = await self.query(cursor=cursor, **options)
            found.append([d.data.get(field) for d in page])
            assert page.has_more == (page.cursor is not None)
            if not page.has_more:
                return found
            cursor = page.cursor


def notes(
    stores: Stores,
    collection: str = "notes",
    *,
    user: UserKey = ALICE,
    app: str = "notes",
    declared: Declared = UNDECLARED,
) -> Kept:
    """A collection of Alice's, unless told otherwise."""
    return Kept(stores, Collection(user, app, collection, *declared))


async def race(*callers: Callable[[], Coroutine[Any, Any, Any]]) -> list[Any]:
    """Run every caller in a thread and an event loop of its own, all at once; an exception is a
    result too."""

    def run(caller: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        try:
            return asyncio.run(caller())
        except Exception as error:
            return error

    start = asyncio.get_running_loop().run_in_executor
    with ThreadPoolExecutor(len(callers)) as threads:
        return await asyncio.gather(*(start(threads, run, caller) for caller in callers))
