import base64
import json
from typing import Any

import pytest

from tests.contract.samples import NOW, UNDECLARED, Kept, notes
from webbee_kernel.clock import parse_iso
from webbee_kernel.stores import Stores


@pytest.fixture(params=[UNDECLARED, (("n", "state"), parse_iso(NOW))], ids=["plain", "indexed"])
def tasks(stores: Stores, request: pytest.FixtureRequest) -> Kept:
    """Of an app that declares indexes, or none: the answers are the same."""
    return notes(stores, "tasks", app="tasks", declared=request.param)


async def test_a_page_can_be_continued_when_its_last_document_is_gone(tasks: Kept) -> None:
    await tasks.add(*({"n": n} for n in range(4)))
    for order in (None, "n"):
        page = await tasks.query(limit=2, order_by=order)
        await tasks.delete(page.data[-1].id)
        rest = await tasks.query(limit=2, order_by=order, cursor=page.cursor)
        assert [d.data["n"] for d in rest] == [2, 3]
        await tasks.update(page.data[-1].id, page.data[-1].data)


async def test_where_compares_top_level_fields_as_json(tasks: Kept) -> None:
    nested = ({"a": [1, {"b": 2}]}, {"a": [1, {"b": True}]})
    await tasks.add(*({"n": n} for n in (1, 1.0, True, "1", None, *nested)), {})
    for value, count in [
        (1, 2),
        (True, 1),
        ("1", 1),
        (None, 1),
        (False, 0),
        ({"a": [1, {"b": 2.0}]}, 1),
        ({"a": [1]}, 0),
    ]:
        assert await tasks.count(where={"n": value}) == count, value
        assert len(await tasks.query(where={"n": value})) == count
    assert await tasks.count(where={}) == 8


async def test_matches_far_apart_are_found_page_by_page(tasks: Kept) -> None:
    await tasks.add(*({"n": n, "rare": n % 10 == 9} for n in range(40)))
    assert await tasks.pages("n", where={"rare": True}, limit=2) == [[9, 19], [29, 39]]
    assert await tasks.pages("n", where={"rare": True, "n": 19}, limit=3) == [[19]]
    assert (await tasks.query(order_by="n", limit=2)).total == 40


@pytest.mark.parametrize("limit", [1, 3, 8])
async def test_mixed_types_have_an_order_null_and_missing_last(tasks: Kept, limit: int) -> None:
    ascending = [False, True, -1.5, -1, 0, 1e-9, 2.5, 3, 2**70, 10**400]
    ascending += ["", "B", "b", "ж", [2], {"a": 1}]
    await tasks.add({"n": None, "k": "null"}, {"k": "missing"})
    await tasks.add(*({"n": value, "k": value} for value in ascending[::-1]))
    up, down = [*ascending, "null", "missing"], [*ascending[::-1], "missing", "null"]
    for order_by, order in (("n", up), ("-n", down)):
        pages = await tasks.pages("k", order_by=order_by, limit=limit)
        assert [k for page in pages for k in page] == order
        assert {len(page) for page in pages[:-1]} == {limit}
    # equal values come as they were made, and the other way round going down
    await tasks.add(*({"n": 3, "state": "equal", "k": k} for k in range(3)))
    for order_by, order in (("n", [0, 1, 2]), ("-n", [2, 1, 0])):
        pages = await tasks.pages("k", order_by=order_by, where={"state": "equal"}, limit=limit)
        assert [k for page in pages for k in page] == order


@pytest.mark.parametrize("cursor", ["", "nonsense", "W10", "WzFd", "é", "bnVsbA"])
@pytest.mark.parametrize("order_by", [None, "n"])
async def test_a_foreign_cursor_is_named(tasks: Kept, order_by: str | None, cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await tasks.query(order_by=order_by, cursor=cursor)


@pytest.mark.parametrize(
    ("order_by", "place"), [(None, 7), (None, "other#0"), (None, [7]), ("n", 7), ("n", [7])]
)
async def test_a_cursor_whose_place_was_changed_is_named(
    tasks: Kept, order_by: str | None, place: Any
) -> None:
    """Its checksum is of the query, so anybody can write one."""
    await tasks.add({"n": 1}, {"n": 2})
    told = (await tasks.query(limit=1, order_by=order_by)).cursor
    assert told
    read = json.loads(base64.urlsafe_b64decode(told + "=="))
    forged = base64.urlsafe_b64encode(json.dumps([*read[:-1], place]).encode()).decode()
    with pytest.raises(ValueError, match="cursor"):
        await tasks.query(limit=1, order_by=order_by, cursor=forged)


async def test_a_cursor_fits_only_its_own_query(tasks: Kept, stores: Stores) -> None:
    await tasks.add({"n": 1}, {"n": 2})
    cursor = (await tasks.query(limit=1)).cursor
    for other in ({"order_by": "n"}, {"where": {"n": 1}}):
        with pytest.raises(ValueError, match="cursor"):
            await tasks.query(cursor=cursor, **other)
    with pytest.raises(ValueError, match="cursor"):
        await notes(stores, "other", app="tasks").query(cursor=cursor)


@pytest.mark.parametrize(
    "options", [{"limit": 0}, {"limit": -1}, {"limit": True}, {"limit": 1.5}, {"order_by": "-"}]
)
async def test_questions_without_meaning_are_refused(tasks: Kept, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        await tasks.query(**options)
