"""Figures that follow from others by plain arithmetic stand; those that nothing gives do not."""

from typing import Any

import pytest

from webbee_kernel.grounding import Call, Evidence, Verdict, check

FLAT = {"name": "Mill Lane 4", "rent": 1330, "area_m2": 62, "deposit_pence": 266_000}
LEASE = {"start": "2026-01-31", "end": "2026-08-30", "notice_days": 30, "opens": "Tue-Sat 9-13"}
VISIT = {"title": "Yoga 60", "start": "2026-03-10T11:47", "from": "14:00", "to": "18:00"}


def told(
    reply: str, data: Any, *, message: str = "?", status: str = "ok", tag: str = "en"
) -> Verdict:
    calls = (Call("home", "get", data=data, status=status),) if data else ()
    return check(reply, evidence=Evidence(calls, message, language=tag, now="2026-03-01T10:00"))


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("It costs £21.45 per square metre.", True),
        ("It costs roughly £21.50 per square metre.", True),
        ("It costs £23.45 per square metre.", False),
        ("The deposit is £2,660.", True),
        ("The deposit is £2,600.", False),
        ("You pay £3,990 at first.", True),
        ("You pay £3,890 at first.", False),
    ],
)
def test_amounts_of_one_record_are_added_and_divided(reply: str, grounded: bool) -> None:
    assert told(reply, FLAT).grounded is grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("Give notice by 31 July 2026.", True),
        ("Give notice by 7 August 2026.", False),
        ("They are open on Thursday.", True),
        ("They are open on Monday.", True),
        ("It starts on Saturday, 31 January.", True),
        ("It starts on Sunday, 31 January.", False),
    ],
)
def test_dates_are_counted_and_a_weekday_is_that_of_the_date_beside_it(
    reply: str, grounded: bool
) -> None:
    assert told(reply, LEASE).grounded is grounded


@pytest.mark.parametrize(
    ("reply", "tag", "grounded"),
    [
        ("It begins at about 11:50.", "en", True),
        ("It begins at 11:50.", "en", False),
        ("It begins at about 11:20.", "en", False),
        ("It begins at quarter to twelve.", "en", True),
        ("Der Termin beginnt um Viertel vor zwölf.", "de", True),
        ("They come between 2 and 6.", "en", True),
        ("They come between 14:00 and 18:00.", "en", True),
        ("They come between 14:00 and 18:20.", "en", False),
        ("Yoga 60 begins at 11:47.", "en", True),
    ],
)
def test_times_are_read_as_a_clock_is(reply: str, tag: str, grounded: bool) -> None:
    assert told(reply, VISIT, tag=tag).grounded is grounded


KILNS = [
    {"name": "Bertha", "run_minutes": 34, "fee_eur": 18.0, "load_kg": 40, "spare_kg": 12},
    {"name": "Flint", "run_minutes": 50, "fee_eur": 21.5, "load_kg": 60, "spare_kg": 31},
]


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("Bertha's fee plus the extra comes to €52.", False),  # minutes and euros
        ("Both fees come to €39.50.", True),
        ("Bertha could be loaded with 28 kg more than now.", True),
        ("Bertha and Flint were loaded with 100 kg.", True),
        ("Bertha and Flint were loaded with 39.5 kg.", False),  # the sum of the fees
    ],
)
def test_a_figure_follows_only_from_figures_of_its_kind(reply: str, grounded: bool) -> None:
    assert told(reply, {"kilns": KILNS}).grounded is grounded


PAYMENTS = Call(
    "pay",
    "list_payments",
    data={
        "payments": [
            {"customer": "Brasserie Nord", "amount": 12900, "currency": "eur"},
            {"customer": "Atelier Fuchs", "amount": 4550, "currency": "eur"},
            {"customer": "Hansen", "amount": 870, "currency": "eur"},
        ]
    },
)


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("Brasserie Nord paid €129.00 and Atelier Fuchs €45.50.", True),
        ("Together that is €183.20: €129.00, €45.50 and €8.70.", True),
        ("Brasserie Nord paid 12,900 EUR.", True),  # a service may mean whole euros
        ("Brasserie Nord paid €129.00 and Atelier Fuchs €46.50.", False),
        ("Brasserie Nord paid €45.50.", False),
        ("Together that is €193.20: €129.00, €45.50 and €8.70.", False),
    ],
)
def test_whole_amounts_may_be_hundredths_where_the_reply_tells_them_so(
    reply: str, grounded: bool
) -> None:
    evidence = Evidence((PAYMENTS,), "what came in?", language="en")
    assert check(reply, evidence=evidence).grounded is grounded
