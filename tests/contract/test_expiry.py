"""Every item that may expire carries `expires_at` in whole Unix seconds, and none that must live
does."""

from __future__ import annotations

import pytest

from tests.contract.conftest import Dynamo
from tests.contract.samples import ALICE, LATER, NOW, SESSION, event, pending, record, section, turn
from webbee_kernel.values import Installation

pytestmark = pytest.mark.anyio


def expiries(dynamo: Dynamo, table: str) -> dict[str, str]:
    items = dynamo.client.scan(TableName=table)["Items"]
    return {item["sk"]["S"]: item.get("expires_at", {}).get("N", "") for item in items}


async def test_turns_and_questions_expire(dynamo: Dynamo) -> None:
    for seq in (1, 2, 6):
        await dynamo.stores.sessions.append(SESSION, turn(seq), expires_at=LATER + seq)
    asking = turn(3, waiting=(pending(),))
    await dynamo.stores.sessions.append(SESSION, asking, expires_at=LATER)
    assert expiries(dynamo, dynamo.tables.sessions) == {
        "turn#1": str(LATER + 6),
        "turn#2": str(LATER + 2),
        "turn#3": str(LATER),
        f"pending#{pending().confirmation_id}": str(LATER + 600),
    }


async def test_a_cache_entry_is_swept_only_after_its_exact_expiry(dynamo: Dynamo) -> None:
    await dynamo.stores.cache.set(ALICE, "a", "m", "k", b"", expires_at=160.25)
    assert expiries(dynamo, dynamo.tables.cache) == {"m#k": "161"}


async def test_records_and_events_expire_each_in_its_time(dynamo: Dynamo) -> None:
    await dynamo.stores.audit.begin(ALICE, "e", record(), expires_at=1)
    await dynamo.stores.audit.append(
        ALICE, record(), expires_at=2, events=(event(),), events_expire_at=3
    )
    assert expiries(dynamo, dynamo.tables.audit) == {"effect#e": "1", "call#01": "2"}
    assert expiries(dynamo, dynamo.tables.events) == {"e1": "3"}


async def test_the_skeleton_and_documents_never_do(dynamo: Dynamo) -> None:
    await dynamo.stores.skeleton.register(ALICE, [section()], who={})
    await dynamo.stores.skeleton.put_installation(ALICE, Installation("mail", True))
    await dynamo.stores.documents.create(ALICE, "a", "c", {}, now=NOW, doc_id="d")
    assert set(expiries(dynamo, dynamo.tables.skeleton).values()) == {""}
    assert set(expiries(dynamo, dynamo.tables.store).values()) == {""}
