"""What a verdict tells beside its marks, the data as the kernel writes it itself, a streamed reply, and
aggregates of lists, computed over all of their rows. `test_grounding.py` has what is marked."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.planning import planning, telling
from tests.work import counted
from webbee_kernel.grounding import Call, Evidence, Mark, check, render
from webbee_kernel.grounding.aggregates import MAX_TEXT, aggregates
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.stream import StreamingReply

NOW = "2026-05-15T17:21:04Z"
NAMES = [
    ("Garden lamp", "shipped", 120.5),
    ("Blue carpet", "open", 79.5),
    ("Oak table", "open", 300),
    ("Wall clock", "returned", 45),
]
ROWS = [
    {"id": f"A-{n}", "title": name, "status": status, "amount": amount, "due": f"2026-06-{n}",
     "phone": f"+1 415 555 01{n}"}
    for n, (name, status, amount) in enumerate(NAMES, start=10)
]  # fmt: skip
DATA = {"orders": ROWS, "currency": "EUR", "unread": 8}


def evidence(data: Any = DATA, message: str = "show my orders", summary: str = "") -> Evidence:
    return Evidence((Call("shop", "list_orders", data=data, summary=summary),), message, now=NOW)


def marks(reply: str, data: Any, summary: str = "") -> tuple[Mark, ...]:
    return check(reply, evidence=evidence(data, "what is there?", summary)).marks


def test_a_number_belongs_to_its_record_whatever_a_summary_has_and_a_derived_one_to_none() -> None:
    tests = [{"name": name, "bids": n} for n, name in enumerate(("Poppy", "Yarrow", "Clover"), 1)]
    found = marks("The Poppy comes second with 3 bids.", {"tests": tests}, "3 tests")
    assert [m.word for m in found] == ["3"]
    found = [{"code": c, "value": v} for c, v in (("CREA", 2.7), ("GLUC", 118.0), ("POTA", 3.6))]
    reply = "| Test | Twice |\n|---|---|\n| CREA | 5.4 |\n| POTA | 7.2 |\n| GLUC | 236 |"
    assert "other_record" not in [m.reason for m in marks(reply, {"results": found})]


@pytest.mark.parametrize("figure", ["9" * 400, "1e999", "-5", "0", "\u0663"])
def test_a_length_of_any_figure_is_read(figure: str) -> None:
    day = {"date": "2026-11-24", "start": "07:00", "end": "11:30", "lead": "Ann Reed"}
    for reply in (f"{figure} hours", f"5 hours {figure} minutes", f"{figure} days, 5 hours"):
        marks(reply, {"shifts": [day, {**day, "start": "22:00", "end": "06:00"}]})


def test_the_data_is_a_table_with_names_total_and_units_plain_values_only_where_asked() -> None:
    lines = render(evidence(message="what is the phone of each open order?")).splitlines()
    assert lines[0] == "orders: 4"
    head = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert head[:2] == ["title", "status"] or head[:2] == ["title", "phone"]
    assert "phone" in head and "+1 415 555 0110" in lines[4]
    assert "\u20ac120.50" in lines[4] and "A-10" not in lines[4]
    jars = {"jars": ["fig", "plum"], "shelf": 3}
    for summary, told in (
        ("2 jars are low", "2 jars are low.\n\n- jars: fig, plum"),
        ("low: fig and plum", "Low: fig and plum."),
        ("", "- jars: fig, plum\n- shelf: 3"),
    ):
        assert render(evidence(jars, "which jars are low?", summary)) == told
    fills = [{"station": "Shell", "litres": 42.5}, {"station": "Aral", "litres": 38.0}]
    for summary in ("2 fills, 80.5 l, 131.40 euros", "Deux pleins, 131,40 euros"):
        lines = render(evidence({"fills": fills}, "what did fuel cost?", summary)).splitlines()
        assert lines[:2] == [f"{summary}.", ""] and "Shell" in lines[4], "above its rows"


def test_a_moment_stays_in_the_zone_that_it_came_with() -> None:
    for given, told in (
        ("2026-11-29T00:13:00+09:00", "2026-11-29 00:13 UTC+09:00"),
        ("2026-11-28T11:43:00-03:30", "2026-11-28 11:43 UTC-03:30"),
        ("2026-11-28T15:13:00Z", "2026-11-28 15:13 UTC"),
    ):
        found = evidence({"timezone": "there", "datetime": given})
        text = render(found)
        assert text == f"- timezone: there\n- datetime: {told}"
        assert check(text, evidence=found).ungrounded == ()
        assert check(text.replace("3 UTC", "4 UTC"), evidence=found).ungrounded


def test_a_reply_that_is_streamed_is_read_about_twice() -> None:
    rows = [{"id": f"B-{n}", "title": f"Lamp {n}", "amount": 1.5 * n} for n in range(100)]
    reply = "\n".join(f"- {r['title']} ({r['id']}): {r['amount']:.2f} EUR" for r in rows)
    said: list[str] = []

    def calls(work: Callable[[Evidence], None]) -> int:
        held = evidence({"orders": rows, "currency": "EUR"})
        with counted() as made:
            work(held)
        return made.count

    def streamed(held: Evidence) -> None:
        speech = StreamingReply(held, said.append, "[CONTINUE]")
        speech.begin()
        for piece in re.findall(r"\s*\S{1,4}", reply):
            speech.hear(piece)
        whole(held)
        speech.finish(reply)

    def whole(held: Evidence) -> None:
        check(reply, evidence=held)

    calls(whole)
    assert calls(streamed) < 3 * calls(whole)
    assert "".join(said) == reply and len(said) > 5


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


def test_amounts_and_texts_that_are_some_are_added_within_one_currency_and_told_with_it() -> None:
    named = [("Milk", "2,10 €"), ("Bread", None), ("Ham", "12,90 €"), ("Salt", "2,10 €")]
    (found,) = aggregates([{"name": name, "price": price} for name, price in named])
    assert found.text() == "data: rows=4; price: sum 17.1 EUR, min 2.1 EUR, max 12.9 EUR of Ham"
    rows = [{"price": 2.5, "currency": "EUR"}, {"price": 4, "currency": "EUR"}]
    assert "price: sum 6.5 EUR, min 2.5 EUR, max 4 EUR" in aggregates(rows)[0].text()
    held = {"currency": "USD", "orders": [{"price": 1}, {"price": 2}]}
    assert "price: sum 3 USD" in aggregates(held)[0].text()
    rows = [{"price": 2.5, "currency": "EUR"}, {"price": 4, "currency": "USD"}]
    assert "price" not in aggregates(rows)[0].spans
    for other in ("12,00 $", "1.234 €", "n/a", 7):
        assert not aggregates([{"paid": "390,00 €"}, {"paid": other}])[0].spans
    rows = [{"paid": text} for text in ("390,00 €", "1.290,00 €", "€ 370,-", "-45,00 €")]
    told = "data: rows=4; paid: sum 2005 EUR, min -45 EUR, max 1290 EUR"
    assert aggregates(rows)[0].text() == told


def test_of_ids_long_texts_what_was_cut_and_very_many_only_the_length_is_told() -> None:
    texts = [{"order_no": n, "text": "long " * 20} for n in range(4)]
    many = [{f"c{c}": n for c in range(10)} for n in range(50_000)]
    assert aggregates(texts)[0].text() == "data: rows=4"
    assert aggregates({"rows": [{"n": 1}, "… 34 more"]})[0].text() == "data.rows: rows=35"
    assert aggregates(many)[0].text() == "data: rows=50000"
    rows = [{f"column_number_{c}": "ab"[n % 2] * 20 for c in range(60)} for n in range(9)]
    assert len(aggregates(rows)[0].text()) <= MAX_TEXT


def test_the_narrator_reads_them_over_all_rows_and_through_the_gate() -> None:
    names = ["Sarah Miller", "Bob Sample"] * 200
    orders = [{"id": f"A-{n}", "customer": c, "note": "x" * 90} for n, c in enumerate(names)]
    model = planning("shop__orders", reply="400 orders.")
    TestKernel([telling("shop", orders={"orders": orders})], model=model).chat("how many orders?")
    read = next(r.prompt for r in model.requests if r.role == "narrator")
    told = next(line for line in read.splitlines() if line.startswith("COMPUTED: "))
    assert "rows=400" in told and " 200" in told
    assert "Sarah" not in read and "NAME_" in told
