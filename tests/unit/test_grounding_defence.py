"""A flagged word may be defended once by where it comes from: the kernel looks there itself."""

from __future__ import annotations

from typing import Any

import pytest

from webbee_kernel.grounding import Call, Evidence, check, defences, undefended

ORDERS = {
    "orders": [
        {"no": "A-1", "customer": "Yusuf Aydin", "total": 6490, "hours": 3.5, "city": "Lyon"},
        {"no": "A-2", "customer": "Clara Vogt", "total": 12900, "hours": 8.0, "city": "Turin"},
        {"no": "A-3", "customer": "Sana Malik", "total": 2350, "hours": 4.0, "city": "Lyon"},
    ],
    "next": "2026-11-28T13:00:00Z",
}


def wrong(
    reply: str, defence: str, message: str = "my orders?", data: Any = ORDERS, **turn: Any
) -> list[str]:
    call = Call("shop", "list_orders", data=data)
    evidence = Evidence((call,), message, now="2026-11-23T10:00:00Z", **turn)
    flagged = list(check(reply, evidence=evidence).ungrounded)
    assert flagged, "nothing to defend"
    return list(check(reply, evidence=evidence, defended=defences(defence)).ungrounded)


@pytest.mark.parametrize(
    ("reply", "defence"),
    [
        ("The index is 871.", "SOURCE: 871 = 6490 / 7 - 12900 / 232.258"),
        ("The index is 871.", "SOURCE: 871 = 871"),
        ("The index is 871.", "SOURCE: 871 = 870 + 1"),
        ("The index is 871.", "SOURCE: 871 = 6490 + 12900"),
        ("The index is 871.", 'SOURCE: 871 = "Yusuf Aydin"'),
        ("The index is 871.", "SOURCE: 871 = __import__('os').getpid()"),
        ("The index is 871.", "SOURCE: 871 = 12900 / 0"),
        ("The index is 871.", "SOURCE: 871 = " + "(" * 300 + "1" + ")" * 300),
        ("The index is 871.", "SOURCE: 871 = 9 ** 9 ** 9"),
        ("The next round is on 5 December.", "SOURCE: 5 December = 2026-11-28 + 9 days"),
        ("The next round is on 5 December.", "SOURCE: 5 December = 2026-11-30 + 5 days"),
        ("The next round is on 5 December.", "SOURCE: 5 December = because"),
        ("Igor Petrov bought most.", 'SOURCE: Igor Petrov = "Igor Petrow"'),
        ("Write to bob@example.org.", 'SOURCE: bob@example.org = "Clara Vogt"'),
    ],
)
def test_a_defence_that_the_evidence_does_not_bear_out_is_none(reply: str, defence: str) -> None:
    assert wrong(reply, defence)


def test_a_figure_is_defended_by_a_formula_of_shown_figures() -> None:
    reply = "The index is 53.7."
    assert wrong(reply, "SOURCE: 53.7 = 6490 / (12900 - 2350) * 100 - 3.5 - 4.0 - 0.3")
    assert wrong(reply, "SOURCE: 53.7 = (6490 + 2350) / 12900 * 100 - 8.0 - 6.83") == ["53.7"]
    assert wrong("The index is 60.5.", "SOURCE: 60.5 = (6490 + 2350) / 12900 * 100 - 8.0") == []


@pytest.mark.parametrize("length", ["2 weeks", "14 days"])
def test_a_date_is_defended_by_a_length_that_was_told(length: str) -> None:
    reply, asked = "Nothing ends between 28 November and 7 December.", "what ends, for 2 of us?"
    defence = f"SOURCE: 7 December = today + {length}"
    assert wrong(reply, defence, asked) == []
    assert wrong(reply, defence, "what ends?") == ["7 December"]


def test_a_time_is_defended_by_the_hours_between_two_zones() -> None:
    reply = "It starts at 18:45."
    data = {"start": "2026-11-28T13:45:00Z"}
    assert wrong(reply, "SOURCE: 18:45 = 13:45 + 5 hours", data=data) == []
    assert wrong(reply, "SOURCE: 18:45 = 12:45 + 6 hours", data=data) == ["18:45"]
    assert wrong(reply, "SOURCE: 18:45 = 13:45 + 300 minutes", data=data) == ["18:45"]


def test_a_name_is_defended_by_the_text_that_it_stands_for() -> None:
    reply = "The winner is Igor Petrov."
    assert wrong(reply, 'SOURCE: Igor Petrov = "Clara Vogt"') == []
    assert wrong(reply, 'SOURCE: Igor Petrov = "Clara"') == ["Igor Petrov"]


def test_a_count_is_defended_by_things_that_the_reply_names() -> None:
    listed = 'SOURCE: 2 = "Yusuf Aydin", "Clara Vogt"'
    assert wrong("You have 2 orders.", listed) == ["2"]
    assert wrong("You have 2 orders. They are Yusuf Aydin's and Clara Vogt's.", listed) == []
    assert wrong("You have 50 orders.", "SOURCE: 50 = 3.5 * 8.0 + 4.0 * 4.0 + 3 + 3") == ["50"]


def test_a_figure_of_a_record_is_defended_by_a_text_of_that_record() -> None:
    reply = "Clara Vogt has 4.0 hours."
    for defence in ('"Clara Vogt", 4.0', '"Sana Malik", 4.0', "4.0", '"4.0"'):
        assert wrong(reply, f"SOURCE: 4.0 = {defence}") == ["4.0"]
    both = "Sana Malik's, of Lyon: Clara Vogt has 4.0 hours."
    assert wrong(both, 'SOURCE: 4.0 = "Sana Malik", 4.0') == []


def test_a_word_of_a_record_is_defended_by_the_field_that_has_it() -> None:
    reply = "Clara Vogt is in Lyon."
    assert wrong(reply, 'SOURCE: Lyon = "Lyon", "Sana Malik"') == ["Lyon"]
    assert wrong(reply, 'SOURCE: Lyon = "Turin"') == ["Lyon"]
    assert wrong(reply, 'SOURCE: Lyon = "Lyon"') == ["Lyon"]
    assert wrong(reply, 'SOURCE: Lyon = "Lyon", "Clara Vogt"') == ["Lyon"]
    both = "Sana Malik's, of 4.0 hours: Clara Vogt is in Lyon."
    assert wrong(both, 'SOURCE: Lyon = "Lyon", "Sana Malik"') == []


def test_a_denial_is_defended_by_an_empty_field() -> None:
    call = Call("shop", "create_order", "write", data={"id": "A-9", "posted": "", "mail": None})
    evidence = Evidence((call,), "create the order A-9")
    reply = "The order A-9 has not been created."
    assert not check(reply, evidence=evidence).grounded
    for field, right in (("mail", True), ("posted", True), ("id", False), ("gone", False)):
        told = defences(f'SOURCE: created = "{field}"')
        assert check(reply, evidence=evidence, defended=told).grounded is right


def test_a_state_is_defended_by_a_word_that_means_it() -> None:
    error = "ROUND_LOCKED: pairings are published"
    call = Call("chess", "withdraw", "write", status="error", error=error)
    evidence = Evidence((call,), "\u0441\u043d\u0438\u043c\u0438 \u0435\u0433\u043e", language="ru")
    reply = "\u041f\u0430\u0440\u044b \u0443\u0436\u0435 \u043e\u043f\u0443\u0431\u043b\u0438\u043a\u043e\u0432\u0430\u043d\u044b, \u043d\u0435 \u0432\u044b\u0448\u043b\u043e."
    word = "\u043e\u043f\u0443\u0431\u043b\u0438\u043a\u043e\u0432\u0430\u043d\u044b"
    for text, right in (("published", True), ("pairings", False), ("deleted", False)):
        told = defences(f'SOURCE: {word} = "{text}"')
        flags = check(reply, evidence=evidence, defended=told).ungrounded
        assert (word not in flags) is right or word not in check(
            reply, evidence=evidence
        ).ungrounded


def test_an_empty_field_says_nothing_where_another_of_its_name_is_full() -> None:
    rows = [{"id": "A-9", "mail": None}, {"id": "A-8", "mail": "sent"}]
    call = Call("shop", "create_orders", "write", data={"orders": rows})
    evidence = Evidence((call,), "create the orders")
    reply = "The orders have not been created."
    told = defences('SOURCE: created = "mail"')
    assert not check(reply, evidence=evidence, defended=told).grounded


@pytest.mark.parametrize(
    "reply",
    ["I have cancelled A-1.", "I have sent the refund.", "Done.", "There are no orders."],
)
def test_what_was_done_and_what_there_is_not_cannot_be_defended(reply: str) -> None:
    texts = ("Yusuf Aydin", "A-1", "Lyon", "next")
    words = ("cancelled", "sent", "Done", "no orders", "no")
    lines = [f'SOURCE: {w} = "{text}"' for w in words for text in texts]
    assert wrong(reply, "\n".join(lines), "cancel A-1")


@pytest.mark.parametrize("text", ["cancel", "cancel A-1", "Cancel an order", "change", "A-1"])
def test_what_was_asked_for_proves_no_state(text: str) -> None:
    asked = {"order": "A-1", "what": "cancel"}
    tried = Call("shop", "change", "write", asked, "error", "no", description="Cancel an order")
    seen = Call("shop", "get_order", data={"order": {"no": "A-1", "at": "confirmed"}})
    evidence = Evidence((seen, tried), "cancel A-1")
    for reply in ("A-1 has been cancelled.", "A-1 is cancelled."):
        told = defences(f'SOURCE: cancelled = "{text}"')
        assert not check(reply, evidence=evidence, defended=told).grounded


def test_a_state_is_defended_by_a_text_of_the_record_that_is_in_it() -> None:
    rows = [{"no": "A-1", "status": "confirmed"}, {"no": "A-2", "status": "cancelled"}]
    evidence = Evidence((Call("shop", "list_orders", data={"orders": rows}),), "my orders?")
    reply = "Order A-1 is cancelled."
    assert not check(reply, evidence=evidence).grounded
    for defence in ('"cancelled"', '"cancelled", "A-1"', '"cancelled", "A-2"'):
        told = defences(f"SOURCE: cancelled = {defence}")
        assert not check(reply, evidence=evidence, defended=told).grounded


def test_what_is_defended_has_its_source() -> None:
    call = Call("shop", "list_orders", data=ORDERS)
    reply = "The index is 60.5."
    told = defences("SOURCE: 60.5 = (6490 + 2350) / 12900 * 100 - 8.0")
    verdict = check(reply, evidence=Evidence((call,), "index?"), defended=told)
    assert [(reply[s.start : s.end], s.how, s.formula) for s in verdict.sources] == [
        ("60.5", "derived", "(6490 + 2350) / 12900 * 100 - 8.0")
    ]


def test_the_lines_of_a_defence_are_no_part_of_the_reply() -> None:
    text = 'You owe €19.\n\nSOURCE: €19 = 2900 / 100 - 10\n- SOURCE: `x` = "y"\n'
    assert undefended(text) == "You owe €19."
    assert defences(text) == {"€19": "2900 / 100 - 10", "x": '"y"'}
    assert undefended("Sources: none") == "Sources: none"
