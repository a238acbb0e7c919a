from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contract.samples import ALICE, BOB, LATER, SESSION, pending, race, turn
from webbee_kernel.errors import BadInput
from webbee_kernel.stores import Stores
from webbee_kernel.values import SessionKey, SessionMemory

pytestmark = pytest.mark.anyio


async def append(stores: Stores, *numbers: int, key: SessionKey = SESSION) -> None:
    for seq in numbers:
        assert await stores.sessions.append(key, turn(seq), expires_at=LATER)


async def test_a_new_session_remembers_nothing(stores: Stores) -> None:
    assert await stores.sessions.read(SESSION) == SessionMemory()


async def test_a_turn_comes_back_as_it_went_in(stores: Stores) -> None:
    await append(stores, 1)
    assert (await stores.sessions.read(SESSION)).turns == (turn(1),)


async def test_only_the_last_five_turns_are_there_oldest_first(stores: Stores) -> None:
    await append(stores, *range(1, 13))
    memory = await stores.sessions.read(SESSION)
    assert [t.seq for t in memory.turns] == [8, 9, 10, 11, 12]
    assert memory.last_seq == 12


async def test_a_slot_refuses_its_own_and_older_numbers(stores: Stores) -> None:
    await append(stores, 1, 2, 6)
    assert not await stores.sessions.append(SESSION, turn(6, reply="late"), expires_at=LATER)
    assert not await stores.sessions.append(SESSION, turn(6), expires_at=LATER)
    assert not await stores.sessions.append(SESSION, turn(1), expires_at=LATER)
    assert [(t.seq, t.reply) for t in (await stores.sessions.read(SESSION)).turns] == [
        (2, "ответ 2"),
        (6, "ответ 6"),
    ]


async def test_of_racing_turns_with_one_number_exactly_one_is_kept(stores: Stores) -> None:
    rivals = [turn(1, request_id=f"rival {n}") for n in range(8)]
    kept = await race(
        *(
            lambda rival=rival: stores.sessions.append(SESSION, rival, expires_at=LATER)
            for rival in rivals
        )
    )
    assert sorted(kept) == [False] * 7 + [True]
    assert (await stores.sessions.read(SESSION)).turns == (rivals[kept.index(True)],)


async def test_a_turn_too_large_for_an_item_is_refused_and_nothing_is_written(
    stores: Stores,
) -> None:
    with pytest.raises(BadInput, match="too large") as refusal:
        await stores.sessions.append(SESSION, turn(1, reply="я" * 210_000), expires_at=LATER)
    assert refusal.value.code == "too_large"
    assert await stores.sessions.read(SESSION) == SessionMemory()


async def test_what_waits_is_taken_once(stores: Stores) -> None:
    await append(stores, 1)
    await stores.sessions.put_pending(SESSION, pending())
    assert (await stores.sessions.read(SESSION)).pending == pending()
    assert await stores.sessions.take_pending(SESSION, pending().confirmation_id) == pending()
    assert await stores.sessions.take_pending(SESSION, pending().confirmation_id) is None
    memory = await stores.sessions.read(SESSION)
    assert memory.pending is None
    assert memory.turns == (turn(1),)


async def test_only_the_latest_question_waits(stores: Stores) -> None:
    await stores.sessions.put_pending(SESSION, pending("conf_old"))
    await stores.sessions.put_pending(SESSION, pending("conf_new"))
    assert await stores.sessions.take_pending(SESSION, "conf_old") is None
    assert await stores.sessions.take_pending(SESSION, "conf_new") == pending("conf_new")


async def test_a_question_leads_to_its_session_even_when_it_was_answered(stores: Stores) -> None:
    assert await stores.sessions.find_pending(ALICE, pending().confirmation_id) is None
    await stores.sessions.put_pending(SESSION, pending())
    assert await stores.sessions.find_pending(ALICE, pending().confirmation_id) == "s1"
    assert await stores.sessions.find_pending(BOB, pending().confirmation_id) is None
    await stores.sessions.take_pending(SESSION, pending().confirmation_id)
    assert await stores.sessions.find_pending(ALICE, pending().confirmation_id) == "s1"


async def test_two_answers_to_one_question_take_it_once(stores: Stores) -> None:
    await stores.sessions.put_pending(SESSION, pending())
    taken = await race(
        *[lambda: stores.sessions.take_pending(SESSION, pending().confirmation_id)] * 6
    )
    assert taken.count(pending()) == 1
    assert taken.count(None) == 5


async def test_a_deleted_session_is_gone_and_others_stay(stores: Stores) -> None:
    other = SessionKey(ALICE, "s2")
    await append(stores, 1, 2)
    await append(stores, 1, key=other)
    await stores.sessions.put_pending(SESSION, pending())
    await stores.sessions.delete(SESSION)
    await stores.sessions.delete(SESSION)
    assert await stores.sessions.read(SESSION) == SessionMemory()
    assert [s.session_id for s in (await stores.sessions.list(ALICE))[0]] == ["s2"]
    await append(stores, 1)


async def test_sessions_of_other_users_are_out_of_reach(stores: Stores) -> None:
    await append(stores, 1)
    assert await stores.sessions.read(SessionKey(BOB, "s1")) == SessionMemory()
    assert (
        await stores.sessions.read(SessionKey(replace(ALICE, tenant_id="other"), "s1"))
        == SessionMemory()
    )
    assert await stores.sessions.list(BOB) == ((), None)


async def test_the_list_shows_the_first_message_and_the_latest_listed_turn(stores: Stores) -> None:
    long = "a  long\nmessage " * 20
    await stores.sessions.append(SESSION, turn(1, message=long), expires_at=LATER)
    await append(stores, *range(2, 8))
    ((listed,), cursor) = await stores.sessions.list(ALICE)
    assert (listed.session_id, listed.turns, listed.touched_at, cursor) == (
        "s1",
        6,
        turn(6).at,
        None,
    )
    assert listed.title == ("a long message " * 20)[:80]


async def test_the_list_is_paged_most_recent_first(stores: Stores) -> None:
    for n in range(7):
        await stores.sessions.append(
            SessionKey(ALICE, f"s{n}"),
            turn(1, at=f"2026-05-{n + 1:02d}T00:00:00Z"),
            expires_at=LATER,
        )
    pages, cursor = [], None
    while True:
        page, cursor = await stores.sessions.list(ALICE, limit=3, cursor=cursor)
        pages.append([s.session_id for s in page])
        if cursor is None:
            break
    assert pages == [["s6", "s5", "s4"], ["s3", "s2", "s1"], ["s0"]]


async def test_a_full_last_page_has_no_successor(stores: Stores) -> None:
    await append(stores, 1)
    assert (await stores.sessions.list(ALICE, limit=1))[1] is None


@pytest.mark.parametrize("cursor", ["", "nonsense", "W10", "WzEsMiwzXQ", "é"])
async def test_a_foreign_cursor_is_named(stores: Stores, cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await stores.sessions.list(ALICE, cursor=cursor)


@pytest.mark.parametrize(
    "key",
    [
        SessionKey(ALICE, "a#b"),
        SessionKey(replace(ALICE, imperal_id="a#b"), "s"),
        SessionKey(ALICE, ""),
    ],
)
async def test_ids_that_could_reach_into_other_keys_are_refused(
    stores: Stores, key: SessionKey
) -> None:
    with pytest.raises(ValueError, match="#"):
        await stores.sessions.read(key)
