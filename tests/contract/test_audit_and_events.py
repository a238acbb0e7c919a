from dataclasses import replace
from functools import partial

from tests.contract.samples import ALICE, BOB, LATER, event, race, record
from webbee_kernel.stores import Stores, sse
from webbee_kernel.stores.codec import dumps
from webbee_kernel.types import AuditRecord, Event, UserKey


async def claim(
    stores: Stores, effect: str, by: AuditRecord, user: UserKey = ALICE
) -> AuditRecord | None:
    return await stores.audit.begin(user, effect, by, expires_at=LATER, now=0.0)


async def append(stores: Stores, ended: AuditRecord, *told: Event) -> None:
    more = {"events": told, "events_expire_at": LATER} if told else {}
    await stores.audit.append(ALICE, ended, expires_at=LATER, **more)


async def test_an_effect_is_claimed_once(stores: Stores) -> None:
    assert await claim(stores, "turn1#0#send", record("01")) is None
    for again in ("01", "02"):
        found = await claim(stores, "turn1#0#send", record(again))
        assert found == record("01", status="started")
    assert await claim(stores, "turn1#1#send", record("03")) is None
    assert await claim(stores, "turn1#0#send", record("04"), user=BOB) is None


async def test_a_second_delivery_gets_the_outcome_of_the_first(stores: Stores) -> None:
    await claim(stores, "e", record("01", outcome=None))
    await append(stores, record("01"))
    assert await claim(stores, "e", record("02")) == record("01")


async def test_of_racing_deliveries_one_claims(stores: Stores) -> None:
    deliveries = [record(f"{n:02d}") for n in range(6)]
    got = await race(*(lambda one=one: claim(stores, "e", one) for one in deliveries))
    assert got.count(None) == 1
    winner = deliveries[got.index(None)]
    assert [found for found in got if found is not None] == [replace(winner, status="started")] * 5


async def test_records_are_listed_newest_first_without_claims(stores: Stores) -> None:
    await claim(stores, "e", record("99"))
    for n in (3, 1, 2):
        await append(stores, record(f"{n:02d}"))
    assert [r.record_id for r in await stores.audit.list(ALICE, now=0.0)] == ["03", "02", "01"]
    assert [r.record_id for r in await stores.audit.list(ALICE, limit=2, now=0.0)] == ["03", "02"]
    assert await stores.audit.list(BOB, now=0.0) == ()


async def test_a_record_and_its_events_arrive_together(stores: Stores) -> None:
    told = tuple(event(f"e{n:03d}") for n in range(110))  # more than one transaction takes
    await append(stores, record(), *told)
    assert await stores.audit.list(ALICE, now=0.0) == (record(),)
    assert await stores.events.since(ALICE, "", limit=500, now=0.0) == told


async def test_an_append_can_be_repeated_and_changes_nothing(stores: Stores) -> None:
    told = (event("e1"), event("e2"))
    await append(stores, record(), *told[:1])
    await append(stores, record(status="forged"), *told)
    await append(stores, record(status="forged"))
    assert await stores.audit.list(ALICE, now=0.0) == (record(),)
    assert await stores.events.since(ALICE, "", now=0.0) == told


async def test_a_huge_outcome_keeps_its_summary_and_says_what_is_missing(stores: Stores) -> None:
    short = {"status": "success", "summary": "found 9", "error_code": "", "panels": ["inbox"]}
    outcome = {**short, "data": {"text": "я" * 200_000}, "ui": {"a": "x" * 5_000}}
    await append(stores, record(outcome=outcome))
    (kept,) = await stores.audit.list(ALICE, now=0.0)
    assert kept.outcome is not None
    assert kept.outcome.pop("dropped") == {"bytes": len(dumps(outcome).encode()), "limit": 300_000}
    assert kept.outcome == {**short, "data": None, "ui": None}


async def test_events_come_in_order_of_their_ids(stores: Stores) -> None:
    for n in (2, 1, 3):
        assert await stores.events.append(ALICE, event(f"e{n}"), expires_at=LATER)
    await stores.events.append(BOB, event("e9"), expires_at=LATER)
    assert [e.event_id for e in await stores.events.since(ALICE, "", now=0.0)] == ["e1", "e2", "e3"]
    assert [e.event_id for e in await stores.events.since(ALICE, "e1", now=0.0)] == ["e2", "e3"]
    assert [e.event_id for e in await stores.events.since(ALICE, "e1", limit=1, now=0.0)] == ["e2"]
    assert await stores.events.since(ALICE, "e3", now=0.0) == ()


async def test_racing_events_of_one_id_are_told_once(stores: Stores) -> None:
    rivals = [event(data={"text": str(n)}) for n in range(6)]
    append = partial(stores.events.append, ALICE, expires_at=LATER)
    fresh = await race(*(partial(append, rival) for rival in rivals))
    assert sorted(fresh) == [False] * 5 + [True]
    assert await stores.events.since(ALICE, "", now=0.0) == (rivals[fresh.index(True)],)


def test_a_poll_gets_what_an_answer_holds_and_asks_for_the_rest_at_once() -> None:
    large = (event(data={"text": "x" * 199_000}),) * 100
    told = sse(large)
    assert told.startswith("retry: 0\n") and len(told) < 3_100_000
    assert sse(large[:9]).startswith("retry: 3000\n")
