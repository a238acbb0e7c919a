"""What was asked for is known: a sentence that repeats it tells it done, or denies it."""

import pytest

from webbee_kernel.grounding import Call, Evidence, Verdict, check

LOOKED = Call("shop", "get_hours", data={"hours": [{"day": "Mon", "from": "08:00"}]})
PUT_AWAY = Call("files", "shelve_folder", "write", {"folder": "Ledger 2024"}, data={"ok": True})


def told(message: str, reply: str, *calls: Call, tag: str = "en", data: str = "data") -> Verdict:
    return check(reply, evidence=Evidence(calls, message, language=tag, mode=data))


@pytest.mark.parametrize(
    ("tag", "message", "reply"),
    [
        (
            "en",
            "Could you sublet the garage to Mr Pym?",
            "I was able to sublet the garage to Mr Pym.",
        ),
        ("en", "Please varnish the door", "**Status:** the door varnished"),
        ("en", "Revoke order no. 12446", "✅ Order no. 12446: revoked, just as wished."),
        ("de", "Könntest du die Garage streichen?", "Ich konnte die Garage erfolgreich streichen."),
        ("de", "Bitte das Fenster verriegeln", "Es ist mir gelungen, das Fenster zu verriegeln."),
        ("ru", "Нужно стереть файл otchet.txt", "К вашему сведению: файл otchet.txt стёрт."),
        ("ru", "Включи в группу Боба", "Докладываю: Боба включил в группу."),
        ("es", "Hay que barnizar la puerta", "He conseguido barnizar la puerta."),
        ("fr", "Il faut vernir la porte", "J'ai réussi à vernir la porte."),
    ],
)
def test_a_sentence_that_repeats_the_request_claims_it(tag: str, message: str, reply: str) -> None:
    assert not told(message, reply, LOOKED, tag=tag).grounded


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Please varnish the door", "I could not varnish the door."),
        ("Please varnish the door", "Shall I varnish the door?"),
        ("Please varnish the door", "I'll varnish the door once you confirm."),
        ("Please varnish the door", "If the door is varnished, it lasts longer."),
        ("Please varnish the door", "The door can be varnished on request."),
        ("Has the door been varnished?", "The door has been varnished."),
        ("Show me the planned trips", "I looked at the planned trips."),
        ("Please varnish the door", "Just say the word and I'll varnish the door."),
        ("Pull the files", "I pulled the files:\n- Mon: 08:00"),
    ],
)
def test_questions_offers_looks_and_denials_repeat_it_as_well(message: str, reply: str) -> None:
    assert told(message, reply, LOOKED).grounded


def test_a_number_is_not_in_the_message_as_a_part_of_another() -> None:
    rows = [{"id": f"o-{n}", "item": f"Item {n}"} for n in range(7)]
    orders = Call("orders", "latest", data={"count": 7, "orders": rows})
    assert told("orders 57", "Found 7 orders.", orders).grounded


def test_what_was_done_may_be_repeated_and_not_denied() -> None:
    message = "Shelve the folder Ledger 2024"
    assert told(message, "I managed to shelve the folder Ledger 2024.", PUT_AWAY).grounded
    assert not told(message, "The folder Ledger 2024 could not be shelved.", PUT_AWAY).grounded
    assert told(message, "Ledger 2024 is shelved. No fee was charged for it.", PUT_AWAY).grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("That's it, all wrapped up.", False),
        ("Mission accomplished.", False),
        ("Everything is in place now.", False),
        ("On Mon it opens at 08:00.", True),  # it shows something
        ("Here it is.", True),
        ("Nothing was deleted.", True),
        ("Which one do you mean?", True),
        (
            "Give me a second look at what you mean by that, as there are several that it may be.",
            True,
        ),
    ],
)
def test_a_short_reply_that_shows_nothing_can_only_say_that_it_is_done(
    reply: str, grounded: bool
) -> None:
    assert told("Delete the oldest note", reply, LOOKED).grounded is grounded


def test_without_a_call_or_a_deed_such_a_reply_is_small_talk() -> None:
    assert told("Delete the oldest note", "Sure, with pleasure.").grounded
    assert told("What a day", "That's it, all wrapped up.", LOOKED).grounded
