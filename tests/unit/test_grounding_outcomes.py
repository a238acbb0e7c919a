"""A call's own result says what of its effect did not happen, is not done yet, or was done in
part: the reply may say so, and may not pass it over."""

import pytest

from webbee_kernel.grounding import Call, Evidence, check


def stands(message: str, reply: str, *calls: Call, tag: str = "en") -> bool:
    verdict = check(reply, evidence=Evidence(calls, message, language=tag))
    return verdict.grounded and not verdict.added


MOVED = Call(
    "ward",
    "moveGuest",
    "write",
    {"guest": "Quill", "to": "B-7"},
    data={"state": "scheduled", "to": "B-7", "transport": {"assigned": None}},
)
LEAVE = Call("hr", "request_leave", "write", data={"rid": "L-97", "state": "draft"})
CHARGED = Call("wash", "reservar", "write", {"n": 1}, data={"n": 1, "cobrado_cents": 0})
LENT = Call(
    "library",
    "renew_items",
    "write",
    {"ids": ["K-204", "K-118"]},
    data={"renewed": [{"id": "K-204"}], "not_renewed": [{"id": "K-118", "why": "HOLD"}]},
)
BANNED = Call(
    "club",
    "cancel_runs",
    "destructive",
    {"ids": [9031, 9035]},
    data={"cancelled": [9031], "gone_before": [9035]},
)
TAKEN = Call(
    "waste",
    "inscrire",
    "write",
    {"objets": ["sofa", "frigo"]},
    data={"objets": [{"nom": "sofa", "accepte": True}, {"nom": "frigo", "accepte": False}]},
)
QUEUED = Call("backup", "run_job", "write", {"job": "files"}, data={"state": "waitlisted"})
IDLE = Call("pantry", "update_stock", "write", {"sku": "p-1"}, data={"applied": False})


@pytest.mark.parametrize(
    ("tag", "message", "reply", "call"),
    [
        ("en", "Move Quill to B-7", "Moved to B-7, but no porter has been assigned yet.", MOVED),
        ("en", "renew both", "K-204 is renewed. K-118 couldn't be renewed.", LENT),
        ("en", "renew both", "I've renewed K-204; K-118 has reached its limit.", LENT),
        ("en", "cancel 9031 and 9035", "9031 is cancelled, 9035 could not be cancelled.", BANNED),
        ("en", "run the files backup", "I've created the job, it is on the waitlist.", QUEUED),
        ("en", "update p-1", "The stock of p-1 was not updated.", IDLE),
    ],
)
def test_what_a_result_says_is_not_done_may_be_denied(
    tag: str, message: str, reply: str, call: Call
) -> None:
    assert stands(message, reply, call, tag=tag)


@pytest.mark.parametrize(
    ("tag", "message", "reply", "call"),
    [
        ("en", "Move Quill to B-7", "Quill was not moved to B-7.", MOVED),
        ("fr", "Demande congé lundi", "Votre demande L-97 a bien été envoyée.", LEAVE),
        ("es", "reserva la lavadora 1", "Ya te he cobrado el lavado.", CHARGED),
        ("en", "renew both", "All set! Both have been renewed.", LENT),
        ("en", "renew both", "K-204 could not be renewed.", LENT),
        ("en", "cancel 9031 and 9035", "Both are cancelled.", BANNED),
        ("fr", "fais enlever le sofa et le frigo", "C'est fait.", TAKEN),
        ("en", "run the files backup", "I've started the job.", QUEUED),
        ("en", "update p-1", "I've updated the stock of p-1.", IDLE),
    ],
)
def test_what_a_result_says_is_not_done_is_not_passed_over(
    tag: str, message: str, reply: str, call: Call
) -> None:
    assert not stands(message, reply, call, tag=tag)


def test_a_list_that_shares_nothing_out_is_no_part() -> None:
    tweet = {"id": 10, "tags": ["#a"], "mentions": ["@b"], "updated_at": None}
    call = Call("tweets", "post_tweet", "write", {"tags": ["#a"], "mentions": ["@b"]}, data=tweet)
    assert stands("Post it", "I've posted the tweet.", call)


QUOTE = Call("crm", "quotes/create", "write", data={"quote": "Q-11", "sent_at": None})
SILENT = Call(
    "charger", "stopSession", "write", {"session": "cs_304"}, status="unknown", error="no answer"
)
CARD = Call(
    "domains", "renew", "write", status="failed", error="payment_declined: card ending 4417"
)


@pytest.mark.parametrize(
    ("tag", "message", "reply", "call"),
    [
        ("es", "Hazme el presupuesto", "Presupuesto Q-11 creado (aún no se ha enviado).", QUOTE),
        ("en", "Stop it", "I sent the stop command, but can't tell whether it stopped.", SILENT),
        ("de", "Stopp", "Ich habe den Befehl gesendet, weiß aber nicht, ob er stoppte.", SILENT),
        ("es", "Para la carga", "No puedo decir si se ha detenido la sesión cs_304.", SILENT),
        ("fr", "Arrête la charge", "Je ne peux pas dire si la session est arrêtée.", SILENT),
        ("ru", "Останови", "Не могу сказать, остановлена ли сессия cs_304.", SILENT),
        ("es", "Renueva", "No se pudo: el banco ha rechazado la tarjeta terminada en 4417.", CARD),
        ("fr", "Annule-le.", "Donnez-moi le numéro, et je verrai ce qui est possible.", QUOTE),
    ],
)
def test_what_nobody_knows_and_what_describes_a_thing_claims_nothing(
    tag: str, message: str, reply: str, call: Call
) -> None:
    assert stands(message, reply, call, tag=tag)


@pytest.mark.parametrize(
    ("tag", "message", "reply"),
    [
        ("es", "Para la carga", "He enviado la orden y la sesión cs_304 se ha detenido."),
        ("es", "Para la carga", "He buscado la sesión cs_304 y detenido la carga."),
        ("en", "Stop it", "The session was stopped (and closed)."),
    ],
)
def test_what_stands_behind_them_claims(tag: str, message: str, reply: str) -> None:
    look = Call("charger", "get_session", data={"id": "cs_304"})
    assert not stands(message, reply, look, tag=tag)


BOOKED = Call("airline", "book_trip", "write", {"who": "Ivan"}, data={"trip": "HAT-1"})
LOOKED = Call("hotels", "get_hotels", data={"hotels": [{"name": "Cozy Stay", "price": 82.5}]})
REFUSED = Call("files", "rename_file", "write", status="error", error="access was denied")


@pytest.mark.parametrize(
    ("tag", "message", "reply", "calls"),
    [
        ("en", "Yes, proceed", "The trip for Ivan has been completed.", [BOOKED]),
        ("en", "Mark the trip for Ivan", "The trip for Ivan ▸ marked", [BOOKED]),
        ("es", "Reserva el viaje", "Firmado, sellado y entregado.", [BOOKED]),
        ("en", "Book it", "As agreed, I have booked the trip.", [BOOKED]),
        ("ru", "Под рукой отели?", "Запрос выполнен. Отели: Cozy Stay, 82.5", [LOOKED]),
        ("es", "Renombra el acta", "Me he atascado. El acta no está renombrada.", [REFUSED]),
        ("de", "Nenne sie um", "Es wurde verweigert. Ich konnte sie nicht umbenennen.", [REFUSED]),
    ],
)
def test_other_words_for_what_was_done_or_looked_at_or_failed(
    tag: str, message: str, reply: str, calls: list[Call]
) -> None:
    assert stands(message, reply, *calls, tag=tag)


@pytest.mark.parametrize(
    ("tag", "message", "reply", "calls"),
    [
        (
            "ru",
            "Отели; разрешить кейс 2",
            "Cozy Stay, 82.5.\n\nРазрешить кейс 2: сделано.",
            [LOOKED],
        ),
        ("en", "Book the trip", "I've booked the trip. The cat was washed.", [BOOKED]),
        ("de", "Nenne sie um", "Sie wurde umbenannt, ohne Fehler.", [REFUSED]),
    ],
)
def test_they_are_no_words_for_what_was_not_done(
    tag: str, message: str, reply: str, calls: list[Call]
) -> None:
    assert not stands(message, reply, *calls, tag=tag)


PUT = Call("crm", "assign_claim", "write", {"to": "Piers"}, data={"to": "Piers", "notified": False})
JAMMED = Call("hearth", "lock", "write", status="error", error="device reported: jammed")
LOCKED = Call(
    "chess",
    "withdraw_player",
    "destructive",
    {"player": "Sana Malik"},
    status="failed",
    error="pairings are published",
)


@pytest.mark.parametrize(
    ("tag", "message", "reply", "call"),
    [
        ("en", "Assign it to Piers", "The notice to Piers did not go out.", PUT),
        ("de", "Schließ die Tür ab", "Das hat nicht geklappt, die Tür klemmt.", JAMMED),
        ("ru", "Снимите Сану Малик", "Снять её не получилось: пары уже опубликованы.", LOCKED),
    ],
)
def test_what_did_not_come_off_may_be_told(tag: str, message: str, reply: str, call: Call) -> None:
    assert stands(message, reply, call, tag=tag)


@pytest.mark.parametrize(
    ("tag", "message", "reply"),
    [
        ("en", "Book the trip", "Booking the trip didn't work."),
        ("de", "Buche die Reise", "Das Buchen der Reise hat nicht funktioniert."),
        ("fr", "Réserve le voyage", "La réservation n'a pas abouti."),
        ("es", "Reserva el viaje", "La reserva del viaje no ha salido."),
        ("ru", "Забронируй поездку", "Бронь поездки не прошла."),
    ],
)
def test_that_what_was_done_did_not_come_off_is_a_denial(
    tag: str, message: str, reply: str
) -> None:
    assert not stands(message, reply, BOOKED, tag=tag)


def test_a_spanish_yes_is_no_doubt() -> None:
    assert not check(
        "S\u00ed, he detenido la carga cs_304.",
        evidence=Evidence((SILENT,), "Para la carga", language="es"),
    ).grounded
