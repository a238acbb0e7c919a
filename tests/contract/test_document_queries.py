from __future__ import annotations

from typing import Any

import pytest

from tests.contract.samples import ALICE, NOW
from webbee_kernel.sdk.records import Document, Page
from webbee_kernel.stores import Collection, Stores

pytestmark = pytest.mark.anyio


async def fill(stores: Stores, *rows: dict[str, Any]) -> None:
    for row in rows:
        await stores.documents.create(Collection(ALICE, "tasks", "tasks"), row, now=NOW)


async def query(stores: Stores, **options: Any) -> Page[Document]:
    return await stores.documents.query(Collection(ALICE, "tasks", "tasks"), **options)


async def pages(stores: Stores, field: str, **options: Any) -> list[list[Any]]:
    """Every page's values of one field."""
    found, cursor = [], None
    while True:
        page = await query(stores, cursor=cursor, **options)
        found.append([d.data.get(field) for d in page])
        assert page.has_more == (page.cursor is not None)
        if not page.has_more:
            return found
        cursor = page.cursor


async def test_an_empty_collection_gives_an_empty_page(stores: Stores) -> None:
    assert await query(stores) == Page([], None, False, None)
    assert await query(stores, order_by="n") == Page([], None, False, 0)


async def test_without_an_order_documents_come_as_they_were_made(stores: Stores) -> None:
    await fill(stores, *({"n": n} for n in (3, 1, 2)))
    assert await pages(stores, "n") == [[3, 1, 2]]


async def test_an_update_does_not_move_a_document(stores: Stores) -> None:
    await fill(stores, {"n": 1}, {"n": 2})
    first = (await query(stores)).data[0]
    await stores.documents.update(Collection(ALICE, "tasks", "tasks"), first.id, {"n": 9}, now=NOW)
    assert await pages(stores, "n") == [[9, 2]]


async def test_pages_follow_each_other_without_gaps(stores: Stores) -> None:
    await fill(stores, *({"n": n} for n in range(7)))
    assert await pages(stores, "n", limit=3) == [[0, 1, 2], [3, 4, 5], [6]]
    assert await pages(stores, "n", limit=7) == [list(range(7))]


async def test_a_page_can_be_continued_when_its_last_document_is_gone(stores: Stores) -> None:
    await fill(stores, *({"n": n} for n in range(4)))
    for order in (None, "n"):
        page = await query(stores, limit=2, order_by=order)
        await stores.documents.delete(Collection(ALICE, "tasks", "tasks"), page.data[-1].id)
        rest = await query(stores, limit=2, order_by=order, cursor=page.cursor)
        assert [d.data["n"] for d in rest] == [2, 3]
        await stores.documents.update(
            Collection(ALICE, "tasks", "tasks"), page.data[-1].id, page.data[-1].data, now=NOW
        )


async def test_where_compares_top_level_fields_as_json(stores: Stores) -> None:
    await fill(
        stores,
        {"n": 1},
        {"n": 1.0},
        {"n": True},
        {"n": "1"},
        {"n": None},
        {},
        {"n": {"a": [1, {"b": 2}]}},
        {"n": {"a": [1, {"b": True}]}},
    )
    for value, count in [
        (1, 2),
        (True, 1),
        ("1", 1),
        (None, 1),
        (False, 0),
        ({"a": [1, {"b": 2.0}]}, 1),
        ({"a": [1]}, 0),
    ]:
        assert (
            await stores.documents.count(Collection(ALICE, "tasks", "tasks"), where={"n": value})
            == count
        ), value
        assert len(await query(stores, where={"n": value})) == count
    assert await stores.documents.count(Collection(ALICE, "tasks", "tasks"), where={}) == 8


async def test_every_condition_must_hold(stores: Stores) -> None:
    await fill(stores, {"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 2})
    assert [d.data for d in await query(stores, where={"a": 1, "b": 2})] == [{"a": 1, "b": 2}]


async def test_matches_far_apart_are_found_page_by_page(stores: Stores) -> None:
    await fill(stores, *({"n": n, "rare": n % 10 == 9} for n in range(40)))
    assert await pages(stores, "n", where={"rare": True}, limit=2) == [[9, 19], [29, 39]]
    assert await pages(stores, "n", where={"rare": True}, limit=3) == [[9, 19, 29], [39]]


async def test_an_order_goes_both_ways_and_knows_the_total(stores: Stores) -> None:
    await fill(stores, *({"n": n} for n in (2, 10, -1, 2**70, 0.5)))
    assert await pages(stores, "n", order_by="n", limit=2) == [[-1, 0.5], [2, 10], [2**70]]
    assert await pages(stores, "n", order_by="-n", limit=2) == [[2**70, 10], [2, 0.5], [-1]]
    assert (await query(stores, order_by="n", limit=2)).total == 5
    assert (await query(stores, order_by="n", where={"n": 10})).total == 1


async def test_missing_and_null_come_last_either_way(stores: Stores) -> None:
    await fill(
        stores,
        {"n": None, "k": "null"},
        {"n": 1, "k": "one"},
        {"k": "missing"},
        {"n": 2, "k": "two"},
    )
    assert await pages(stores, "k", order_by="n", limit=1) == [
        ["one"],
        ["two"],
        ["null"],
        ["missing"],
    ]
    assert await pages(stores, "k", order_by="-n", limit=1) == [
        ["two"],
        ["one"],
        ["null"],
        ["missing"],
    ]


async def test_mixed_types_have_an_order(stores: Stores) -> None:
    values = [{"a": 1}, [2], "b", "B", 3, 2.5, True, False]
    await fill(stores, *({"n": value} for value in values))
    ascending = [False, True, 2.5, 3, "B", "b", [2], {"a": 1}]
    assert await pages(stores, "n", order_by="n", limit=3) == [
        ascending[:3],
        ascending[3:6],
        ascending[6:],
    ]
    assert await pages(stores, "n", order_by="-n", limit=8) == [ascending[::-1]]


async def test_equal_values_keep_the_order_of_creation_over_pages(stores: Stores) -> None:
    await fill(stores, *({"same": n % 2, "k": n} for n in range(6)))
    assert await pages(stores, "k", order_by="same", limit=2) == [[0, 2], [4, 1], [3, 5]]
    assert await pages(stores, "k", order_by="-same", limit=2) == [[1, 3], [5, 0], [2, 4]]


@pytest.mark.parametrize("cursor", ["", "nonsense", "W10", "WzFd", "é", "bnVsbA"])
@pytest.mark.parametrize("order_by", [None, "n"])
async def test_a_foreign_cursor_is_named(stores: Stores, order_by: str | None, cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await query(stores, order_by=order_by, cursor=cursor)


async def test_a_cursor_fits_only_its_own_query(stores: Stores) -> None:
    await fill(stores, {"n": 1}, {"n": 2})
    cursor = (await query(stores, limit=1)).cursor
    for other in ({"order_by": "n"}, {"where": {"n": 1}}):
        with pytest.raises(ValueError, match="cursor"):
            await query(stores, cursor=cursor, **other)
    with pytest.raises(ValueError, match="cursor"):
        await stores.documents.query(Collection(ALICE, "tasks", "other"), cursor=cursor)


@pytest.mark.parametrize(
    "options", [{"limit": 0}, {"limit": -1}, {"limit": True}, {"limit": 1.5}, {"order_by": "-"}]
)
async def test_questions_without_a_meaning_are_refused(
    stores: Stores, options: dict[str, Any]
) -> None:
    with pytest.raises(ValueError):
        await query(stores, **options)
