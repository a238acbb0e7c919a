import asyncio
import base64
import functools
import random
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from tests.contract.conftest import Dynamo
from tests.contract.samples import notes, race
from webbee_kernel.sdk.exceptions import StoreConflict
from webbee_kernel.sdk.result import Document
from webbee_kernel.stores import Stores
from webbee_kernel.stores.codec import INLINE_BYTES, PART_BYTES


@functools.cache
def noise(size: int, seed: int = 0) -> str:
    """Text that does not compress below three quarters of its size."""
    return base64.b64encode(random.Random(seed).randbytes(size)).decode()[:size]


async def put(stores: Stores, data: dict[str, Any], doc_id: str = "big") -> Document:
    return await notes(stores).update(doc_id, data, replace=True)


def keys(dynamo: Dynamo) -> list[str]:
    items = dynamo.client.scan(TableName=dynamo.tables.store)["Items"]
    return sorted(item["sk"]["S"] for item in items)


@pytest.mark.parametrize("size", [INLINE_BYTES - 20, INLINE_BYTES, 400_000, 1_200_000])
async def test_any_size_comes_back_whole(stores: Stores, size: int) -> None:
    data = {"text": noise(size), "n": 2**70}
    made = await notes(stores).create(data, doc_id="big")
    small = await notes(stores).create({"n": 1})
    assert await notes(stores).get("big") == made
    assert made.data == {"text": noise(size), "n": 2**70}
    assert (await notes(stores).query(limit=5)).data == [made, small]
    assert await notes(stores).count() == 2
    assert await notes(stores).count(where={"n": 2**70}) == 1


async def test_a_merge_into_a_large_document_keeps_the_rest(stores: Stores) -> None:
    first = await put(stores, {"text": noise(900_000), "n": 1})
    merged = await notes(stores).update("big", {"n": 2}, if_match=first.etag)
    assert merged.data == {"text": noise(900_000), "n": 2}
    assert await notes(stores).get("big") == merged
    with pytest.raises(StoreConflict):
        await notes(stores).update("big", {"n": 3}, if_match=first.etag)
    with pytest.raises(StoreConflict) as conflict:
        await notes(stores).create({"text": noise(600_000, 1)}, doc_id="big")
    assert conflict.value.current_etag == merged.etag


async def test_beyond_the_limit_a_document_is_refused(stores: Stores) -> None:
    with pytest.raises(ValueError, match="too large"):
        await put(stores, {"text": noise(5_400_000)})
    assert await notes(stores).get("big") is None


async def test_a_reader_never_sees_halves_of_two_versions(stores: Stores) -> None:
    versions = [{"text": noise(600_000 + 150_000 * n, n), "n": n} for n in range(3)]
    await put(stores, versions[0])

    async def write() -> None:
        for n in (1, 2, 0, 2, 1):
            await put(stores, versions[n])

    async def read() -> list[Document | None]:
        return [await notes(stores).get("big") for _ in range(6)]

    results = await race(write, read, read)
    for found in (*results[1], *results[2]):
        assert found is not None
        assert found.data == versions[found.data["n"]]


def meanwhile(dynamo: Dynamo, operation: str, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Something else happens once, just before the next such request."""
    left = [work]

    def happen(**_: Any) -> None:
        if left:
            asyncio.run(left.pop()())

    dynamo.client.meta.events.register(f"before-call.dynamodb.{operation}", happen)


@pytest.mark.parametrize("size", [600_000, 10])
async def test_a_document_replaced_behind_its_head_is_read_anew(dynamo: Dynamo, size: int) -> None:
    await put(dynamo.stores, {"text": noise(600_000)})
    meanwhile(dynamo, "Query", partial(put, dynamo.stores, {"text": noise(size, 1)}))
    found = await notes(dynamo.stores).get("big")
    assert found is not None
    assert found.data == {"text": noise(size, 1)}
    assert found == await notes(dynamo.stores).get("big")


async def test_a_document_that_grows_while_deleted_leaves_nothing_behind(dynamo: Dynamo) -> None:
    await put(dynamo.stores, {"text": noise(600_000)})
    meanwhile(dynamo, "TransactWriteItems", partial(put, dynamo.stores, {"text": noise(1_200_000)}))
    assert await notes(dynamo.stores).delete("big")
    assert keys(dynamo) == ["#users#notes"]


async def test_a_document_deleted_between_head_and_parts_is_gone(dynamo: Dynamo) -> None:
    await put(dynamo.stores, {"text": noise(600_000)})
    meanwhile(dynamo, "Query", partial(notes(dynamo.stores).delete, "big"))
    assert await notes(dynamo.stores).get("big") is None


async def test_no_part_outlives_its_version(dynamo: Dynamo) -> None:
    marker = "#users#notes"
    sizes = {noise(1_200_000): 3, noise(600_000): 2, "письмо " * 100_000: 0, noise(700_000): 2}
    for text, parts in sizes.items():  # the third compresses well
        made = await put(dynamo.stores, {"text": text})
        held = [f"notes#big#part#{n:03d}" for n in range(parts)]
        assert keys(dynamo) == [marker, "notes#big", *held]
        assert await notes(dynamo.stores).get("big") == made
    assert await notes(dynamo.stores).delete("big")
    assert not await notes(dynamo.stores).delete("big")
    assert keys(dynamo) == [marker]


async def test_head_and_index_together_and_every_part_fit_dynamodbs_limits(dynamo: Dynamo) -> None:
    longest = "Ж" * 256
    collection = "c" * 128
    for size in (INLINE_BYTES - 11, 1_200_000):
        place, text = notes(dynamo.stores, collection), {"text": noise(size)}
        await place.update(longest, text, replace=True)
        for item in dynamo.client.scan(TableName=dynamo.tables.store)["Items"]:
            sizes = (len(name) + len(next(iter(value.values()))) for name, value in item.items())
            stored = sum(sizes) + 512
            assert stored * (2 if "created" in item else 1) <= 400 * 1024
    assert PART_BYTES * 10 + 20_000 < 4 * 1024 * 1024
