"""Whatever a handler returned or raised becomes one outcome of plain JSON; large data travels as text and
is read when somebody asks for all of it."""

import json
import math
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, ValidationError

from webbee_kernel.errors import CallError
from webbee_kernel.extensions.error_mapping import validation_outcome
from webbee_kernel.extensions.outcomes import (
    MAX_RESULT_BYTES,
    from_return,
    plain_json,
    webhook_answer,
)
from webbee_kernel.sdk import ActionResult, Context
from webbee_kernel.sdk.definitions import FunctionDef
from webbee_kernel.types import CallOutcome, CallRequest

REQUEST = CallRequest("function", {}, "mail", "send", step=3)


class Mail(BaseModel):
    to: str
    size: int = Field(1, ge=1, le=5)
    sent: datetime | None = None


async def send(ctx: Context, params: Mail) -> ActionResult:
    """Is not run here."""
    return ActionResult.success({}, "")


SEND = FunctionDef("send", send, "Send", "write", params_model=Mail)


Colour = Enum("Colour", {"RED": "red"})


def outcome(value: Any) -> CallOutcome:
    return from_return(value, REQUEST, ("inbox", "outbox"), "write")


def test_what_fails_has_a_code_and_refreshes_no_panel() -> None:
    for value, code, error in (
        (ActionResult.error("No such letter.", code="NOT_THERE"), "NOT_THERE", "No such letter."),
        (ActionResult("error"), "EXT_UNSTRUCTURED_ERROR", "the call failed"),
        (ActionResult("failed", error="x"), "EXT_UNSTRUCTURED_ERROR", "x"),
        ({"error": "gone", "code": "E1"}, "E1", "gone"),
        ({"RESULT": "ERROR", "message": "down"}, "EXT_UNSTRUCTURED_ERROR", "down"),
        ({"status": "error", "data": {}, "error": "wire"}, "EXT_UNSTRUCTURED_ERROR", "wire"),
    ):
        o = outcome(value)
        assert (o.ok, o.error_code, o.error, o.panels) == (False, code, error, ())


@pytest.mark.parametrize(
    ("tag", "told"),
    [
        ("en", "“to” is missing; “size”: at most 5"),
        ("ru-RU", "«to»: не хватает; «size»: не больше 5"),
        ("de", "„to“ fehlt; „size“: höchstens 5"),
        ("es", "falta «to»; «size»: como máximo 5"),
        ("fr", "il manque « to »; « size » : 5 au plus"),
    ],
)
def test_a_person_reads_in_their_language_what_to_mend(tag: str, told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Mail.model_validate({"size": 9})
    o = validation_outcome(caught.value, replace(REQUEST, user={"language": tag}), SEND)
    labels = {"ru-RU": "адрес получателя", "de": "die Adresse des Empfängers"}
    labels |= {"es": "la dirección del destinatario", "fr": "l'adresse du destinataire"}
    assert o.error == told.replace("to", labels.get(tag, "the address to send it to"), 1)
    problems = [p["problem"] for p in o.problems]
    assert problems == ["Field required", "Input should be less than or equal to 5"]


ODD = {
    "a time": (datetime(2026, 5, 15, 17, 21, 4, tzinfo=UTC), "2026-05-15T17:21:04+00:00"),
    "a day": (date(2026, 5, 15), "2026-05-15"),
    "an id": (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "a price": (Decimal("9.90"), "9.90"),
    "an enum": (Colour.RED, "red"),
    "a pair": ((1, 2), [1, 2]),
    "a key that is a number": ({3: "three"}, {"3": "three"}),
    "no number": (math.nan, None),
    "no end": (math.inf, None),
    "a model": (Mail(to="a"), {"to": "a", "size": 1, "sent": None}),
}


@pytest.mark.parametrize("beside", [7, 2**70, [2**65]], ids=repr)
def test_what_json_lacks_becomes_what_it_has_also_beside_large_integers(beside: Any) -> None:
    plain = plain_json({"n": beside, **{name: value for name, (value, _) in ODD.items()}})
    assert plain == {"n": beside, **{name: read for name, (_, read) in ODD.items()}}
    assert json.loads(json.dumps(plain)) == plain


CIRCULAR: dict[str, Any] = {}
CIRCULAR["self"] = CIRCULAR


def test_a_megabyte_is_let_through_and_a_byte_more_and_what_is_no_json_is_not() -> None:
    assert plain_json("x" * (MAX_RESULT_BYTES - 2))
    for value, says in (
        ("x" * (MAX_RESULT_BYTES - 1), "1000000"),
        ([2**70, "x" * MAX_RESULT_BYTES], "1000000"),
        (CIRCULAR, None),
        ({"n": 2**70, "self": CIRCULAR}, None),
        ({"lone": "\ud800"}, None),
        ({"n": 2**70, "lone": "\ud800"}, None),
        ({"digits": 10**5000}, None),
        ({"rows": [{"price": {9}}]}, r"rows\[0\].price is of type set: return sorted\(…\) of it"),
    ):
        with pytest.raises(CallError, match=says) as caught:
            plain_json(value)
        assert caught.value.code == "INTERNAL"


def test_a_webhook_may_write_its_status_as_text() -> None:
    told = webhook_answer({"status_code": "202", "body": {"n": 2}})
    assert tuple(told.values()) == (202, {}, {"n": 2})
