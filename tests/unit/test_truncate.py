"""What stays of a result as the room for it shrinks: ids and titles outlive other fields, short fields long ones, leading rows the end; and no more work than the room."""

from __future__ import annotations

import cProfile
import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

from webbee_kernel.channels.bounding import bounded, fitted
from webbee_kernel.channels.truncate import capped, fit, fit_row, ids_stay
from webbee_kernel.text import dumps, json_size, more_of, size_up_to

SENTENCE = "Please find attached the invoice."
MAILS = [
    {
        "id": f"m{n:03d}",
        "subject": f"Invoice {n}",
        "from": f"anna{n}@example.com",
        "unread": n % 2 == 0,
        "labels": ["work", "q3"],
        "body": " ".join([SENTENCE] * (1 + n % 4)),
    }
    for n in range(30)
]
MAILBOX = {
    "unread": 7,
    "account": "sarah@work.com",
    "messages": MAILS,
    "note": "n" * 300,
    "next": {"page": 2},
}


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def columns(row: Any) -> int:
    """How many of its fields a row keeps."""
    return len(row) if isinstance(row, dict) else 0


@pytest.mark.parametrize(
    ("room", "used", "rows", "first", "last", "marker"),
    [
        (60, 13, 0, 0, 0, "… 30 more"),
        (120, 115, 1, 4, 4, "… 29 more, fields left out"),
        (200, 184, 2, 4, 3, "… 28 more, fields left out"),
        (400, 372, 4, 4, 4, "… 26 more, fields left out"),
        (800, 791, 30, 2, 1, "… fields left out"),
        (1500, 1241, 30, 2, 2, "… fields left out"),
        (2500, 2131, 30, 3, 3, "… fields left out"),
        (3500, 3406, 30, 5, 5, "… fields left out"),
        (5000, 4972, 30, 6, 5, "… fields left out"),
    ],
)
def test_a_list_of_mails_keeps_ids_and_titles_of_all_before_more_of_any(
    room: int, used: int, rows: int, first: int, last: int, marker: str
) -> None:
    *kept, end = fit(MAILS, room)
    assert (len(kept), size([*kept, end]), end) == (rows, used, marker)
    assert (columns(kept[0]), columns(kept[-1])) == (first, last) if kept else rows == 0
    assert [row["id"] for row in kept] == [mail["id"] for mail in MAILS[:rows]]


@pytest.mark.parametrize(
    ("room", "used", "fields", "rows", "note"),
    [
        (60, 44, "unread _truncated", 0, ""),
        (120, 94, "unread account next _truncated", 0, ""),
        (200, 121, "unread account messages next _truncated", 0, ""),
        (400, 369, "unread account messages note next", 1, "nn…[300 chars]"),
        (800, 761, "unread account messages note next", 4, "nnnnnnnnnnnnnn"),
        (1500, 1455, "unread account messages note next", 30, "nnnnnnnnnnnnnn"),
        (2500, 2125, "unread account messages note next", 30, "nnnnnnnnnnnnnn"),
        (3500, 3015, "unread account messages note next", 30, "nnnnnnnnnnnnnn"),
        (5000, 3947, "unread account messages note next", 30, "nnnnnnnnnnnnnn"),
    ],
)
def test_a_mailbox_keeps_what_is_short_and_shares_the_rest(
    room: int, used: int, fields: str, rows: int, note: str
) -> None:
    kept = fit(MAILBOX, room)
    assert (size(kept), " ".join(kept)) == (used, fields)
    assert len(kept.get("messages", ["none"])) - 1 == rows
    assert kept.get("note", "")[-14:] == note


@pytest.mark.parametrize("before", [0, 30])
def test_a_list_keeps_as_many_words_as_there_is_room_for(before: int) -> None:
    words = [f"word{n}" * (1 + n % 3) for n in range(8)]
    told = [f"… {before} more"] * (before > 0)
    for room in range(20, size([*words, *told])):
        *kept, said = fit([*words, *told], room)
        assert (kept, said) == (words[: len(kept)], f"… {8 + before - len(kept)} more")
        one_more = f"… {7 + before - len(kept)} more"
        longer = [*words[: len(kept) + 1], *([one_more] if before or len(kept) < 7 else [])]
        assert size([*kept, said]) <= room < size(longer)


@pytest.mark.parametrize("before", [0, 30])
def test_an_object_keeps_as_many_short_fields_as_there_is_room_for(before: int) -> None:
    fields = {f"field {n}": n for n in range(9)}
    told = {"_truncated": f"{before} more fields"} if before else {}
    for room in range(40, size({**fields, **told})):
        kept = fit({**fields, **told}, room)
        count = len(kept) - 1
        said = f"{9 + before - count} more fields"
        assert kept == {**dict(list(fields.items())[:count]), "_truncated": said}
        assert size(kept) <= room < size(kept) + len('"field 0": 0, ')


@pytest.mark.parametrize(("room", "titled"), [(523, 4), (524, 5)])
def test_long_titles_keep_sixty_characters_each_as_soon_as_there_is_room(
    room: int, titled: int
) -> None:
    title = "Quarterly numbers " * 6
    rows = [{"id": f"r{n}", "title": title, "body": "b" * 300} for n in range(5)]
    *kept, _ = fit(rows, room)
    whole = {"title": f"{title[:60]}…[108 chars]"}
    assert kept == [{"id": f"r{n}", **(whole if n < titled else {})} for n in range(5)]


@pytest.mark.parametrize(("room", "numbers"), [(141, 22), (142, 23), (147, 24)])
def test_a_first_item_that_is_too_long_keeps_its_start(room: int, numbers: int) -> None:
    found = fit([list(range(100, 160))] * 4, room)
    start = [*range(100, 100 + numbers), f"… {60 - numbers} more"]
    assert (found, size(found) <= room) == ([start, "… 3 more"], True)


@pytest.mark.parametrize(("room", "second"), [(85, {"id": 2}), (86, {"id": 2, "n": 5})])
def test_a_row_is_whole_as_soon_as_there_is_room_for_it(room: int, second: Any) -> None:
    rows = [{"id": 1, "body": "b" * 40}, {"id": 2, "n": 5}, {"id": 3, "body": "c" * 60}]
    assert fit(rows, room) == [{"id": 1}, second, {"id": 3}, "… fields left out"]


def test_a_row_of_nothing_but_title_and_id_stays_as_it_was() -> None:
    rows = [{"title": "Plan", "id": 1, "body": "b" * 40}, {"title": "Note", "id": 2}]
    first, second, _ = fit(rows, 90)
    assert (list(first), list(second)) == (["title", "id"], ["title", "id"])


@pytest.mark.parametrize(("length", "fields"), [(38, [2]), (39, [1, 1])])
def test_a_row_three_times_as_long_as_its_title_stays_whole_and_a_longer_one_is_cut(
    length: int, fields: list[int]
) -> None:
    *kept, _ = fit([{"title": "t" * 10, "body": "b" * length}] * 9, 140)
    assert [len(row) for row in kept] == fields


@pytest.mark.parametrize(("name", "whole"), [("nn", True), ("nnn", False)])
def test_a_field_of_two_hundred_characters_outlives_a_longer_one(name: str, whole: bool) -> None:
    kept = fit({"many": [2] * 200, name: [1] * 64}, 330)
    assert (kept[name] == [1] * 64) is whole


def test_rows_that_keep_nothing_count_as_gone() -> None:
    first, *others = [{"id": 0, "body": "b" * 10}, *[{"deep": {"list": [1] * 5}}] * 2]
    for room in range(47, size([first, *others])):
        kept = fit([first, *others], room)
        assert (kept[0], {} in kept) == (first, False)
        assert size(kept) <= room
    assert fit([first, *others], 50) == [first, "… 2 more"]


@pytest.mark.parametrize(("room", "start"), [(92, 0), (93, 65), (94, 66)])
def test_of_a_first_text_at_least_eighty_characters_stay_or_nothing(room: int, start: int) -> None:
    text, more = f"{'x' * start}…[200 chars]", "… 3 more"
    assert fit(["x" * 200, *["y" * 200] * 3], room) == ([text, more] if start else ["… 4 more"])


def test_a_text_without_any_room_says_how_long_it_was() -> None:
    assert fit("abc " * 60, 1) == "…[240 chars]"


@pytest.mark.parametrize(("end", "gone"), [([], 20), (["… 5 more"], 25)])
def test_a_list_without_any_room_says_how_many_it_had(end: list[str], gone: int) -> None:
    assert fit(["word" * 9] * 20 + end, 12) == [f"… {gone} more"]


@pytest.mark.parametrize(("length", "kept"), [(80, 80), (91, 91), (92, 91), (200, 92)])
def test_a_text_is_cut_only_where_that_makes_it_shorter(length: int, kept: int) -> None:
    text = "x" * length
    assert capped([{"a": text}], 80) == [
        {"a": text if kept == length else f"{'x' * 80}…[{length} chars]"}
    ]
    assert len(capped(text, 80)) == kept


@pytest.mark.parametrize(
    ("room", "a", "b"),
    [(300, 107, 107), (420, 184, 150), (630, 394, 150), (636, 400, 150)],
)
def test_long_texts_give_way_evenly_and_short_ones_not_at_all(room: int, a: int, b: int) -> None:
    whole = {"id": "d1", "title": "Plan", "a": "x" * 400, "b": "y" * 150, "c": "z" * 30}
    kept = fit(whole, room)
    assert {k: kept[k] for k in ("id", "title", "c")} == {k: whole[k] for k in ("id", "title", "c")}
    assert (len(kept["a"]), len(kept["b"])) == (a, b)
    assert size(kept) <= room


@pytest.mark.parametrize(("room", "whole"), [(22, True), (21, False)])
def test_a_text_with_exactly_the_room_it_needs_is_whole(room: int, whole: bool) -> None:
    assert (fit("x" * 20, room) == "x" * 20) is whole


@pytest.mark.parametrize(
    ("room", "fields"),
    [
        (12, "id"),
        (21, "id n"),
        (28, "id n"),
        (29, "id title"),
        (37, "id title"),
        (38, "id title n"),
    ],
)
def test_id_and_title_come_before_any_field_as_soon_as_there_is_room_for_them(
    room: int, fields: str
) -> None:
    row = {"id": "r1", "title": "Plan", "n": 12, "body": "b" * 50}
    assert " ".join(fit_row(row, room)) == fields


@pytest.mark.parametrize(("ids", "room"), [(200, 300), (300, 451)])
def test_the_ids_of_all_rows_come_first_while_they_take_two_thirds_at_most(
    ids: int, room: int
) -> None:
    assert ids_stay(ids, room)
    assert not ids_stay(ids + 1, room)


def test_a_field_whose_name_is_too_long_leaves_its_room_to_those_behind_it() -> None:
    kept = fit({"k" * 200: "x" * 300, "note": "n" * 300, "end": "e" * 300}, 300)
    assert list(kept) == ["note", "end", "_truncated"]
    assert 290 < size(kept) <= 300


@pytest.mark.parametrize("count", [2, 3, 7])
def test_leading_rows_stay_whole_to_the_last_character_that_the_closing_words_leave(
    count: int,
) -> None:
    rows = [{"id": f"{n:030}", "n": 1} for n in range(9)]
    room = len("[]") + size("… 9 more, fields left out") + count * (size(rows[0]) + len(", "))
    assert fit(rows, room) == [*rows[:count], f"… {9 - count} more"]
    assert fit(rows, room - 1) == [*rows[: count - 1], f"… {10 - count} more"]


def test_rows_with_an_id_and_no_title_keep_all_ids_to_the_last_character_of_the_room() -> None:
    rows = [{"id": 100 + n, "lines": [1] * 40} for n in range(9)]
    ids = [{"id": row["id"]} for row in rows]
    room = size(ids) + len(", ") + size("… 9 more, fields left out")
    assert fit(rows, room) == [*ids, "… fields left out"]
    assert len(fit(rows, room - 1)) < len(rows)


def test_a_row_that_was_cut_before_goes_on_saying_so() -> None:
    said = {"_truncated": "3 more fields"}
    rows = [{"id": n, "lines": [1] * 40, **said} for n in range(3)]
    assert fit(rows, 180) == [*({"id": n, **said} for n in range(3)), "… fields left out"]


@pytest.mark.parametrize("room", [20, 21, 40, 90])
@pytest.mark.parametrize("hold", [lambda text: text, lambda text: {"text": text, "id": 7}])
def test_of_a_text_that_is_written_escaped_as_much_stays_as_there_is_room_for(
    room: int, hold: Any
) -> None:
    def cut(length: int) -> Any:
        return hold(f"{text[:length]}…[240 chars]")

    text = 'a "b" ' * 40
    room += size(hold("")) + 160 * (hold(0) != 0)  # within an object a text keeps eighty
    lengths = [n for n in range(240) if fit(hold(text), room) == cut(n)]
    assert len(lengths) == 1
    assert size(cut(lengths[0])) <= room < size(cut(lengths[0] + 1))


@pytest.mark.parametrize(("room", "fields"), [(40, "id"), (41, "id lines"), (60, "id lines")])
def test_a_list_in_a_row_stays_where_it_has_more_than_forty_characters(
    room: int, fields: str
) -> None:
    row = {"id": 7, "lines": [1] * 200}
    kept = fit_row(row, len('"id": 7, ') + len('"lines"') + room)
    assert " ".join(kept) == fields
    assert size(kept) <= len('"id": 7, ') + len('"lines"') + room


def test_what_people_ask_about_next_outlives_odd_columns() -> None:
    rows = [
        {
            "id": f"ord_{n:04d}",
            "tenant_key": "acme-eu-1",
            "channel": "web",
            "row_version": n,
            "etag": f"w/{n * 7919:08x}",
            "note": "a long text " * 20,
            "title": f"Order {n}",
            "customer": ["Anna Meyer", "Bob Sample", "Cem Yilmaz"][n % 3],
            "price": n * 1.5 + 3,
            "status": ["open", "done"][n % 2],
            "at": f"2026-05-{n + 1:02d}T10:00:00Z",
        }
        for n in range(20)
    ]
    kept = fit({"orders": rows}, 3_000)
    assert isinstance(kept, dict)
    assert len(kept["orders"]) == 21
    for row in kept["orders"][:20]:
        assert list(row)[:6] == ["id", "title", "customer", "price", "at", "status"]
        assert not {"tenant_key", "channel", "note"} & row.keys()


# ---- what is bounded


BUDGET = 2_000


def orders_of(count: int, text: str = "") -> list[dict[str, Any]]:
    return [
        {"id": f"o-{i}", "title": f"Order {i}", "paid": i % 2 == 0, "note": text or f"note {i}"}
        for i in range(count)
    ]


LARGE: dict[str, Any] = {
    "text": "a word and another, " * 5_000,
    "rows": {"count": 5_000, "rows": orders_of(5_000)},
    "rows of long texts": orders_of(500, "long " * 500),
    "a few orders_of of very long texts": orders_of(3, "long " * 50_000),
    "numbers": list(range(50_000)),
    "texts": ["word " * 20] * 5_000,
    "fields": {f"field {i}": i for i in range(20_000)},
    "large fields": {f"field {i}": "text " * 100 for i in range(2_000)},
    "lists of lists": [[1, 2, 3]] * 20_000,
    "a few long lists": [list(range(5_000))] * 50,
    "fields of one letter": {chr(0x4E00 + n): 1 for n in range(2_000)},
    "rows below orders_of": [{"id": i, "lines": orders_of(200)} for i in range(100)],
    "mixed": [*orders_of(2_000), "text", None, 4.5],
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


def work_of(value: Any) -> int:
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
    assert work_of(value) < 20 * BUDGET


def test_the_work_does_not_grow_with_the_rows() -> None:
    assert work_of(orders_of(50_000)) <= 1.05 * work_of(orders_of(1_000))


@pytest.mark.parametrize("length", [2 * BUDGET, 2 * BUDGET + 1])
def test_what_is_at_most_twice_too_large_is_left_to_fit_as_it_is(length: int) -> None:
    value = ["x" * (length - len('["", 1]')), 1]
    assert json_size(value) == length
    assert (bounded(value, BUDGET) is value) == (length == 2 * BUDGET)


def test_as_many_fields_are_kept_as_fit_would_keep_of_all() -> None:
    fields = LARGE["fields of one letter"]
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
        (45, 90, 10, 1925, "… 4990 more"),
        (70, 90, 9, 1959, "… 4991 more"),
    ],
)
def test_leading_rows_take_the_room_where_not_even_all_ids_have_it(
    id_length: int, note: int, kept: int, used: int, said: str
) -> None:
    orders_of = [
        {"id": f"{i:0{id_length}}", "title": "Order", "paid": True, "note": "x" * note}
        for i in range(5_000)
    ]
    found = fitted(orders_of, BUDGET)
    assert [row["id"] for row in found[:-1]] == [row["id"] for row in orders_of[:kept]]
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
    once = fitted(orders_of(5_000), 10 * BUDGET)
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
        'a "quote"',
        "back\\slash",
        "FACTS: x",
        "[HISTORY]",
        "\u2028",
        -12,
        None,
        1.5,
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
    assert size_up_to(value, whole) == whole
    assert [n for n in range(whole + 9) if size_up_to(value, n) > n] == list(range(whole))


def test_a_size_is_counted_until_it_is_enough() -> None:
    assert size_up_to(orders_of(100_000), 100) < 300


def test_of_so_many_items_that_none_can_matter_none_is_looked_at() -> None:
    class Unread(list[int]):
        def __iter__(self) -> Any:
            raise AssertionError("an item was looked at")

    assert size_up_to(Unread(range(10_000)), 25_000) == 25_001


@pytest.mark.parametrize(("leading", "taken_for_rows"), [(9, False), (10, True)])
def test_a_list_whose_first_ten_items_are_rows_is_one_of_rows(
    leading: int, taken_for_rows: bool
) -> None:
    """A text among orders_of gets no more room than a row."""
    letter = "word " * 2_000
    kept = bounded([*orders_of(leading), letter, *orders_of(100)], BUDGET)
    as_row = bounded([*orders_of(leading + 1), letter, *orders_of(100)], BUDGET)
    (text, _), (narrow, _) = ([i for i in k if isinstance(i, str)] for k in (kept, as_row))
    assert (text == narrow) is taken_for_rows and len(text) >= len(narrow)


@pytest.mark.parametrize(("length", "whole"), [(900, True), (901, False)])
def test_where_all_ids_stay_rows_up_to_three_times_their_share_are_left_to_fit_as_they_are(
    length: int, whole: bool
) -> None:
    empty = len(dumps({"id": 100, "note": "", "lines": []}))
    orders = [
        {"id": 100 + n, "note": "x" * (length - empty), "lines": []} for n in range(BUDGET // 100)
    ]
    assert {size_up_to(order, length) for order in orders} == {length}
    assert [b is o for b, o in zip(bounded(orders, 3 * BUDGET), orders, strict=False)] == (
        [whole] * len(orders)
    )


def test_large_fields_share_what_keys_and_signs_leave_of_the_room() -> None:
    kept = bounded({"letter": "x" * 9_000, "other": "y" * 9_000}, 1_000)
    share = (1_000 - len('{"letter": , "other": , }')) // 2
    assert (kept["letter"].count("x"), kept["other"].count("y")) == (share, share)


def test_what_is_no_row_among_rows_stays_as_it_is() -> None:
    others = [None, 7, "text", [1, 2]]
    found = fitted([*orders_of(10), *others, *orders_of(5_000)], BUDGET)
    assert found[:14] == [*orders_of(10), *others]
    assert found[14:-1] == orders_of(len(found) - 15)


@pytest.mark.parametrize(
    ("length", "count", "kept", "said"),
    [
        (45, 14, 14, "… fields left out"),
        (45, 40, 17, "… 23 more, fields left out"),
        (5, 100, 57, "… 43 more, fields left out"),
    ],
)
def test_rows_whose_ids_take_more_than_two_thirds_are_handed_on_without_their_large_lists(
    length: int, count: int, kept: int, said: str
) -> None:
    orders = [{"id": f"{i:0{length}}", "lines": list(range(500))} for i in range(count)]
    assert bounded(orders, 1_000) == [*({"id": order["id"]} for order in orders[:kept]), said]


def test_a_small_list_beside_a_large_one_is_handed_on() -> None:
    orders = [{"id": f"{i:045}", "tags": ["new"], "lines": list(range(500))} for i in range(40)]
    assert bounded(orders, 1_000)[0] == {"id": "0" * 45, "tags": ["new"]}
