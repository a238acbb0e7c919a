"""A request that cannot be served gets a 4xx that names the field and the limit, and leaves no
trace in any table."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from local.reference import all_routes
from local.stack import Stack, http_event
from tests.functions.support import ALICE, BOB, Answer, Person, event, one_for_all, tables
from webbee_kernel.stores.paging import Cursor

LIMIT = 8_000


stack = one_for_all()  # what is refused changes nothing


@pytest.fixture
def refused(stack: Stack) -> Iterator[Any]:
    """Sends a chat request that must be refused; afterwards every table must hold what it held
    before."""
    before = tables(stack)

    def send(body: Any = None, *, claims: Any = ALICE, **event: Any) -> Answer:
        sent = http_event("POST", "/v1/chat", claims=claims, body=body)
        answer = stack.invoke("chat_turn", {**sent, **event})
        assert answer["headers"]["content-type"] == "application/json"
        return Answer(answer["statusCode"], json.loads(answer["body"]), answer["headers"])

    yield send
    assert tables(stack) == before


NAMES = ["", "a b", "a#b"]
FIELDS: dict[str, list[Any]] = {
    "message": [..., "", " \t ", "x" * (LIMIT + 1), 42, {"text": "hello"}, None],
    "session_id": [*NAMES, "../x", "x" * 65, "привет", "s1\n", 5],
    "request_id": [*NAMES, "x" * 129, "r1\n", 7],
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_message_or_a_name_of_an_unknown_shape_is_refused(refused: Any, field: str) -> None:
    """A message has 1 to 8000 characters."""
    for value in FIELDS[field]:
        body = {"message": "hello", "session_id": "s1", field: value}
        answer = refused({k: v for k, v in body.items() if v is not ...})
        assert (answer.status, answer.error["field"]) == (400, field), value
        limits = {"": 1, "x" * (LIMIT + 1): LIMIT} if field == "message" else {}
        if isinstance(value, str) and value in limits:
            assert answer.error["limit"] == limits[value]


BODIES: dict[str, str | bytes] = {
    "nothing": "",
    "text": "hello",
    "cut off": '{"message": "hel',
    "a list": '["hello"]',
    "NaN": '{"message": NaN}',
    "a lone surrogate": '{"message": "\\ud800"}',
    "deeply nested": '{"message": ' + "[" * 60_000 + "]" * 60_000 + "}",
    "larger than 128 KB": json.dumps({"message": "hello", "padding": "x" * 131_072}),
    "invalid UTF-8": b'{"message": "\xff\xfe"}',
    "UTF-16": '{"message": "hello"}'.encode("utf-16"),
    "an encoded surrogate": b'{"message": "\xed\xa0\x80"}',
    "not the base64 it is said to be": "не base64!",
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_no_json_object_is_refused(refused: Any, name: str) -> None:
    body = BODIES[name]
    sent = base64.b64encode(body).decode() if isinstance(body, bytes) else body
    answer = refused(sent, isBase64Encoded=isinstance(body, bytes) or "base64" in name)
    assert (answer.status, answer.error["field"]) == (400, "body")
    assert answer.error.get("limit") == (131_072 if name == "larger than 128 KB" else None)


def test_a_message_of_8000_characters_and_text_sent_as_base64_are_read(stack: Stack) -> None:
    assert Person(stack, ALICE).chat("ж" * LIMIT).status == 200
    assert stack.invoke("chat_turn", event("http_chat_base64"))["statusCode"] == 200
    assert Person(stack, ALICE).turns("base64")[0]["message"] == "привет"


def test_a_body_cannot_say_who_is_asking(refused: Any) -> None:
    named = ("user_id", "imperal_id", "tenant_id", "role", "scopes", "email", "user", "claims")
    for field in (*named, "mesage"):
        answer = refused({"message": "hello", "session_id": "s1", field: "bob"})
        assert (answer.status, answer.error["field"]) == (400, field)
        where_from = "Authorization: Bearer" in answer.error["message"]
        assert where_from is (field in ("user_id", "tenant_id"))
    told = "mesage: there is no such field; known are message, session_id, "
    assert answer.error["message"].startswith(told)


def test_headers_and_query_cannot_say_who_is_asking(stack: Stack) -> None:
    forged = dict.fromkeys(("x-user-id", "x-amzn-oidc-identity", "imperal_id"), "bob")
    forged["authorization"] = "Bearer bob"
    asked = {"claims": ALICE, "body": {"message": "probe.whoami {}"}}
    answer = stack.invoke("chat_turn", http_event("POST", "/v1/chat", **asked, headers=forged))
    assert json.loads(answer["body"])["reply"] == "You are alice of acme."
    for named in ({"sub": "bob"}, {"role": "operator"}):
        answer = stack.invoke("chat_turn", http_event("POST", "/v1/chat", **asked, query=named))
        error = json.loads(answer["body"])["error"]
        assert (answer["statusCode"], error["code"]) == (400, "bad_input")
        assert error["field"] in named
    unknown = Person(stack, ALICE).send("GET", "/v1/sessions", query={"limt": "1"}).error
    assert unknown["field"] == "limt" and "takes cursor, limit, q" in unknown["message"]


CLAIMS: dict[str, Any] = {
    "none at all": None,
    "empty": {},
    "no subject": {"tenant_id": "acme", "email": "alice@acme.example"},
    "a # in the subject": {**ALICE, "sub": "alice#bob"},
    "a # in the tenant": {**ALICE, "tenant_id": "acme#umbrella"},
    "a line end in the subject": {**ALICE, "sub": "alice\n"},
    "a subject of no letter": {**ALICE, "sub": " "},
    "a subject too long": {**ALICE, "sub": "x" * 129},
    "a subject of a break": {**ALICE, "sub": "\u2028"},
    "an unseen letter in the tenant": {**ALICE, "tenant_id": "acme\u200b"},
    "a tenant that looks empty": {**ALICE, "tenant_id": "\u3164"},
    "the name of the system": {**ALICE, "sub": "__system__"},
    "the name of the webhooks": {**ALICE, "sub": "__webhook__"},
    "the health check's tenant": {**ALICE, "tenant_id": "__health__"},
}


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=CLAIMS.keys())
def test_claims_that_name_no_usable_user_are_refused(refused: Any, claims: Any) -> None:
    answer = refused({"message": "hello", "session_id": "s1"}, claims=claims)
    assert answer.status == 401
    assert answer.error["field"] in {"Authorization", "sub", "tenant_id"}


def case(route: str, status: int, field: str, **parts: Any) -> Any:
    return pytest.param(*route.split(), parts, status, field, id=route)


REQUESTS = [
    case("DELETE /v1/sessions/a%20b", 400, "session_id"),
    case("DELETE /v1/extensions/a%23b/installation", 404, "app_id"),
    case("PUT /v1/extensions/probe/secrets/token", 400, "value", body={"value": ""}),
    case("GET /v1/sessions/a%23b", 400, "session_id"),
    case("GET /v1/sessions/unheard-of", 404, "id"),
    case("GET /v1/sessions", 400, "cursor", query={"cursor": "AAAA"}),
    *(
        case("GET /v1/sessions", 400, "limit", query={"limit": wrong})
        for wrong in ("0", "51", "0000000019999999", "9" * 400, "-1", "two")
    ),
    case("GET /v1/search", 400, "q", query={"q": "a" * 81}),
    case("GET /v1/search", 400, "cursor", query={"q": "ab", "cursor": "?"}),
    *(
        case("GET /v1/events", 400, "Last-Event-ID", headers={"Last-Event-ID": wrong})
        for wrong in ("nonsense", "a" * 33, "0123456789ab\n", "0123456789ab,0123456789ab")
    ),
    case("GET /v1/events", 400, "Last-Event-ID", query={"last_event_id": "zz"}),
    case("POST /v1/confirmations/conf_000000000000", 404, "id", body={"accept": True}),
    case("POST /v1/confirmations/conf_0", 400, "accept", body={"accept": "yes"}),
    case("PATCH /v1/chat", 404, "path", body={}),
    case("POST /v1/live", 404, "path"),
    case("POST /v1/extensions/nothing/call", 404, "app_id", body={"function": "x"}),
    case("POST /v1/extensions/probe/call", 400, "function", body={"params": {}}),
    case("POST /v1/extensions/probe/call", 400, "params", body={"function": "save", "params": []}),
    case("PUT /v1/extensions/probe/secrets/token", 400, "value", body={"value": "x" * 4097}),
    case("PUT /v1/extensions/probe/secrets/other", 404, "name", body={"value": "x"}),
    case("PUT /v1/extensions/nothing/installation", 404, "app_id"),
    case("GET /v1/inspect", 400, "message", query={"message": "x" * 8001}),
]


@pytest.mark.parametrize(("method", "path", "parts", "status", "field"), REQUESTS)
def test_every_route_refuses_by_name(
    stack: Stack, method: str, path: str, parts: dict[str, Any], status: int, field: str
) -> None:
    before = tables(stack)
    answer = Person(stack, {**ALICE, "role": "developer"}).send(method, path, **parts)
    assert (answer.status, answer.error.get("field")) == (status, field)
    assert tables(stack) == before


@pytest.mark.parametrize("claims", [None, {"tenant_id": "acme"}], ids=["no claims", "no subject"])
def test_only_public_routes_are_open_to_strangers(stack: Stack, claims: Any) -> None:
    closed = [route.key for route in all_routes() if not route.public]
    assert len(closed) > 25
    for key in closed:
        method, _, path = re.sub(r"\{\w+\+?\}", "probe", key).partition(" ")
        sent = http_event(method, path, claims=claims, body={"function": "save", "value": "x"})
        assert (key, stack.invoke("chat_turn", sent)["statusCode"]) == (key, 401)


def token(*values: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def cursors(person: Person) -> dict[str, str]:
    """By path, one that its route gave out to this person."""
    for number in range(3):
        for session in ("paged", f"paged{number}"):
            person.chat('probe.save {"text": "x"}', session_id=session)
    paths = ("/v1/sessions", "/v1/sessions/paged", "/v1/me/audit")
    given = {p: person.send("GET", p, query={"limit": "1"})["cursor"] for p in paths}
    exported = person.send("GET", "/v1/me/export").body.splitlines()[-1]
    user = f"{person.claims['tenant_id']}#{person.claims['sub']}"
    given["/v1/me/export"] = json.loads(exported).get("cursor") or Cursor("export", user).write(
        1, f"{user}#probe", "saved#x"
    )
    return given


@pytest.mark.parametrize(
    "path", ["/v1/sessions", "/v1/sessions/paged", "/v1/me/audit", "/v1/me/export"]
)
def test_a_cursor_that_this_list_did_not_give_this_user_is_refused(stack: Stack, path: str) -> None:
    given, others = (cursors(Person(stack, claims)) for claims in (ALICE, BOB))
    alice, good = Person(stack, ALICE), given.pop(path)
    assert alice.send("GET", path, query={"cursor": good}).status == 200
    query, *position = json.loads(base64.urlsafe_b64decode(good + "=" * (-len(good) % 4)))
    kinds = (None, True, -1, 10**30, 1.5, "", "\ud800", "x" * 3000, [], {}, position)
    forged = [
        others[path],
        *given.values(),
        good[:-3],
        good[1:],
        f"{good}AA",
        good.swapcase(),
        *("x", "=", "\x00", "é", "null", "x" * 5000, "../..", "AAAA"),
        *(token(), token(query), token(None), token(*position), token(query, *position, 1)),
        *(base64.b64encode(text.encode()).decode() for text in ("{}", "7", "[" * 5000, '"a"')),
        *(
            token(query, *position[:at], kind, *position[at + 1 :])
            for at in range(len(position))
            for kind in kinds
        ),
    ]
    answered = {c: alice.send("GET", path, query={"cursor": c}) for c in forged}
    assert {
        c[:80]: (a.status, a.body if a.status != 400 else "")
        for c, a in answered.items()
        if a.status != 400 or a.error["field"] != "cursor" or len(a.error["message"]) > 250
    } == {}
