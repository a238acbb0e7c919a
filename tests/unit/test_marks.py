"""What a reply says is looked up; what has no source, or is told of another record, group or list, is
marked with what the data holds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.unit.test_grounding import listed
from tests.work import counted
from webbee_kernel.grounding import Call, Evidence, Mark, check, render
from webbee_kernel.turn.stream import StreamingReply

NOW = "2026-05-15T17:21:04Z"
ROWS = [
    {
        "id": f"A-{n}",
        "title": name,
        "status": status,
        "amount": amount,
        "due": f"2026-06-{n:02d}",
        "phone": f"+1 415 555 01{n:02d}",
    }
    for n, (name, status, amount) in enumerate(
        [
            ("Garden lamp", "shipped", 120.5),
            ("Blue carpet", "open", 79.5),
            ("Oak table", "open", 300),
            ("Wall clock", "returned", 45),
        ],
        start=10,
    )
]
DATA = {"orders": ROWS, "currency": "EUR", "unread": 8}


def evidence(message: str = "show my orders", tag: str = "en", data: Any = DATA) -> Evidence:
    return Evidence((Call("shop", "list_orders", data=data),), message, language=tag, now=NOW)


def marks(reply: str, message: str = "show my orders", tag: str = "en") -> dict[str, str]:
    return {m.word: m.reason for m in check(reply, evidence=evidence(message, tag)).marks}


@pytest.mark.parametrize(
    "reply",
    [
        "You have 4 orders, two of them open; together they come to 545 EUR.",
        "Garden lamp (A-10) comes to €120.50 and is shipped.",
        "The open ones come to 379.50 EUR, an average of 189.75 EUR.",
        "Oak table is due on 12 June 2026; that is in 28 days.",
        "Half of the orders are open.",
        "The most expensive one is 300 EUR, 2.49 times the lamp's 120.50 EUR.",
        "You have 8 unread messages.",
        "У вас четыре заказа на 545 евро.",
        "Die Bestellung A-11 kostet 79,50 €.",
    ],
)
def test_what_the_data_shows_or_gives_is_not_marked(reply: str) -> None:
    assert marks(reply) == {}


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("You have 50 orders.", "50"),
        ("The lamp is €121.90.", "€121.90"),
        ("Write to help@shop.example.", "help@shop.example"),
        ("See https://shop.example/a.", "https://shop.example/a"),
        ("Order A-99 is open.", "A-99"),
        ("It is due on 3 August 2026.", "3 August 2026"),
        ("It comes at 14:35.", "14:35"),
        ("The “Velvet Sofa XL” is there, too.", "Velvet Sofa XL"),
        ("It was ordered by John Miller.", "John Miller"),
        ("У вас 50 заказов.", "50"),
        ("Sie haben 50 Bestellungen.", "50"),
    ],
)
def test_what_has_no_source_is_marked_as_it_stands(reply: str, word: str) -> None:
    assert word in marks(reply)


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ("Garden lamp comes to 79.50 EUR.", "amount: 120.5"),
        ("- Oak table: 45 EUR\n- Wall clock: 45 EUR", "amount: 300"),
        ("Blue carpet is returned.", "status: open"),
    ],
)
def test_a_value_of_another_record_is_marked_with_what_its_own_holds(
    reply: str, holds: str
) -> None:
    (mark,) = check(reply, evidence=evidence()).marks
    assert mark.is_contradicted and mark.holds == holds


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ("Three orders are there: Garden lamp and Blue carpet.", "2"),
        ("Three orders are open:\n\n- Blue carpet\n- Oak table\n", "status open: 2/4"),
        ("Two orders are open: Blue carpet and Oak table.", ""),
        ("Two of the four are open:\n\n- Blue carpet\n- Oak table\n", ""),
    ],
)
def test_the_head_of_an_enumeration_says_how_many_follow(reply: str, holds: str) -> None:
    assert [m.holds for m in check(reply, evidence=evidence()).marks] == ([holds] if holds else [])


def test_what_stands_between_two_quotes_of_printed_german_is_none() -> None:
    reply = "»Garden lamp« (120,50 €) und »Wall clock« (45,00 €), und »Copper kettle« fehlt."
    assert list(marks(reply, tag="de")) == ["Copper kettle"]


def test_a_threshold_of_the_message_may_be_repeated_and_a_quantity_may_not() -> None:
    asked = "which orders are over 100 euros, and do I have 40 of them?"
    assert marks("Two are over 100 euros.", asked) == {}
    assert list(marks("Yes, 40 of them.", asked)) == ["40"]


def test_an_answer_without_calls_is_looked_up_only_where_it_speaks_of_the_users_things() -> None:
    def told(reply: str) -> tuple[str, ...]:
        return check(reply, evidence=Evidence(message="hello", now=NOW)).ungrounded

    assert told("The Eiffel Tower is 330 metres high and opened in 1889.") == ()
    assert told("You have 25 unread messages.") == ("25",)
    assert told("I have saved it under number 48213.") == ("48213",)


def test_every_value_names_its_field_and_how() -> None:
    reply = "Garden lamp is 120.50 EUR, all together 545 EUR."
    found = {reply[s.start : s.end]: s for s in check(reply, evidence=evidence()).sources}
    assert found["120.50 EUR"].path == "data.orders[0].amount"
    assert found["120.50 EUR"].how == "formatted"
    assert found["545 EUR"].formula == "sum(data.orders[].amount)"


def test_the_data_as_a_table_has_names_a_total_units_and_what_was_asked_for() -> None:
    lines = render(evidence("what is the phone of each open order?")).splitlines()
    assert lines[0] == "orders: 4"
    head = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert head[:2] == ["title", "status"] or head[:2] == ["title", "phone"]
    assert "phone" in head and "+1 415 555 0110" in lines[4]
    assert "\u20ac120.50" in lines[4] and "A-10" not in lines[4]


@pytest.mark.parametrize(
    ("summary", "told"),
    [
        ("2 jars are low", "2 jars are low.\n\n- jars: fig, plum"),
        ("low: fig and plum", "Low: fig and plum."),
        ("", "- jars: fig, plum\n- shelf: 3"),
    ],
)
def test_a_list_of_plain_values_is_told_where_it_is_asked_for_and_the_summary_does_not(
    summary: str, told: str
) -> None:
    call = Call("pantry", "low", data={"jars": ["fig", "plum"], "shelf": 3}, summary=summary)
    assert render(Evidence((call,), message="which jars are low?", now=NOW)) == told


@pytest.mark.parametrize("summary", ["2 fills, 80.5 l, 131.40 euros", "Deux pleins, 131,40 euros"])
def test_a_summary_is_the_first_line_above_its_rows_whatever_language_it_seems(
    summary: str,
) -> None:
    rows = [{"station": "Shell", "litres": 42.5}, {"station": "Aral", "litres": 38.0}]
    call = Call("fuel", "cost", data={"fills": rows}, summary=summary)
    lines = render(Evidence((call,), message="what did fuel cost?", now=NOW)).splitlines()
    assert lines[:2] == [f"{summary}.", ""] and "Shell" in lines[4]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("2026-11-29T00:13:00+09:00", "2026-11-29 00:13 UTC+09:00"),
        ("2026-11-28T11:43:00-03:30", "2026-11-28 11:43 UTC-03:30"),
        ("2026-11-28T15:13:00Z", "2026-11-28 15:13 UTC"),
    ],
)
def test_a_moment_stays_in_the_zone_that_it_came_with(given: str, told: str) -> None:
    found = evidence(data={"timezone": "there", "datetime": given})
    text = render(found)
    assert text == f"- timezone: there\n- datetime: {told}"
    assert check(text, evidence=found).ungrounded == ()
    assert check(text.replace("3 UTC", "4 UTC"), evidence=found).ungrounded


def test_a_reply_that_is_streamed_is_read_about_twice() -> None:
    rows = [
        {**ROWS[0], "id": f"B-{n}", "title": f"Lamp {n}", "amount": n * 1.5} for n in range(100)
    ]
    reply = "\n".join(f"- {r['title']} ({r['id']}): {r['amount']:.2f} EUR" for r in rows)
    data = {"orders": rows, "currency": "EUR"}

    def calls(work: Any) -> int:
        held = evidence(data=data)
        with counted() as made:
            work(held)
        return made.count

    said: list[str] = []

    def streamed(held: Evidence) -> None:
        speech = StreamingReply(held, said.append, 8_000, "[CONTINUE]")
        speech.begin()
        for piece in re.findall(r"\s*\S{1,4}", reply):
            speech.hear(piece)
        check(reply, evidence=held)
        speech.finish(reply)

    def whole(held: Evidence) -> None:
        check(reply, evidence=held)

    calls(whole)
    assert calls(streamed) < 3 * calls(whole)
    assert "".join(said) == reply and len(said) > 5


# ---- what is another's


TESTS = [
    {"name": "Poppy", "state": "open", "lab": "R. Okafor", "seeds": 120, "grams": 7},
    {"name": "Yarrow", "state": "open", "lab": "R. Okafor", "seeds": 80, "grams": 9},
    {"name": "Clover", "state": "closed", "lab": "T. Beck", "seeds": 150, "grams": 12},
    {"name": "Sorrel", "state": "closed", "lab": "T. Beck", "seeds": 60, "grams": 15},
]
LIST = Call("lab", "list_tests", data={"tests": TESTS}, summary="4 tests")


HIRES = listed(
    hires=[
        {"ref": "SC-30", "site": "Mill Row", "rate": 185.0, "deposit": 400.0, "tag": "green"},
        {"ref": "SC-33", "site": "Chapel Yard", "rate": 310.5, "deposit": 600.0, "tag": "red"},
        {"ref": "SC-21", "site": "Dean Close", "rate": 140.0, "deposit": 250.0, "tag": "blue"},
    ]
)
PANEL = listed(
    results=[
        {"code": "CREA", "value": 2.7, "share": 31, "at": "08:10"},
        {"code": "GLUC", "value": 118.0, "share": 44, "at": "09:20"},
        {"code": "THYR", "value": None, "share": 57, "at": "09:40"},
        {"code": "POTA", "value": 3.6, "share": 62, "at": "10:50"},
    ]
)
METER = listed(month="2026-10", estimated=False, kwh=312)


def marked(reply: str, call: Call = LIST, message: str = "tests?", tag: str = "en") -> list[Mark]:
    evidence = Evidence((call,), message, language=tag, now="2026-11-18T09:30:00Z")
    return list(check(reply, evidence=evidence).marks)


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ("Three tests are open.", "state open: 2/4"),
        ("One of the four is closed.", "state closed: 2/4"),
        ("Three of the four are closed.", "state closed: 2/4"),
        ("One closed test is done.", ""),
    ],
)
def test_a_number_of_rows_that_are_so_is_held_against_those_that_are(
    reply: str, holds: str
) -> None:
    assert [m.holds for m in marked(reply)] == ([holds] if holds else [])


def test_an_amount_is_no_years_since_another() -> None:
    call = Call("crm", "deals", data={"deals": [{"name": "Hexa", "value": 2000}]})
    assert [m.word for m in marked("Hexa is worth $26.", call)] == ["$26"]


def test_a_number_that_a_summary_has_too_belongs_to_its_record() -> None:
    call = Call(
        "lab",
        "list_tests",
        data={"tests": [{**t, "bids": n + 1} for n, t in enumerate(TESTS)]},
        summary="4 tests",
    )
    assert [m.word for m in marked("The Poppy comes second with 4 bids.", call)] == ["4"]


@pytest.mark.parametrize(
    ("reply", "tag", "word"),
    [
        ("There are three runs: 3 May and 4 May.", "en", "three"),
        ("Es sind drei Läufe: 3. Mai und 4. Mai.", "de", "drei"),
    ],
)
def test_days_behind_a_colon_are_as_many_as_it_says(reply: str, tag: str, word: str) -> None:
    runs = [{"day": "2026-05-03", "km": 5}, {"day": "2026-05-04", "km": 7}]
    call = Call("trail", "list_runs", data={"runs": runs})
    assert word in [m.word for m in marked(reply, call, tag=tag)]


def test_a_flag_of_the_only_record_contradicts() -> None:
    found = [m.holds for m in marked("The October reading was estimated.", METER)]
    assert found == ["estimated: False"]
    assert marked("The October reading was not estimated.", METER) == []


@pytest.mark.parametrize(
    ("reply", "tag"),
    [("The keys are with Dr. Quint.", "en"), ("Den Schlüssel hat Frau Ahrens.", "de")],
)
def test_a_name_behind_a_title_that_nothing_shows_is_marked(reply: str, tag: str) -> None:
    assert [m.kind for m in marked(reply, tag=tag)] == ["name"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("Mill Row is SC-30. The rate is 310.50, and the deposit 400.", ["310.50"]),
        ("Mill Row is SC-30. The rate is 185, and the deposit 400.", []),
        ("Mill Row pays 185. Chapel Yard has the highest rate, 310.50.", []),
        ("Mill Row pays 185, the highest rate is 310.50.", []),  # a comparison in one field
        ("Mill Row pays 185.\nThe deposit of 600 is another's.", []),  # a paragraph of its own
    ],
)
def test_a_sentence_that_names_nothing_speaks_of_the_record_before(
    reply: str, words: list[str]
) -> None:
    assert [m.word for m in marked(reply, HIRES)] == words


def test_a_record_that_two_lists_name_is_held_against_the_list_of_the_value() -> None:
    players = [{"name": "Anna Schulz", "rating": 2176}, {"name": "Timur Galeev", "rating": 2105}]
    pairs = [{"board": 1, "white": "Timur Galeev"}, {"board": 2, "white": "Anna Schulz"}]
    call = Call("chess", "standings", data={"players": players, "pairings": pairs})
    assert [m.holds for m in marked("Anna Schulz has 2105.", call)] == ["rating: 2176"]
    assert marked("Anna Schulz has 2176.", call) == []


TABLE = "| Test | Value | Share |\n|---|---|---|\n"


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        ("| GLUC | 118 | 44 % |", []),
        ("| GLUC | 118 | 48 % |", ["share: 44"]),  # a share that nothing else would doubt
        ("| THYR | 4 | 57 % |", [""]),  # the record has none
        ("| THYR | - | 57 % |", []),
    ],
)
def test_a_column_of_a_table_shows_the_same_field_of_each_record(
    row: str, holds: list[str]
) -> None:
    reply = f"{TABLE}| CREA | 2.7 | 31 % |\n| POTA | 3.6 | 62 % |\n{row}"
    assert [m.holds for m in marked(reply, PANEL)] == holds


def test_a_column_of_figures_that_are_worked_out_is_none_of_a_field() -> None:
    reply = f"{TABLE}| CREA | 5.4 | 31 % |\n| POTA | 7.2 | 62 % |\n| GLUC | 236 | 44 % |"
    assert [m.holds for m in marked(reply, PANEL) if m.reason == "other_record"] == []


def test_an_id_that_looks_like_a_year_or_an_amount_names_its_record() -> None:
    wheels = [{"no": "2026-0311", "stars": 4}, {"no": "2026-0312", "stars": 5}]
    call = Call("cellar", "list_wheels", data={"wheels": wheels})
    assert [m.word for m in marked("**2026-0311** has 5 stars.", call)] == ["5"]
    assert marked("**2026-0311** has 4 stars.", call) == []


@pytest.mark.parametrize(
    ("code", "is_marked"), [("SC-99", True), ("4x100", False), ("RJ45", False)]
)
def test_only_a_code_of_a_form_that_the_data_has_is_doubted(code: str, is_marked: bool) -> None:
    assert bool(marked(f"Next comes {code}.", HIRES)) is is_marked


SHIFTS = {
    "shifts": [
        {"id": "s1", "date": "2026-11-24", "start": "07:00", "end": "11:30", "lead": "Ann Reed"},
        {"id": "s2", "date": "2026-11-25", "start": "14:00", "end": "18:00", "lead": "Bo Lang"},
        {"id": "s3", "date": "2026-11-27", "start": "22:00", "end": "06:00", "lead": "Cy Moss"},
    ]
}


@pytest.mark.parametrize("figure", ["9" * 400, "1e999", "-5", "0", "\u0663"])
def test_a_length_of_any_figure_is_read(figure: str) -> None:
    found = Evidence((Call("rota", "shifts", data=SHIFTS),), "the rota", now="2026-11-24T10:00:00Z")
    for reply in (f"{figure} hours", f"5 hours {figure} minutes", f"{figure} days, 5 hours"):
        check(reply, evidence=found)
