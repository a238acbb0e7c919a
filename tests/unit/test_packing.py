"""How stored texts are packed."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from webbee_kernel.stores.codec import squeeze, unpack


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
