"""What `ctx.store` reads and writes with 100,000 documents in one user's collection: pages, counts,
changes, with the indexes declared and without.

The documents are laid out by the store's own code and put into the local table past its API, which
would take the better part of an hour; what is measured goes through it.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from moto.dynamodb.models import dynamodb_backends

from benchmarks.meter import Meter, metered
from local.aws import REGION, local_aws
from local.template import TEMPLATE_PATH, create_tables, load_template
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.sdk.definitions import IndexDef
from webbee_kernel.stores import Collection
from webbee_kernel.stores.declared import UNDECLARED, Declared
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.stores.dynamodb.client import Item
from webbee_kernel.stores.dynamodb.document_items import Place, writes_of
from webbee_kernel.stores.dynamodb.keeping import marker
from webbee_kernel.stores.dynamodb.kept_items import Generation, Kept, kept_of, moves, tally
from webbee_kernel.stores.jsontext import dumps
from webbee_kernel.stores.protocols import DocumentStore
from webbee_kernel.values import UserKey

DOCUMENTS: Final = 100_000
PAGE: Final = 25
BAR: Final = 5.0
"""Read units of a page, the first or a later one, and of a count."""
USER: Final = UserKey("acme", "alice")
NOW: Final = "2026-05-15T17:21:04Z"
DECLARED: Final = Declared(
    (IndexDef("tasks", "due"), IndexDef("tasks", "state", counted=True)), 1_800_000_000.0
)
ASKED: Final[dict[str, dict[str, Any]]] = {
    "page by due": {"order_by": "due"},
    "page by -due": {"order_by": "-due"},
    "page of open ones": {"where": {"state": "open"}},
}


def task(n: int) -> dict[str, Any]:
    """A task as the app of that name keeps it."""
    return {
        "title": f"Call customer {n} about the order",
        "due": f"20{26 + n % 7}-{1 + n % 12:02}-{1 + n % 28:02}",
        "priority": ("low", "normal", "high")[n % 3],
        "state": "open" if n % 4 == 0 else "done",
    }


def fill(table: str, count: int) -> None:
    """Put the tasks with their entries and counts where the store would have put them."""
    held = next(b[REGION] for b in dynamodb_backends.values()).tables[table]
    state = Generation("bench", DECLARED.text(), done=True)
    total: dict[str, int] = {}
    at = Place(USER, "tasks", "tasks", "")
    for n in range(count):
        place = at._replace(doc_id=f"{n:032x}")
        document, (put,) = writes_of(table, place, None, dumps(task(n)), NOW)
        kept = kept_of(document, state.gen, DECLARED)
        item: Item = put["Put"]["Item"] | kept.attribute()
        entries = moves(table, place, item["created"]["S"], Kept(), kept, document)
        for stored in (item, *(entry["Put"]["Item"] for entry in entries)):
            held.put_item(stored)
        for name, change in tally(DECLARED, state, (Kept(), kept)).items():
            total[name] = total.get(name, 0) + change
    held.put_item(marker(at, state) | {name: {"N": str(of)} for name, of in total.items()})
    _bisect(held, at.pk)


def _bisect(held: Any, pk: str) -> None:
    """Have the local table look only through the range that a query names: it goes through all
    items otherwise, and compares each."""
    items = next(of for key, of in held.items.items() if key.value == pk)
    by_key = {key.value: item for key, item in items.items()}
    keys = sorted(by_key)
    query, all_items = held.query, held.all_items

    def narrowed(
        hash_key: Any, comparison: str | None, values: list[Any], *rest: Any, **named: Any
    ) -> Any:
        index = rest[4] if len(rest) > 4 else None
        if comparison == "BETWEEN" and hash_key.value == pk and not index:
            low, high = (bound.value for bound in values)
            within = keys[bisect_left(keys, low) : bisect_right(keys, high)]
            held.all_items = lambda: (by_key[key] for key in within)
        try:
            return query(hash_key, comparison, values, *rest, **named)
        finally:
            held.all_items = all_items

    held.query = narrowed


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    with filled(DOCUMENTS) as (store, meter):
        missed = asyncio.run(_read(store, meter))
    with filled(1) as (store, meter):
        asyncio.run(_written(store, meter))
    return missed


@contextmanager
def filled(count: int) -> Iterator[tuple[DocumentStore, Meter]]:
    """The store over a table with so many tasks."""
    with local_aws():
        client = aws_client("dynamodb")
        tables = Tables.from_variables(create_tables(client, load_template(TEMPLATE_PATH)))
        fill(tables.store, count)
        with metered(client) as meter:
            yield dynamodb_stores(tables).documents, meter


async def _read(store: DocumentStore, meter: Meter) -> int:
    print(f"{DOCUMENTS:,} tasks of one user, pages of {PAGE}, two fields declared, one counted\n")
    print(f"{'':32}{'requests':>9}{'read units':>11}{'write units':>12}")
    most = 0.0
    for what, asked in ASKED.items():
        page = await _told(meter, what, _page(store, **asked))
        most = max(most, meter.read_units)
        for _ in range(2):
            meter.clear()
            page = await _page(store, cursor=page.cursor, **asked)
            most = max(most, meter.read_units)
        _print(f"{what}, the third", meter)
    total = await _told(meter, "count", store.count(Collection(USER, "tasks", "tasks", DECLARED)))
    most = max(most, meter.read_units)
    open_ones = store.count(Collection(USER, "tasks", "tasks", DECLARED), where={"state": "open"})
    found = await _told(meter, "count of open ones", open_ones)
    most = max(most, meter.read_units)
    print(f"\nbar: {BAR} read units a page and a count (here at most {most})\n")
    return 1 if most > BAR or (total, found) != (DOCUMENTS, DOCUMENTS // 4) else 0


async def _written(store: DocumentStore, meter: Meter) -> None:
    """What it costs to write, beside a collection of which nothing is declared."""
    for what, collection, declared in (
        ("", "tasks", DECLARED),
        (", nothing declared", "plain", UNDECLARED),
    ):
        made = await store.create(
            Collection(USER, "tasks", collection, declared), task(0), now=NOW, doc_id="a"
        )
        await _told(
            meter,
            f"create{what}",
            store.create(Collection(USER, "tasks", collection, declared), task(1), now=NOW),
        )
        done = store.update(
            Collection(USER, "tasks", collection, declared), made.id, {"state": "done"}, now=NOW
        )
        await _told(meter, f"change its state{what}", done)
        gone = store.delete(Collection(USER, "tasks", collection, declared), made.id)
        await _told(meter, f"delete{what}", gone)


def _page(store: DocumentStore, **asked: Any) -> Any:
    return store.query(Collection(USER, "tasks", "tasks", DECLARED), limit=PAGE, **asked)


async def _told(meter: Meter, what: str, ask: Awaitable[Any]) -> Any:
    meter.clear()
    answer = await ask
    _print(what, meter)
    return answer


def _print(what: str, meter: Meter) -> None:
    print(
        f"{what:32}{len(meter.calls):>9}{meter.read_units:>11.1f}{meter.write_units:>12.1f}",
        flush=True,
    )
