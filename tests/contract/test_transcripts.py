"""A person's conversations: whole, in order, listed, renamed, found."""

import random

import pytest

from tests.contract.samples import ALICE, BOB, LATER, SESSION, turn
from webbee_kernel.clock import parse_iso
from webbee_kernel.stores import Stores
from webbee_kernel.stores.dynamodb.transcripts import conversation
from webbee_kernel.stores.types import SessionSummary
from webbee_kernel.types import SessionKey

NOON = parse_iso("2026-05-15T12:00:00Z")
DAY = 86_400


def row(session_id: str = "s1", *, day: int = 1, title: str = "A title") -> SessionSummary:
    return SessionSummary(session_id, title, f"2026-05-{day:02d}T00:00:00Z", day)


async def touch(stores: Stores, *rows: SessionSummary) -> None:
    for touched in rows:
        await stores.transcripts.touch(ALICE, touched, expires_at=LATER)


async def listed(stores: Stores, **asked: str) -> list[str]:
    found, _ = await stores.transcripts.list(ALICE, now=0.0, **asked)  # type: ignore[arg-type]
    return [f"{s.session_id} {s.title}" for s in found]


async def test_a_turn_is_told_as_its_user_may_read_it(stores: Stores) -> None:
    await stores.transcripts.append(SESSION, [turn(1)], seconds=DAY)
    (told,) = await stores.transcripts.read(SESSION, now=NOON)
    kept = turn(1)
    assert (told["message"], told["reply"], told["turn"]) == (kept.message, kept.reply, 1)
    assert told["n"] == 2**70  # of the response, digits intact
    assert not {"digests", "vault"} & told.keys()


@pytest.mark.parametrize("together", [1, 2, 5, 7])
async def test_a_long_conversation_is_paged_from_its_end(stores: Stores, together: int) -> None:
    turns = [turn(seq) for seq in range(1, 13)]
    for start in range(0, 12, together):
        part = turns[start : start + together]
        await stores.transcripts.append(SESSION, part, seconds=DAY)
    pages, before = [], None
    while page := await stores.transcripts.read(SESSION, limit=5, before=before, now=NOON):
        pages.append([told["turn"] for told in page])
        before = (page[0]["at"], page[0]["turn"])
    assert pages == [[8, 9, 10, 11, 12], [3, 4, 5, 6, 7], [1, 2]]


async def test_turns_too_large_for_one_item_are_kept_in_several(stores: Stores) -> None:
    letters = random.Random(1).choices("0123456789abcdefghijklmnopqrstuvwxyz", k=350_000)
    large = [turn(seq, reply="".join(letters)) for seq in range(1, 6)]
    await stores.transcripts.append(SESSION, large, seconds=DAY)
    told = await stores.transcripts.read(SESSION, now=NOON)
    assert [(t["turn"], len(t["reply"])) for t in told] == [(n, 350_000) for n in range(1, 6)]


async def test_a_turn_kept_twice_is_told_once_and_none_lost_to_another(stores: Stores) -> None:
    anew = turn(1, at="2026-07-01T00:00:00Z", reply="again")
    twice = [turn(1, reply="answered"), turn(2)]
    for kept in ([turn(1)], twice, [anew]):
        await stores.transcripts.append(SESSION, kept, seconds=DAY)
    told = await stores.transcripts.read(SESSION, now=NOON)
    assert [t["reply"] for t in told] == ["answered", turn(2).reply, "again"]


async def test_the_list_is_paged_most_recently_touched_first(stores: Stores) -> None:
    await touch(stores, *(row(f"s{n}", day=n + 1) for n in range(7)), row("s0", day=20))
    pages, cursor = [], None
    while True:
        page, cursor = await stores.transcripts.list(ALICE, limit=3, cursor=cursor, now=0.0)
        pages.append([s.session_id for s in page])
        if cursor is None:
            break
    assert pages == [["s0", "s6", "s5"], ["s4", "s3", "s2"], ["s1"]]


async def test_the_first_title_stays_until_its_owner_gives_another(stores: Stores) -> None:
    await touch(stores, row(title="First"), row(title="Second", day=2))
    assert await listed(stores) == ["s1 First"]
    renamed = await stores.transcripts.rename(SESSION, "Mine")
    assert renamed == row(title="Mine", day=2)
    for other in (SessionKey(BOB, "s1"), SessionKey(ALICE, "s2")):
        assert await stores.transcripts.rename(other, "Theirs") is None
    await touch(stores, row(title="Third", day=3))
    assert await listed(stores) == ["s1 Mine"]


async def test_titles_are_found_in_any_case_and_script(stores: Stores) -> None:
    await touch(stores, row("a", title="Письма за сегодня"), row("b", title="Lisbon launch"))
    assert await listed(stores, title="ПИСЬМА") == ["a Письма за сегодня"]
    assert await listed(stores, title="launch") == ["b Lisbon launch"]
    assert await listed(stores, title="none of them") == []


async def test_a_deleted_conversation_is_gone_and_others_stay(stores: Stores) -> None:
    other = SessionKey(ALICE, "s2")
    for key in (SESSION, other):
        await stores.transcripts.append(key, [turn(1)], seconds=DAY)
    await touch(stores, row("s1"), row("s2"))
    for _ in range(2):
        await stores.transcripts.delete(SESSION)
    assert await stores.transcripts.read(SESSION, now=NOON) == ()
    assert len(await stores.transcripts.read(other, now=NOON)) == 1
    assert await listed(stores) == ["s2 A title"]


async def test_conversations_of_others_are_out_of_reach(stores: Stores) -> None:
    await stores.transcripts.append(SESSION, [turn(1)], seconds=DAY)
    await touch(stores, row())
    for user in (BOB, ALICE._replace(tenant_id="other")):
        assert await stores.transcripts.read(SessionKey(user, "s1"), now=NOON) == ()
        assert (await stores.transcripts.list(user, now=0.0))[0] == ()


@pytest.mark.parametrize("cursor", ["", "nonsense", "W10", "WzEsMiwzXQ", "é"])
async def test_a_foreign_cursor_is_named(stores: Stores, cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await stores.transcripts.list(ALICE, cursor=cursor, now=0.0)
    with pytest.raises(ValueError, match="cursor"):
        await conversation(stores, SESSION, limit=5, cursor=cursor, now=0.0)
