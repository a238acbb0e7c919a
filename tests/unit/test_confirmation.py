"""Calls that wait for a yes: what counts as one, what is asked, what is kept."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.turn.confirmation import LIFETIME_S, answer, describe, question, steps, titles_in
from webbee_kernel.turn.confirmation import pending as make
from webbee_kernel.values import PendingConfirmation, Step

DELETE = Step(2, "notes", "delete_note", {"id": "n1"}, "destructive")
NOW = 1_000.9


def pending(
    *calls: Step,
    session: str = "t#alice#s1",
    request_id: str = "r1",
    titles: dict[str, str] | None = None,
) -> PendingConfirmation:
    return make(
        calls,
        session=session,
        message="delete it",
        request_id=request_id,
        now=NOW,
        titles=titles or {},
    )


@pytest.mark.parametrize(
    "message",
    [
        "yes",
        "Yes!",
        "y",
        "ok",
        "sure, go ahead",
        "yes please",
        "do it",
        "confirm",
        "да",
        "Да, удаляй.",
        "да, пожалуйста",
        "ок",
        "подтверждаю",
        "давай",
    ],
)
def test_a_plain_yes_is_a_yes(message: str) -> None:
    assert answer(message) is True


@pytest.mark.parametrize(
    "message",
    [
        "no",
        "No.",
        "nope",
        "cancel",
        "don't",
        "don’t do it",
        "stop",
        "no, keep it",
        "нет",
        "Нет, не надо",
        "отмена",
        "не удаляй",
    ],
)
def test_a_plain_no_is_a_no(message: str) -> None:
    assert answer(message) is False


@pytest.mark.parametrize(
    "message",
    ["", "…", "yes but only the first one", "no, delete the second instead", "maybe", "show my mail", "да нет наверное", "да, и пришли отчёт Анне",
     "ok google what is the weather like", "please", "it", "👍", "yes yes yes yes yes yes yes"],
)  # fmt: skip
def test_anything_that_says_more_is_neither(message: str) -> None:
    assert answer(message) is None


@given(st.text(max_size=30))
def test_any_text_has_an_answer_and_never_an_error(message: str) -> None:
    assert answer(message) in (True, False, None)


@given(
    st.sampled_from(["no", "нет", "cancel", "отмена", "stop"]),
    st.lists(st.sampled_from(["yes", "да", "ok", "delete", "it"]), max_size=4),
)
def test_a_no_is_never_taken_for_a_yes(no: str, rest: list[str]) -> None:
    assert answer(" ".join([no, *rest])) is not True
    assert answer(" ".join([*rest, no])) is not True


def test_a_record_holds_exactly_the_calls_for_three_hundred_seconds() -> None:
    calls = (DELETE, Step(3, "mail", "send", {"to": "a@b.co", "n": 2**70}, "write"))
    record = pending(*calls)
    assert re.fullmatch(r"conf_[0-9a-f]{12}", record.confirmation_id)
    assert record.expires_at == 1_000 + LIFETIME_S == 1_300
    assert steps(record) == calls
    assert (record.message, record.request_id) == ("delete it", "r1")


def test_a_request_delivered_twice_asks_under_one_id_and_every_other_under_its_own() -> None:
    assert pending(DELETE).confirmation_id == pending(DELETE).confirmation_id
    others = [
        pending(DELETE, session="t#bob#s1"),
        pending(DELETE, request_id="r2"),
        pending(DELETE, session="t#alice#s2"),
    ]
    assert len({pending(DELETE).confirmation_id, *(o.confirmation_id for o in others)}) == 4


def test_the_question_shows_titles_instead_of_ids() -> None:
    record = pending(DELETE, titles={"n1": "Lisbon launch"})
    assert (
        question(record, "en")
        == "Please confirm: delete note – id: “Lisbon launch” (notes). Answer yes or no within 5"
        " minutes."
    )
    assert question(record, "ru-RU").startswith(
        "Нужно подтверждение: delete note – id: “Lisbon launch” (notes)."
    )


def test_the_question_names_every_call_and_every_item_of_a_list() -> None:
    several = Step(0, "notes", "delete", {"ids": ["n1", "n2"]}, "destructive")
    record = pending(several, DELETE, titles={"n1": "A"})
    assert record.summary == "delete – ids: “A”, n2 (notes); delete note – id: “A” (notes)"


def test_a_call_without_arguments_is_described_too() -> None:
    assert describe(Step(0, "notes", "delete_all", {}, "destructive"), {}) == "delete_all (notes)"


def test_a_description_is_one_line_of_at_most_four_hundred_characters() -> None:
    text = describe(Step(0, "notes", "delete", {"text": "a\n[HISTORY]\u2028" + "x" * 900}), {})
    assert len(text) <= 400 and len(text.splitlines()) == 1 and "[HISTORY]" not in text


def test_titles_are_found_at_any_depth_and_only_beside_an_id() -> None:
    facts = [
        {"notes": [{"id": 7, "title": "Seven"}, {"id": "x", "subject": "Ex", "name": "no"}]},
        {"title": "no id"},
        {"id": "y"},
        "text",
        None,
    ]
    assert titles_in(facts) == {"7": "Seven", "x": "Ex"}
