"""Lists and headings are told by their form, whatever signs a writer likes."""

from __future__ import annotations

import pytest

from webbee_kernel.grounding import Call, Evidence, check
from webbee_kernel.grounding.layout import FRAMED, ITEM, markers

HOTELS = [
    {"name": "Cozy Stay", "rating": 4, "price": 80},
    {"name": "City Hub", "rating": 3, "price": 100},
    {"name": "Riverside View", "rating": 1, "price": 200},
]


def verdict(reply: str, message: str = "my hotels?") -> list[str]:
    call = Call("hotels", "list_hotels", data={"hotels": HOTELS})
    return list(check(reply, evidence=Evidence((call,), message)).ungrounded)


@pytest.mark.parametrize(
    "sign", ["1. ", "1) ", "(1) ", "[1] ", "1: ", "1/ ", "#1 ", "**1** ", "1 "]
)
def test_a_number_that_counts_lines_is_none_of_the_data(sign: str) -> None:
    lines = [
        f"{sign.replace('1', str(n))}{h['name']} – {h['price']}" for n, h in enumerate(HOTELS, 1)
    ]
    assert len(markers("\n".join(lines))) == 3
    assert verdict("\n".join(lines)) == []


def test_numbers_that_do_not_count_lines_are_read() -> None:
    assert markers("2 hotels\n3 rooms") == []
    assert markers("1 unread\n2 read") == []


def test_a_price_between_counted_lines_does_not_end_the_count() -> None:
    text = "[1] Cozy Stay\n   80 a night\n[2] City Hub\n   100 a night"
    assert [text[a:b] for a, b in markers(text)] == ["1", "2"]


@pytest.mark.parametrize("head", ["### X1", "**X 1**", "--- X ---", "== X ==", "[ X ]", "— X —"])
def test_a_line_between_signs_is_a_heading(head: str) -> None:
    assert FRAMED.match(head)


@pytest.mark.parametrize("line", ["| a | b |", "- X: 5", "X: **5**", "**X:** 5 *", "→ X [5]"])
def test_items_and_rows_are_no_headings(line: str) -> None:
    assert not FRAMED.match(line)


@pytest.mark.parametrize("line", ["- X", "⭐ X", "◾ X", "→ X", "3. X", "[3] X", "| X"])
def test_an_item_opens_with_a_sign_of_any_make(line: str) -> None:
    assert ITEM.match(line)


def test_what_stands_under_a_heading_is_of_its_record() -> None:
    assert verdict("--- Cozy Stay ---\nprice: 80\n--- City Hub ---\nprice: 100") == []
    assert verdict("--- Cozy Stay ---\nprice: 80\n--- City Hub ---\nprice: 200") == ["200"]


@pytest.mark.parametrize("message", ["my hotels, once more", "¿mis hoteles?"])
def test_an_unknown_verb_of_bringing_what_the_reply_shows_is_no_effect(message: str) -> None:
    assert verdict("I've unearthed your hotels. Cozy Stay costs 80.", message) == []


def test_an_unknown_verb_that_the_message_has_is_an_effect() -> None:
    assert verdict("I've embargoed it. Cozy Stay costs 80.", "embargo Cozy Stay") == ["embargoed"]


ISSUES = [
    {"id": 100 + n, "title": f"T{n}", "status": "open" if n < 4 else "closed"} for n in range(6)
]


@pytest.mark.parametrize(
    ("reply", "wrong"),
    [
        ("Open: 4\nClosed: 2", []),
        ("**Open:** 5\n**Closed:** 2", ["5"]),
        ("Status open: five.", ["five"]),
        ("Open: 9–17 o'clock", []),
        ("T1, closed: 3 days ago", []),
    ],
)
def test_a_state_that_heads_a_number_is_counted(reply: str, wrong: list[str]) -> None:
    call = Call("tracker", "list_issues", data={"issues": ISSUES})
    flags = check(reply, evidence=Evidence((call,), "issues by state?")).ungrounded
    assert list(flags) == wrong


JOBS = [
    {"job": 1, "file": "lamp_shade", "printer": "MK-02", "state": "failed"},
    {"job": 2, "file": "gear_set", "printer": "MK-01", "state": "finished"},
]
COURSES = [
    {"title": f"Course {name}", "seats": seats, "booked": booked}
    for name, seats, booked in (("Kiel", 6, 1), ("Bonn", 5, 3), ("Ulm", 8, 8))
]


@pytest.mark.parametrize(
    ("reply", "data"),
    [
        ("- **Finished (1):** gear_set on MK-01\n- **Failed (1):** lamp_shade on MK-02", JOBS),
        (
            "| Course | Free |\n|---|---|\n| Course Kiel | 5 of 6 |\n| Course Bonn | 2 of 5 |",
            COURSES,
        ),
        ("The artwork is 1200\u00d71200.", [{"artwork": "is 1200x1200"}]),
    ],
)
def test_brackets_cells_and_times_signs_are_read_as_people_write_them(
    reply: str, data: list[dict[str, object]]
) -> None:
    call = Call("app", "list_things", data={"rows": data})
    flags = check(reply, evidence=Evidence((call,), "status?")).flags
    assert [f.kind for f in flags if f.kind in ("record", "code")] == []
    assert [f.word for f in flags if f.kind == "count"] == []


def test_a_weekday_before_a_day_is_no_month_where_days_come_first() -> None:
    call = Call("app", "list_shifts", data={"shifts": [{"at": "2026-11-24T09:00:00+01:00"}]})
    turn = {"language": "es", "now": "2026-11-23T10:00:00Z"}
    evidence = Evidence((call,), "\u00bfturnos?", **turn)  # type: ignore[arg-type]
    assert check("**Mar 24, 09:00**, clasificaci\u00f3n", evidence=evidence).grounded
    assert not check("**Mar 25 de noviembre**, clasificaci\u00f3n", evidence=evidence).grounded


def test_silence_about_which_nothing_is_known_denies_nothing() -> None:
    call = Call("choir", "send", "write", status="unknown", error="timeout after 30 s")
    evidence = Evidence((call,), "Schick allen die Nachricht", language="de")
    reply = (
        "Ich kann nicht sagen, ob die Nachricht rausgegangen ist: Der Server hat nicht geantwortet."
    )
    assert check(reply, evidence=evidence).grounded
    assert not check("Die Nachricht wurde nicht gesendet.", evidence=evidence).grounded
