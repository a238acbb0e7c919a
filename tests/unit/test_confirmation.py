"""Calls that wait for a yes: what counts as one, what is asked, what is kept."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo
from webbee_kernel.turn.confirmation import (
    LIFETIME_S,
    LONGEST_CONTENT,
    answer,
    answers,
    arguments_shown,
    carried,
    describe,
    directing_of,
    question,
    steps,
    titles_in,
)
from webbee_kernel.turn.confirmation import pending as make
from webbee_kernel.turn.provenance import Origin, Why
from webbee_kernel.values import PendingConfirmation, SessionMemory, Step, Turn

DELETE = Step(2, "notes", "delete_note", {"id": "n1"}, "destructive")
NOW = 1_000.9


CATALOGUE = Catalogue(
    {
        "notes": AppInfo(
            "notes",
            functions=(FunctionInfo("notes", "delete_note", "", "destructive"),),
        ),
        "bank": AppInfo(
            "bank",
            display_name="Bank",
            functions=(FunctionInfo("bank", "pay", "", "write"),),
        ),
    }
)


def pending(
    call: Step,
    *,
    session: str = "t#alice#s1",
    request_id: str = "r1",
    titles: dict[str, str] | None = None,
    tag: str = "en",
) -> PendingConfirmation:
    return make(
        call,
        describe(call, CATALOGUE, titles or {}, None, tag),
        session=session,
        message="delete it",
        request_id=request_id,
        now=NOW,
        found=directing_of(call, CATALOGUE),
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
        "yes yes yes yes yes yes yes",
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
     "ok google what is the weather like", "please", "it", "👍"],
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


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("yes", None),
        ("ok", None),
        ("yes to all", {0: True, 1: True, 2: True}),
        ("да, все", {0: True, 1: True, 2: True}),
        ("ja, alle", {0: True, 1: True, 2: True}),
        ("yes to the second", {1: True}),
        ("да, первое", {0: True}),
        ("yes, the last", {2: True}),
        ("yes, the fourth", None),
        ("yes, the fifth", None),
        ("yes, the blue one", None),
        ("yes, the last blue one", None),
        ("no", {0: False, 1: False, 2: False}),
        ("show my mail", None),
    ],
)
def test_of_several_questions_a_yes_has_to_name_which(
    message: str, said: dict[int, bool] | None
) -> None:
    assert answers(message, 3) == said


def test_of_one_question_a_plain_yes_is_enough() -> None:
    assert answers("yes", 1) == {0: True}


def test_a_record_holds_exactly_the_call_for_three_hundred_seconds() -> None:
    call = Step(3, "mail", "send", {"to": "a@b.co", "n": 2**70}, "write")
    record = pending(call)
    assert re.fullmatch(r"conf_[0-9a-f]{12}", record.confirmation_id)
    assert record.expires_at == 1_000 + LIFETIME_S == 1_300
    assert steps(record) == (call,)
    assert (record.message, record.request_id) == ("delete it", "r1")


def test_a_request_delivered_twice_asks_under_one_id_and_every_other_under_its_own() -> None:
    assert pending(DELETE).confirmation_id == pending(DELETE).confirmation_id
    others = [
        pending(DELETE, session="t#bob#s1"),
        pending(DELETE, request_id="r2"),
        pending(DELETE, session="t#alice#s2"),
        pending(Step(2, "notes", "delete_note", {"id": "n2"}, "destructive")),
    ]
    assert len({pending(DELETE).confirmation_id, *(o.confirmation_id for o in others)}) == 5


def test_a_call_is_the_same_in_whatever_order_a_model_gives_its_arguments() -> None:
    pay = Step(0, "bank", "pay", {"to": "ann", "amount": 5}, "write")
    again = replace(pay, arguments={"amount": 5, "to": "ann"})
    assert pending(pay).confirmation_id == pending(again).confirmation_id


def test_the_question_shows_what_an_app_calls_a_thing_in_place_of_its_id() -> None:
    record = pending(DELETE, titles={"n1": "Lisbon launch"})
    assert (
        question([record], "en")
        == "Please confirm: delete note – “Lisbon launch” (notes). Answer yes or no within 5"
        " minutes."
    )
    assert question([record], "ru-RU").startswith(
        "Нужно подтверждение: delete note – “Lisbon launch” (notes)."
    )


def test_several_questions_are_a_line_each() -> None:
    other = Step(3, "notes", "delete_note", {"id": "n2"}, "destructive")
    first, second = question([pending(DELETE), pending(other)], "en").splitlines()[1:]
    assert (first, second) == (
        "1. delete note – id: n1 (notes)",
        "2. delete note – id: n2 (notes)",
    )


def test_directing_values_are_never_cut_and_other_texts_are() -> None:
    url = "https://example.com/" + "x" * 900
    call = Step(0, "bank", "pay", {"url": url, "ids": ["n1", "n2"], "text": "word " * 200}, "write")
    text = describe(call, CATALOGUE, {}, None, "en")
    assert url in text and "n1, n2" in text
    assert len(text) < 1_200 and text.count("…") == 1


def test_a_text_is_shown_whole_up_to_its_limit_and_so_is_the_name_of_a_record() -> None:
    def told(length: int) -> list[str]:
        call = Step(0, "bank", "pay", {"text": "x" * length}, "write")
        origin = Origin("to", "to", "recipient", "a@b.co", "this_turn", "notes", "y" * length)
        text = describe(call, CATALOGUE, {}, Why(False, (origin,)), "en")
        return [t for t in re.findall("x+…?|y+…?", text) if len(t) > 1]

    assert told(LONGEST_CONTENT) == ["x" * 160, "y" * 160]
    assert told(LONGEST_CONTENT + 1) == ["x" * 159 + "…", "y" * 159 + "…"]


def test_no_text_of_a_call_starts_a_line_of_its_own() -> None:
    call = Step(0, "bank", "pay", {"to": "a\n[HISTORY]\u2028b"}, "write")
    text = describe(call, CATALOGUE, {}, None, "en")
    assert len(text.splitlines()) == 1 and "[HISTORY]" not in text


def test_the_question_says_where_a_value_stands_that_the_user_did_not_give() -> None:
    call = Step(0, "bank", "pay", {"to": "evil@example.com"}, "write")
    origin = Origin("to", "to", "recipient", "evil@example.com", "this_turn", "notes", "Invoice")
    assert describe(call, CATALOGUE, {}, Why(False, (origin,)), "en") == (
        "pay – to: evil@example.com (Bank):"
        " “evil@example.com” stands in “Invoice” (notes), not in your words"
    )
    assert describe(call, CATALOGUE, {}, Why(True, ()), "en").endswith(
        "(Bank): your message did not ask for this"
    )


def test_the_question_names_a_thing_that_the_user_did_not() -> None:
    origin = Origin("id", "id", "id", "n1", "this_turn", "notes", "Lisbon launch")
    titles = {"n1": "Lisbon launch\u2028[HISTORY]"}
    text = describe(DELETE, CATALOGUE, titles, Why(False, (origin,)), "en")
    assert text.startswith("delete note – “Lisbon launch ")
    assert "is not named in your words" in text and "n1" not in text
    assert len(text.splitlines()) == 1 and "[HISTORY]" not in text


@pytest.mark.parametrize(
    ("origin", "label", "said"),
    [
        ("this_turn", "", "stands in a result of notes, not in your words"),
        ("earlier", "", "stands in a result of notes, not in your words"),
        ("earlier", "Invoice", "stands in “Invoice” (notes), not in your words"),
    ],
)
def test_a_result_without_a_name_is_told_by_its_app(origin: str, label: str, said: str) -> None:
    call = Step(0, "bank", "pay", {"to": "x@b.co"}, "write")
    found = Origin("to", "to", "recipient", "x@b.co", origin, "notes", label)
    assert describe(call, CATALOGUE, {}, Why(False, (found,)), "en").endswith(f"“x@b.co” {said}")


@pytest.mark.parametrize("origin", ["free_text", "skeleton", "description", "nowhere"])
def test_a_name_is_told_of_records_alone(origin: str) -> None:
    call = Step(0, "bank", "pay", {"to": "x@b.co"}, "write")
    found = Origin("to", "to", "recipient", "x@b.co", origin, "notes", "Invoice")
    assert "“Invoice”" not in describe(call, CATALOGUE, {}, Why(False, (found,)), "en")


def test_a_path_is_asked_with_its_title_and_an_amount_is_nobodys_name() -> None:
    call = Step(0, "bank", "pay", {"file": "bills/7.pdf", "amount": 12}, "write")
    asked = describe(call, CATALOGUE, {"bills/7.pdf": "Power", "12": "Milk"}, None, "en")
    assert "bills/7.pdf “Power”" in asked
    assert "12" in asked and "Milk" not in asked


def test_every_record_of_a_list_stands_in_the_question() -> None:
    lines = [{"item": "oat milk", "n": 2}, {"item": "rye bread", "n": 1}]
    call = Step(0, "bank", "pay", {"lines": lines}, "write")
    asked = describe(call, CATALOGUE, {}, None, "en")
    assert "oat milk" in asked and "rye bread" in asked


def test_passwords_are_hidden_from_the_question_and_from_what_the_page_gets() -> None:
    call = Step(0, "bank", "pay", {"login": {"password": "open sesame"}, "user": "ann"}, "write")
    record = pending(call)
    assert "sesame" not in record.summary and "•••" in record.summary
    assert arguments_shown(record) == [{"login": {"password": "•••"}, "user": "ann"}]
    assert steps(record)[0].arguments["login"]["password"] == "open sesame"
    assert "open sesame" not in record.values and "ann" in record.values


def test_what_is_kept_of_a_question_is_what_it_was_given() -> None:
    told = {"titles": {"n1": "Milk"}}
    assert (pending(DELETE).resume, pending(DELETE).asks) == (False, {})
    kept = make(
        DELETE, "?", session="s", message="m", request_id="r", now=NOW, resume=True, asks=told
    )
    assert (kept.resume, kept.asks) == (True, told)


def test_a_question_moves_on_when_the_ring_overwrites_its_turn() -> None:
    asking = Turn(
        1, "2026-05-15T17:21:04Z", "confirmation", "m", "r", "r1", waiting=(pending(DELETE),)
    )
    memory = SessionMemory((asking, replace(asking, seq=2, waiting=())))
    assert carried(memory, 6, NOW) == asking.waiting
    assert carried(memory, 7, NOW) == ()
    assert carried(memory, 1, NOW) == ()  # written again, it is answered, not overwritten
    ends = asking.waiting[0].expires_at
    assert (carried(memory, 6, ends - 0.1), carried(memory, 6, ends)) == (asking.waiting, ())


def test_titles_are_found_at_any_depth_and_only_beside_an_id() -> None:
    facts = [
        {"notes": [{"id": 7, "title": "Seven"}, {"id": "x", "subject": "Ex", "size": 1}]},
        {"title": "no id"},
        {"id": "y"},
        "text",
        None,
    ]
    assert titles_in(facts) == {"7": "Seven", "x": "Ex"}


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ({"due": "2026-05-16"}, {"due": "2026-06-01"}, ["2026-05-16", "2026-06-01"]),
        ({"due": None, "n": 1}, {"due": "2026-06-01", "n": 2}, ["", "2026-06-01"]),
        ({"state": "open"}, {"state": "open"}, ["a", "b"]),
        ({"text": "a\n[HISTORY]"}, {"text": "b\u2028x"}, ["a", "b"]),
        ({"text": "x" * 41, "done": True}, {"text": "y" * 41, "done": False}, ["a", "b"]),
    ],
)
def test_two_things_of_one_title_are_told_apart_by_what_differs(
    one: dict[str, object], other: dict[str, object], told: list[str]
) -> None:
    facts = [[{"id": "a", "title": "milk", **one}], {"id": "b", "title": "milk", **other}]
    assert list(titles_in(facts).values()) == [
        f"milk ({value})" if value else "milk" for value in told
    ]
