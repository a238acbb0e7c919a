"""What is checked before a call may reach a handler."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.arguments import ids_are_real, no_placeholders
from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo
from webbee_kernel.errors import CallError
from webbee_kernel.sdk import User
from webbee_kernel.turn.guards import known, permitted

READ = FunctionInfo("mail", "read", "Read", scopes=("mail:read", "mail:body"))
CATALOGUE = Catalogue(
    {
        "mail": AppInfo("mail", functions=(READ,)),
        "broken": AppInfo("broken", error="ImportError: x"),
    }
)
SEEN = (
    '[2026-05-15T17:21:04Z user] hi\nFACTS: app=mail fn=list data={"messages": [{"id": "abc-1"},'
    ' {"id": 42}]}'
)


def code(call: Any, *args: Any) -> str:
    with pytest.raises(CallError) as caught:
        call(*args)
    return caught.value.code


def test_a_known_function_is_given_back() -> None:
    assert known(CATALOGUE, "mail", "read") is READ


def test_an_unknown_app_an_unknown_function_and_a_broken_app_are_told_apart() -> None:
    assert code(known, CATALOGUE, "mial", "read") == "UNKNOWN_TOOL"
    assert code(known, CATALOGUE, "broken", "read") == "UNKNOWN_TOOL"
    assert code(known, CATALOGUE, "mail", "reed") == "UNKNOWN_SUB_FUNCTION"


@pytest.mark.parametrize(
    ("scopes", "installed", "allowed"),
    [
        (("mail:read", "mail:body"), True, True),
        (("*",), True, True),
        (("mail:read",), True, False),
        ((), True, False),
        (("mail:read", "mail:body"), False, False),
    ],
)
def test_a_call_needs_the_app_and_every_scope(
    scopes: tuple[str, ...], installed: bool, allowed: bool
) -> None:
    user = User("alice", scopes=scopes)
    if allowed:
        permitted(user, READ, installed)
    else:
        assert code(permitted, user, READ, installed) == "PERMISSION_DENIED"


def function(schema: dict[str, Any] | None = None, id_projection: str = "") -> FunctionInfo:
    return FunctionInfo(
        "mail", "read", "Read", input_schema=schema or {}, id_projection=id_projection
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"id": "abc-1"},
        {"message_id": 42},
        {"ids": ["abc-1", "42"]},
        {"id": ""},
        {"id": None},
        {"id": True},
        {"title": "zzz-9", "paid": "zzz-9", "idea": "zzz-9", "android": "zzz-9"},
        {"filter": {"message_id": "abc-1"}},
    ],
)
def test_ids_that_were_shown_and_things_that_are_no_ids_pass(arguments: dict[str, Any]) -> None:
    ids_are_real(arguments, function(), SEEN)


@pytest.mark.parametrize(
    "arguments",
    [
        {"id": "bc-1"},  # only a part of a shown id
        {"id": "abc-12"},
        {"message_id": 4},
        {"uuid": "zzz-9"},
        {"messageId": "zzz-9"},
        {"ids": ["abc-1", "zzz-9"]},
        {"filter": {"message_id": "zzz-9"}},
        {"batch": [{"id": "abc-1"}, {"id": "zzz-9"}]},
        {"id": "."},
    ],
)
def test_an_id_that_was_never_shown_is_refused(arguments: dict[str, Any]) -> None:
    assert code(ids_are_real, arguments, function(), SEEN) == "FABRICATED_ID_SHAPE"


def test_the_refusal_names_the_invariant_and_the_argument() -> None:
    with pytest.raises(CallError, match=re.escape("I-AH-1")) as caught:
        ids_are_real({"message_id": "zzz-9"}, function(), SEEN)
    assert caught.value.field == "message_id" and "zzz-9" in str(caught.value)


def test_what_the_schema_itself_offers_is_no_invention() -> None:
    account = {"type": "object", "properties": {"account_id": {"const": "main"}}}
    properties = {
        "list_id": {"enum": ["today", "later"]},
        "view_id": {"default": "all"},
        "nested": account,
    }
    schema = function({"type": "object", "properties": properties})
    ids_are_real(
        {"list_id": "later", "view_id": "all", "nested": {"account_id": "main"}}, schema, ""
    )
    assert code(ids_are_real, {"list_id": "never"}, schema, "") == "FABRICATED_ID_SHAPE"


def test_an_argument_the_function_declares_as_its_id_counts_whatever_its_name() -> None:
    ids_are_real({"handle": "zzz-9"}, function(), SEEN)
    assert (
        code(ids_are_real, {"handle": "zzz-9"}, function(id_projection="handle"), SEEN)
        == "FABRICATED_ID_SHAPE"
    )


@given(st.text("abc-019", min_size=1, max_size=8))
def test_an_id_passes_exactly_when_it_stands_alone_in_what_was_shown(ident: str) -> None:
    seen = json.dumps({"id": "abc-019", "n": 7})
    alone = re.search(rf"(?<!\w){re.escape(ident)}(?!\w)", seen)
    if alone:
        ids_are_real({"id": ident}, function(), seen)
    else:
        assert code(ids_are_real, {"id": ident}, function(), seen) == "FABRICATED_ID_SHAPE"


@pytest.mark.parametrize(
    "value",
    [
        "<THING>",
        "<message id>",
        " <id> ",
        "{{email}}",
        "{{steps.0.data.id}}",
        "${TO}",
        "<EMAIL_1>",
        "write to <EMAIL_12> please",
        "<NAME_3>",
    ],
)
@pytest.mark.parametrize("place", ["to", "list", "deep"])
def test_a_placeholder_in_place_of_a_value_is_refused_wherever_it_stands(
    value: str, place: str
) -> None:
    arguments = {
        "to": {"to": value},
        "list": {"to": ["a@b.co", value]},
        "deep": {"m": {"to": [{"x": value}]}},
    }[place]
    with pytest.raises(CallError, match="I-PARAMS-NO-PLACEHOLDER-VALUES") as caught:
        no_placeholders(arguments)
    assert caught.value.code == "FABRICATED_ID_SHAPE" and caught.value.field


@pytest.mark.parametrize(
    "value",
    [
        "your_id",
        "example-id",
        "N/A",
        "null",
        "None",
        "unknown",
        "xxx",
        "???",
        "...",
        "TODO",
        "insert id here",
    ],
)
def test_a_stand_in_is_refused_as_an_id_and_allowed_as_text(value: str) -> None:
    assert code(no_placeholders, {"task_id": value}) == "FABRICATED_ID_SHAPE"
    no_placeholders({"title": value})


@pytest.mark.parametrize(
    "value",
    [
        "a < b > c",
        "use <b>bold</b> text",
        "price {5}",
        "f(x) = {{1, 2}, {3}}",
        "<3",
        "< >",
        "10 $",
        "Anna <anna@x.com>",
    ],
)
def test_ordinary_text_passes(value: str) -> None:
    no_placeholders({"text": value, "n": 5, "flag": True, "nothing": None, "list": [1, 2.5]})
