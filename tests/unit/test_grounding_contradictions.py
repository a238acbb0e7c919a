"""A reply is wrong where the data contradicts it, not where it says the data in other words."""

from typing import Any

import pytest

from benchmarks.truths.adapter import judge
from benchmarks.truths.flagged import flags_table
from benchmarks.truths.plain_words import plain_words
from benchmarks.truths.report import Outcome
from webbee_kernel import language
from webbee_kernel.grounding import Call, Evidence, Verdict, check

VISITS = Call(
    "clinic",
    "list_visits",
    data={
        "as_of": "2026-11-20T10:00",
        "visits": [
            {"id": "v1", "patient": "Mara Finch", "booked": True, "since": "2026-11-17T16:45"},
            {"id": "v2", "patient": "Mara Finch", "booked": True, "since": "2026-11-18T09:00"},
            {"id": "v3", "patient": "Tove Lind", "booked": False, "since": "2026-11-19T09:00"},
        ],
    },
)


def told(reply: str, *calls: Call, message: str = "what is there?", tag: str = "en") -> Verdict:
    return check(reply, evidence=Evidence(calls or (VISITS,), message, language=tag))


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("There are three visits.", True),
        ("There are two visits.", False),
        ("Mara has two visits ahead.", True),
        ("Mara has four visits ahead.", False),
        ("Total: 3 visits.", True),
        ("Total: 2 visits.", False),
    ],
)
def test_a_count_of_all_is_exact_and_one_of_a_part_is_no_more_than_all(
    reply: str, grounded: bool
) -> None:
    assert told(reply).grounded is grounded


CLASSES = Call(
    "gym",
    "list_classes",
    data={
        "week_of": "2026-11-23",
        "room_limit": 12,
        "classes": [
            {"id": 1, "name": "Spin", "coach": "Craig", "start": "2026-11-23T18:00", "full": True},
            {"id": 2, "name": "Yoga", "coach": "Ines", "start": "2026-11-23T19:00", "full": True},
            {"id": 3, "name": "Pump", "coach": "Craig", "start": "2026-11-24T07:00", "full": False},
            {
                "id": 4,
                "name": "Reformer",
                "coach": "Sofia",
                "start": "2026-11-25T09:00",
                "full": True,
            },
        ],
    },
)


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("Craig has three classes next week.", False),
        ("Craig has two classes next week.", True),
        ("Craig and Ines have three classes between them.", True),
        ("Three of your four classes start on Monday, 23 November.", False),
        ("Two of your four classes start on Monday, 23 November.", True),
        ("Three classes start before Wednesday.", True),
        ("Two of the four classes are full.", False),
        ("Two of the four classes are full and in the big room.", True),
        ("Three of the four classes are full.", True),
        ("Craig has three children.", True),
        ("You have four classes, of which Pump is not full.", True),
        ("Only Pump of your four classes is in the morning.", True),
        ("You have four classes but Craig teaches Pump.", True),
    ],
)
def test_a_part_is_no_larger_than_the_rows_that_its_clause_picks(
    reply: str, grounded: bool
) -> None:
    assert told(reply, CLASSES).grounded is grounded


def test_small_numbers_in_words_that_point_back_count_nothing() -> None:
    gone = Call("board", "remove_post", "write", data={"post": 1, "state": "removed"})
    kept = Call("board", "remove_post", "write", status="error", error="Post is locked")
    reply = "One of the two is gone: I removed the post. The other one is locked."
    assert told(reply, gone, kept, message="get rid of the two ads").grounded
    assert told("You need Craig for the next one.", CLASSES).grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("The first has waited for almost three days.", True),
        ("It took twelve and a half minutes.", True),
        ("The first has waited for 65 hours.", True),
        ("The first has waited for 95 hours.", False),
    ],
)
def test_a_length_in_words_is_rough_and_one_in_figures_must_follow(
    reply: str, grounded: bool
) -> None:
    assert told(reply).grounded is grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("It is stuck: the parcel was put aside.", True),
        ("The parcel has been put aside.", True),
        ("I have put the parcel aside.", False),
    ],
)
def test_a_state_told_after_a_look_is_read_out_and_a_deed_is_claimed(
    reply: str, grounded: bool
) -> None:
    parcel = Call("post", "track", data={"parcel": {"id": "P-7", "event": "held"}})
    assert told(reply, parcel, message="Where's my parcel?").grounded is grounded


def test_after_a_wish_the_state_is_a_claim() -> None:
    parcel = Call("post", "track", data={"parcel": {"id": "P-7", "event": "held"}})
    assert not told("The parcel has been returned.", parcel, message="Return the parcel").grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("Anna Weber is in.", True),
        ("У Анны Вебер был отпуск.", True),
        ("Anna Keller is in.", False),
        ("Была Ольга Петрова.", False),
    ],
)
def test_a_name_may_stand_in_two_fields_and_in_another_script(reply: str, grounded: bool) -> None:
    person: dict[str, Any] = {"people": [{"first_name": "Anna", "last_name": "Weber"}]}
    tag = "ru" if "а" in reply else "en"
    assert told(reply, Call("hr", "people", data=person), tag=tag).grounded is grounded


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Гамбург", "Hamburg", True),
        ("Крита", "Crete", True),
        ("Шереметьево", "Sheremetyevo", True),
        ("Сэм", "Sam", True),
        ("Париж", "Rome", False),
        ("Киев", "Berlin", False),
    ],
)
def test_names_in_two_scripts_sound_alike(one: str, other: str, alike: bool) -> None:
    assert (language.sound(one) == language.sound(other)) is alike


def test_numbers_side_by_side_add_up() -> None:
    week = Call("steps", "week", data={"steps": [8214, 10432, 7650], "stages": {"a": 2, "b": 5}})
    assert told("26,296 steps in three days.", week).grounded
    assert not told("27,296 steps in three days.", week).grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("50 EUR went from Cash, and 75 EUR from Savings.", True),
        ("Cash holds 75 EUR.", False),
        ("Cash and Savings differ by 25 EUR.", True),
        ("Savings, i.e. the larger one, holds 75 EUR.", True),
    ],
)
def test_a_value_may_stand_before_the_name_of_its_record(reply: str, grounded: bool) -> None:
    held = [{"name": "Cash", "sum": 50}, {"name": "Savings", "sum": 75}, {"name": "Car", "sum": 25}]
    data = {"accounts": held, "currency": "EUR"}
    assert told(reply, Call("bank", "accounts", data=data)).grounded is grounded


def test_each_flag_says_what_it_is_and_the_table_counts_them() -> None:
    assert [f.kind for f in told("Mara has four visits, see X9-1.").flags] == [
        "count",
        "code",
    ]
    cases = plain_words("plain_words")[:30]
    table = flags_table([Outcome(case, judge(case), 0.0) for case in cases])
    faulty = sum(case.fault is not None for case in cases)
    assert "count" in table
    assert table.splitlines()[-1].split() == ["replies", str(faulty), str(len(cases) - faulty)]


HIRES = Call(
    "hire",
    "list_hires",
    data={
        "hires": [
            {"site": "Dean Close", "tag": "fail", "deposit_returned": True, "crew": "Ortega"},
            {"site": "Mill Row", "tag": "pass", "deposit_returned": False, "crew": "Blom"},
            {"site": "Chapel Yard", "tag": "pass", "deposit_returned": False, "crew": "Blom"},
        ],
        "insured": False,
    },
)


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("For Dean Close the deposit has been returned.", True),
        ("For Dean Close the deposit has not been returned.", False),
        ("For Mill Row the deposit has been returned.", False),
        ("Mill Row failed.", False),
        ("Dean Close failed.", True),
        ("The hire is insured.", False),
        ("The hire is not insured.", True),
        ("It will be insured next week.", True),
        ("- **Dean Close** (fail): Blom", False),
        ("- **Dean Close** (fail): Ortega", True),
    ],
)
def test_flags_and_words_of_a_column_contradict_the_record_that_is_named(
    reply: str, grounded: bool
) -> None:
    assert told(reply, HIRES).grounded is grounded


def test_a_call_whose_result_says_that_it_was_not_done_did_nothing() -> None:
    text = Call("shop", "text_customer", "write", data={"texted": False, "reason": "landline"})
    assert not told("I've texted the customer.", text, message="text the customer").grounded


def test_what_was_asked_how_it_is_may_be_read_out() -> None:
    meters = Call("meters", "list", data={"meters": [{"id": 1, "kind": "gas"}]})
    asked = "Have all meters been read?"
    assert told("The gas meter has been inspected.", meters, message=asked).grounded


def test_a_person_whom_nothing_shows_is_invented() -> None:
    assert not told("It was inspected by Olga Petrova.", HIRES).grounded
    assert told("It was inspected by Ortega.", HIRES).grounded


def test_amounts_in_a_map_are_in_the_unit_that_its_key_names() -> None:
    prices = [{"price_cents": {"wash": 250, "dry": 150}}]
    assert check("Drying costs €1.50, washing €2.50.", data=prices).grounded
    assert not check("Drying costs €1.70, washing €2.50.", data=prices).grounded


def test_what_the_result_of_a_deed_says_did_not_happen_may_be_denied() -> None:
    booked = Call("rooms", "book", "write", {}, "ok", data={"room": "Oak", "fee": {"paid": False}})
    asked = Evidence((booked,), "Book the Oak room")
    assert check("Booked the room Oak. The fee hasn't been paid yet.", evidence=asked).grounded
    assert not check("The room Oak hasn't been booked.", evidence=asked).grounded


def test_a_denial_is_wrong_of_what_was_done_and_no_admission_of_what_waits() -> None:
    done = Call("queue", "remove_job", "destructive", arguments={"job": "j-8"}, data={"ok": True})
    turn = Evidence((done,), "take j-8 out of the queue")
    assert not check("I wasn't able to remove j-8.", evidence=turn).grounded
    waits = Call("repo", "delete_branch", "destructive", {"branch": "spike"}, status="waits")
    turn = Evidence((waits,), "Delete the branch spike.")
    assert check("The branch spike is gone. Its commits were never merged.", evidence=turn).added
    assert not check("The branch spike is not deleted yet.", evidence=turn).added
