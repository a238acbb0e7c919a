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


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Varnish the door", "Hi! Thanks for your patience \u2013 I got the door varnished."),
        ("Das Fenster streichen", "Gern geschehen, heute noch: Das Fenster wurde gestrichen."),
        ("Die Lampe ausrichten", "Ich habe die Lampe ausgerichtet."),
    ],
)
def test_a_part_of_a_sentence_repeats_it_in_whatever_form(message: str, reply: str) -> None:
    tag = "de" if "D" in message else "en"
    assert not told(message, reply, LOOKED, tag=tag).grounded


@pytest.mark.parametrize(
    ("tag", "message", "reply"),
    [
        ("en", "Varnish the door", "\u2705 Success!"),
        ("de", "Bitte das Fenster streichen", "Nun denn, es ist getan."),
        ("es", "Hay que barnizar la puerta", "Su solicitud se ha realizado con \u00e9xito."),
        ("es", "Quita BDX de tu lista", "\u2705 \u00a1Completado!"),
    ],
)
def test_whatever_was_wished_for_is_claimed_by_a_reply_that_shows_nothing(
    tag: str, message: str, reply: str
) -> None:
    """Also where the data of the look has the word somewhere."""
    rows = [{"id": 3, "note": "A success", "nota": "Pedido completado hoy"}]
    looked = Call("bank", "recent", data={"transactions": rows})
    assert not told(message, reply, looked, tag=tag).grounded
    assert told("Is it there?", "Success!", looked).grounded


def test_an_offer_with_the_verb_of_the_request_claims_nothing() -> None:
    asked, offer = "Quiero barnizar la puerta", "Dime que s\u00ed y me pongo a barnizar la puerta."
    assert told(asked, offer, LOOKED, tag="es").grounded


def test_without_a_call_a_short_passive_answers_a_command() -> None:
    assert not told("Move the appointment 26, please", "Everything's been updated.").grounded
    explained = "A 301 tells browsers and search engines that a page has moved for good."
    assert told("Can you explain what a 301 redirect is?", explained).grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("No action has been taken so far.", False),
        ("That has not been carried out.", False),
        ("Nothing was touched on my side.", False),
        ("I shelved the folder. There was no need to do more.", True),
        ("Nothing else was touched.", True),
    ],
)
def test_a_reply_that_only_denies_denies_what_was_done(reply: str, grounded: bool) -> None:
    assert told("Shelve the folder Ledger 2024", reply, PUT_AWAY).grounded is grounded


def test_what_its_own_result_calls_not_yet_done_may_be_denied() -> None:
    queued = Call("files", "shelve_folder", "write", data={"status": "queued"})
    assert told("Shelve the folder", "Nothing was touched so far, it waits.", queued).grounded


@pytest.mark.parametrize(
    ("reply", "grounded"),
    [
        ("I have shelved the folder. The post has been sent.", False),
        ("I have shelved the folder. \u2705 BDX from your list pruned.", False),
        ("I have shelved the folder. It was shelved under 2024.", True),
    ],
)
def test_beside_what_was_done_another_deed_needs_a_call(reply: str, grounded: bool) -> None:
    assert told("Shelve the folder Ledger 2024", reply, PUT_AWAY).grounded is grounded


def test_without_tells_how_a_deed_was_done_and_denies_none() -> None:
    lost = Call("files", "shelve_folder", "write", status="error", error="Disk is full")
    reply = "He archivado la carpeta sin contratiempos."
    verdict = told("Archiva la carpeta", reply, lost, tag="es")
    assert not verdict.grounded or "Disk is full" in verdict.added
    assert "Disk is full" not in told("Archiva la carpeta", "No he podido archivarla.", lost).added


def test_that_all_is_ready_and_waits_for_a_yes_is_no_claim() -> None:
    waiting = "Всё готово, чтобы стереть файл. Жду вашего подтверждения."
    assert told("Надо стереть файл", waiting, LOOKED, tag="ru").grounded
    assert not told("Надо стереть файл", "Всё готово.", LOOKED, tag="ru").grounded


def test_an_error_behind_a_denial_is_its_cause() -> None:
    lost = Call("files", "send_folder", "write", status="error", error="Disk is full")
    reply = "Папка не отправлена из-за ошибки (диск полон)."
    assert told("Отправь папку", reply, lost, tag="ru").grounded


def test_what_the_speaker_took_care_of_is_what_was_called() -> None:
    assert told("Hay que archivar eso", "Ya me he ocupado de eso.", PUT_AWAY, tag="es").grounded


def test_a_bold_not_and_a_picture_between_sentences_hide_nothing() -> None:
    message = "Shelve the folder Ledger 2024"
    denied = "\u26a0\ufe0f The folder Ledger 2024 was **not** shelved."
    beside = "I have shelved the folder \U0001f60a Besides, I've removed the note."
    assert not told(message, denied, PUT_AWAY).grounded
    assert not told(message, beside, PUT_AWAY).grounded
    assert told(message, "I have shelved the folder \U0001f60a All good.", PUT_AWAY).grounded
