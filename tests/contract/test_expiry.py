"""Every item that may expire carries `expires_at` in whole Unix seconds, and none that must live
does."""

from dataclasses import replace

import pytest

from tests.contract.conftest import Dynamo
from tests.contract.samples import ALICE, LATER, NOW, SESSION, event, pending, record, section, turn
from webbee_kernel.clock import parse_iso
from webbee_kernel.stores import Collection, Stores
from webbee_kernel.stores.types import Installation, SessionSummary


def expiries(dynamo: Dynamo, table: str) -> dict[str, str]:
    items = dynamo.client.scan(TableName=table)["Items"]
    return {item["sk"]["S"]: item.get("expires_at", {}).get("N", "") for item in items}


async def test_turns_and_questions_expire(dynamo: Dynamo) -> None:
    for seq in (1, 2, 6):
        await dynamo.stores.sessions.append(SESSION, turn(seq), expires_at=LATER + seq, now=0.0)
    asking = turn(3, waiting=(pending(),))
    await dynamo.stores.sessions.append(SESSION, asking, expires_at=LATER, now=0.0)
    assert expiries(dynamo, dynamo.tables.sessions) == {
        "turn#1": str(LATER + 6),
        "turn#2": str(LATER + 2),
        "turn#3": str(LATER),
        f"pending#{pending().confirmation_id}": str(LATER + 600),
    }


async def test_records_events_and_cached_values_expire_each_in_its_time(dynamo: Dynamo) -> None:
    await dynamo.stores.audit.begin(ALICE, "e", record(), expires_at=1, now=0.0)
    told = {"events": (event(),), "events_expire_at": 3}
    await dynamo.stores.audit.append(ALICE, record(), expires_at=2, **told)
    assert expiries(dynamo, dynamo.tables.audit) == {"effect#e": "1", "call#01": "2"}
    assert expiries(dynamo, dynamo.tables.events) == {"e1": "3"}
    await dynamo.stores.cache.set(ALICE, "a", "m", "k", b"", expires_at=160.25)
    assert expiries(dynamo, dynamo.tables.cache) == {"m#k": "161"}  # not before its exact end


async def test_the_skeleton_and_documents_never_do(dynamo: Dynamo) -> None:
    await dynamo.stores.skeleton.register(ALICE, [section()], who={})
    await dynamo.stores.skeleton.put_installation(ALICE, Installation("mail", True))
    await dynamo.stores.documents.create(Collection(ALICE, "a", "c"), {}, now=NOW, doc_id="d")
    assert set(expiries(dynamo, dynamo.tables.skeleton).values()) == {""}
    assert set(expiries(dynamo, dynamo.tables.store).values()) == {""}


# ---- what expired is gone, whenever the sweep comes


@pytest.mark.parametrize("first", [1, 2])
async def test_an_expired_session_begins_anew(stores: Stores, first: int) -> None:
    for seq in range(first, 9):
        await stores.sessions.append(SESSION, turn(seq), expires_at=1000, now=0.0)
    for seq in (1, 2):
        again = turn(seq, reply="again")
        assert await stores.sessions.append(SESSION, again, expires_at=LATER, now=1000.0)
        assert not await stores.sessions.append(SESSION, again, expires_at=LATER, now=1000.0)
    memory = await stores.sessions.read(SESSION, now=1000.0)
    assert [t.reply for t in memory.turns] == ["again", "again"]


async def test_expired_turns_and_sessions_are_neither_remembered_nor_shown(stores: Stores) -> None:
    for seq in (1, 2):
        touched = SessionSummary(f"s{seq}", "a title", turn(seq).at, seq)
        await stores.transcripts.touch(ALICE, touched, expires_at=1000 + seq)
    await stores.transcripts.append(SESSION, [turn(1), turn(2)], seconds=1000)
    told = await stores.transcripts.read(SESSION, now=parse_iso(turn(1).at) + 1000)
    listed, _ = await stores.transcripts.list(ALICE, now=1001.0)
    for seq in (1, 2):
        await stores.sessions.append(SESSION, turn(seq), expires_at=1000 + seq, now=0.0)
    remembered = [await stores.sessions.read(SESSION, now=now) for now in (1000.5, 1001.0, 1002.0)]
    assert [[t.seq for t in memory.turns] for memory in remembered] == [[1, 2], [2], []]
    assert [row["turn"] for row in told] == [2]
    assert [row.session_id for row in listed] == ["s2"]


async def test_expired_events_and_records_are_not_told(stores: Stores) -> None:
    for n in range(4):
        await stores.events.append(ALICE, event(f"e{n}"), expires_at=1000 + n)
    assert [e.event_id for e in await stores.events.since(ALICE, "", limit=1, now=1001.0)] == ["e2"]
    assert await stores.events.since(ALICE, "", now=1003.0) == ()
    for n in range(4):
        await stores.audit.append(ALICE, record(f"0{n}"), expires_at=1000 + n)
    assert [r.record_id for r in await stores.audit.list(ALICE, limit=1, now=1002.0)] == ["03"]
    assert await stores.audit.list(ALICE, now=1003.0) == ()


async def test_an_expired_claim_is_claimed_anew(stores: Stores) -> None:
    audit = stores.audit
    assert await audit.begin(ALICE, "e", record("01"), expires_at=1000, now=0.0) is None
    assert await audit.begin(ALICE, "e", record("02"), expires_at=1100, now=999.9) is not None
    assert await audit.begin(ALICE, "e", record("02"), expires_at=1100, now=1000.0) is None
    assert await audit.begin(ALICE, "e", record("03"), expires_at=LATER, now=1000.0) == replace(
        record("02"), status="started"
    )


async def test_a_record_that_expired_is_no_outcome(stores: Stores) -> None:
    await stores.audit.begin(ALICE, "e", record("01"), expires_at=LATER, now=0.0)
    await stores.audit.append(ALICE, record("01"), expires_at=1000)
    again = record("02")
    found = await stores.audit.begin(ALICE, "e", again, expires_at=LATER, now=999.0)
    assert found == record("01")
    found = await stores.audit.begin(ALICE, "e", again, expires_at=LATER, now=1000.0)
    assert found == replace(record("01"), status="started")


async def test_a_question_leads_to_its_session_for_ten_minutes_more(stores: Stores) -> None:
    await stores.sessions.append(SESSION, turn(1, waiting=(pending(),)), expires_at=LATER, now=0.0)
    name, end = pending().confirmation_id, LATER + 600
    assert await stores.sessions.find_pending(ALICE, name, now=end - 1.0) == "s1"
    assert await stores.sessions.find_pending(ALICE, name, now=float(end)) is None
