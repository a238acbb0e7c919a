"""What is bounded says what `fit` says, and looks at no more than it has to."""

from __future__ import annotations

import cProfile
import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

from webbee_kernel.channels.bounding import bounded, fitted, size
from webbee_kernel.channels.truncate import fit
from webbee_kernel.text import dumps, json_size, more_of

BUDGET = 2_000


def rows(count: int, text: str = "") -> list[dict[str, Any]]:
    return [
        {"id": f"o-{i}", "title": f"Order {i}", "paid": i % 2 == 0, "note": text or f"note {i}"}
        for i in range(count)
    ]


LARGE: dict[str, Any] = {
    "text": "a word and another, " * 5_000,
    "rows": {"count": 5_000, "rows": rows(5_000)},
    "rows of long texts": rows(500, "long " * 500),
    "a few rows of very long texts": rows(3, "long " * 50_000),
    "numbers": list(range(50_000)),
    "texts": ["word " * 20] * 5_000,
    "fields": {f"field {i}": i for i in range(20_000)},
    "large fields": {f"field {i}": "text " * 100 for i in range(2_000)},
    "lists of lists": [[1, 2, 3]] * 20_000,
    "a few long lists": [list(range(5_000))] * 50,
    "fields of one letter": {chr(0x4E00 + n): 1 for n in range(2_000)},
    "rows below rows": [{"id": i, "lines": rows(200)} for i in range(100)],
    "mixed": [*rows(2_000), "text", None, 4.5],
}


@pytest.mark.parametrize("value", LARGE.values(), ids=LARGE.keys())
def test_what_is_fitted_has_room_is_json_and_says_that_it_is_cut(value: Any) -> None:
    kept = fitted(value, BUDGET)
    text = dumps(kept)
    assert BUDGET / 3 < len(text) <= BUDGET
    assert json.loads(text) == kept
    assert "\u2026" in text or "_truncated" in text


@pytest.mark.parametrize("value", LARGE.values(), ids=LARGE.keys())
@pytest.mark.parametrize("budget", [60, 61, 100, 250])
def test_little_room_is_kept_to_as_well(value: Any, budget: int) -> None:
    assert len(dumps(fitted(value, budget))) <= budget


def calls(value: Any) -> int:
    """Calls of functions, without those that fill caches and those of what the collector finds of
    earlier tests."""
    fitted(value, BUDGET)
    profile = cProfile.Profile()
    gc.disable()
    try:
        profile.runcall(fitted, value, BUDGET)
    finally:
        gc.enable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("value", LARGE.values(), ids=LARGE.keys())
def test_the_work_is_bounded_by_the_room(value: Any) -> None:
    assert calls(value) < 20 * BUDGET


def test_the_work_does_not_grow_with_the_rows() -> None:
    assert calls(rows(50_000)) <= 1.05 * calls(rows(1_000))


@pytest.mark.parametrize("length", [2 * BUDGET, 2 * BUDGET + 1])
def test_what_is_at_most_twice_too_large_is_left_to_fit_as_it_is(length: int) -> None:
    value = ["x" * (length - len('["", 1]')), 1]
    assert json_size(value) == length
    assert (bounded(value, BUDGET) is value) == (length == 2 * BUDGET)


def test_as_many_fields_are_kept_as_fit_would_keep_of_all() -> None:
    fields = LARGE["fields of one letter"]
    assert fitted(fields, BUDGET) == fit(fields, BUDGET)


def test_fields_of_two_hundred_characters_are_left_to_fit_as_they_are() -> None:
    fields = {f"field {i}": "x" * (200 - len('""')) for i in range(100)}
    assert fitted(fields, BUDGET) == fit(fields, BUDGET)


@pytest.mark.parametrize("item", [7, 42, "", None], ids=repr)
@pytest.mark.parametrize("room", [100, BUDGET])
def test_as_many_small_items_are_kept_as_fit_would_keep_of_all(item: Any, room: int) -> None:
    assert fitted([item] * 10_000, room) == fit([item] * 10_000, room)


@pytest.mark.parametrize(("room", "kept"), [(521, 9), (522, 10), (570, 10), (571, 11)])
def test_a_leading_row_stays_as_soon_as_there_is_room_for_it(room: int, kept: int) -> None:
    row = {"title": "Order", "paid": True, "note": "x" * 300}
    assert len(fitted([{"id": f"{i:05}", **row} for i in range(5_000)], room)) == kept + 1


@pytest.mark.parametrize(
    ("id_length", "note", "kept", "used", "said"),
    [
        (5, 10, 27, 1932, "… 4973 more"),
        (5, 300, 40, 1992, "… 4960 more, fields left out"),
        (20, 90, 30, 1952, "… 4970 more, fields left out"),
        (45, 90, 10, 1925, "… 4990 more"),
        (45, 300, 13, 1965, "… 4987 more"),
        (70, 90, 9, 1959, "… 4991 more"),
    ],
)
def test_leading_rows_take_the_room_where_not_even_all_ids_have_it(
    id_length: int, note: int, kept: int, used: int, said: str
) -> None:
    rows = [
        {"id": f"{i:0{id_length}}", "title": "Order", "paid": True, "note": "x" * note}
        for i in range(5_000)
    ]
    found = fitted(rows, BUDGET)
    assert [row["id"] for row in found[:-1]] == [row["id"] for row in rows[:kept]]
    assert (len(dumps(found)), found[-1]) == (used, said)


@pytest.mark.parametrize(("count", "kept"), [(100, 100), (101, 14)])
@pytest.mark.parametrize("cut", [fit, fitted])
def test_the_ids_of_all_rows_stay_while_they_leave_a_third_of_the_room(
    cut: Callable[[Any, int], Any], count: int, kept: int
) -> None:
    orders = [{"id": 100 + n, "title": "t" * 58, "note": "n" * 40} for n in range(count)]
    *stay, said = cut(orders, BUDGET)
    assert [row["id"] for row in stay] == list(range(100, 100 + kept))
    assert said == ("… fields left out" if kept == count else f"… {count - kept} more")


def test_what_was_cut_before_counts_when_it_is_cut_again() -> None:
    once = fitted(rows(5_000), 10 * BUDGET)
    twice = fitted(once, BUDGET)
    said = more_of(twice)
    assert said and said.gone == 5_000 - (len(twice) - 1)
    text = fitted("word " * 10_000, 10 * BUDGET)
    assert fit(text, BUDGET).endswith("\u2026[50000 chars]")
    fields = fitted({f"f{i}": i for i in range(20_000)}, 10 * BUDGET)
    for room in (60, 100, BUDGET):
        for again in (fit(fields, room), fitted(fields, room)):
            assert again["_truncated"] == f"{20_000 - (len(again) - 1)} more fields"
            assert room - len('"field 10": 10, ') < len(dumps(again)) <= room


@pytest.mark.parametrize(
    "value",
    [
        "",
        "plain",
        'a "quote"',
        "back\\slash",
        "FACTS: x",
        "[HISTORY]",
        "\u2028",
        "\u043f\u0438",
        7,
        -12,
        2**80,
        True,
        None,
        1.5,
        [1, "a"],
        {"a": 1},
    ],
)
def test_a_size_that_is_not_written_is_the_one_that_is(value: Any) -> None:
    assert json_size(value) == len(dumps(value))


@pytest.mark.parametrize(
    "value",
    [
        *([{}, [], 7, None, "four", {"a": "b"}, [1] * 40]),
        *({"no": 12, "of": [1, "x", {}]}, [[], "text", {"k": []}]),
    ],
)
def test_a_size_is_that_of_the_json_and_more_than_enough_just_where_that_is(value: Any) -> None:
    whole = len(json.dumps(value))
    assert size(value, whole) == whole
    assert [n for n in range(whole + 9) if size(value, n) > n] == list(range(whole))


def test_a_size_is_counted_until_it_is_enough() -> None:
    assert size(rows(100_000), 100) < 300


def test_of_a_list_within_no_more_is_counted_than_what_stands_before_it_leaves() -> None:
    class Counted(list[int]):
        looked = 0

        def __iter__(self) -> Any:
            for item in list.__iter__(self):
                self.looked += 1
                yield item

    within = Counted([1] * 25)
    before = len('{"first": ""') + 40 + len(', "second": ')
    assert size({"first": "x" * 40, "second": within}, 100) > 100
    assert within.looked == -(-(100 - before) // len(", 1"))


def test_of_so_many_items_that_none_can_matter_none_is_looked_at() -> None:
    class Unread(list[int]):
        def __iter__(self) -> Any:
            raise AssertionError("an item was looked at")

    assert size(Unread(range(10_000)), 25_000) == 25_001


def test_a_text_among_rows_is_cut_as_a_text() -> None:
    orders = [*rows(10), "word " * 2_000]
    *kept, text = fitted(orders, BUDGET)
    assert kept[:10] == orders[:10]
    assert text.startswith("word word ") and text.endswith("\u2026[10000 chars]")


@pytest.mark.parametrize(("leading", "taken_for_rows"), [(9, False), (10, True)])
def test_a_list_whose_first_ten_items_are_rows_is_one_of_rows(
    leading: int, taken_for_rows: bool
) -> None:
    """A text among rows gets no more room than a row."""
    letter = "word " * 2_000
    kept = bounded([*rows(leading), letter, *rows(100)], BUDGET)
    as_row = bounded([*rows(leading + 1), letter, *rows(100)], BUDGET)
    (text, _), (narrow, _) = ([i for i in k if isinstance(i, str)] for k in (kept, as_row))
    assert (text == narrow) is taken_for_rows and len(text) >= len(narrow)


@pytest.mark.parametrize("room", [200, 500, BUDGET])
def test_of_rows_with_lists_in_them_those_are_handed_on_that_will_stay(room: int) -> None:
    orders = [{"id": f"{i:05}", "title": "Order", "tags": ["new", "paid"]} for i in range(1_000)]
    assert len(bounded(orders, room)) == len(fit(orders, room)) == len(fitted(orders, room))


@pytest.mark.parametrize(("length", "whole"), [(900, True), (901, False)])
def test_where_all_ids_stay_rows_up_to_three_times_their_share_are_left_to_fit_as_they_are(
    length: int, whole: bool
) -> None:
    empty = len(dumps({"id": 100, "note": "", "lines": []}))
    orders = [
        {"id": 100 + n, "note": "x" * (length - empty), "lines": []} for n in range(BUDGET // 100)
    ]
    assert {size(order, length) for order in orders} == {length}
    assert [b is o for b, o in zip(bounded(orders, 3 * BUDGET), orders, strict=False)] == (
        [whole] * len(orders)
    )


def test_large_fields_share_what_keys_and_signs_leave_of_the_room() -> None:
    kept = bounded({"letter": "x" * 9_000, "other": "y" * 9_000}, 1_000)
    share = (1_000 - len('{"letter": , "other": , }')) // 2
    assert (kept["letter"].count("x"), kept["other"].count("y")) == (share, share)


def test_rows_with_room_keep_the_beginning_of_their_lists() -> None:
    found = fitted([{"id": f"o-{n}", "lines": list(range(500))} for n in range(10)], 3 * BUDGET)
    assert [row["id"] for row in found[:10]] == [f"o-{n}" for n in range(10)]
    assert all(row["lines"][:20] == list(range(20)) for row in found[:10])


def test_what_is_no_row_among_rows_stays_as_it_is() -> None:
    others = [None, 7, "text", [1, 2]]
    found = fitted([*rows(10), *others, *rows(5_000)], BUDGET)
    assert found[:14] == [*rows(10), *others]
    assert found[14:-1] == rows(len(found) - 15)
