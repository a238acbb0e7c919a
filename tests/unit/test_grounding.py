"""Grounding by kind of claim: what a reply may say of its data, and what it may not."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6)
    ),
    max_leaves=30,
)


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
