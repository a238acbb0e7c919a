from typing import Any

import pytest

from tests.contract.samples import BOB, NOW, notes, race
from webbee_kernel.sdk.exceptions import StoreConflict
from webbee_kernel.sdk.result import Document
from webbee_kernel.stores import Stores
from webbee_kernel.types import UserKey


async def users(stores: Stores, collection: str = "notes") -> list[str]:
    listed = stores.documents.list_users("acme", "notes", collection, page_size=2)
    return [name async for name in listed]


async def test_a_document_comes_back_whole(stores: Stores) -> None:
    made = await notes(stores).create({"title": "план"})
    assert made == Document(made.id, "notes", {"title": "план"}, NOW, NOW, "alice", made.etag)
    assert len(made.id) == 32
    assert made.etag
    assert await notes(stores).get(made.id) == made


EXACT: list[Any] = [
    *(0, -1, 2**53 + 1, 2**63, 2**64, -(2**200), 10**400),
    *(0.1, -0.0, 1e308, 5e-324, 1.0, 1e16, 1e22),
    *(True, None, "", "я\u2028\x00", "\ud800", [], [[{}]], {"": {"#": 1}}),
]


async def test_every_json_value_comes_back_exactly(stores: Stores) -> None:
    for value in EXACT:
        made = await notes(stores).create({"value": value, "null": None})
        assert repr(await notes(stores).data(made.id)) == repr({"value": value, "null": None})


NAN, INFINITE = float("nan"), float("inf")
LACKED = [*({"a": a} for a in (NAN, INFINITE, [{"deep": -INFINITE}], {"b": 2**70, "c": NAN}))]
NO_OBJECTS: list[Any] = [{1: 2}, {"a": {2**70: 1}}, {"a": int}, [1], "text", None]


@pytest.mark.parametrize("data", [*LACKED, *NO_OBJECTS], ids=str)
async def test_numbers_json_lacks_and_no_objects_are_refused(stores: Stores, data: Any) -> None:
    wrong = ValueError if data in LACKED else TypeError
    for write in (notes(stores).create(data, doc_id="d"), notes(stores).update("d", data)):
        with pytest.raises(wrong):
            await write
    assert await notes(stores).get("d") is None


async def test_of_racing_creators_of_one_id_one_wins(stores: Stores) -> None:
    got = await race(*(lambda n=n: notes(stores).create({"n": n}, doc_id="one") for n in range(6)))
    winners = [result for result in got if isinstance(result, Document)]
    assert len(winners) == 1
    assert sum(isinstance(result, StoreConflict) for result in got) == 5
    assert await notes(stores).get("one") == winners[0]


@pytest.mark.parametrize("doc_id", ["a b/c", "Ж" * 256, "..", "part", "é\u2028"])
async def test_callers_may_choose_ids(stores: Stores, doc_id: str) -> None:
    made = await notes(stores).create({}, doc_id=doc_id)
    assert made.id == doc_id
    assert await notes(stores).get(doc_id) == made
    assert [d.id for d in (await notes(stores).query()).data] == [doc_id]


@pytest.mark.parametrize("doc_id", ["a#b", "x" * 513, "Ж" * 257, "a\nb", "\x00", "\ud800"])
async def test_ids_that_are_none_are_refused_everywhere(stores: Stores, doc_id: str) -> None:
    reads = notes(stores).get(doc_id), notes(stores).delete(doc_id)
    for attempt in (
        notes(stores).create({}, doc_id=doc_id),
        notes(stores).update(doc_id, {}),
        *reads,
    ):
        with pytest.raises(ValueError):
            await attempt


@pytest.mark.parametrize("collection", ["", "a#b", "a b", "x" * 129, "заметки", "a\n"])
async def test_collections_that_are_none_are_refused(stores: Stores, collection: str) -> None:
    place = notes(stores, collection)
    writes = place.create({}), place.update("d", {})
    for attempt in (
        *writes,
        place.get("d"),
        place.query(),
        place.count(),
        users(stores, collection),
    ):
        with pytest.raises(ValueError, match="collection"):
            await attempt


async def test_a_wrong_etag_is_refused_with_the_current_one(stores: Stores) -> None:
    made = await notes(stores).create({"a": 1})
    current = await notes(stores).update(made.id, {"a": 2}, if_match=made.etag)
    with pytest.raises(StoreConflict) as conflict:
        await notes(stores).update(made.id, {"a": 3}, if_match=made.etag)
    assert (conflict.value.current_etag, conflict.value.expected_etag) == (current.etag, made.etag)
    assert await notes(stores).get(made.id) == current
    with pytest.raises(StoreConflict):
        await notes(stores).update("missing", {"a": 3}, if_match=made.etag)
    assert await notes(stores).get("missing") is None


async def test_racing_merges_lose_nothing(stores: Stores) -> None:
    await notes(stores).create({}, doc_id="shared")
    await race(*(lambda n=n: notes(stores).update("shared", {f"field{n}": n}) for n in range(16)))
    assert await notes(stores).data("shared") == {f"field{n}": n for n in range(16)}


async def test_racing_deletes_delete_once(stores: Stores) -> None:
    made = await notes(stores).create({})
    assert sorted(await race(*[lambda: notes(stores).delete(made.id)] * 4)) == [False] * 3 + [True]


async def test_documents_of_others_are_out_of_reach(stores: Stores) -> None:
    made = await notes(stores).create({"a": 1}, doc_id="d")
    for other in (
        *(notes(stores, user=user) for user in (BOB, UserKey("other", "alice"))),
        *(notes(stores, app="mail"), notes(stores, "note")),
    ):
        assert await other.get("d") is None
        assert await other.count() == 0
        assert not await other.delete("d")
    assert await notes(stores).get("d") == made


async def test_collections_that_begin_alike_do_not_mix(stores: Stores) -> None:
    names = ["a", "ab", "a/b", "a-", "a:1", "a.b", "a_"]
    for name in names:
        await notes(stores, name).create({"in": name})
    for name in names:
        assert [d.data["in"] for d in await notes(stores, name).query()] == [name]
        assert await notes(stores, name).count() == 1


async def test_the_users_of_a_collection_are_listed(stores: Stores) -> None:
    people = [UserKey("acme", f"user{n}") for n in range(5)]
    made = [await notes(stores, user=user).create({}) for user in people]
    await notes(stores, user=UserKey("other", "stranger")).create({})
    await notes(stores, "notesx", user=BOB).create({})
    assert await users(stores) == [f"user{n}" for n in range(5)]
    assert await users(stores, "notesx") == ["bob"]
    assert await users(stores, "empty") == []
    await notes(stores, user=people[1]).delete(made[1].id)
    assert await users(stores) == ["user0", "user2", "user3", "user4"]
    await notes(stores, user=people[1]).create({})
    assert await users(stores) == [f"user{n}" for n in range(5)]


async def test_what_a_caller_holds_is_not_what_is_stored(stores: Stores) -> None:
    data: dict[str, Any] = {"list": [1]}
    made = await notes(stores).create(data, doc_id="d")
    data["list"].append(2)
    made.data["list"].append(3)
    assert await notes(stores).data("d") == {"list": [1]}
