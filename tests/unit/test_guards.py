"""What is checked before a call may reach a handler."""

from functools import partial
from typing import Any

import pytest

from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo
from webbee_kernel.errors import CallError
from webbee_kernel.guards.arguments import without_secrets
from webbee_kernel.guards.ids import KnownIds, check_ids, check_placeholders, lookup_functions
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, User
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.turn.dispatch import usable_function

READ = FunctionInfo("mail", "read", "Read", scopes=("mail:read", "mail:body"))
BROKEN = AppInfo("broken", error="ImportError: x")
CATALOGUE = Catalogue({"mail": AppInfo("mail", functions=(READ,)), "broken": BROKEN})
SEEN = {"messages": [{"id": "abc-1"}, {"id": 42}]}


def code(call: Any, *args: Any) -> str:
    with pytest.raises(CallError) as caught:
        call(*args)
    return caught.value.code


def test_an_unknown_app_a_broken_one_an_unknown_function_and_no_app_are_told_apart() -> None:
    usable = partial(usable_function, CATALOGUE, {"mail"})
    assert code(usable, "mial", "read") == "UNKNOWN_TOOL"
    assert code(usable, "broken", "read") == "UNKNOWN_TOOL"
    assert (code(usable, "mail", "reed"), usable("mail", "read")) == ("UNKNOWN_SUB_FUNCTION", READ)
    assert code(usable_function, CATALOGUE, {"notes"}, "mail", "read") == "PERMISSION_DENIED"


@pytest.mark.parametrize("scopes", ["mail:read mail:body", "*", "mail:read", ""])
def test_a_call_needs_every_scope_where_it_runs(scopes: str) -> None:
    ext = Extension("mail")

    @ChatExtension(ext).function("read", "Read", scopes=["mail:read", "mail:body"])
    async def read(ctx: Context) -> ActionResult:
        return ActionResult.success({}, "Read.")

    user = User("alice", scopes=tuple(scopes.split()))
    refused = "" if "*" in scopes or "body" in scopes else "PERMISSION_DENIED"
    assert ExtensionHarness(ext, user=user).outcome("read").error_code == refused


FUNCTION = FunctionInfo("mail", "read", "Read")
NO_IDS: list[dict[str, Any]] = [
    *({"id": "abc-1"}, {"message_id": 42}, {"ids": ["abc-1", "42"]}, {"id": ""}, {"id": None}),
    *({"id": True}, {"filter": {"message_id": "abc-1"}}),
    {"title": "zzz-9", "paid": "zzz-9", "idea": "zzz-9", "android": "zzz-9"},
]


@pytest.mark.parametrize("arguments", NO_IDS)
def test_ids_that_were_shown_and_things_that_are_no_ids_pass(arguments: dict[str, Any]) -> None:
    check_ids(arguments, FUNCTION, KnownIds([SEEN]))


def test_an_id_that_was_never_shown_is_refused_with_the_invariant_and_its_argument() -> None:
    for arguments, field, value in (
        ({"id": "bc-1"}, "id", "bc-1"),  # only a part of a shown id
        ({"id": "abc-12"}, "id", "abc-12"),
        ({"message_id": 4}, "message_id", "4"),
        ({"uuid": "zzz-9"}, "uuid", "zzz-9"),
        ({"messageId": "zzz-9"}, "messageId", "zzz-9"),
        ({"ids": ["abc-1", "zzz-9"]}, "ids", "zzz-9"),
        ({"filter": {"message_id": "zzz-9"}}, "message_id", "zzz-9"),
        ({"batch": [{"id": "abc-1"}, {"id": "zzz-9"}]}, "id", "zzz-9"),
        ({"id": "."}, "id", "."),
    ):
        with pytest.raises(CallError, match="I-AH-1") as caught:
            check_ids(arguments, FUNCTION, KnownIds([SEEN]))
        assert (caught.value.code, caught.value.field) == ("FABRICATED_ID_SHAPE", field)
        assert value in str(caught.value)


def holds(value: str | int, data: Any = None, said: str = "") -> bool:
    known = KnownIds([data] if data is not None else [], [said] if said else [])
    return known.contains("order_id", value)


@pytest.mark.parametrize("small", ["11", 11, "2026", 2026, "05", "30", "2026-05"])
@pytest.mark.parametrize(
    "data",
    [
        {"at": "2026-05-11T11:30:00Z"},
        {"day": "11.05.2026", "time": "11:30"},
        {"stamp": "2026-05-11 11:30"},
        {"text": "See you on 11 May 2026 at 11:30, room 30, 05"},
        {"unread": 11, "year": 2026, "order_count": 30, "orders": 11, "price": 2026, "n_05": 5},
    ],
)
def test_a_small_number_that_only_a_date_a_time_a_text_or_a_count_holds_is_no_id(
    small: str | int, data: Any
) -> None:
    assert not holds(small, data)


AS_IDS: list[Any] = [
    *({"id": 11}, {"id": "11"}, {"user_id": 11}, {"order": 11}, {"order_number": 11}),
    *({"number": 11}, {"orders": [10, 11]}, {"order_ids": ["10", "11"]}),
    *({"orders": {"11": {"paid": True}}}, [9, 10, 11]),
]


@pytest.mark.parametrize("data", AS_IDS)
def test_a_small_number_passes_that_stands_as_an_id(data: Any) -> None:
    assert holds(11, data) and holds("11", data)


@pytest.mark.parametrize("arguments", [{"notes": ["W99"]}, {"deep": [{"n": {"x": "see W99"}}]}])
def test_what_a_model_made_up_is_no_truer_once_a_result_repeats_it(arguments: Any) -> None:
    echo = KnownIds(results=[(arguments, {"echo": "W99"})])
    assert (echo.contains("order_id", "W99"), echo.suspect) == (False, ("w99",))
    assert KnownIds(results=[({"order_id": "W99"}, {})]).suspect == ()  # a guard looked at it
    found = KnownIds(results=[(arguments, {"orders": [{"order_id": "W99"}]})])
    assert found.contains("order_id", "W99")
    said = KnownIds(messages=["order W99"], results=[(arguments, {"echo": "W99"})])
    assert (said.contains("order_id", "W99"), said.suspect) == (True, ())


def test_a_small_number_that_the_user_said_may_be_an_id_in_digits_or_in_words() -> None:
    for said in (
        *("cancel 11", "cancel order #11.", "order no. 11, please", "orders 10, 11 and 12"),
        *("the eleventh one", "task-11", "удали задачу 11", "on 12 May cancel 11"),
    ):
        assert (holds(11, said=said), holds(2026, said=said)) == (True, False), said
    assert not holds(11, said="t11x costs 110")


def test_the_refusal_says_where_to_look() -> None:
    def needs(name: str, description: str, *required: str, action: str = "read") -> FunctionInfo:
        return FunctionInfo("shop", name, description, action, {"required": list(required)})

    cancel = needs("cancel", "Cancel an order", "order_id", action="write")
    functions = [
        needs("get_order", "One order", "order_id"),
        needs("history", "Past orders of a customer"),
        needs("list_orders", "What was bought"),
        needs("list_customers", "Everyone"),
        cancel,
    ]
    lists = [needs(f"list_orders_{n}", "") for n in "abcde"]
    for name, among, found in (
        ("order_id", functions, "list_orders history list_customers"),
        ("id", functions, "get_order history list_orders"),
        ("shipping_order_id", functions, "get_order list_orders history"),
        ("order_id", lists, "list_orders_a list_orders_b list_orders_c"),
        ("coupon_id", [cancel], ""),
    ):
        assert " ".join(lookup_functions(name, among)) == found
    with pytest.raises(
        CallError, match="look it up first with list_orders or history or list_customers"
    ):
        check_ids({"order_id": "99887"}, cancel, KnownIds(), functions)


def test_a_placeholder_in_place_of_a_value_is_refused_wherever_it_stands() -> None:
    nested = {"m": {"to": [{"x": " <id> "}]}}
    mails = {"to": ["a@b.co", "<EMAIL_1>"]}
    for arguments, place in (({"to": "{{email}}"}, "to"), (mails, "to"), (nested, "m.to.x")):
        with pytest.raises(CallError, match="I-PARAMS-NO-PLACEHOLDER-VALUES") as caught:
            check_placeholders(arguments)
        assert (caught.value.code, caught.value.field) == ("FABRICATED_ID_SHAPE", place)


def test_what_a_name_or_a_schema_calls_secret_is_kept_from_everyone_else_not() -> None:
    for name in "password dbPassword api_key PIN cardVerificationNumber access_key".split():
        arguments = {"to": "x", name: "s", "rows": [{name: "s", "id": 1}, "text"]}
        assert without_secrets(arguments, None) == {"to": "x", "rows": [{"id": 1}, "text"]}
    for name in "key verification number api compass key_api".split():
        assert without_secrets({name: "x"}, None) == {name: "x"}
    password, login = {"format": "password"}, {"phrase": "s", "to": "a@b.co"}
    listed = {"type": "array", "items": {"writeOnly": True}}
    taking = partial(FunctionInfo, "mail", "log_in", "Log in", "write")
    for marked in (password, {"writeOnly": True}, {"anyOf": [{"type": "null"}, password]}, listed):
        properties = {"phrase": marked, "to": {"format": "email", "writeOnly": False}}
        assert without_secrets(login, taking({"properties": properties})) == {"to": "a@b.co"}
        defined = {"Login": {"type": "array", "items": {"properties": properties}}}
        inside = {"$defs": defined, "properties": {"login": {"$ref": "#/$defs/Login"}}}
        assert without_secrets({"login": [login]}, taking(inside)) == {"login": [{"to": "a@b.co"}]}
