"""Whatever a handler returned or raised becomes one outcome of plain JSON; large data travels as text and
is read when somebody asks for all of it."""

from __future__ import annotations

import cProfile
import json
import math
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from pydantic import BaseModel, Field, ValidationError

from benchmarks.apps import RESULTS
from tests.json_values import SENDABLE, json_values
from webbee_kernel.channels.bounding import MAX_DATA, bounded
from webbee_kernel.errors import CallError
from webbee_kernel.extensions.error_mapping import validation_failed
from webbee_kernel.extensions.outcomes import (
    MAX_ERROR,
    MAX_RESULT_BYTES,
    from_exception,
    from_return,
    plain_json,
    webhook_answer,
)
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui
from webbee_kernel.sdk.definitions import FunctionDef
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.turn.results_block import near
from webbee_kernel.types import CallOutcome, CallRequest, outcome_from, to_dict

REQUEST = CallRequest("function", {}, "mail", "send", step=3)
JSON_VALUES = json_values(SENDABLE)


class Mail(BaseModel):
    to: str
    size: int = Field(1, ge=1, le=5)
    sent: datetime | None = None


async def send(ctx: Context, params: Mail) -> ActionResult:
    """Is not run here."""
    return ActionResult.success({}, "")


SEND = FunctionDef("send", send, "Send", "write", params_model=Mail)


class Colour(Enum):
    RED = "red"


def outcome(value: Any) -> CallOutcome:
    return from_return(value, REQUEST, ("inbox", "outbox"), "write")


@pytest.mark.parametrize(
    ("wanted", "panels"), [(None, ("inbox", "outbox")), ([], ()), (["inbox"], ("inbox",))]
)
def test_no_word_about_panels_refreshes_all_and_an_empty_list_none(
    wanted: Any, panels: tuple[str, ...]
) -> None:
    assert outcome(ActionResult.success({}, "", refresh_panels=wanted)).panels == panels


def test_a_pydantic_model_is_its_json_form() -> None:
    sent = datetime(2026, 5, 15, tzinfo=UTC)
    for value in (Mail(to="a", sent=sent), ActionResult.success(Mail(to="a", sent=sent), "ok")):
        assert outcome(value).data == {"to": "a", "size": 1, "sent": "2026-05-15T00:00:00Z"}


def test_a_plain_dict_is_a_success_and_nothing_is_an_empty_one() -> None:
    assert (
        outcome({"n": 1, "summary": "One."}).data,
        outcome({"n": 1, "summary": "One."}).summary,
    ) == (
        {"n": 1, "summary": "One."},
        "One.",
    )
    assert (outcome(None).ok, outcome(None).data) == (True, {})


@pytest.mark.parametrize(
    ("value", "code", "error"),
    [
        (ActionResult.error("No such letter.", code="NOT_THERE"), "NOT_THERE", "No such letter."),
        (ActionResult.error("No."), "EXT_UNSTRUCTURED_ERROR", "No."),
        (ActionResult("error"), "EXT_UNSTRUCTURED_ERROR", "the call failed"),
        (ActionResult("failed", error="x"), "EXT_UNSTRUCTURED_ERROR", "x"),
        ({"error": "gone"}, "EXT_UNSTRUCTURED_ERROR", "gone"),
        ({"error": "gone", "code": "E1"}, "E1", "gone"),
        ({"RESULT": "ERROR", "message": "down"}, "EXT_UNSTRUCTURED_ERROR", "down"),
        ({"status": "error", "data": {}, "error": "wire"}, "EXT_UNSTRUCTURED_ERROR", "wire"),
    ],
)
def test_every_way_to_fail_has_a_code_and_refreshes_no_panel(
    value: Any, code: str, error: str
) -> None:
    o = outcome(value)
    assert (o.ok, o.error_code, o.error, o.panels) == (False, code, error, ())


def test_a_foreign_action_result_is_met_by_its_shape() -> None:
    class Foreign:
        status = "success"

        def to_dict(self) -> dict[str, Any]:
            return {"status": "success", "data": {"n": 1}, "summary": "One.", "undo": None}

    assert (outcome(Foreign()).data, outcome(Foreign()).summary) == ({"n": 1}, "One.")


def test_long_words_are_cut() -> None:
    assert outcome(ActionResult.success({}, "x" * 5000)).summary == "x" * 1_999 + "\u2026"
    assert len(outcome(ActionResult.error("x" * 5000)).error) == MAX_ERROR == 1_000


def test_a_call_error_keeps_its_code_its_words_and_its_field() -> None:
    o = from_exception(
        CallError("PERMISSION_DENIED", "needs mail:send", field="to"), REQUEST, "write"
    )
    assert (o.error_code, o.error, o.action_type) == (
        "PERMISSION_DENIED",
        "needs mail:send",
        "write",
    )
    assert o.problems == ({"field": "to", "problem": "needs mail:send"},)


@pytest.mark.parametrize(
    ("arguments", "code", "fields"),
    [
        ({}, "VALIDATION_MISSING_FIELD", ["to"]),
        ({"to": "a", "size": 9}, "VALIDATION_TYPE_ERROR", ["size"]),
        ({"to": "a", "size": "big"}, "VALIDATION_TYPE_ERROR", ["size"]),
        ({"size": 0}, "VALIDATION_MISSING_FIELD", ["to", "size"]),
    ],
)
def test_rejected_arguments_are_named_with_their_limit(
    arguments: dict[str, Any], code: str, fields: list[str]
) -> None:
    with pytest.raises(ValidationError) as caught:
        Mail.model_validate(arguments)
    o = validation_failed(caught.value, REQUEST, SEND)
    assert o.error_code == code and [p["field"] for p in o.problems] == fields
    limits = {p["field"]: p["limit"] for p in o.problems}
    assert limits.get("size", "") == {9: "5", 0: "1"}.get(arguments.get("size"), "")


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
def test_a_person_reads_in_their_language_what_to_mend_and_models_read_pydantics_words(
    tag: str, told: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        Mail.model_validate({"size": 9})
    o = validation_failed(caught.value, replace(REQUEST, user={"language": tag}), SEND)
    labels = {"ru-RU": "адрес получателя", "de": "die Adresse des Empfängers"}
    labels |= {"es": "la dirección del destinatario", "fr": "l'adresse du destinataire"}
    assert o.error == told.replace("to", labels.get(tag, "the address to send it to"), 1)
    assert [p["problem"] for p in o.problems] == [
        "Field required",
        "Input should be less than or equal to 5",
    ]


def test_of_a_missing_argument_it_is_said_what_was_given_in_its_place() -> None:
    given = {"too": "a", "size": 2, "colour": "red"}
    with pytest.raises(ValidationError) as caught:
        Mail.model_validate(given)
    (problem,) = validation_failed(caught.value, replace(REQUEST, arguments=given), SEND).problems
    assert problem["problem"] == "Field required: 'too' is no argument"
    assert problem["told"] == '“the address to send it to” is missing ("too" \u2192 "to"?)'


ODD = {
    "a time": (datetime(2026, 5, 15, 17, 21, 4, tzinfo=UTC), "2026-05-15T17:21:04+00:00"),
    "a day": (date(2026, 5, 15), "2026-05-15"),
    "an id": (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "a price": (Decimal("9.90"), "9.90"),
    "a set": ({"b", "a"}, ["a", "b"]),
    "an enum": (Colour.RED, "red"),
    "bytes": (b"abc", "<3 bytes>"),
    "a pair": ((1, 2), [1, 2]),
    "a key that is a number": ({3: "three"}, {"3": "three"}),
    "no number": (math.nan, None),
    "no end": (math.inf, None),
    "a model": (Mail(to="a"), {"to": "a", "size": 1, "sent": None}),
}


@pytest.mark.parametrize("beside", [7, 2**70, {2**65}], ids=repr)
def test_what_json_does_not_have_becomes_what_it_has_also_beside_large_integers(
    beside: Any,
) -> None:
    plain = plain_json({"n": beside, **{name: value for name, (value, _) in ODD.items()}})
    n = [*beside] if isinstance(beside, set) else beside
    assert plain == {"n": n, **{name: read for name, (_, read) in ODD.items()}}
    assert json.loads(json.dumps(plain)) == plain


@given(JSON_VALUES)
def test_plain_json_is_left_exactly_as_it_is(value: Any) -> None:
    assert repr(plain_json(value)) == repr(value)


def test_a_megabyte_is_let_through_and_a_byte_more_is_not() -> None:
    assert plain_json("x" * (MAX_RESULT_BYTES - 2))
    for value in ("x" * (MAX_RESULT_BYTES - 1), [2**70, "x" * MAX_RESULT_BYTES]):
        with pytest.raises(CallError, match="1000000"):
            plain_json(value)


def test_what_cannot_be_json_is_refused_with_a_code() -> None:
    circular: dict[str, Any] = {}
    circular["self"] = circular
    for value in (
        circular,
        {"n": 2**70, "self": circular},
        {"lone": "\ud800"},
        {"n": 2**70, "lone": "\ud800"},
        {"digits": 10**5000},
    ):
        with pytest.raises(CallError) as caught:
            plain_json(value)
        assert caught.value.code == "INTERNAL"


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (None, (200, {}, {"ok": True})),
        ("pong", (200, {}, "pong")),
        ({"n": 1}, (200, {}, {"n": 1})),
        ({"status_code": 404, "body": "no", "headers": {"X-A": 1}}, (404, {"x-a": "1"}, "no")),
        ({"status_code": "202", "body": {"n": 2}}, (202, {}, {"n": 2})),
    ],
)
def test_a_webhook_may_answer_in_several_ways(value: Any, answer: Any) -> None:
    assert tuple(webhook_answer(value).values()) == answer


@pytest.mark.parametrize(
    ("kind", "panels", "told"),
    [
        ("read", None, []),
        ("read", [], []),
        ("read", ["inbox"], [["inbox"]]),
        ("write", None, [["inbox", "outbox"]]),
        ("write", [], []),
    ],
)
def test_the_page_hears_of_panels_that_a_call_named_or_changed(
    kind: str, panels: list[str] | None, told: list[list[str]]
) -> None:
    ext = Extension("mail")

    @ChatExtension(ext).function("act", "Act", action_type=kind)
    async def act(ctx: Context) -> ActionResult:
        return ActionResult.success({"n": 1}, "Done.", refresh_panels=panels)

    @ext.panel("inbox")
    async def inbox(ctx: Context) -> Any:
        return ui.Text("in")

    @ext.panel("outbox")
    async def outbox(ctx: Context) -> Any:
        return ui.Text("out")

    harness = ExtensionHarness(ext)
    harness.call("act")
    assert [e.data["panels"] for e in harness.events("panel_refresh")] == told


# ---- large data


ROWS = [{"id": f"o-{n}", "by": f"buyer{n}@example.com", "paid": n % 2 == 0} for n in range(4_000)]
LARGE = {"count": len(ROWS), "orders": ROWS}
SMALL = {"count": 1, "orders": ROWS[:1]}


def answered(data: Any) -> CallOutcome:
    return from_return(ActionResult.success(data, "Here."), REQUEST, (), "read")


@pytest.mark.parametrize("data", [LARGE, SMALL], ids=["large", "small"])
def test_what_a_model_could_be_shown_is_a_part_of_what_was_returned(data: Any) -> None:
    o = answered(data)
    assert o.data == data
    assert near(o) == bounded(data, MAX_DATA)


def test_what_the_handler_changes_later_changes_nothing_here() -> None:
    rows = [dict(row) for row in ROWS]
    o = answered({"orders": rows})
    for row in rows:
        row.clear()
    assert near(o) == bounded({"orders": ROWS}, MAX_DATA)
    assert o.data == {"orders": ROWS}


@pytest.mark.parametrize(
    "data",
    [
        {"rows": [{"id": n, "on": date(2026, 11, 23)} for n in range(5_000)]},
        {"rows": [{n: "text", "of": (n, None)} for n in range(5_000)]},
        {"text": "Some words. " * 20_000},
        [{"id": n, "note": "\u0451\u2026\x01" * 9} for n in range(5_000)],
        {"rows": [{"id": 2**70 + n} for n in range(9_000)]},
    ],
    ids=["dates", "keys that are numbers", "text", "a list", "large integers"],
)
def test_whatever_was_returned_is_the_same_as_plain_json(data: Any) -> None:
    o = answered(data)
    plain = json.loads(json.dumps(data, default=str))
    assert near(o) == bounded(plain, MAX_DATA)
    assert o.data == plain


@pytest.mark.parametrize("data", [LARGE, SMALL, None, []], ids=["large", "small", "none", "empty"])
def test_an_outcome_comes_over_the_wire_as_it_was(data: Any) -> None:
    o = answered(data)
    there = outcome_from(json.loads(json.dumps(to_dict(o))))
    assert near(there) == near(o)
    assert there == o


def test_an_outcome_of_a_megabyte_is_handed_on_without_a_look_at_its_parts() -> None:
    small, large = (
        CallOutcome("a", "f", "ok", data=RESULTS[name], panels=("p",))
        for name in ("1 KB of rows", "1 MB of rows")
    )
    assert to_dict(small) == asdict(small)
    assert to_dict(large)["data"] is large.data
    calls = []
    for outcome in (small, large):
        profile = cProfile.Profile()
        profile.runcall(to_dict, outcome)
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert calls[0] == calls[1]
