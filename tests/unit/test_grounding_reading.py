"""What a reply writes in another form than the data does: amounts as hundredths, the number of an
id, spaces, sums of what it told, and dates counted from a length that the user named."""

from typing import Any

import pytest

from webbee_kernel.grounding import Call, Evidence, Verdict, check

CARDS = {
    "certificate_7504069": {"source": "certificate", "amount": 500},
    "gift_card_8190333": {"source": "gift_card", "amount": 128},
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


def test_the_rows_of_lists_in_a_list_are_records_of_their_own() -> None:
    assert told("HAT1 and HAT4 cost $235 together.", HOPS).grounded
    assert told("HAT3 costs $141.", HOPS).grounded
    assert not told("HAT3 costs $158.", HOPS).grounded


def test_a_date_is_counted_from_the_length_that_the_message_names() -> None:
    due = {"deadlines": [{"title": "Hearing", "date": "2026-11-25"}]}
    reply = "Until 7 December only the hearing is due."
    assert told(reply, due, message="What is due in the next two weeks?").grounded
    assert not told(reply, due, message="What is due?").grounded


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
