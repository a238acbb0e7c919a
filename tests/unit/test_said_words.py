"""Whether words are the user's own: forms of one word, and no more work than the texts are long."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.guards.user_words import LEAST_SHARED, SHARE, Said


@pytest.mark.parametrize(
    ("said", "word", "holds"),
    [
        ("call the dentists", "dentist", True),
        ("позвони бухгалтеру", "бухгалтерия", True),
        ("buy milk", "mile", False),
        ("transfer", "transatlantic", False),
        ("room 1204", "1205", False),
    ],
)
def test_a_form_of_a_word_is_his(said: str, word: str, holds: bool) -> None:
    assert Said([said]).has(word) is holds


@given(st.text("abc", min_size=1, max_size=12), st.text("abc", min_size=1, max_size=12))
def test_words_that_begin_alike_for_most_of_their_length_are_forms_of_one(a: str, b: str) -> None:
    shared = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    shared = min(len(a), len(b)) if shared is None else shared
    if shared >= LEAST_SHARED and shared >= SHARE * max(len(a), len(b)):
        assert Said([b]).has(a)


@pytest.mark.parametrize("word", ["word{n}", "other{n:x}ing", "преобразование", "same", "x" * 300])
def test_the_work_grows_with_the_texts_and_no_faster(word: str) -> None:
    """Counted in calls of functions, of texts that share nothing."""
    short, long = (_work(word, size) for size in (2_000, 8_000))
    assert long < 5 * short + 1_000


def _work(word: str, size: int) -> int:
    from webbee_kernel.guards.user_words import words_in

    letters = "abcdefghijklmnopqrstuvwxyz"
    count = size // (len(word) + 4)
    own = " ".join(
        f"{letters[n % 26]}{letters[n // 26 % 26]}{word.format(n=n)}" for n in range(count)
    )
    told = " ".join(f"{word.format(n=n)}{letters[n % 26]}q" for n in range(count))
    words_in.cache_clear()
    calls = 0

    def counted(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        Said([own]).share(told)
    finally:
        sys.setprofile(None)
    return calls
