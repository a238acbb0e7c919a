"""What stays of a result as the room for it shrinks: ids and titles outlive other fields, short fields long ones, leading rows the end; and no more work than the room."""

import gc
import json
from typing import Any

import pytest

from tests.work import counted
from webbee_kernel.channels.truncate import fit, fit_bounded, fit_row
from webbee_kernel.text import dumps

SENTENCE = "Please find attached the invoice."
MAILS = [
    {"id": f"m{n:03d}", "subject": f"Invoice {n}", "from": f"anna{n}@example.com",
     "unread": n % 2 == 0, "labels": ["work", "q3"], "body": " ".join([SENTENCE] * (1 + n % 4))}
    for n in range(30)
]  # fmt: skip
MAILBOX = {"unread": 7, "account": "sarah@work.com", "messages": MAILS}
MAILBOX |= {"note": "n" * 300, "next": {"page": 2}}


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def test_a_mailbox_keeps_what_is_short_and_shares_the_rest() -> None:
    for room, used, fields, rows, note in (
        (60, 44, "unread _truncated", 0, ""),
        (120, 94, "unread account next _truncated", 0, ""),
        (400, 369, "unread account messages note next", 1, "nn…[300 chars]"),
        (800, 761, "unread account messages note next", 4, "nnnnnnnnnnnnnn"),
        (1500, 1455, "unread account messages note next", 30, "nnnnnnnnnnnnnn"),
        (5000, 3947, "unread account messages note next", 30, "nnnnnnnnnnnnnn"),
    ):
        kept = fit(MAILBOX, room)
        assert (size(kept), " ".join(kept)) == (used, fields)
        assert len(kept.get("messages", ["none"])) - 1 == rows
        assert kept.get("note", "")[-14:] == note


@pytest.mark.parametrize(
    ("room", "a", "b"), [(300, 107, 107), (420, 184, 150), (630, 394, 150), (636, 400, 150)]
)
def test_long_texts_give_way_evenly_and_short_ones_not_at_all(room: int, a: int, b: int) -> None:
    whole = {"id": "d1", "title": "Plan", "a": "x" * 400, "b": "y" * 150, "c": "z" * 30}
    kept = fit(whole, room)
    assert {k: kept[k] for k in ("id", "title", "c")} == {k: whole[k] for k in ("id", "title", "c")}
    assert (len(kept["a"]), len(kept["b"])) == (a, b)
    assert size(kept) <= room


def test_id_and_title_come_before_any_field_as_soon_as_there_is_room_for_them() -> None:
    row = {"id": "r1", "title": "Plan", "n": 12, "body": "b" * 50}
    kept = {room: " ".join(fit_row(row, room)) for room in (12, 21, 28, 29, 37, 38)}
    assert list(kept.values()) == ["id", "id n", "id n", "id title", "id title", "id title n"]


@pytest.mark.parametrize("room", [20, 21, 40, 90])
@pytest.mark.parametrize("hold", [lambda text: text, lambda text: {"text": text, "id": 7}])
def test_of_a_text_that_is_escaped_as_much_stays_as_there_is_room_for(room: int, hold: Any) -> None:
    def cut(length: int) -> Any:
        return hold(f"{text[:length]}…[240 chars]")

    text = 'a "b" ' * 40
    room += size(hold("")) + 160 * (hold(0) != 0)  # within an object a text keeps eighty
    lengths = [n for n in range(240) if fit(hold(text), room) == cut(n)]
    assert len(lengths) == 1
    assert size(cut(lengths[0])) <= room < size(cut(lengths[0] + 1))


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


def work_of(value: Any) -> int:
    """Calls of functions, without those that fill caches and those of what the collector finds of
    earlier tests."""
    fit_bounded(value, BUDGET)
    gc.disable()
    try:
        with counted() as calls:
            fit_bounded(value, BUDGET)
    finally:
        gc.enable()
    return calls.count


@pytest.mark.parametrize("value", LARGE.values(), ids=LARGE.keys())
def test_what_is_fitted_has_room_is_json_says_that_it_is_cut_and_is_no_more_work_than_the_room(
    value: Any,
) -> None:
    kept = fit_bounded(value, BUDGET)
    text = dumps(kept)
    assert BUDGET / 3 < len(text) <= BUDGET
    assert json.loads(text) == kept
    assert "\u2026" in text or "_truncated" in text
    for little in (60, 61, 100, 250):
        assert len(dumps(fit_bounded(value, little))) <= little
    assert work_of(value) < 20 * BUDGET


@pytest.mark.parametrize(("length", "count", "least"), [(45, 40, 14), (5, 100, 28)])
def test_rows_with_large_lists_keep_their_ids(length: int, count: int, least: int) -> None:
    orders = [{"id": f"{i:0{length}}", "lines": list(range(500))} for i in range(count)]
    *kept, said = fit_bounded(orders, 1_000)
    assert len(kept) >= least
    assert [row["id"] for row in kept] == [order["id"] for order in orders[: len(kept)]]
    assert said == f"\u2026 {count - len(kept)} more, fields left out"
