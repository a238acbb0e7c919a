"""Declared indexes: the same answers as without them, for what the answer holds."""

import asyncio
import logging
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.meter import metered
from tests.contract.conftest import Dynamo
from tests.contract.samples import ALICE, NOW, UNDECLARED, Declared, Kept, notes
from webbee_kernel.clock import parse_iso
from webbee_kernel.sdk.exceptions import StoreConflict
from webbee_kernel.sdk.result import Document
from webbee_kernel.stores import Collection, Stores
from webbee_kernel.stores.codec import equal
from webbee_kernel.stores.dynamodb import dynamodb_stores
from webbee_kernel.stores.dynamodb.document_indexes import BACKFILL, MARKER_CACHE_S, SETTLE_S
from webbee_kernel.stores.paging import DocumentQuery, Row, order_key

AT = parse_iso(NOW)
INDEXES = ("n", "state")


def declared(later: float = 0.0) -> Declared:
    return INDEXES, AT + later


def tasks_of(stores: Stores, kept: Declared | None = None) -> Kept:
    """One user's tasks, of an app with indexes or without."""
    return notes(stores, "tasks", app="tasks", declared=declared() if kept is None else kept)


async def test_changed_and_removed_documents_move_and_leave(stores: Stores) -> None:
    tasks = tasks_of(stores)
    one, two, three = await tasks.add(*({"n": n, "state": "open"} for n in (1, 2, 3)))
    await tasks.update(one.id, {"n": 9})
    await tasks.update(two.id, {"state": "done", "note": "x" * 5_000})
    assert await tasks.pages("n", order_by="n", limit=2) == [[2, 3], [9]]
    assert (await tasks.query(order_by="n")).data[0].data["note"] == "x" * 5_000
    assert [await tasks.count(where={"state": s}) for s in ("open", "done", "other")] == [2, 1, 0]
    assert [await tasks.delete(d.id) for d in (three, three)] == [True, False]
    assert (await tasks.query(order_by="-n")).total == await tasks.count() == 2
    assert await tasks.pages("n", order_by="-n") == [[9, 2]]
    await tasks.update("new", {"n": 5})
    await tasks.update(two.id, {"n": None}, replace=True)
    assert await tasks.pages("n", order_by="-n") == [[9, 5, None]]
    assert [await tasks.count(), await tasks.count(where={"state": "done"})] == [3, 0]


async def test_where_reads_the_documents_of_one_value(stores: Stores) -> None:
    tasks = tasks_of(stores)
    states = ("done", "open", "open") * 4
    await tasks.add(*({"n": -n, "state": s, "k": n % 2} for n, s in enumerate(states)))
    assert await tasks.pages("n", where={"state": "done"}, limit=3) == [[0, -3, -6], [-9]]
    assert await tasks.pages("n", where={"state": "done"}, order_by="n") == [[-9, -6, -3, 0]]
    assert await tasks.pages("n", where={"state": "done", "k": 1}, limit=1) == [[-3], [-9]]
    pages = await tasks.pages("n", where={"k": 1}, order_by="n", limit=4)
    assert pages == [[-11, -9, -7, -5], [-3, -1]]
    assert await tasks.count(where={"state": "done", "k": 1}) == 2
    assert [await tasks.count(where={"n": n}) for n in (-3, -3.0, "-3", True)] == [1, 1, 0, 0]


async def test_long_texts_are_found_whole_and_ordered_by_their_beginning(stores: Stores) -> None:
    tasks = tasks_of(stores)
    long = "ж" * 300
    await tasks.add({"n": long + "b"}, {"n": long + "a"}, {"n": "ж\x00\t"}, {"n": None}, {})
    assert [t[-1:] for t in (await tasks.pages("n", order_by="n", limit=3))[0]] == ["\t", "b", "a"]
    for value, count in ((long + "a", 1), (long, 0), ("ж\x00\t", 1), (None, 1)):
        assert await tasks.count(where={"n": value}) == count


EQUAL: list[list[Any]] = [
    *([v] for v in ("a b", "a\tb", "a\nb", "a", "a\x00", "a!", "", "\v", " ")),
    *([v] for v in (10**45, 10**45 + 1, -(10**45), -(10**45) - 1, 10**200 + 1, 10**200 + 2)),
    *([[1], [1.0], (1,)], [{"k": [2, 0]}, {"k": [2.0, -0.0]}], [[True]], [True], [1, 1.0]),
]
"""Values that are equal, by line; of two lines none are."""


async def test_what_is_equal_and_nothing_else_is_counted_together(stores: Stores) -> None:
    tasks = tasks_of(stores)
    await tasks.add(*({"state": v, "n": v} for values in EQUAL for v in values))
    texts = [v for values in EQUAL for v in values if isinstance(v, str)]
    listed = [v for page in await tasks.pages("n", order_by="n") for v in page]
    assert [v for v in listed if v in texts] == sorted(texts)
    for values in EQUAL:
        for value in values:
            found = [await tasks.count(where={name: value}) for name in ("state", "n")]
            assert found == [len(values)] * 2, value


async def test_a_cursor_holds_over_a_declaration(stores: Stores) -> None:
    tasks, plain = tasks_of(stores), tasks_of(stores, UNDECLARED)
    await tasks.add(*({"n": n} for n in range(6)))
    before = await plain.query(order_by="n", limit=2)
    page = await tasks.query(order_by="n", limit=2, cursor=before.cursor)
    assert [d.data["n"] for d in page] == [2, 3]


async def test_ten_writers_at_once_leave_one_count(stores: Stores) -> None:
    tasks = tasks_of(stores)
    (shared,) = await tasks.add({"n": 0, "state": "open"})
    await asyncio.gather(
        *(tasks.add({"n": n, "state": "open"}) for n in range(5)),
        *(tasks.update(shared.id, {"n": n, "state": "done"}) for n in range(5)),
    )
    assert [await tasks.count(), await tasks.count(where={"state": "done"})] == [6, 1]
    assert len((await tasks.query(order_by="n")).data) == 6
    with pytest.raises(StoreConflict):
        await tasks.update(shared.id, {"n": 1}, if_match="other")


async def test_an_undeclared_order_over_many_says_what_it_cost(
    stores: Stores, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbee_kernel.stores.paging.COSTLY", 5)
    tasks = tasks_of(stores)
    await tasks.add(*({"n": n, "k": n} for n in range(6)))
    with caplog.at_level(logging.WARNING, "webbee.extension"):
        await tasks.query(order_by="n")
        assert not caplog.records
        await tasks.query(order_by="-k")
    (said,) = caplog.messages
    told = "-k of 'tasks' read 6 documents; ext.index('tasks', 'k') would make it a few"
    assert said == f"app=tasks | {told}"


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.integers() | st.integers(-(10**80), 10**80) | FLOATS
JSON_VALUES = st.none() | st.booleans() | NUMBERS | st.text(max_size=30)


@given(st.lists(JSON_VALUES, max_size=12), st.booleans())
@settings(max_examples=300, deadline=None)
def test_keys_sort_as_the_values_do(values: list[Any], descends: bool) -> None:
    odd = re.compile("[\0-\x1f\ud800-\udfff]")
    values = [v for v in values if not (isinstance(v, str) and odd.search(v))]
    values = [v for v in values if not (isinstance(v, int) and abs(v) >= 10**40)]
    documents = [Document(str(at), "c", {"v": value}) for at, value in enumerate(values)]
    rows = [Row(f"c#{at:032x}", document) for at, document in enumerate(documents)]
    asked = DocumentQuery(Collection(ALICE, "a", "c"), {}, "-v" if descends else "v")
    found = [row.document.id for row in asked.sort(rows)]
    assert found == [str(at) for at in model(values, descends)]
    for left, right in pairwise(values):
        assert (order_key(left) == order_key(right)) == equal(left, right)


def model(values: list[Any], descends: bool) -> list[int]:
    """The places of values in their order: false and true, numbers, texts, then null."""

    def rank(at: int) -> tuple[int, Any]:
        value = values[at]
        return (2 if isinstance(value, str) else 0 if isinstance(value, bool) else 1), value

    ranked = sorted((at for at, value in enumerate(values) if value is not None), key=rank)
    missing = [at for at, value in enumerate(values) if value is None]
    step = -1 if descends else 1
    return ranked[::step] + missing[::step]


async def all_items(dynamo: Dynamo) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = dynamo.client.scan(TableName=dynamo.tables.store)["Items"]
    return found


async def test_a_page_and_a_count_read_what_they_show(dynamo: Dynamo) -> None:
    tasks = tasks_of(dynamo.stores)
    await tasks.add(*({"n": n, "state": "open", "text": "x" * 100} for n in range(40)))
    pages = [tasks.query(order_by=order_by, limit=5) for order_by in ("-n", "n")]
    for ask in (*pages, tasks.count(), tasks.count(where={"n": 7})):
        with metered(dynamo.client) as meter:
            await ask
        assert meter.read_units <= 4, meter.operations()
    with metered(dynamo.client) as meter:
        (made,) = await tasks.add({"n": 99, "state": "open"})
    assert meter.operations() == ["TransactWriteItems:test-StoreTable"]
    await tasks.delete(made.id)


async def test_when_all_documents_are_gone_only_their_marker_is_left(dynamo: Dynamo) -> None:
    tasks = tasks_of(dynamo.stores)
    made = await tasks.add({"n": 1}, {"n": "x" * 500_000}, {"n": list(range(300))})
    await tasks.update(made[1].id, {"n": 4})
    for document in made:
        await tasks.delete(document.id)
    (marker,) = await all_items(dynamo)
    assert (marker["sk"]["S"], marker["n"]["N"]) == ("#users#tasks", "0")


async def test_documents_from_before_the_declaration_come_in_by_steps(
    dynamo: Dynamo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbee_kernel.stores.dynamodb.document_indexes.BACKFILL", 30)
    before, tasks = tasks_of(dynamo.stores, UNDECLARED), tasks_of(dynamo.stores)
    await before.add(*({"n": n, "state": "open"} for n in range(50)))
    assert await tasks.count() == 50
    assert (await tasks.query(order_by="-n", limit=1)).data[0].data["n"] == 49
    assert not [i for i in await all_items(dynamo) if "i1" in i]
    later = tasks_of(dynamo.stores, declared(SETTLE_S + 61))
    await later.add({"n": 50, "state": "done"})
    for _ in range(2):
        assert (await later.query(order_by="-n", limit=1)).data[0].data["n"] == 50
        assert [await later.count(where={"state": s}) for s in ("open", "done")] == [50, 1]
    items = await all_items(dynamo)
    assert len([i for i in items if "i1" in i]) == 51
    assert ["done" in i for i in items if "gen" in i] == [True]
    with metered(dynamo.client) as meter:
        page = await later.query(order_by="-n", limit=2)
    assert (page.total, [d.data["n"] for d in page]) == (51, [50, 49])
    assert meter.read_units <= 4
    assert BACKFILL == 1_000


async def test_large_documents_come_in_by_transactions_that_dynamodb_takes(dynamo: Dynamo) -> None:
    before, text = tasks_of(dynamo.stores, UNDECLARED), "x" * 187_000
    made = await before.add(*({"n": n, "text": text} for n in range(24)))
    await tasks_of(dynamo.stores).count()
    later = tasks_of(dynamo.stores, declared(SETTLE_S + 61))
    sent: list[int] = []
    dynamo.client.meta.events.register(
        "provide-client-params.dynamodb.TransactWriteItems",
        lambda params, **_: sent.append(len(params["TransactItems"]) - 1),  # one counts
    )
    assert (await later.query(order_by="n", limit=1)).data[0].data["n"] == 0
    # an update counts with all of its item
    assert max(sent) * len(text) <= 4 * 1024**2
    assert sum(sent) == len(made)


async def test_what_is_written_without_the_declaration_is_never_missed(dynamo: Dynamo) -> None:
    """An older release of the app at work: the indexes end and are built anew."""
    made = await tasks_of(dynamo.stores).add({"n": 1}, {"n": 2})
    older = dynamodb_stores(dynamo.tables, client_factory=lambda _: dynamo.client)
    for undeclared in (
        lambda: tasks_of(older, UNDECLARED).add({"n": 3}),
        lambda: tasks_of(older, UNDECLARED).update(made[0].id, {"n": 9}),
        lambda: tasks_of(older, UNDECLARED).delete(made[1].id),
    ):
        await undeclared()
        plain = sorted(d.data["n"] for d in await tasks_of(older, UNDECLARED).query())
        for later in (0.0, MARKER_CACHE_S + 1, SETTLE_S + 400, SETTLE_S + 800):
            now = tasks_of(dynamo.stores, declared(later))
            assert [d.data["n"] for d in await now.query(order_by="n")] == plain
            assert await now.count() == len(plain)


async def test_a_process_that_believes_an_ended_generation_is_told(dynamo: Dynamo) -> None:
    tasks = tasks_of(dynamo.stores)
    await tasks.add({"n": 1})
    marker = next(i for i in await all_items(dynamo) if "gen" in i)
    bare = {k: v for k, v in marker.items() if k in ("pk", "sk", "users_key", "user_id")}
    dynamo.client.put_item(TableName=dynamo.tables.store, Item=bare)  # as 0.1.0 writes it
    await tasks.add({"n": 2})
    assert await tasks.count() == 2
    assert [d.data["n"] for d in await tasks.query(order_by="-n")] == [2, 1]
    later = tasks_of(dynamo.stores, declared(SETTLE_S + 61))
    await later.count()
    assert (await later.query(order_by="-n")).total == 2
    entries = [i[n] for i in await all_items(dynamo) for n in ("i1", "i2") if n in i]
    assert len(entries) == 4, entries
