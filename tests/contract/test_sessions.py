from dataclasses import replace
from functools import partial

import pytest

from tests.contract.samples import ALICE, BOB, LATER, SESSION, pending, race, turn
from webbee_kernel.errors import BadInput
from webbee_kernel.stores import Stores
from webbee_kernel.stores.types import AnswerLease, SessionMemory, Turn
from webbee_kernel.types import SessionKey


async def append(stores: Stores, *numbers: int, key: SessionKey = SESSION) -> None:
    for seq in numbers:
        assert await stores.sessions.append(key, turn(seq), expires_at=LATER, now=0.0)


async def test_of_racing_turns_with_one_number_exactly_one_is_kept(stores: Stores) -> None:
    whole = turn(1, listed="0a0b0c05040201", marks=("0123456789ab", "ba9876543210"))
    rivals = [replace(whole, request_id=f"rival {n}") for n in range(8)]
    append = partial(stores.sessions.append, SESSION, expires_at=LATER, now=0.0)
    kept = await race(*(partial(append, rival) for rival in rivals))
    assert sorted(kept) == [False] * 7 + [True]
    assert (await stores.sessions.read(SESSION, now=0.0)).turns == (rivals[kept.index(True)],)


async def test_a_turn_too_large_for_an_item_is_refused_and_not_written(stores: Stores) -> None:
    large = turn(1, reply="я" * 210_000)
    with pytest.raises(BadInput, match="too large") as refusal:
        await stores.sessions.append(SESSION, large, expires_at=LATER, now=0.0)
    assert refusal.value.code == "too_large"
    assert await stores.sessions.read(SESSION, now=0.0) == SessionMemory()


NOW = 1_000.0


async def ask(stores: Stores, *names: str, seq: int = 1) -> Turn:
    asking = turn(seq, status="confirmation", waiting=tuple(pending(n) for n in names))
    assert await stores.sessions.append(SESSION, asking, expires_at=LATER, now=0.0)
    return asking


async def take(stores: Stores, name: str, seq: int = 1, now: float = NOW) -> bool:
    return await stores.sessions.take_pending(
        SESSION, seq, name, now=now, lease=AnswerLease(now + 30, yes=True)
    )


async def rewrite(stores: Stores, answered: Turn, name: str, version: str) -> bool:
    done = {"version": version, "answered": [name], "expires_at": LATER}
    return await stores.sessions.replace(SESSION, answered, **done)


async def version_of(stores: Stores, seq: int) -> str:
    return (await stores.sessions.read(SESSION, now=0.0)).versions[seq]


async def answer(stores: Stores, answered: Turn, name: str) -> bool:
    return await rewrite(stores, answered, name, await version_of(stores, answered.seq))


async def test_questions_wait_in_the_turn_that_asked_them(stores: Stores) -> None:
    asking = await ask(stores, "conf_1", "conf_2")
    memory = await stores.sessions.read(SESSION, now=0.0)
    assert memory.turns == (asking,)
    assert memory.question("conf_2") == (asking, pending("conf_2"))
    assert memory.question("conf_3") is None


async def test_a_turn_takes_over_a_question_with_its_lease_not_one_answered(stores: Stores) -> None:
    asking, read = await ask(stores, "conf_1"), partial(stores.sessions.read, SESSION, now=0.0)
    append = partial(stores.sessions.append, SESSION, expires_at=LATER, now=0.0)
    memories = [await read()]
    assert await take(stores, "conf_1")
    assert not await append(replace(asking, seq=6), memory=memories[0])
    memories.append(await read())
    assert await append(replace(asking, seq=6), memory=memories[1])
    memories.append(await read())
    assert memories[2].leases == memories[1].leases != {}
    assert await answer(stores, replace(asking, seq=6, waiting=()), "conf_1")
    assert not await append(replace(asking, seq=11), memory=memories[2])


async def test_a_question_is_taken_by_one_and_stays_until_it_is_answered(stores: Stores) -> None:
    asking = await ask(stores, "conf_1")
    assert sorted(await race(*[lambda: take(stores, "conf_1")] * 6)) == [False] * 5 + [True]
    memory = await stores.sessions.read(SESSION, now=0.0)
    held = {"conf_1": AnswerLease(NOW + 30, yes=True)}
    assert memory.question("conf_1") and memory.leases == held
    assert await answer(stores, replace(asking, waiting=(), reply="done"), "conf_1")
    memory = await stores.sessions.read(SESSION, now=0.0)
    assert memory.question("conf_1") is None and not memory.leases
    assert [t.reply for t in memory.turns] == ["done"]
    assert not await take(stores, "conf_1", now=NOW + 60)


async def test_a_lease_is_renewed_by_whoever_holds_it(stores: Stores) -> None:
    asking = await ask(stores, "conf_1")
    assert await take(stores, "conf_1")
    keep = stores.sessions.keep_pending
    assert await keep(SESSION, 1, "conf_1", was=NOW + 30, until=NOW + 50)
    assert not await take(stores, "conf_1", now=NOW + 31)
    assert await take(stores, "conf_1", now=NOW + 51)  # it has ended
    assert not await keep(SESSION, 1, "conf_1", was=NOW + 30, until=NOW + 70)  # no longer ours
    assert not await keep(SESSION, 1, "conf_2", was=NOW + 50, until=NOW + 70)
    assert await answer(stores, replace(asking, waiting=()), "conf_1")
    assert not await keep(SESSION, 1, "conf_1", was=NOW + 81, until=NOW + 90)


async def test_each_question_of_a_turn_has_a_lease_of_its_own(stores: Stores) -> None:
    asking = await ask(stores, "conf_1", "conf_2")
    assert await take(stores, "conf_1") and await take(stores, "conf_2")
    left = replace(asking, waiting=(pending("conf_2"),))
    assert await answer(stores, left, "conf_1")
    memory = await stores.sessions.read(SESSION, now=0.0)
    assert memory.leases == {"conf_2": AnswerLease(NOW + 30, yes=True)}
    assert memory.turns == (left,)


@pytest.mark.parametrize(("seq", "name"), [(1, "conf_other"), (2, "conf_1"), (6, "conf_1")])
async def test_nothing_else_can_be_taken(stores: Stores, seq: int, name: str) -> None:
    await ask(stores, "conf_1")
    await append(stores, 2)
    assert not await take(stores, name, seq)


async def test_of_two_answers_to_one_turn_the_second_reads_again(stores: Stores) -> None:
    asking = await ask(stores, "conf_1", "conf_2")
    version = await version_of(stores, 1)
    for name, first in (("conf_1", True), ("conf_2", False)):
        assert await rewrite(stores, replace(asking, reply=name), name, version) is first


async def test_a_turn_that_the_ring_has_overwritten_is_not_rewritten(stores: Stores) -> None:
    asking = await ask(stores, "conf_1")
    version = await version_of(stores, 1)
    await append(stores, 6)
    assert not await rewrite(stores, asking, "conf_1", version)
    assert (await stores.sessions.read(SESSION, now=0.0)).turns == (turn(6),)


async def test_a_question_leads_to_its_session_even_when_it_was_answered(stores: Stores) -> None:
    assert await stores.sessions.find_pending(ALICE, "conf_1", now=0.0) is None
    asking = await ask(stores, "conf_1", "conf_2")
    assert await stores.sessions.find_pending(ALICE, "conf_1", now=0.0) == "s1"
    assert await stores.sessions.find_pending(ALICE, "conf_2", now=0.0) == "s1"
    assert await stores.sessions.find_pending(BOB, "conf_1", now=0.0) is None
    assert await answer(stores, replace(asking, waiting=()), "conf_1")
    assert await stores.sessions.find_pending(ALICE, "conf_1", now=0.0) == "s1"


async def test_a_deleted_session_is_gone_and_others_stay(stores: Stores) -> None:
    other = SessionKey(ALICE, "s2")
    await append(stores, 1, 2)
    await append(stores, 1, key=other)
    await ask(stores, "conf_1", seq=3)
    await stores.sessions.delete(SESSION)
    await stores.sessions.delete(SESSION)
    assert await stores.sessions.read(SESSION, now=0.0) == SessionMemory()
    assert (await stores.sessions.read(other, now=0.0)).turns == (turn(1),)
    await append(stores, 1)


async def test_sessions_of_other_users_are_out_of_reach(stores: Stores) -> None:
    await append(stores, 1)
    assert await stores.sessions.read(SessionKey(BOB, "s1"), now=0.0) == SessionMemory()
    of_another = SessionKey(ALICE._replace(tenant_id="other"), "s1")
    assert await stores.sessions.read(of_another, now=0.0) == SessionMemory()


ODD = SessionKey(ALICE._replace(imperal_id="a#b"), "s")


@pytest.mark.parametrize("key", [ODD, SessionKey(ALICE, "a#b"), SessionKey(ALICE, "")])
async def test_ids_that_reach_into_other_keys_are_refused(stores: Stores, key: SessionKey) -> None:
    with pytest.raises(ValueError, match="#"):
        await stores.sessions.read(key, now=0.0)
