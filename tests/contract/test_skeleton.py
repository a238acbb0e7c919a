from dataclasses import replace
from functools import partial

import pytest

from tests.contract.conftest import SHARDS, Dynamo
from tests.contract.samples import ALICE, BOB, NOW, race, section
from webbee_kernel.stores import Stores
from webbee_kernel.stores.item_keys import shard_of
from webbee_kernel.stores.types import DueUser, Installation, Lease, Section, ShardMark, UserState
from webbee_kernel.types import UserKey

WHO = {"language": "en"}


async def registered(stores: Stores, *sections: Section, user: UserKey = ALICE) -> None:
    await stores.skeleton.register(user, sections, who=WHO)


async def leased(stores: Stores, *, now: float = 2000.0, due_by: float | None = None) -> Lease:
    """Alice's timer, held for a minute."""
    lease = await stores.skeleton.lease(ALICE, now=now, until=now + 60, due_by=due_by)
    assert lease is not None
    return lease


async def saved(stores: Stores, *given: Section, now: float = 2000.0) -> None:
    """Register, lease, write and save sections as a refresh does."""
    await registered(stores, *(Section(s.app_id, s.section, due_at=1.0) for s in given))
    lease = await leased(stores, now=now)
    assert await stores.skeleton.write(ALICE, [s for s in given if s.data is not None], lease=lease)
    others = [s for s in lease.state.sections if s.key not in {g.key for g in given}]
    assert await stores.skeleton.save(ALICE, [*others, *given], lease=lease, now=now) is not None


async def next_due(stores: Stores, given: list[Section], lease: Lease, now: float) -> float | None:
    """When the user is due after a save of these."""
    done = await stores.skeleton.save(ALICE, given, lease=lease, now=now)
    assert done is not None
    return done.due_at


async def due(stores: Stores, user: UserKey, before: float, since: float = 0.0) -> list[str]:
    rows, _ = await stores.skeleton.due(shard_of(user, SHARDS), before, since=since)
    return [f"{who.imperal_id}@{due.due_at:g}" for who, due in rows]


async def one(stores: Stores) -> Section:
    found = await stores.skeleton.get(ALICE, "mail", "inbox")
    assert found is not None
    return found


async def test_a_section_is_registered_once_and_later_ones_join_it(stores: Stores) -> None:
    register = stores.skeleton.register
    assert await stores.skeleton.read(ALICE) == UserState()
    assert await stores.skeleton.get(ALICE, "mail", "inbox") is None
    assert await register(ALICE, [section()], who=WHO)
    assert not await register(ALICE, [section(ttl=9, due_at=5.0)], who=WHO)
    await registered(stores, section("outbox", due_at=500.0), section(ttl=7))
    both = (section(), section("outbox", due_at=500.0))
    assert (await stores.skeleton.read(ALICE)).sections == both
    assert await due(stores, ALICE, 2000.0) == ["alice@500"]


@pytest.mark.parametrize("size", [100, 2_000, 60_000])
async def test_a_saved_section_of_any_size_comes_back_whole(stores: Stores, size: int) -> None:
    failed = {"failures": 2, "last_error": "BACKEND_5XX", "version": 3, "alerted": 0}
    data = {"text": "я" * (size // 2), "n": 2**66, "share": 0.1, "rows": [{}] * (size // 50)}
    full = section(data=data, refreshed_at=1999.25, ttl=30, due_at=2029.25, **failed)
    await saved(stores, replace(full, previous=data))
    assert await one(stores) == full
    assert (await stores.skeleton.read(ALICE)).sections == (full,)
    [held] = (await leased(stores, now=3000.0)).state.sections
    assert held.data == held.previous == data


async def test_what_the_data_was_before_is_for_the_lease_only(stores: Stores) -> None:
    await saved(stores, section(data={"n": 2}, previous={"n": 1}, version=2, alerted=1))
    assert (await one(stores)).previous is None
    [held] = (await leased(stores, now=3000.0)).state.sections
    assert (held.data, held.previous) == ({"n": 2}, {"n": 1})
    await saved(stores, section(data={"n": 3}, version=3, alerted=3), now=4000.0)
    [held] = (await leased(stores, now=5000.0)).state.sections
    assert (held.data, held.previous) == ({"n": 3}, None), "that was of an earlier version"


async def test_an_unchanged_section_needs_its_bookkeeping_only(stores: Stores) -> None:
    await saved(stores, section(data={"n": 1}, refreshed_at=2000.0, version=1, alerted=1))
    lease = await leased(stores, now=2300.0)
    [held] = lease.state.sections
    later = replace(held, refreshed_at=2300.0, due_at=2600.0)
    assert await stores.skeleton.save(ALICE, [later], lease=lease, now=2300.0)
    assert await one(stores) == replace(later, lease_until=0.0)


async def test_data_whose_refresh_died_before_its_save_counts_as_it_stands(stores: Stores) -> None:
    await saved(stores, section(data={"n": 1}, refreshed_at=2000.0, version=1, alerted=1))
    lease = await leased(stores, now=3000.0)
    change = section(data={"n": 2}, previous={"n": 1}, refreshed_at=3000.0, version=2, alerted=1)
    assert await stores.skeleton.write(ALICE, [change], lease=lease)
    found = await one(stores)
    assert (found.data, found.refreshed_at) == ({"n": 2}, 3000.0)
    assert (found.version, found.alerted) == (2, 1)
    [held] = (await leased(stores, now=3060.0)).state.sections
    assert (held.previous, held.due_at) == ({"n": 1}, 1000.5)


async def test_one_read_holds_all_sections_and_installations_of_the_user(stores: Stores) -> None:
    names = [("mail", "inbox"), ("mail", "calendar"), ("mail2", "inbox")]
    await registered(stores, *(section(name, app_id=app) for app, name in names))
    await registered(stores, section("secret"), user=BOB)
    installed = (Installation("mail", True, "1.0", "2026-01-01"), Installation("notes", False))
    for one in installed:
        await stores.skeleton.put_installation(ALICE, one)
    state = await stores.skeleton.read(ALICE)
    assert [(s.app_id, s.section) for s in state.sections] == sorted(names)
    assert state.installations == installed


async def test_an_installation_record_is_replaced_and_what_it_said_is_told(stores: Stores) -> None:
    put = stores.skeleton.put_installation
    versions = [Installation("mail", True, v) for v in ("1.0", "2.0")]
    gone = Installation("mail", False)
    versions.append(replace(versions[1], at="2026-02-02"))  # says the same and keeps its time
    before = [None, versions[0], versions[1], versions[1]]
    assert [await put(ALICE, one) for one in (*versions, gone)] == before
    assert (await stores.skeleton.read(ALICE)).installations == (gone,)


async def test_a_change_of_an_installation_is_seen_by_one_of_racing_writers(stores: Stores) -> None:
    before: Installation | None = None
    for installed, version in ((True, "1"), (True, "2"), (False, ""), (True, "2")):
        given = Installation("mail", installed, version, "2026-01-01")
        put = partial(stores.skeleton.put_installation, ALICE, given)
        assert (await race(*[put] * 6)).count(before) == 1
        before = given


async def test_when_a_user_was_noted_stands_beside_the_installations(stores: Stores) -> None:
    await stores.skeleton.mark_seen(ALICE, 5.0)  # nothing of hers is refreshed
    assert await stores.skeleton.read(ALICE) == UserState()
    await stores.skeleton.put_installation(ALICE, Installation("mail", True))
    for at in (1000.25, 2000.5):
        await stores.skeleton.mark_seen(ALICE, at, begins=at < 2000)
        assert (await stores.skeleton.read(ALICE)).seen_at == at
    assert await stores.skeleton.read(ALICE) == UserState((), (Installation("mail", True),), 2000.5)
    assert await stores.skeleton.purge(ALICE, "mail") == 0
    assert (await stores.skeleton.read(ALICE)).seen_at == 2000.5
    assert (await stores.skeleton.read(BOB)).seen_at is None


async def test_a_lease_of_what_is_due_is_one_consumers_until_it_runs_out(stores: Stores) -> None:
    await registered(stores, section())
    assert await stores.skeleton.lease(ALICE, now=100.0, until=160.0, due_by=999.9) is None
    due = partial(stores.skeleton.lease, ALICE, now=100.0, until=160.5, due_by=1000.5)
    [first] = [got for got in await race(*[due] * 6) if got is not None]
    assert (first.until, [s.data for s in first.state.sections]) == (160.5, [None])
    assert (await one(stores)).lease_until == 160.5
    assert await stores.skeleton.lease(ALICE, now=160.4, until=220.0) is None
    assert await stores.skeleton.lease(ALICE, now=160.5, until=220.0) is not None


async def test_there_is_no_lease_on_a_user_without_a_timer(stores: Stores) -> None:
    assert await stores.skeleton.lease(ALICE, now=1.0, until=2.0) is None
    assert await stores.skeleton.lease(ALICE, now=1.0, until=2.0, due_by=9.0) is None
    assert not await stores.skeleton.ask(ALICE, [("mail", "inbox")], now=1.0)
    assert await stores.skeleton.read(ALICE) == UserState()
    await registered(stores, section())
    assert not await stores.skeleton.ask(ALICE, [("mail", "inbox")], now=1.0)  # nobody holds it


async def test_saving_gives_the_lease_back_and_says_when_the_user_is_due(stores: Stores) -> None:
    await registered(stores, section(), section("outbox"))
    lease = await leased(stores)
    given = [section(due_at=2300.0), section("outbox", due_at=2060.0)]
    assert await next_due(stores, given, lease, now=2000.0) == 2060.0
    assert await due(stores, ALICE, 2050.0) == []
    assert await due(stores, ALICE, 6000.0) == ["alice@2060"]
    assert await stores.skeleton.lease(ALICE, now=2000.0, until=2060.0) is not None


async def test_a_lost_lease_saves_nothing(stores: Stores) -> None:
    await registered(stores, section())
    slow = await leased(stores, now=100.0)
    quick = await leased(stores, now=170.0)
    ours = section(data={"from": "the slow one"}, version=1)
    assert not await stores.skeleton.write(ALICE, [ours], lease=slow)
    assert await stores.skeleton.save(ALICE, [ours], lease=slow, now=171.0) is None
    theirs = section(data={"from": "the quick one"}, version=1)
    assert await stores.skeleton.write(ALICE, [theirs], lease=quick)
    assert await stores.skeleton.save(ALICE, [theirs], lease=quick, now=172.0)
    assert (await one(stores)).data == {"from": "the quick one"}


async def test_a_refresh_that_outlives_its_section_does_not_bring_it_back(stores: Stores) -> None:
    await registered(stores, section(), section("kept", app_id="notes"))
    lease = await leased(stores)
    refreshed = [replace(s, data={"n": 1}, version=1, due_at=9.0) for s in lease.state.sections]
    assert await stores.skeleton.write(ALICE, refreshed, lease=lease)
    assert await stores.skeleton.purge(ALICE, "mail") == 1
    assert await stores.skeleton.save(ALICE, refreshed, lease=lease, now=2000.0)
    assert [s.app_id for s in (await stores.skeleton.read(ALICE)).sections] == ["notes"]
    await registered(stores, section())
    assert (await one(stores)).data is None


async def test_data_written_after_its_section_was_purged_goes_with_the_save(stores: Stores) -> None:
    await saved(stores, section(data={"n": 1}, version=1, alerted=1))
    lease = await leased(stores, now=3000.0)
    refreshed = [replace(s, data={"n": 2}, version=2) for s in lease.state.sections]
    await stores.skeleton.purge(ALICE, "mail")
    assert await stores.skeleton.write(ALICE, refreshed, lease=lease)
    assert await stores.skeleton.save(ALICE, refreshed, lease=lease, now=3000.0)
    await registered(stores, section())
    assert (await one(stores)).data is None


async def test_a_section_registered_while_a_refresh_runs_stays(stores: Stores) -> None:
    await registered(stores, section())
    lease = await leased(stores)
    await registered(stores, section("outbox", due_at=2010.0))
    assert await next_due(stores, [section(due_at=2300.0)], lease, now=2000.0) == 2010.0
    assert [s.section for s in (await stores.skeleton.read(ALICE)).sections] == ["inbox", "outbox"]


async def test_users_are_found_due_earliest_first_each_once(stores: Stores) -> None:
    await registered(stores, section("late", due_at=300.0), section("early", due_at=100.25))
    await registered(stores, section(due_at=200.0), user=BOB)
    found = [*await due(stores, ALICE, 250.0), *await due(stores, BOB, 250.0)]
    assert sorted(set(found)) == ["alice@100.25", "bob@200"]
    assert await due(stores, ALICE, 100.25) == []
    assert "alice@100.25" in await due(stores, ALICE, 101.0, since=100.25)
    assert "alice@100.25" not in await due(stores, ALICE, 1000.0, since=100.3)


async def test_a_user_with_nothing_due_is_never_found(stores: Stores) -> None:
    off = section(data={}, refreshed_at=10.0, due_at=None, version=1, alerted=1)
    await saved(stores, off)
    assert await one(stores) == off
    await stores.skeleton.mark_seen(BOB, 5.0, begins=True)
    assert await due(stores, ALICE, 9e9) == await due(stores, BOB, 9e9) == []


async def test_an_entry_of_the_index_carries_just_what_a_message_needs(stores: Stores) -> None:
    await saved(stores, section(data={"a": 1}, ttl=30, due_at=50.0, version=1))
    rows, cursor = await stores.skeleton.due(shard_of(ALICE, SHARDS), 60.0)
    assert rows == ((ALICE, DueUser(WHO, 50.0)),)
    assert cursor is None
    lease, new = await leased(stores, now=3000.0), {"language": "de", "role": "user"}
    given = [section(due_at=9.0)]
    await stores.skeleton.save(ALICE, given, lease=lease, now=3000.0, who=new, seen_at=3000.0)
    rows, _ = await stores.skeleton.due(shard_of(ALICE, SHARDS), 60.0)
    assert rows == ((ALICE, DueUser(new, 9.0)),)
    assert (await stores.skeleton.read(ALICE)).seen_at == 3000.0


async def test_every_user_is_due_in_exactly_one_shard(stores: Stores) -> None:
    users = [UserKey("acme", f"user{n}") for n in range(12)]
    for user in users:
        await registered(stores, section(due_at=10.0), user=user)
    found = [(await stores.skeleton.due(shard, 20.0))[0] for shard in range(SHARDS)]
    assert sorted((user for rows in found for user, _ in rows), key=str) == sorted(users, key=str)


async def test_due_users_come_in_pages(stores: Stores) -> None:
    users = [u for n in range(60) if shard_of(u := UserKey("acme", f"u{n}"), SHARDS) == 0][:7]
    for n, user in enumerate(users):
        await registered(stores, section(due_at=100.0 + n // 2), user=user)
    pages, cursor = [], None
    while True:
        rows, cursor = await stores.skeleton.due(0, 1000.0, limit=3, cursor=cursor)
        pages.append([user for user, _ in rows])
        if cursor is None:
            break
    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted((user for page in pages for user in page), key=str) == sorted(users, key=str)


async def test_a_refresh_asked_for_while_one_runs_is_due_after_it(stores: Stores) -> None:
    await registered(stores, section(due_at=90.0))
    lease = await leased(stores, now=100.0)
    assert await stores.skeleton.ask(ALICE, [("mail", "inbox")], now=120.0)
    assert await next_due(stores, [section(due_at=430.0)], lease, now=125.0) == 125.0
    assert await due(stores, ALICE, 126.0) == ["alice@125"]
    following = await leased(stores, now=130.0, due_by=130.0)
    assert following.requested == {("mail", "inbox")}
    assert await stores.skeleton.save(ALICE, [section(due_at=430.0)], lease=following, now=131.0)
    assert (await leased(stores, now=140.0)).requested == frozenset()
    assert await due(stores, ALICE, 429.0) == []


async def test_what_is_asked_for_survives_the_death_of_who_held_the_timer(stores: Stores) -> None:
    await registered(stores, section(due_at=90.0))
    await leased(stores, now=100.0)
    assert await stores.skeleton.ask(ALICE, [("mail", "inbox")], now=120.0)
    assert (await leased(stores, now=161.0, due_by=161.0)).requested == {("mail", "inbox")}


async def test_purging_takes_one_app_of_one_user(stores: Stores) -> None:
    names = [("mail", "inbox"), ("mail", "calendar"), ("mail2", "inbox"), ("notes", "all")]
    await registered(stores, *(section(name, app_id=app) for app, name in names))
    await registered(stores, section("inbox"), user=BOB)
    await stores.skeleton.put_installation(ALICE, Installation("mail", False))
    assert await stores.skeleton.purge(ALICE, "mail") == 2
    assert await stores.skeleton.purge(ALICE, "mail") == 0
    state = await stores.skeleton.read(ALICE)
    assert [s.app_id for s in state.sections] == ["mail2", "notes"]
    assert state.installations == (Installation("mail", False),)
    assert len((await stores.skeleton.read(BOB)).sections) == 1


async def test_purging_leaves_nothing_of_the_app_in_the_table(dynamo: Dynamo) -> None:
    changed = section(data={"n": 2}, previous={"n": 1}, version=2)
    await saved(dynamo.stores, changed, section(app_id="mail2", data={}, version=1))
    await dynamo.stores.skeleton.purge(ALICE, "mail")
    items = dynamo.client.scan(TableName=dynamo.tables.skeleton)["Items"]
    assert sorted(item["sk"]["S"] for item in items) == ["!_clock", "mail2#inbox"]


async def test_a_shard_is_one_consumers_and_remembers_how_far_it_came(stores: Stores) -> None:
    mark = await stores.skeleton.begin_shard(1, now=100.0, until=155.0)
    assert mark == ShardMark(lease=155.0)
    assert await stores.skeleton.begin_shard(1, now=154.0, until=200.0) is None
    assert await stores.skeleton.begin_shard(2, now=154.0, until=200.0) == ShardMark(lease=200.0)
    assert await stores.skeleton.move_shard(1, replace(mark, queued_until=130.0))
    taken_over = await stores.skeleton.begin_shard(1, now=155.0, until=210.0)
    assert taken_over == ShardMark(queued_until=130.0, lease=210.0)
    assert not await stores.skeleton.move_shard(1, replace(mark, queued_until=999.0))
    done = replace(taken_over, queued_until=215.0, swept_at=155.0)
    assert await stores.skeleton.move_shard(1, done, done=True)
    again = await stores.skeleton.begin_shard(1, now=156.0, until=211.0)
    assert again == replace(done, lease=211.0)


STRANGER = UserKey("umbrella", ALICE.imperal_id)


async def put(stores: Stores, user: UserKey, app_id: str, installed: bool = True) -> None:
    await stores.skeleton.put_installation(user, Installation(app_id, installed, "1", NOW))


async def test_a_tenant_has_an_app_while_one_of_its_users_has_it(stores: Stores) -> None:
    store = stores.skeleton
    assert await store.tenants("mail") == ()
    for user in (ALICE, BOB, ALICE):
        await put(stores, user, "mail")
    assert await store.tenants("mail") == (ALICE.tenant_id,)
    await put(stores, ALICE, "mail", False)
    await put(stores, ALICE, "mail", False)
    assert await store.tenants("mail") == (ALICE.tenant_id,)
    await put(stores, BOB, "mail", False)
    assert await store.tenants("mail") == ()
    await put(stores, BOB, "mail")
    assert await store.tenants("mail") == (ALICE.tenant_id,)


async def test_tenants_and_apps_stay_apart(stores: Stores) -> None:
    store = stores.skeleton
    await put(stores, ALICE, "mail")
    await put(stores, STRANGER, "tasks")
    await put(stores, STRANGER, "mail")
    assert await store.tenants("mail") == tuple(sorted({ALICE.tenant_id, STRANGER.tenant_id}))
    assert await store.tenants("tasks") == (STRANGER.tenant_id,)
    assert await store.tenants("mai") == ()
    await put(stores, STRANGER, "mail", False)
    assert await store.tenants("mail") == (ALICE.tenant_id,)
    assert await store.tenants("tasks") == (STRANGER.tenant_id,)


async def test_all_tenants_are_known_also_those_without_an_app(stores: Stores) -> None:
    store = stores.skeleton
    await store.add_tenant("hooli")
    await store.add_tenant("hooli")
    await put(stores, ALICE, "mail")
    await put(stores, ALICE, "mail", False)
    assert await store.tenants() == tuple(sorted({"hooli", ALICE.tenant_id}))
