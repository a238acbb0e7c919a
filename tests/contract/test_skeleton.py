from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from tests.contract.conftest import SHARDS, Dynamo
from tests.contract.samples import ALICE, BOB, race, section
from webbee_kernel.stores import Stores
from webbee_kernel.stores.keys import shard_of
from webbee_kernel.stores.records import installation_from
from webbee_kernel.values import Installation, Section, UserKey, UserState

pytestmark = pytest.mark.anyio


async def saved(stores: Stores, given: Section, *, now: float = 2000.0) -> Section:
    """Register, lease and save a section as a refresh does."""
    await stores.skeleton.register(ALICE, given)
    leased = await stores.skeleton.lease(
        ALICE, given.app_id, given.section, now=now, until=now + 60
    )
    assert leased is not None
    assert await stores.skeleton.save(
        ALICE, replace(given, version=leased.version + 1), lease=leased.lease_until
    )
    return replace(given, version=leased.version + 1)


async def due(stores: Stores, user: UserKey, before: float) -> list[str]:
    rows, _ = await stores.skeleton.due(shard_of(user, SHARDS), before)
    return [f"{who.imperal_id}:{s.app_id}.{s.section}" for who, s in rows]


async def test_a_user_starts_with_nothing(stores: Stores) -> None:
    assert await stores.skeleton.read(ALICE) == UserState()
    assert await stores.skeleton.get(ALICE, "mail", "inbox") is None


async def test_a_section_is_registered_once(stores: Stores) -> None:
    await stores.skeleton.register(ALICE, section())
    await stores.skeleton.register(ALICE, section(ttl=9, due_at=5.0))
    assert await stores.skeleton.get(ALICE, "mail", "inbox") == section()


async def test_a_saved_section_comes_back_whole(stores: Stores) -> None:
    full = section(
        data={"unread": 2**66, "share": 0.1, "empty": {}},
        previous={"unread": 1},
        refreshed_at=1999.25,
        ttl=30,
        due_at=2029.25,
        failures=2,
        last_error="BACKEND_5XX",
        alerted=0,
    )
    assert await stores.skeleton.get(ALICE, "mail", "inbox") is None
    stored = await saved(stores, full)
    assert await stores.skeleton.get(ALICE, "mail", "inbox") == stored
    assert (await stores.skeleton.read(ALICE)).sections == (stored,)


async def test_one_read_holds_every_section_and_installation_of_the_user_only(
    stores: Stores,
) -> None:
    for app, name in [("mail", "inbox"), ("mail", "calendar"), ("mail2", "inbox")]:
        await stores.skeleton.register(ALICE, section(name, app_id=app))
    await stores.skeleton.register(BOB, section("secret"))
    await stores.skeleton.put_installation(ALICE, Installation("mail", True, "1.0", "2026-01-01"))
    await stores.skeleton.put_installation(ALICE, Installation("notes", False))
    state = await stores.skeleton.read(ALICE)
    assert [(s.app_id, s.section) for s in state.sections] == [
        ("mail", "calendar"),
        ("mail", "inbox"),
        ("mail2", "inbox"),
    ]
    assert state.installations == (
        Installation("mail", True, "1.0", "2026-01-01"),
        Installation("notes", False),
    )


async def test_an_installation_record_is_replaced_and_what_it_said_is_told(stores: Stores) -> None:
    assert await stores.skeleton.put_installation(ALICE, Installation("mail", True, "1.0")) is None
    assert await stores.skeleton.put_installation(
        ALICE, Installation("mail", True, "2.0")
    ) == Installation("mail", True, "1.0")
    assert await stores.skeleton.put_installation(
        ALICE, Installation("mail", False)
    ) == Installation("mail", True, "2.0")
    assert (await stores.skeleton.read(ALICE)).installations == (Installation("mail", False),)


async def test_an_installation_record_that_says_the_same_keeps_its_time(stores: Stores) -> None:
    first = Installation("mail", True, "1.0", "2026-01-01")
    await stores.skeleton.put_installation(ALICE, first)
    assert (
        await stores.skeleton.put_installation(
            ALICE, Installation("mail", True, "1.0", "2026-02-02")
        )
        == first
    )
    assert (await stores.skeleton.read(ALICE)).installations == (first,)


async def test_each_change_of_an_installation_is_seen_by_one_of_racing_writers(
    stores: Stores,
) -> None:
    def put(installed: bool, version: str) -> Callable[[], Coroutine[Any, Any, Any]]:
        return lambda: stores.skeleton.put_installation(
            ALICE, Installation("mail", installed, version, "2026-01-01")
        )

    one, two, gone = (
        Installation("mail", True, "1", "2026-01-01"),
        Installation("mail", True, "2", "2026-01-01"),
        Installation("mail", False, "", "2026-01-01"),
    )
    assert (await race(*[put(True, "1")] * 6)).count(None) == 1
    assert (await race(*[put(True, "2")] * 6)).count(one) == 1
    assert (await race(*[put(False, "")] * 6)).count(two) == 1
    assert (await race(*[put(True, "2")] * 6)).count(gone) == 1


async def test_when_a_user_was_noted_stands_beside_the_installations(stores: Stores) -> None:
    assert await stores.skeleton.seen(ALICE) is None
    await stores.skeleton.put_installation(ALICE, Installation("mail", True))
    for at in (1000.25, 2000.5):
        await stores.skeleton.mark_seen(ALICE, at)
        assert await stores.skeleton.seen(ALICE) == at
    assert await stores.skeleton.read(ALICE) == UserState((), (Installation("mail", True),), 2000.5)
    assert await stores.skeleton.purge(ALICE, "mail") == 0
    assert await stores.skeleton.seen(ALICE) == 2000.5
    assert await stores.skeleton.seen(BOB) is None
    assert (await stores.skeleton.read(BOB)).seen_at is None


async def test_a_reader_that_knows_nothing_of_notes_finds_an_app_that_is_not_there(
    dynamo: Dynamo,
) -> None:
    await dynamo.stores.skeleton.mark_seen(ALICE, 1000.25)
    [item] = dynamo.client.scan(TableName=dynamo.tables.skeleton)["Items"]
    assert item["sk"]["S"].startswith("!")
    assert installation_from(item["body"]["S"]) == Installation("_kernel", True)


async def test_a_lease_keeps_others_out_until_it_runs_out(stores: Stores) -> None:
    await stores.skeleton.register(ALICE, section())
    first = await stores.skeleton.lease(ALICE, "mail", "inbox", now=100.0, until=160.5)
    assert first == section(lease_until=160.5)
    assert await stores.skeleton.lease(ALICE, "mail", "inbox", now=160.4, until=220.0) is None
    assert await stores.skeleton.lease(ALICE, "mail", "inbox", now=160.5, until=220.0) == section(
        lease_until=220.0
    )


async def test_there_is_no_lease_on_what_does_not_exist(stores: Stores) -> None:
    assert await stores.skeleton.lease(ALICE, "mail", "inbox", now=1.0, until=2.0) is None
    assert await stores.skeleton.get(ALICE, "mail", "inbox") is None


async def test_of_racing_consumers_one_gets_the_lease(stores: Stores) -> None:
    await stores.skeleton.register(ALICE, section())
    got = await race(
        *[lambda: stores.skeleton.lease(ALICE, "mail", "inbox", now=100.0, until=160.0)] * 6
    )
    assert got.count(None) == 5


async def test_saving_gives_the_lease_back(stores: Stores) -> None:
    await saved(stores, section())
    assert await stores.skeleton.lease(ALICE, "mail", "inbox", now=2000.0, until=2060.0) is not None


async def test_a_lost_lease_saves_nothing(stores: Stores) -> None:
    await stores.skeleton.register(ALICE, section())
    await stores.skeleton.lease(ALICE, "mail", "inbox", now=100.0, until=160.0)
    await stores.skeleton.lease(ALICE, "mail", "inbox", now=170.0, until=230.0)
    assert not await stores.skeleton.save(
        ALICE, section(data={"from": "the slow one"}), lease=160.0
    )
    assert await stores.skeleton.save(ALICE, section(data={"from": "the quick one"}), lease=230.0)
    assert not await stores.skeleton.save(
        ALICE, section(data={"from": "the slow one"}), lease=160.0
    )
    found = await stores.skeleton.get(ALICE, "mail", "inbox")
    assert found is not None
    assert found.data == {"from": "the quick one"}


async def test_a_refresh_that_outlives_its_section_does_not_bring_it_back(stores: Stores) -> None:
    await stores.skeleton.register(ALICE, section())
    await stores.skeleton.lease(ALICE, "mail", "inbox", now=100.0, until=160.0)
    await stores.skeleton.purge(ALICE, "mail")
    assert not await stores.skeleton.save(ALICE, section(data={}), lease=160.0)
    assert await stores.skeleton.read(ALICE) == UserState()


async def test_what_is_due_is_found_earliest_first(stores: Stores) -> None:
    for name, when in [("late", 300.0), ("early", 100.25), ("mid", 200.0), ("never", None)]:
        await stores.skeleton.register(ALICE, section(name, due_at=when))
    assert await due(stores, ALICE, 200.0) == ["alice:mail.early"]
    assert await due(stores, ALICE, 1000.0) == [
        "alice:mail.early",
        "alice:mail.mid",
        "alice:mail.late",
    ]


async def test_a_due_row_carries_what_a_refresh_message_needs_and_no_more(stores: Stores) -> None:
    await saved(stores, section(data={"a": 1}, ttl=30, due_at=50.0))
    rows, cursor = await stores.skeleton.due(shard_of(ALICE, SHARDS), 60.0)
    assert rows == (
        (ALICE, Section("mail", "inbox", ttl=30, due_at=50.0, user={"imperal_id": "alice"})),
    )
    assert cursor is None


async def test_every_user_is_due_in_exactly_one_shard(stores: Stores) -> None:
    users = [UserKey("acme", f"user{n}") for n in range(12)]
    for user in users:
        await stores.skeleton.register(user, section(due_at=10.0))
    found = [
        user for shard in range(SHARDS) for user, _ in (await stores.skeleton.due(shard, 20.0))[0]
    ]
    assert sorted(found, key=str) == sorted(users, key=str)


async def test_due_rows_come_in_pages(stores: Stores) -> None:
    for n in range(7):
        await stores.skeleton.register(ALICE, section(f"s{n}", due_at=100.0 + n // 2))
    pages, cursor = [], None
    while True:
        rows, cursor = await stores.skeleton.due(
            shard_of(ALICE, SHARDS), 1000.0, limit=3, cursor=cursor
        )
        pages.append([s.section for _, s in rows])
        if cursor is None:
            break
    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted(name for page in pages for name in page) == [f"s{n}" for n in range(7)]


async def test_saving_moves_the_due_time(stores: Stores) -> None:
    await saved(stores, section(due_at=5000.0))
    assert await due(stores, ALICE, 4000.0) == []
    assert await due(stores, ALICE, 6000.0) == ["alice:mail.inbox"]


async def test_an_early_refresh_moves_the_due_time_forward_only(stores: Stores) -> None:
    await stores.skeleton.register(ALICE, section(due_at=500.0))
    assert await stores.skeleton.request_refresh(ALICE, "mail", "inbox", 100.0)
    assert await stores.skeleton.request_refresh(ALICE, "mail", "inbox", 300.0)
    assert await due(stores, ALICE, 101.0) == ["alice:mail.inbox"]
    assert not await stores.skeleton.request_refresh(ALICE, "mail", "nothing", 100.0)


async def test_a_refresh_asked_for_while_one_runs_is_not_lost(stores: Stores) -> None:
    await stores.skeleton.register(ALICE, section(due_at=90.0))
    await stores.skeleton.lease(ALICE, "mail", "inbox", now=100.0, until=160.0)
    assert await stores.skeleton.request_refresh(ALICE, "mail", "inbox", 120.0)
    assert await stores.skeleton.save(ALICE, section(due_at=430.0), lease=160.0)
    assert await due(stores, ALICE, 121.0) == ["alice:mail.inbox"]
    assert await stores.skeleton.lease(ALICE, "mail", "inbox", now=130.0, until=190.0)
    assert await stores.skeleton.save(ALICE, section(due_at=430.0), lease=190.0)
    assert await due(stores, ALICE, 429.0) == []


async def test_a_refresh_settles_what_was_asked_for_before_it(stores: Stores) -> None:
    await stores.skeleton.register(ALICE, section(due_at=500.0))
    await stores.skeleton.request_refresh(ALICE, "mail", "inbox", 100.0)
    await stores.skeleton.lease(ALICE, "mail", "inbox", now=101.0, until=161.0)
    assert await stores.skeleton.save(ALICE, section(due_at=401.0), lease=161.0)
    assert await due(stores, ALICE, 401.0) == []
    assert await due(stores, ALICE, 402.0) == ["alice:mail.inbox"]


async def test_an_alert_mark_never_turns_back(stores: Stores) -> None:
    await saved(stores, section())
    leased = await stores.skeleton.lease(ALICE, "mail", "inbox", now=3000.0, until=3060.0)
    assert leased is not None
    await stores.skeleton.mark_alerted(ALICE, "mail", "inbox", 5)
    await stores.skeleton.mark_alerted(ALICE, "mail", "inbox", 4)
    assert await stores.skeleton.save(ALICE, leased, lease=3060.0)
    found = await stores.skeleton.get(ALICE, "mail", "inbox")
    assert found is not None
    assert found.alerted == 5
    await stores.skeleton.mark_alerted(ALICE, "mail", "nothing", 1)
    assert await stores.skeleton.get(ALICE, "mail", "nothing") is None


async def test_purging_takes_one_app_of_one_user(stores: Stores) -> None:
    for app, name in [
        ("mail", "inbox"),
        ("mail", "calendar"),
        ("mail2", "inbox"),
        ("notes", "all"),
    ]:
        await stores.skeleton.register(ALICE, section(name, app_id=app))
    await stores.skeleton.register(BOB, section("inbox"))
    await stores.skeleton.put_installation(ALICE, Installation("mail", False))
    assert await stores.skeleton.purge(ALICE, "mail") == 2
    assert await stores.skeleton.purge(ALICE, "mail") == 0
    state = await stores.skeleton.read(ALICE)
    assert [s.app_id for s in state.sections] == ["mail2", "notes"]
    assert state.installations == (Installation("mail", False),)
    assert await due(stores, ALICE, 5000.0) == [
        line
        for line in ["alice:mail2.inbox", "alice:notes.all", "bob:mail.inbox"]
        if line[0] == "a" or _together()
    ]
    assert len((await stores.skeleton.read(BOB)).sections) == 1


def _together() -> bool:
    return shard_of(ALICE, SHARDS) == shard_of(BOB, SHARDS)


async def test_what_a_caller_holds_is_not_what_is_stored(stores: Stores) -> None:
    data = {"list": [1]}
    await saved(stores, section(data=data))
    data["list"].append(2)
    one = await stores.skeleton.get(ALICE, "mail", "inbox")
    assert one is not None
    assert one.data == {"list": [1]}
    one.data["list"].append(3)
    assert (await stores.skeleton.read(ALICE)).sections[0].data == {"list": [1]}
