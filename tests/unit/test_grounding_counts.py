"""Numbers with a noun are held to what there is, in whatever words a list is presented."""

import pytest

from webbee_kernel.grounding import Call, Evidence, Verdict, check

STATES = ["open"] * 4 + ["closed"] * 3
TICKETS = Call(
    "desk",
    "list_tickets",
    data={"tickets": [{"id": f"T-{n}", "state": s} for n, s in enumerate(STATES)]},
)
LEDGER = Call(
    "bank", "entries", data={"entries": [{"ref": f"E{n}", "sum": 11.5 * n} for n in range(7)]}
)


def told(reply: str, tag: str = "en", call: Call = TICKETS, message: str = "") -> Verdict:
    return check(reply, evidence=Evidence((call,), message or "tickets?", language=tag))


@pytest.mark.parametrize(
    ("tag", "reply", "grounded"),
    [
        ("en", "The number of tickets exceeds 6.", True),
        ("en", "The number of tickets exceeds 40.", False),
        ("en", "That's 5+ tickets.", True),
        ("en", "That's 20+ tickets.", False),
        ("en", "Short answer: 5 tickets.", False),
        ("de", "Kurz gesagt: 5 Tickets.", False),
        ("de", "Die Zahl der Tickets übersteigt 50.", False),
        ("de", "Derzeit liegen 7 Tickets vor.", True),
        ("es", "El número de tickets pasa de 50.", False),
        ("es", "Sale una docena de tickets.", False),
        ("ru", "Набралось 50 с лишним тикетов.", False),
        ("ru", "Набралось 7 тикетов.", True),
    ],
)
def test_presenting_and_comparing_words_do_not_narrow(tag: str, reply: str, grounded: bool) -> None:
    assert told(reply, tag).grounded is grounded


@pytest.mark.parametrize(
    ("tag", "reply", "grounded"),
    [
        ("de", "Bei „open“ zähle ich 4.", True),
        ("de", "Bei „open“ zähle ich 3.", False),
        ("es", "Con «open» hay 6.", False),
        ("en", "When it comes to open, the count is 4.", True),
        ("en", "When it comes to open, the count is 2.", False),
    ],
)
def test_a_state_may_stand_before_its_number(tag: str, reply: str, grounded: bool) -> None:
    assert told(reply, tag).grounded is grounded


@pytest.mark.parametrize(
    ("tag", "line", "grounded"),
    [
        ("en", "[+5]", True),
        ("en", "Left out of this list: 9, skipped.", False),
        ("en", "(and 5 I skipped)", True),
        ("en", "(and 9 I skipped)", False),
        ("es", "(y 5 que he omitido)", True),
        ("es", "(y 9 que he omitido)", False),
        ("de", "Nicht in dieser Liste: 5.", True),
        ("de", "Nicht in dieser Liste: 9.", False),
    ],
)
def test_what_is_left_out_is_the_rest(tag: str, line: str, grounded: bool) -> None:
    assert told(f"\U0001f539 T-0: open\n\U0001f539 T-1: open\n{line}", tag).grounded is grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("There are 7 bookings.", True),
        ("There are a dozen bookings.", False),
        ("No bookings are on record.", True),  # no list of that name: nothing contradicts it
    ],
)
def test_what_the_message_asks_for_names_the_list(reply: str, grounded: bool) -> None:
    assert told(reply, call=LEDGER, message="any bookings?").grounded is grounded


def test_a_quoted_amount_or_moment_is_read_as_one() -> None:
    rent = Call("bank", "rent", data={"rent": {"due": "2026-11-15", "sum": 2840.34}})
    evidence = Evidence((rent,), "rent?", language="en")
    assert check("Rent: “2,840.34”, due “Nov 15, 2026”.", evidence=evidence).grounded
    assert not check("Rent: “2,841.34”, due “Nov 15, 2026”.", evidence=evidence).grounded
    assert not check("Rent: “2,840.34”, due “Nov 16, 2026”.", evidence=evidence).grounded


def test_what_is_to_be_typed_is_no_quote() -> None:
    assert told("T-0 ist offen. Schreib „Details“ für mehr.", "de").grounded
    assert not told("Das Ticket „Urgent Leak“ ist offen.", "de").grounded


def test_a_word_in_quotes_between_a_name_and_a_value_is_a_label() -> None:
    assert told("T-0 … `Zustand` open", "de").grounded
    assert not told("`Zeppelin` open", "de").grounded


@pytest.mark.parametrize(
    ("tag", "message", "reply", "grounded"),
    [
        ("en", "Could you fetch my tickets?", "No tickets to report.", False),
        ("en", "Bring up the tickets for a second", "Not a single entry (tickets).", False),
        ("de", "Lies die Tickets vor", "Bedauerlicherweise existieren keine Tickets.", False),
        ("es", "Es hora de mirar mis tickets", "Lo lamento, no existen tickets.", False),
        ("ru", "Достань тикеты", "Тикетов у вас не числится.", False),
        ("ru", "Достань тикеты", "По нашей системе тикетов ноль.", False),
        ("en", "Do my tickets have typos?", "No typos in your tickets.", True),
        ("en", "Show my tickets", "I found no typos in the tickets.", True),
        ("de", "Brennen die Tickets?", "Nein, die Tickets brennen nicht.", True),
        ("ru", "Тикеты готовы?", "Тикеты ещё не готовы.", True),
        ("de", "Hab ich heute noch Tickets?", "Nein, heute liegen keine Tickets vor.", True),
        ("en", "Did Dora escalate tickets?", "Nope, she escalated no tickets.", True),
    ],
)
def test_a_list_asked_for_as_a_whole_is_not_denied_in_any_words(
    tag: str, message: str, reply: str, grounded: bool
) -> None:
    assert told(reply, tag, message=message).grounded is grounded


@pytest.mark.parametrize(
    ("tag", "message", "reply", "grounded"),
    [
        ("en", "Tickets?", "Count complete: 5 tickets.", False),
        ("en", "Tickets?", "Tickets \u2013 5", False),
        ("en", "Tickets?", "Tickets \u2013 7", True),
        ("de", "Würdest du die Tickets holen?", "Wie viele Tickets? 6.", False),
        ("es", "Necesito ver mis tickets", "El contador de tickets marca 5.", False),
        ("ru", "Достань тикеты", "Поштучно (тикеты): 5.", False),
        ("en", "You know my tickets?", "You've got 10+ tickets.", False),
        ("en", "Tickets?", "You hold in excess of 5 tickets.", False),
        ("en", "Urgent tickets?", "The headcount reads 5 tickets.", True),
        ("en", "Tickets?", "Most important first: 3 tickets.", True),  # three of them share a state
        ("en", "Tickets?", "Headcount: 5 tickets await feeding.\nPetting awaits 2 tickets.", True),
    ],
)
def test_the_one_count_of_what_was_asked_for_is_its_size(
    tag: str, message: str, reply: str, grounded: bool
) -> None:
    assert told(reply, tag, message=message).grounded is grounded


def test_a_joined_noun_names_what_its_end_does() -> None:
    assert told("Es sind 7 Supporttickets.", "de", message="Supporttickets?").grounded
    assert not told("Es sind 9 Supporttickets.", "de", message="Supporttickets?").grounded


def test_the_rows_that_a_reply_shows_say_which_list_is_counted() -> None:
    firms = Call("car", "list_firms", data={"firms": [{"name": "Avix"}, {"name": "Herto"}]})
    turn = Evidence((TICKETS, firms), "Mietautos, bitte", language="de")
    shown = "Ich zähle {} Mietautos.\n- Avix\n- Herto"
    assert check(shown.format(2), evidence=turn).grounded
    assert not check(shown.format(7), evidence=turn).grounded


@pytest.mark.parametrize(
    ("tag", "reply", "grounded"),
    [
        ("de", "Unter \u201eopen\u201c abgelegt: vier.", True),
        ("de", "Unter \u201eopen\u201c abgelegt: drei.", False),
        ("en", "There's 3 sitting under \u201cstill open\u201d.", False),
        ("en", "\u201copen\u201d \u2013 that mark is on 2 of them.", False),
        ("es", "Con la marca \u00abopen\u00bb, un recuento de 6.", False),
        ("en", "3 of those filed under \u201copen\u201d come from Dora.", True),
    ],
)
def test_a_quoted_state_is_counted_in_any_words(tag: str, reply: str, grounded: bool) -> None:
    assert told(reply, tag).grounded is grounded


@pytest.mark.parametrize(
    "reply",
    [
        "The tickets mention 9 invoices.",
        "I found 3 problems with your tickets.",
        "You have a busy week: 2 tickets need an answer from you.",
        "The tickets got 5-plus comments.",
    ],
)
def test_a_number_of_something_else_is_not_the_size_of_what_was_asked_for(reply: str) -> None:
    assert told(reply, message="Show my tickets").grounded
