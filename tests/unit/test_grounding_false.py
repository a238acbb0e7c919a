"""What is told of a record, a group or a list and is another's, is marked with what the data has."""

from __future__ import annotations

import pytest

from webbee_kernel.grounding import Call, Evidence, Mark, check

TESTS = [
    {"name": "Poppy", "state": "open", "lab": "R. Okafor", "seeds": 120, "grams": 7},
    {"name": "Yarrow", "state": "open", "lab": "R. Okafor", "seeds": 80, "grams": 9},
    {"name": "Clover", "state": "closed", "lab": "T. Beck", "seeds": 150, "grams": 12},
    {"name": "Sorrel", "state": "closed", "lab": "T. Beck", "seeds": 60, "grams": 15},
]
LIST = Call("lab", "list_tests", data={"tests": TESTS}, summary="4 tests")
METER = Call("meter", "reading", data={"month": "2026-10", "estimated": False, "kwh": 312})


def marks(reply: str, call: Call = LIST, message: str = "tests?", tag: str = "en") -> list[Mark]:
    evidence = Evidence((call,), message, language=tag, now="2026-11-18T09:30:00Z")
    return list(check(reply, evidence=evidence).marks)


@pytest.mark.parametrize(
    "reply", ["Two tests are still open.", "Both of T. Beck's tests are closed.", "Two are open."]
)
def test_a_number_that_a_group_has_is_not_marked(reply: str) -> None:
    assert marks(reply) == []


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
    assert [m.holds for m in marks(reply)] == ([holds] if holds else [])


@pytest.mark.parametrize(("day", "words"), [("Wednesday", []), ("Tuesday", ["next Tuesday"])])
def test_a_relative_day_is_the_date_beside_it(day: str, words: list[str]) -> None:
    call = Call("calendar", "find", data={"title": "Board", "start": "2026-11-25T10:00:00Z"})
    reply = f"The Board meets next {day}, November 25."
    assert [m.word for m in marks(reply, call)] == words


def test_an_amount_is_no_years_since_another() -> None:
    call = Call("crm", "deals", data={"deals": [{"name": "Hexa", "value": 2000}]})
    assert [m.word for m in marks("Hexa is worth $26.", call)] == ["$26"]


def test_a_number_that_a_summary_has_too_belongs_to_its_record() -> None:
    call = Call(
        "lab",
        "list_tests",
        data={"tests": [{**t, "bids": n + 1} for n, t in enumerate(TESTS)]},
        summary="4 tests",
    )
    assert [m.word for m in marks("The Poppy comes second with 4 bids.", call)] == ["4"]


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
    assert word in [m.word for m in marks(reply, call, tag=tag)]


def test_a_flag_of_the_only_record_contradicts() -> None:
    assert [m.holds for m in marks("The October reading was estimated.", METER)] == [
        "estimated: False"
    ]
    assert marks("The October reading was not estimated.", METER) == []


@pytest.mark.parametrize(
    ("reply", "tag"),
    [("The keys are with Dr. Quint.", "en"), ("Den Schlüssel hat Frau Ahrens.", "de")],
)
def test_a_name_behind_a_title_that_nothing_shows_is_marked(reply: str, tag: str) -> None:
    assert [m.kind for m in marks(reply, tag=tag)] == ["name"]


def test_unlike_figures_of_a_record_are_not_added() -> None:
    assert [m.word for m in marks("Poppy stands at 127.")] == ["127"]
