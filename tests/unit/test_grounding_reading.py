"""What a reply writes in another form than the data does: amounts as hundredths, the number of an
id, spaces, sums of what it told, and dates counted from a length that the user named."""

from typing import Any

import pytest

from webbee_kernel.grounding import Call, Evidence, Verdict, check

ORDERS = {
    "currency": "EUR",
    "orders": [
        {"no": "A-1", "customer": "Ben Roth", "total": 12900, "weight": 830},
        {"no": "A-2", "customer": "Ida Falk", "total": 5480, "weight": 1290},
    ],
}
PRICES = {
    "amounts_in": "minor_units",
    "currency": "EUR",
    "results": [
        {"sku": "CAP", "old": 1290, "new": 1490, "error": None},
        {"sku": "BAG", "old": 3900, "new": 3500, "error": "below price floor 3600"},
    ],
}
CARDS = {
    "certificate_7504069": {"source": "certificate", "amount": 500},
    "gift_card_8190333": {"source": "gift_card", "amount": 128},
}
SEATS = {
    "seats": [
        {"ref": "UDMOP1", "cabin": "basic_economy", "rows": 4},
        {"ref": "XAZ3C0", "cabin": "economy", "rows": 20},
    ]
}
HOPS = [
    [{"flight": "HAT1", "price": 158}, {"flight": "HAT2", "price": 103}],
    [{"flight": "HAT3", "price": 141}, {"flight": "HAT4", "price": 77}],
]


def told(reply: str, *data: Any, message: str = "?", tag: str = "en") -> Verdict:
    calls = tuple(Call("app", f"get_{n}", data=one) for n, one in enumerate(data))
    now = "2026-11-23T10:00:00Z"
    return check(reply, evidence=Evidence(calls, message, language=tag, now=now))


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("Use certificate 7504069: $500", True),
        ("Use certificate 7504169: $500", False),
        ("Certificate 7504069 pays it, $171 remain.", True),
        ("Certificate 7504069 pays it, $181 remain.", False),
    ],
)
def test_the_number_of_an_id_and_what_a_calculator_returns_are_shown(
    reply: str, grounded: bool
) -> None:
    assert told(reply, CARDS, 329.0).grounded is grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("- **UDMOP1**: Basic Economy, 4 rows", True),
        ("- **XAZ3C0**: Economy, 20 rows", True),
        ("- **XAZ3C0**: Basic Economy, 20 rows", False),
    ],
)
def test_a_space_may_stand_for_what_the_data_writes(reply: str, grounded: bool) -> None:
    assert told(reply, SEATS).grounded is grounded


def test_the_rows_of_lists_in_a_list_are_records_of_their_own() -> None:
    assert told("HAT1 and HAT4 cost $235 together.", HOPS).grounded
    assert told("HAT3 costs $141.", HOPS).grounded
    assert not told("HAT3 costs $158.", HOPS).grounded


def test_a_date_is_counted_from_the_length_that_the_message_names() -> None:
    due = {"deadlines": [{"title": "Hearing", "date": "2026-11-25"}]}
    reply = "Until 7 December only the hearing is due."
    assert told(reply, due, message="What is due in the next two weeks?").grounded
    assert not told(reply, due, message="What is due?").grounded


STOCKS = {"stocks": [{"symbol": "XTC", "price": 1.5}, {"symbol": "QUAS", "price": 726.45}]}
MAILS = {
    "mails": [
        {"subject": "Family reunion", "status": "received", "at": "2026-05-13T14:00", "sum": 20},
        {"subject": "Hiking trip", "status": "sent", "at": "2026-05-14T11:00", "sum": 75},
        {"subject": "Project update", "status": "received", "at": "2026-05-16T09:30", "sum": 40},
    ]
}


@pytest.mark.parametrize(("figure", "grounded"), [("1.5", True), ("1.7", False)])
def test_a_figure_may_end_a_sentence(figure: str, grounded: bool) -> None:
    reply = f"\u0426\u0435\u043d\u0430 XTC: {figure}."
    assert told(reply, STOCKS, tag="ru").grounded is grounded


FARES = {"fares": [{"code": f"F{n:02}", "price": 1000 + 70 * n} for n in range(30)]}


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("F01: 1070\nF04: 1280\nF10: 1700\n\nEvened out: 1350 apiece.", True),
        ("F01: 1070\nF04: 1280\nF10: 1700\n\nEvened out: 1430 apiece.", False),
        ("F01 costs \u201caround 1,070\u201d.", True),
        ("F01 costs \u201c687\u201d.", False),
    ],
)
def test_what_a_reply_tells_is_averaged_and_a_rounded_amount_is_no_quote(
    reply: str, grounded: bool
) -> None:
    assert told(reply, {"fares": FARES["fares"][:11]}).grounded is grounded


def test_the_last_digits_of_what_is_hidden_are_shown() -> None:
    card = {"number": "4526-7890-1234-4421"}
    assert told("Card `xxxx-4421`", card).grounded
    assert not told("Card `xxxx-4422`", card).grounded


CREWS = {
    "crews": [
        {"name": "Yusuf Aydin", "state": "active", "firm": "Kran", "ends": "2027-02-20"},
        {"name": "Clara Vogt", "state": "active", "firm": "Kran", "ends": "2027-03-10"},
        {"name": "Ivo Lang", "state": "cancelled", "firm": "Orbis", "ends": "2026-11-28"},
        {"name": "Ada Falk", "state": "assigned", "firm": "Orbis", "ends": "2026-11-29T15:00"},
    ],
    "price_cents": 2900,
}


def test_a_name_in_another_script_may_end_in_a_case() -> None:
    yusuf = "\u042e\u0441\u0443\u0444\u043e\u043c \u0410\u0439\u0434\u044b\u043d\u043e\u043c"
    stranger = "\u041f\u0430\u0432\u043b\u043e\u043c"
    game = "\u041e\u043d\u0430 \u0438\u0433\u0440\u0430\u0435\u0442 \u0441 {}."
    assert told(game.format(yusuf), CREWS, tag="ru").grounded
    assert not told(game.format(f"{stranger} {stranger}"), CREWS, tag="ru").grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("You have no less than 3 orders.", True),
        ("You have no less than 4 orders.", False),
        ("You have no more than 3 orders.", True),
    ],
)
def test_no_less_than_is_at_least(reply: str, grounded: bool) -> None:
    rows = [{"item": name} for name in ("Pizza", "Tea", "Cake")]
    shop = Call("shop", "list_orders", data={"orders": rows})
    assert check(reply, evidence=Evidence((shop,), "my orders")).grounded is grounded
