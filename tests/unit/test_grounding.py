"""Grounding by kind of claim: what a reply may say of its data, and what it may not."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.json_values import json_values
from tests.work import counted
from webbee_kernel.grounding import Call, Evidence, Verdict, check

MAIL: list[Any] = [
    {
        "unread": 8,
        "total": 142,
        "messages": [
            {
                "id": "abc",
                "from": "sarah@example.com",
                "name": "Sarah Connor",
                "subject": "Q3 plan",
                "at": "2026-05-15T17:21:04Z",
                "unread": True,
            },
            {
                "id": "abd",
                "from": "<EMAIL_1>",
                "name": "Пётр Иванов",
                "subject": "Смета INV-2031",
                "at": "2026-05-14T09:05:00Z",
                "unread": False,
            },
            {
                "id": "abe",
                "from": "bot@ci.example",
                "name": None,
                "subject": "v2.14.3 https://ci.example/run/7",
                "at": "2026-05-14",
                "unread": True,
            },
        ],
    }
]


def ungrounded(
    reply: str, data: list[Any] | None = None, message: str = "", **more: Any
) -> tuple[str, ...]:
    return check(reply, data=MAIL if data is None else data, message=message, **more).ungrounded


@pytest.mark.parametrize(
    "reply",
    [
        "You have 8 unread messages out of 142.",
        "Eight unread, 134 read.",
        "У вас восемь непрочитанных писем из 142.",
        "Here are 3 messages, two of them unread.",
        "Sarah Connor wrote on May 15 at 5:21 PM.",
        "Sarah wrote on Friday, 15 May 2026, 17:21.",
        "Письмо от Петра Иванова пришло 14 мая 2026 года в 9:05.",
        "Пришло 14.05.2026: «Смета INV-2031», от <EMAIL_1>.",
        "From sarah@example.com: “Q3 plan”, id `abc`.",
        "CI released v2.14.3, see https://ci.example/run/7.",
        "CI released 2.14.3 ([log](https://ci.example/run/7)).",
        "1. **Q3 plan**\n2. **Смета INV-2031**\n3. v2.14.3",
        "## Your Latest Messages\n\n- *Q3 plan*",
    ],
)
def test_what_the_data_shows_may_be_said(reply: str) -> None:
    assert ungrounded(reply) == ()


@pytest.mark.parametrize("number", ["12345", "777", "5550"])
def test_a_number_is_no_hour_and_no_end_of_a_moment(number: str) -> None:
    data: list[Any] = [{"notes": [{"title": "wifi", "at": "2026-11-29T09:55:50Z"}]}]
    assert ungrounded(f"The code of the wifi is {number}.", data) == (number,)


def test_derivations_do_not_open_a_barn_door() -> None:
    """Ten numbers in sight: of the hundred small counts a narrator may make up, nearly all must
    still be refused."""
    data: list[Any] = [
        {
            "stages": {"new": 12, "won": 9, "lost": 4, "open": 31},
            "deals": [{"id": n * 7, "value": n * 310, "priority": n % 3} for n in range(1, 8)],
        }
    ]
    accepted = [
        n for n in range(100) if check(f"You have {n} deals.", data=data, message="").grounded
    ]
    assert len(accepted) <= 14, accepted


@pytest.mark.parametrize(
    "reply", ["There are a few more.", "It takes 2 or 3 steps.", "Come at 5.", "See you in May."]
)
def test_small_numbers_hours_and_months_that_nothing_shows_contradict_nothing(reply: str) -> None:
    assert ungrounded(reply) == ()


JSON = json_values(st.text(max_size=20), finite=False, items=6, fields=6, leaves=30)


@settings(max_examples=50, deadline=None)
@given(reply=st.text(max_size=200), data=st.lists(JSON, max_size=3), message=st.text(max_size=40))
def test_any_text_over_any_json_gets_a_verdict(reply: str, data: list[Any], message: str) -> None:
    verdict = check(reply, data=data, message=message)
    assert verdict.grounded == (verdict.ungrounded == ())
    assert all(token in reply for token in verdict.ungrounded)


def turn(reply: str, *calls: Call, message: str = "", language: str = "en") -> Verdict:
    return check(reply, evidence=Evidence(calls, message, language=language))


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("Anna sits in C-12.", True),
        ("Anna sits in C-99.", False),
        ("Anna sits in C-7.", False),
        ("C-99 is a road in Scotland.", True),
    ],
)
def test_an_answer_without_a_call_that_names_what_facts_hold_is_held_against_them(
    reply: str, grounded: bool
) -> None:
    facts = Call(data={"people": [{"name": "Anna", "desk": "C-12"}, {"name": "Bo", "desk": "C-7"}]})
    assert turn(reply, facts, message="what do you know of it?").grounded is grounded


DATA = {
    "tasks": [
        {"id": n, "title": f"Task {n}", "hours": n * 1.5, "due": "2026-11-24"} for n in range(36)
    ]
}
EACH, DIFFERENT = 45, 60
"""Calls of functions for a character of a reply, at most, and of one without repeats."""


def calls_of(text: str) -> int:
    """How many functions are called to check a reply."""
    check("warm 1", data=[DATA])
    with counted() as calls:
        check(text, data=[DATA], message="how many tasks")
    return calls.count


@pytest.mark.parametrize(
    "unit", ["1 ", "1% ", "1,", "1-", "10:00 ", "€5 ", "| 1 | 2 |\n", '"a" ', "seven ", "1. x\n"]
)
def test_a_value_told_over_and_over_costs_no_more_than_its_characters(unit: str) -> None:
    text = unit * (6_000 // len(unit))
    assert calls_of(text) < EACH * len(text)


@pytest.mark.parametrize(
    "form", ["{} ", "\u20ac{}.40 ", "{}.5% ", "AB-{} ", "Task {0}: {0}, ", "{} h 12 min "]
)
def test_thousands_of_different_values_cost_no_more_than_their_characters(form: str) -> None:
    text = "".join(form.format(1000 + 7 * n) for n in range(3_200))[:16_000]
    assert calls_of(text) < DIFFERENT * len(text)


@settings(max_examples=8, deadline=None)
@given(st.text(alphabet="aZя1٣0.,:;-/%€$#\"'*_|()\n é中🙂", min_size=1, max_size=5))
def test_twice_as_much_of_anything_costs_about_twice_as_much(unit: str) -> None:
    once = calls_of(unit * (1_500 // len(unit)))
    twice = calls_of(unit * (3_000 // len(unit)))
    assert twice < 2.6 * once + 20_000


# ---- true replies in the forms in which people write them: none is marked, none is shortened


def listed(**data: Any) -> Call:
    """A call that gave this."""
    return Call("app", "list", data=data)


SHEDS = listed(
    sheds=[
        {"name": "North", "keeper": "Ines Vane", "pots": 40, "price": 3.5, "state": "open"},
        {"name": "Mill", "keeper": "Tove Lind", "pots": 72, "price": 2.25, "state": "open"},
        {"name": "Quay", "keeper": "Ines Vane", "pots": 18, "price": 4.0, "state": "closed"},
    ]
)
DOMAINS = listed(
    domains={
        "kiln.example": {"ends": "2026-11-22", "price": 12, "done_pct": 72, "state": "queued"},
        "claycourse.app": {"ends": "2026-12-02", "price": 40, "state": "done"},
        "glaze.example": {"ends": "2026-12-09", "price": 25, "state": "done"},
    }
)
HOTELS = [
    {"name": "Cozy Stay", "rating": 4, "price": 80},
    {"name": "City Hub", "rating": 3, "price": 100},
    {"name": "Riverside View", "rating": 1, "price": 200},
]
HELD = listed(
    accounts=[
        {"name": "Cash", "sum": 50},
        {"name": "Savings", "sum": 75},
        {"name": "Car", "sum": 25},
    ],
    currency="EUR",
)
WEEK = listed(steps=[8214, 10432, 7650], stages={"a": 2, "b": 5})
PEOPLE = listed(people=[{"first_name": "Anna", "last_name": "Weber"}])
LOOKED = listed(hours=[{"day": "Mon", "from": "08:00"}])
COURSES = listed(
    rows=[
        {
            "title": f"Course {name}",
            "seats": seats,
            "booked": booked,
            "cost_per_seat_cents": 9500,
        }
        for name, seats, booked in (("Kiel", 6, 1), ("Bonn", 5, 3), ("Ulm", 8, 8))
    ]
)
SHOW = listed(columns=["n", "got"], rows=[[41, 4120], [42, 3655]])

LEAVE = listed(entitlement=30, remaining=3.5)
DAY = listed(
    events=[
        {"title": "Standup", "start": "2026-11-19T09:00:00Z", "end": "2026-11-19T09:45:00Z"},
        {"title": "Budget", "start": "2026-11-19T13:30:00Z", "end": "2026-11-19T15:30:00Z"},
    ]
)
CASTER = listed(name="Dan Whitlock", phone=441225550199)
PRINTER = listed(file="bracket", progress=0.64, left_s=6483)
FLATS = listed(
    flats=[{"bien": "Studio", "loyer": 495, "charges": 35}, {"bien": "T2", "loyer": 690}]
)


RUNS = listed(
    runs=[
        {"date": "2026-11-16", "route": "Canal", "km": 8.2, "moving_s": 2706, "pulse": 148},
        {"date": "2026-11-18", "route": "Track", "km": 9.6, "moving_s": 2988, "pulse": 161},
        {"date": "2026-11-21", "route": "Forest", "km": 18.4, "moving_s": 6440, "pulse": 142},
    ]
)
STOCK = listed(
    items=[
        {"name": "Hex bolt", "on_hand": 1240, "reserved": 300, "least": 500, "price": 0.12},
        {"name": "Wing nut", "on_hand": 86, "reserved": 40, "least": 200, "price": 0.31},
        {"name": "Pane", "on_hand": 15, "reserved": 2, "least": 10, "price": 22.0},
    ]
)
TRIPS = listed(
    trips=[
        {"train": "Ouigo 7846", "dep": "08:20", "arr": "10:27", "changes": 0, "left": 3},
        {"train": "TER 17752", "dep": "08:42", "arr": "13:46", "changes": 1, "left": 9},
    ]
)


def marked(reply: str, *calls: Call, message: str = "what is there?", tag: str = "en") -> list[str]:
    evidence = Evidence(calls, message, language=tag, now="2026-11-18T09:30:00Z")
    return list(check(reply, evidence=evidence).ungrounded)


@pytest.mark.parametrize(
    ("reply", "call", "tag"),
    [
        ("- **North** - pots: 40", SHEDS, "en"),
        ("- **North** - worth: 140", SHEDS, "en"),  # its own pots times its own price
        ("| Shed | Pots | Worth |\n|---|---|---|\n| Mill | 72 | 162 |", SHEDS, "en"),
        ("| Shed | Pots |\n|---|---|\n| Total | 130 |", SHEDS, "en"),
        ("In all there are 54 pots more at Mill than at Quay.", SHEDS, "en"),
        ("claycourse.app ends on 2 December.", DOMAINS, "en"),
        ("kiln.example termina el domingo 22.", DOMAINS, "es"),
        ("- 22 ноября — 12\n- 2 декабря — 40", DOMAINS, "ru"),
        ("kiln.example is 72% done.", DOMAINS, "en"),
        ("glaze.example costs 13 more than kiln.example.", DOMAINS, "en"),
        ("50 EUR went from Cash, and 75 EUR from Savings.", HELD, "en"),
        ("Cash and Savings differ by 25 EUR.", HELD, "en"),
        ("Savings, i.e. the larger one, holds 75 EUR.", HELD, "en"),
        ("26,296 steps in three days.", WEEK, "en"),
        ("Anna Weber is in.", PEOPLE, "en"),
        ("У Анны Вебер был отпуск.", PEOPLE, "ru"),
        ("| Course | Free |\n|---|---|\n| Course Kiel | 5 of 6 |", COURSES, "en"),
        ("Two episodes brought 7,775 downloads between them.", SHOW, "en"),
        ("Noch **3,5 Tage** von 30 Tagen.", LEAVE, "de"),  # two lengths of time, not one
        ("2 h 45 min in meetings.", DAY, "en"),
        ("In all 2.75 hours:\n- 09:00 – Standup\n- 13:30 – Budget", DAY, "en"),
        ("Call Dan Whitlock on 01225 55 01 99.", CASTER, "en"),
        ("It is 64% done, with 1:48:03 to go.", PRINTER, "en"),
        ("Studio : 530, charges comprises.", FLATS, "fr"),
        # worked out of one row
        ("The Track session was at about 5:11 per km.", RUNS, "en"),  # a pace is no time of day
        ("Канал вы пробежали за 45:06.", RUNS, "ru"),
        ("Forest hat 1 h 47 min gedauert.", RUNS, "de"),
        ("El miércoles 18 fueron 161 pulsaciones.", RUNS, "es"),  # the day, not some 18.4 km
        ("Von den Flügelmuttern fehlen 114 bis zum Minimum.", STOCK, "de"),
        ("Les vis Hex bolt valent 148,80 en tout.", STOCK, "fr"),
        ("940 Hex bolts are free.", STOCK, "en"),
        ("Die Spanne zwischen beiden Preisen ist 21,69.", STOCK, "de"),
        ("Seit dem 16. sind es zusammen 17,8 km in zwei Tagen.", RUNS, "de"),  # a stretch of rows
        ("El TER tarda 5 h 4 min.", TRIPS, "es"),
        ("From 8:20 to 13:46 it is 5 h 26.", TRIPS, "en"),  # between any two moments
        ("Ouigo 7846 идёт 2 часа 7 минут.", TRIPS, "ru"),
        ("Three changes nothing: 3 seats on Ouigo 7846, 9 on TER 17752.", TRIPS, "en"),
    ],
)
def test_a_true_reply_is_not_marked(reply: str, call: Call, tag: str) -> None:
    assert marked(reply, call, tag=tag) == []


@pytest.mark.parametrize(
    ("message", "data", "reply"),
    [
        ("poll", {"options": [{"o": "A", "n": 84}, {"o": "B", "n": 156}]}, "A has 35 %."),
        ("flights?", {"max_price": 200, "flights": []}, "None under 200. Shall I go up to 300?"),
        ("iban?", {"iban": "NL91ABNA0417164300"}, "It is NL91 ABNA 0417 1643 00."),
        ("commits", {"sha": "9fce12ab77", "by": "dee"}, "The last one is 9fce12a by dee."),
        (
            "off?",
            {"off": [{"who": "Lena", "from": "2026-11-16", "to": "2026-11-20"}] * 2},
            "5 days.",
        ),
        ("tower", {"name": "Tower", "built": 1889}, "It was built in 1889, 137 years ago."),
        (
            "tomorrow?",
            {"from": "2026-11-26T11:00:00-05:00", "to": "2026-11-26T11:45:00-05:00"},
            "You are free from 11:45 until 2 PM.",
        ),
        ("room", {"price": 420000, "moneda": "COP", "nights": 3}, "In all $1.260.000 COP."),
        ("run", {"distance_m": 6000, "duration_s": 1980}, "6 km in 33 minutes, at 5:30/km."),
    ],
)
def test_what_one_step_makes_of_the_data_is_not_marked(
    message: str, data: dict[str, object], reply: str
) -> None:
    assert marked(reply, Call("app", "get", data=data), message=message) == []


@pytest.mark.parametrize(
    "sign", ["1. ", "1) ", "(1) ", "[1] ", "1: ", "1/ ", "#1 ", "**1** ", "1 "]
)
def test_a_number_that_counts_lines_is_none_of_the_data(sign: str) -> None:
    rows = enumerate(HOTELS, 1)
    text = "\n".join(f"{sign.replace('1', str(n))}{h['name']} – {h['price']}" for n, h in rows)
    assert marked(text, Call("hotels", "list_hotels", data={"hotels": HOTELS})) == []


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Please varnish the door", "I could not varnish the door."),
        ("Please varnish the door", "Shall I varnish the door?"),
        ("Please varnish the door", "I'll varnish the door once you confirm."),
        ("Please varnish the door", "The door can be varnished on request."),
        ("Pull the files", "I pulled the files:\n- Mon: 08:00"),
    ],
)
def test_what_is_offered_denied_or_asked_is_not_marked(message: str, reply: str) -> None:
    assert marked(reply, LOOKED, message=message) == []


def test_a_date_that_was_asked_for_names_its_row_too() -> None:
    rows = [{"date": f"2026-11-{d}", "kwh": v} for d, v in ((20, 6.4), (21, 2.1), (22, 8.7))]
    asked = Call("sun", "days", arguments={"to": "2026-11-22"}, data={"days": rows})
    told = "Das waren die Tage:\n- 21.11.: 2,1 kWh\n- 22.11.: {} kWh"
    assert marked(told.format("8,7"), asked, message="wie war es?", tag="de") == []
    assert marked(told.format("6,4"), asked, message="wie war es?", tag="de") == ["6,4"]


@pytest.mark.parametrize(
    ("reply", "data"),
    [
        ("Das dauert eine Stunde und 12 Minuten.", {"dauer_min": 72}),
        ("It failed. I can look again in 10 minutes.", {"status": "failure"}),
        ("Билет обошёлся в 3640 руб. 50 коп.", {"цена": 3640.5}),
    ],
)
def test_parts_of_a_length_and_of_an_amount_and_offers_are_not_doubted(
    reply: str, data: dict[str, object]
) -> None:
    assert not check(reply, data=[data], message="?").marks


ROOM = {"room": "Lake", "rate": {"betrag": 210, "waehrung": "CHF"}}
RATES = {"rates": [{"of": "EUR", "buy": 94.1}, {"of": "USD", "buy": 81.3}]}
WAGE = {"account": "Savings", "moneda": "MXN", "left": 9471.2}


@pytest.mark.parametrize(
    ("data", "reply", "words"),
    [
        (ROOM, "The Lake room is 210 €, 630 € for three nights.", ["210 €", "630 €"]),
        (ROOM, "The Lake room is CHF 210.", []),
        (RATES, "One euro is 94.10 ₽.", []),
        (WAGE, "You have $9,471.20 left.", []),
        (WAGE, "You have 9,471.20 euros left.", ["9,471.20 euros"]),
    ],
)
def test_an_amount_is_in_the_currency_of_the_data_where_that_is_one(
    data: dict[str, object], reply: str, words: list[str]
) -> None:
    call = Call("apps", "get", data=data)
    assert [m.word for m in check(reply, evidence=Evidence((call,))).marks] == words
