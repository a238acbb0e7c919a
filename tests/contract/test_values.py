"""The pure parts below the stores: JSON text, keys, cursors, records, turns as items."""

import random
import tracemalloc
import zlib
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.samples import turn
from tests.json_values import json_values
from webbee_kernel.stores.codec import (
    compress,
    decompress,
    dumps,
    equal,
    loads,
    turn_from,
    turn_text,
)
from webbee_kernel.stores.dynamodb.item_requests import Item, from_wire, to_wire
from webbee_kernel.stores.dynamodb.sessions import SMALL_BYTES, turn_from_item
from webbee_kernel.stores.item_keys import shard_of
from webbee_kernel.stores.paging import KEY, Cursor
from webbee_kernel.stores.types import Turn
from webbee_kernel.types import UserKey

any_json = json_values(items=3, fields=3, leaves=10)


@given(any_json)
def test_json_comes_back_exactly(value: Any) -> None:
    assert repr(loads(dumps(value))) == repr(value)
    assert equal(value, loads(dumps(value)))


def test_each_value_of_an_item_comes_back_as_what_it_was() -> None:
    item = {"s": "", "b": b"x", "yes": True, "no": False, "n": 1, "f": 0.1, "set": {"a"}}
    sent = {"Items": [item], "TransactItems": [{"Put": {"Item": item}}]}
    # as text: 1 is True to Python
    assert repr(from_wire(to_wire(sent))) == repr(sent)
    assert to_wire({"Key": {"yes": True}}) == {"Key": {"yes": {"BOOL": True}}}


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="nested"):
        dumps(loop)


numbers = st.integers(0, 2**53 - 1) | st.floats(0, 2**53, exclude_max=True)


@given(any_json, st.text(st.characters(codec="utf-8"), min_size=1, max_size=1024), numbers)
def test_a_cursor_brings_its_position_back(query: Any, text: str, number: Any) -> None:
    tokens = Cursor("q", query)
    token = tokens.write(text, number)
    kinds = [KEY, type(number)]
    assert repr(tokens.read(token, *kinds)) == repr([text, number])
    for of, wanted in (
        (Cursor("q", query, "other"), kinds),
        (tokens, kinds[:1]),
        (tokens, kinds[::-1]),
        (tokens, [KEY, bool]),
        (tokens, ["", type(number)]),
    ):
        with pytest.raises(ValueError, match="cursor"):
            of.read(token, *wanted)


def test_a_record_of_another_version_is_still_read() -> None:
    row = loads(turn_text(turn(7)))
    del row["vault"]
    row["of the future"] = 1
    assert turn_from(dumps(row)) == replace(turn(7), vault={})


def test_what_a_turn_does_not_say_is_empty() -> None:
    bare, unmasked = Turn(1, "", "ok", "", "", ""), replace(turn(1), masked=False)
    assert [turn_from(turn_text(one)) for one in (bare, unmasked)] == [bare, unmasked]
    said = {f.name for f in fields(Turn) if getattr(bare, f.name)} | set(loads(turn_text(bare)))
    assert said == set(loads(turn_text(bare)))


def test_a_users_shard_is_the_same_everywhere() -> None:
    assert [shard_of(UserKey("acme", name), 8) for name in ("alice", "bob", "иван")] == [3, 7, 3]


# ---- turns as items


def item_of(one: Turn) -> Item:
    return {"sk": "turn#1", "seq": one.seq, "at": one.at, "packed": compress(turn_text(one))}


def test_the_same_bytes_are_read_once_and_others_are_told_apart() -> None:
    one = replace(turn(1), marks=("0123456789ab", "ba9876543210"), listed="0a0b")
    large = replace(turn(1), reply=random.Random(1).randbytes(2 * SMALL_BYTES).hex())
    others = [replace(one, reply="Another."), replace(one, listed="0a"), large]
    read = [turn_from_item(item_of(each)) for each in (one, *others)]
    assert read == [one, *others]
    assert turn_from_item(item_of(one)) is read[0]
    assert turn_from_item(item_of(large)) is not read[-1]  # too large to be kept


def test_a_turn_that_was_read_and_is_damaged_since_is_damaged() -> None:
    item = item_of(turn(1))
    assert turn_from_item(item).status == "ok"
    left = turn_from_item({**item, "packed": b"garbage"})
    assert (left.seq, left.at, left.status) == (1, turn(1).at, "error")


@pytest.mark.parametrize("size", [0, 1, 500, 4_096, 4_097, 50_000])
def test_a_squeezed_text_comes_back_and_is_no_larger_than_zlib_makes_it(size: int) -> None:
    text = "".join(f'{{"id": "o-{n}", "item": "Артикул {n}"}}' for n in range(2_000))[:size]
    packed = compress(text)
    assert decompress(packed) == text
    assert len(packed) <= len(zlib.compress(text.encode(), 9))


def test_squeezing_a_turn_takes_little_memory() -> None:
    text = "a turn as it is remembered, " * 100
    compress(text)
    tracemalloc.start()
    compress(text)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100_000
