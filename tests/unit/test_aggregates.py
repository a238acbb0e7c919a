"""Aggregates of lists, computed over all of their rows."""

from typing import Any

import pytest

from tests.planning import planning, telling
from webbee_kernel.grounding.aggregates import MAX_TEXT, aggregates
from webbee_kernel.testing import TestKernel

TASKS = [
    {
        "id": f"t-{n}",
        "title": f"Task {n}",
        "status": "open" if n % 3 else "done",
        "hours": n,
        "due": f"2026-06-{n + 1:02d}",
        "urgent": n % 2 == 0,
    }
    for n in range(28)
]


def test_rows_counts_sums_and_dates_of_a_list() -> None:
    (found,) = aggregates({"tasks": TASKS})
    assert found.text() == (
        "data.tasks: rows=28; status: open 18, done 10; urgent: true 14, false 14;"
        ' hours: sum 378, min 0 of "Task 0", max 27 of "Task 27";'
        ' due: first 2026-06-01 of "Task 0", last 2026-06-28 of "Task 27"'
    )


def test_the_lowest_and_the_highest_are_named_where_one_row_alone_has_them() -> None:
    named = [("Milk", "2,10 €"), ("Bread", None), ("Ham", "12,90 €"), ("Salt", "2,10 €")]
    (found,) = aggregates([{"name": name, "price": price} for name, price in named])
    assert found.text() == "data: rows=4; price: sum 17.1 EUR, min 2.1 EUR, max 12.9 EUR of Ham"


def test_amounts_carry_the_currency_of_their_rows_or_of_what_holds_them() -> None:
    rows = [{"price": 2.5, "currency": "EUR"}, {"price": 4, "currency": "EUR"}]
    assert "price: sum 6.5 EUR, min 2.5 EUR, max 4 EUR" in aggregates(rows)[0].text()
    held = {"currency": "USD", "orders": [{"price": 1}, {"price": 2}]}
    assert "price: sum 3 USD" in aggregates(held)[0].text()


def test_amounts_of_several_currencies_are_not_added() -> None:
    rows = [{"price": 2.5, "currency": "EUR"}, {"price": 4, "currency": "USD"}]
    assert "price" not in aggregates(rows)[0].spans


def test_texts_that_are_amounts_are_added() -> None:
    rows = [{"paid": text} for text in ("390,00 €", "1.290,00 €", "€ 370,-", "-45,00 €")]
    assert (
        aggregates(rows)[0].text() == "data: rows=4; paid: sum 2005 EUR, min -45 EUR, max 1290 EUR"
    )


@pytest.mark.parametrize("other", ["12,00 $", "1.234 €", "n/a", 7])
def test_texts_that_are_not_all_amounts_of_one_currency_are_not_added(other: Any) -> None:
    assert not aggregates([{"paid": "390,00 €"}, {"paid": other}])[0].spans


def test_of_ids_long_texts_what_was_cut_and_very_many_only_the_length_is_told() -> None:
    texts = [{"order_no": n, "text": "long " * 20} for n in range(4)]
    many = [{f"c{c}": n for c in range(10)} for n in range(50_000)]
    assert aggregates(texts)[0].text() == "data: rows=4"
    assert aggregates({"rows": [{"n": 1}, "… 34 more"]})[0].text() == "data.rows: rows=35"
    assert aggregates(many)[0].text() == "data: rows=50000"


def test_aggregates_of_a_list_stay_within_their_room() -> None:
    rows = [{f"column_number_{c}": "ab"[n % 2] * 20 for c in range(60)} for n in range(9)]
    assert len(aggregates(rows)[0].text()) <= MAX_TEXT


def test_the_narrator_reads_them_over_all_rows_and_through_the_gate() -> None:
    orders = [
        {"id": f"A-{n}", "customer": ["Sarah Miller", "Bob Sample"][n % 2], "note": "x" * 90}
        for n in range(400)
    ]
    model = planning("shop__orders", reply="400 orders.")
    TestKernel([telling("shop", orders={"orders": orders})], model=model).chat("how many orders?")
    read = next(r.prompt for r in model.requests if r.role == "narrator")
    told = next(line for line in read.splitlines() if line.startswith("COMPUTED: "))
    assert "rows=400" in told and " 200" in told
    assert "Sarah" not in read and "NAME_" in told
