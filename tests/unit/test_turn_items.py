"""A turn as an item: packed small, and read once by a process."""

from __future__ import annotations

import random
import tracemalloc
import zlib
from dataclasses import replace

import pytest

from tests.contract.samples import turn
from webbee_kernel.stores.codec import squeeze, unpack
from webbee_kernel.stores.dynamodb.client import Item, N
from webbee_kernel.stores.dynamodb.sessions import SMALL_BYTES, turn_attributes, turn_in
from webbee_kernel.stores.types import Turn

MARKS = ("0123456789ab", "ba9876543210")


def item_of(one: Turn) -> Item:
    return {"sk": {"S": "turn#1"}, "seq": N(one.seq), **turn_attributes(one)}


def test_the_same_bytes_are_read_once() -> None:
    one = replace(turn(1), marks=MARKS, listed="0a0b")
    first = turn_in(item_of(one))
    assert first == one
    assert turn_in(item_of(one)) is first


def test_turns_that_differ_in_any_part_are_told_apart() -> None:
    one = replace(turn(1), marks=MARKS, listed="0a0b")
    others = [
        replace(one, reply="Another."),
        replace(one, marks=MARKS[:1]),
        replace(one, listed="0a"),
        replace(one, marks=(), listed=""),
    ]
    assert turn_in(item_of(one)) == one
    assert [turn_in(item_of(other)) for other in others] == others


def test_a_large_turn_is_not_kept() -> None:
    one = replace(turn(1), reply=random.Random(1).randbytes(2 * SMALL_BYTES).hex())
    first = turn_in(item_of(one))
    assert first == one
    assert turn_in(item_of(one)) is not first


def test_a_turn_that_was_read_and_is_damaged_since_is_damaged() -> None:
    item = item_of(turn(1))
    assert turn_in(item).status == "ok"
    assert turn_in({**item, "packed": {"B": b"garbage"}}).status == "error"


@pytest.mark.parametrize("size", [0, 1, 500, 4_096, 4_097, 50_000])
def test_a_squeezed_text_comes_back_and_is_no_larger_than_zlib_makes_it(size: int) -> None:
    text = "".join(f'{{"id": "o-{n}", "item": "Артикул {n}"}}' for n in range(2_000))[:size]
    packed = squeeze(text)
    assert unpack(packed) == text
    assert len(packed) <= len(zlib.compress(text.encode(), 9))


def test_squeezing_a_turn_takes_little_memory() -> None:
    text = "a turn as it is remembered, " * 100
    squeeze(text)
    tracemalloc.start()
    squeeze(text)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100_000
