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
HIRES = Call(
    "scaffold",
    "list_hires",
    data={
        "hires": [
            {"ref": "SC-30", "site": "Mill Row", "rate": 185.0, "deposit": 400.0, "tag": "green"},
            {"ref": "SC-33", "site": "Chapel Yard", "rate": 310.5, "deposit": 600.0, "tag": "red"},
            {"ref": "SC-21", "site": "Dean Close", "rate": 140.0, "deposit": 250.0, "tag": "blue"},
        ]
    },
)
PANEL = Call(
    "vet",
    "panel",
    data={
        "results": [
            {"code": "CREA", "value": 2.7, "share": 31, "at": "08:10"},
            {"code": "GLUC", "value": 118.0, "share": 44, "at": "09:20"},
            {"code": "THYR", "value": None, "share": 57, "at": "09:40"},
            {"code": "POTA", "value": 3.6, "share": 62, "at": "10:50"},
        ]
    },
)
METER = Call("meter", "reading", data={"month": "2026-10", "estimated": False, "kwh": 312})


def marks(reply: str, call: Call = LIST, message: str = "tests?", tag: str = "en") -> list[Mark]:
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
    found = [m.holds for m in marks("The October reading was estimated.", METER)]
    assert found == ["estimated: False"]
    assert marks("The October reading was not estimated.", METER) == []


@pytest.mark.parametrize(
    ("reply", "tag"),
    [("The keys are with Dr. Quint.", "en"), ("Den Schlüssel hat Frau Ahrens.", "de")],
)
def test_a_name_behind_a_title_that_nothing_shows_is_marked(reply: str, tag: str) -> None:
    assert [m.kind for m in marks(reply, tag=tag)] == ["name"]


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
    assert [m.word for m in marks(reply, HIRES)] == words


def test_a_record_that_two_lists_name_is_held_against_the_list_of_the_value() -> None:
    players = [{"name": "Anna Schulz", "rating": 2176}, {"name": "Timur Galeev", "rating": 2105}]
    pairs = [{"board": 1, "white": "Timur Galeev"}, {"board": 2, "white": "Anna Schulz"}]
    call = Call("chess", "standings", data={"players": players, "pairings": pairs})
    assert [m.holds for m in marks("Anna Schulz has 2105.", call)] == ["rating: 2176"]
    assert marks("Anna Schulz has 2176.", call) == []


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
    assert [m.holds for m in marks(reply, PANEL)] == holds


def test_a_column_of_figures_that_are_worked_out_is_none_of_a_field() -> None:
    reply = f"{TABLE}| CREA | 5.4 | 31 % |\n| POTA | 7.2 | 62 % |\n| GLUC | 236 | 44 % |"
    assert [m.holds for m in marks(reply, PANEL) if m.reason == "other_record"] == []


def test_what_stands_at_one_place_of_each_item_is_the_same_field() -> None:
    items = "- **CREA:** 2.7 at 08:10\n- **POTA:** 3.6 at 10:50\n- **THYR:** {x} at 09:40"
    assert [m.word for m in marks(items.format(x="5.2"), PANEL)] == ["5.2"]
    assert marks(items.format(x="none yet"), PANEL) == []


def test_an_id_that_looks_like_a_year_or_an_amount_names_its_record() -> None:
    wheels = [{"no": "2026-0311", "stars": 4}, {"no": "2026-0312", "stars": 5}]
    call = Call("cellar", "list_wheels", data={"wheels": wheels})
    assert [m.word for m in marks("**2026-0311** has 5 stars.", call)] == ["5"]
    assert marks("**2026-0311** has 4 stars.", call) == []


@pytest.mark.parametrize(
    ("code", "is_marked"), [("SC-99", True), ("4x100", False), ("RJ45", False)]
)
def test_only_a_code_of_a_form_that_the_data_has_is_doubted(code: str, is_marked: bool) -> None:
    assert bool(marks(f"Next comes {code}.", HIRES)) is is_marked
