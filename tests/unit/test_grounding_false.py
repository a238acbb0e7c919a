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


SHOPS = Call(
    "guide",
    "list_shops",
    data={
        "shops": [
            {"name": "Nettle", "keeper": "Ines Vane", "rating": 4.5, "seats": 338, "rent": 210},
            {"name": "Sorrel", "keeper": "Tove Lind", "rating": 5.0, "seats": 512, "rent": 380},
            {"name": "Yarrow", "keeper": "Ines Vane", "rating": 3.5, "seats": 497, "rent": 650},
        ]
    },
)


def grounded(reply: str, tag: str = "en") -> bool:
    turn = Evidence((SHOPS,), "what is there?", language=tag, now="2026-11-20T10:00:00Z")
    return check(reply, evidence=turn).grounded


@pytest.mark.parametrize(
    ("reply", "stands"),
    [
        ("Sorrel has about 510 seats.", True),
        ("Nettle has about 335 seats.", True),
        ("Nettle has about 512 seats.", False),  # what Sorrel has
        ("Yarrow costs over 600 in rent.", True),
        ("No shop is over Yarrow: 614.", False),
        ("- **Sorrel**\n  - Maximum rent: 411", False),
    ],
)
def test_a_figure_said_to_be_rough_or_a_bound_stands_for_others(reply: str, stands: bool) -> None:
    assert grounded(reply) is stands


def test_levels_are_averaged_and_never_summed_or_multiplied() -> None:
    assert grounded("The average rating is 4.33.")
    assert not grounded("Sorrel is rated 13.")  # the sum of all ratings
    assert not grounded("Sorrel is rated 1050.")  # times its neighbour's rent


@pytest.mark.parametrize(
    "slot",
    ["- Nettle → rent · {x}", "1/ Nettle / rent ({x})", "- **Nettle** [seats ➜ 338, rent ➜ {x}]"],
)
def test_whatever_sign_stands_behind_a_label_its_value_is_a_slot(slot: str) -> None:
    assert grounded(slot.format(x="210"))
    assert not grounded(slot.format(x="441"))


def test_what_fills_a_slot_in_quotes_names_no_field() -> None:
    assert not grounded("Row Nettle, field \u201cnumber\u201d: `74185`")


@pytest.mark.parametrize("figure", ["48 %", "45 minutes", "2:14:33", "about 913", "sixty-three"])
def test_shares_lengths_of_time_and_rough_figures_are_worked_out_and_not_doubted(
    figure: str,
) -> None:
    assert grounded(f"It comes to {figure} in all.")
    assert not grounded("It comes to 913 in all.")


def test_a_share_of_another_record_is_marked() -> None:
    discs = [{"disc": "Basalt", "used_pct": 71}, {"disc": "Gneiss", "used_pct": 38}]
    turn = Evidence((Call("host", "list_discs", data={"discs": discs}),))
    assert check("Basalt is at 71 %.", evidence=turn).grounded
    assert [m.reason for m in check("Basalt is at 38 %.", evidence=turn).marks] == ["other_record"]


def test_fewer_than_a_list_has_are_a_part_of_it_and_more_are_none() -> None:
    assert grounded("Seven shops are too many, two shops are near.") is False
    assert grounded("Two shops are near the station.")


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
