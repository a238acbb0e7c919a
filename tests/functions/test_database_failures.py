"""The database and its items fail: what a turn says, keeps and does not do twice."""

import os
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)

from local.stack import Stack
from tests.functions.support import ALICE, Outage, Person, deployed, stores_of, tables, throttled
from tests.functions.test_exactly_once import texts
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.scripted import ScriptedModel
from webbee_kernel.refresh.refresh_queue import OPEN_S

pytestmark = pytest.mark.usefixtures("unhurried")


@pytest.fixture
def outage() -> Iterator[Outage]:
    """Whose failures, all that are planned, have happened when a test ends."""
    planned = Outage()
    yield planned
    assert planned.over()


@pytest.fixture
def deployment(outage: Outage) -> dict[str, Any]:
    return {"stores": stores_of(outage.client)}


SAVE = 'probe.save {"text": "x"}'


def saved(stack: Stack) -> int:
    return len(texts(stack))


def assert_told_to_retry(answer: Any) -> None:
    assert (answer.status, answer.error["code"]) == (503, "storage_unavailable")
    assert "again" in answer.error["message"] or "retry" in answer.error["message"]
    assert answer.headers["retry-after"] == "1"


TELLS = {
    "hello": "The assistant is not available just now",
    "привет, покажи задачи": "Помощник сейчас недоступен",
    "zeig mir bitte meine Aufgaben": "Der Assistent ist gerade nicht erreichbar",
}


@pytest.mark.parametrize("message", TELLS)
@pytest.mark.parametrize("role", ["user", "developer", "operator"])
def test_what_is_down_is_told_to_those_who_can_mend_it_and_others_read_what_to_do(
    stack: Stack, outage: Outage, caplog: pytest.LogCaptureFixture, role: str, message: str
) -> None:
    outage.next("query", "SessionsTable")
    answer = Person(stack, ALICE | {"role": role}).chat(message)
    assert answer.status == 503
    assert (TELLS[message] in answer.error["message"]) == (role == "user")
    assert ("SessionsTable" in str(answer.body)) == (role != "user")
    assert "SessionsTable" in caplog.text


@pytest.mark.parametrize("role", ["user", "operator"])
def test_so_is_what_is_wrong_with_the_model(role: str, caplog: pytest.LogCaptureFixture) -> None:
    wrong = "The model server refused the key (HTTP 401): check WEBBEE_MODEL_KEY."
    with deployed(model=ScriptedModel([ModelUnavailable(wrong)])) as stack:
        answer = Person(stack, ALICE | {"role": role}).chat("hello")
    told = TELLS["hello"] if role == "user" else wrong
    assert (answer.status, answer.error["code"]) == (503, "model_unavailable")
    assert answer.error["message"].startswith(told)
    assert wrong in caplog.text


AWAY = {"endpoint_url": "https://dynamodb.example"}
ERRORS: dict[str, Exception] = {
    "throttled": throttled(),
    "an internal error": ClientError({"Error": {"Code": "InternalServerError"}}, "Query"),
    "unreachable": EndpointConnectionError(**AWAY),
    "a connection that times out": ConnectTimeoutError(**AWAY),
    "an answer that does not come": ReadTimeoutError(**AWAY),
    "a table that is not there": ClientError(
        {"Error": {"Code": "ResourceNotFoundException"}}, "Query"
    ),
}


@pytest.mark.parametrize("table", ["SessionsTable", "SkeletonTable"])
@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS.keys())
def test_a_turn_that_cannot_read_is_not_begun(
    stack: Stack, alice: Person, outage: Outage, table: str, error: Exception
) -> None:
    before = tables(stack)
    outage.next("query", table, error=error)
    answer = alice.chat(SAVE)
    assert (answer.status, answer.error["code"]) == (503, "storage_unavailable")
    assert (tables(stack), alice.chat(SAVE)["turn"]) == (before, 1)


@pytest.mark.parametrize(
    ("earlier", "operation", "table"),
    [
        *((earlier, "put_item", "SessionsTable") for earlier in (1, 0)),
        (0, "update_item", "TranscriptsTable"),  # the list's row, before the turn
    ],
)
def test_a_turn_that_cannot_be_recorded_is_done_once_when_it_is_retried(
    stack: Stack, alice: Person, outage: Outage, earlier: int, operation: str, table: str
) -> None:
    for _ in range(earlier):
        alice.chat("probe.look {}")
    turns = len(alice.turns())
    outage.next(operation, table)
    assert_told_to_retry(alice.chat(SAVE, request_id="r1"))
    assert (outage.over(), saved(stack), len(alice.turns())) == (True, 1, turns)
    answer = alice.chat(SAVE, request_id="r1")
    assert (answer.status, answer["reply"], answer["turn"]) == (200, 'Saved "x".', turns + 1)
    assert (saved(stack), len(alice.events("panel_refresh"))) == (1, 1)
    outage.next("put_item", "SessionsTable", after=True)  # it is recorded, and nobody hears of it
    assert_told_to_retry(alice.chat(SAVE, request_id="r2"))
    assert (alice.chat(SAVE, request_id="r2")["turn"], saved(stack)) == (turns + 2, 2)


def test_an_archive_that_is_away_costs_a_turn_and_is_retried(alice: Person, outage: Outage) -> None:
    for _ in range(5):
        alice.chat("probe.look {}")
    outage.next("put_item", "TranscriptsTable")
    assert alice.chat(SAVE)["reply"] == 'Saved "x".'
    assert outage.over()
    assert [t["turn"] for t in alice.turns()] == [2, 3, 4, 5, 6]
    for _ in range(6):
        alice.chat("probe.look {}")
    assert [t["turn"] for t in alice.turns()] == list(range(2, 13))


@pytest.mark.parametrize(
    ("message", "reply", "written"), [(SAVE, 'Saved "x".', 1), ("probe.look {}", "0 texts.", 0)]
)
def test_a_write_that_cannot_be_claimed_is_not_run_and_a_read_that_cannot_be_audited_not_answered(
    stack: Stack, alice: Person, outage: Outage, message: str, reply: str, written: int
) -> None:
    before = tables(stack)
    outage.next("put_item", "AuditTable")
    assert_told_to_retry(alice.chat(message, request_id="r1"))
    assert outage.over()
    assert tables(stack) == before
    assert alice.chat(message, request_id="r1")["reply"] == reply
    assert saved(stack) == written


def test_what_cannot_be_recorded_is_told_truly(stack: Stack, alice: Person, outage: Outage) -> None:
    for operation, table in (("transact_write_items", "AuditTable"), ("", "LimitsTable")):
        outage.next(operation, table)
        answer = alice.chat(SAVE, request_id=table)
        assert outage.over()
        assert (answer.status, answer["reply"]) == (200, 'Saved "x".')
        assert alice.chat(SAVE, request_id=table).body == answer.body
    stack.hasten(OPEN_S)
    assert (stack.drain() > 0, saved(stack)) == (True, 2)
    assert len(alice.send("GET", "/v1/me/audit")["records"]) == 2


@pytest.mark.parametrize(
    ("times", "ended", "told"),
    [
        (3, ("mark", "error", "BACKEND_5XX"), "mark was not run"),
        (1, ("mark", "ok", None), 'Saved "second".\nMarked "m".'),
    ],
    ids=["what was done before is told", "the call is made again in the same turn"],
)
def test_a_call_that_the_database_does_not_take_behind_one_that_ran(
    alice: Person, outage: Outage, times: int, ended: tuple[str, str, str | None], told: str
) -> None:
    outage.next("put_item", '"mark"', times=times)  # the claim of an effect names its function
    answer = alice.chat('probe.save {"text": "second"} probe.mark {"text": "m"}')
    calls = [(c["fn_name"], c["status"], c.get("error_code")) for c in answer["calls"]]
    assert calls == [("save", "ok", None), ended]
    assert told in answer["reply"] and (answer["reply"] == told) is (times == 1)


def test_a_question_or_document_that_cannot_be_kept(alice: Person, outage: Outage) -> None:
    outage.next("transact_write_items", "SessionsTable")
    assert_told_to_retry(alice.chat('probe.remove {"text": "x"}', request_id="r1"))
    assert alice.turns() == []
    assert alice.chat('probe.remove {"text": "x"}', request_id="r1")["status"] == "confirmation"
    outage.next("put_item", "StoreTable")
    answer = alice.chat(SAVE)
    assert (answer.status, answer["status"]) == (200, "error")
    assert answer["calls"][0]["error_code"] == "INTERNAL"
    assert (alice.turns()[-1]["status"], saved(alice.stack)) == ("error", 0)


ROUTES = [
    ("GET", "/v1/sessions/s1", "SessionsTable"),
    ("GET", "/v1/sessions", "TranscriptsTable"),
    ("GET", "/v1/events", "EventsTable"),
    ("GET", "/v1/extensions", "SkeletonTable"),
    ("POST", "/v1/extensions/probe/call", "SkeletonTable"),
    ("PUT", "/v1/extensions/probe/installation", "SkeletonTable"),
    ("DELETE", "/v1/extensions/probe/installation", "SkeletonTable"),
]


def test_every_route_says_that_the_database_is_away(alice: Person, outage: Outage) -> None:
    for method, path, table in ROUTES:
        # every request to it: a read beside the one that failed may end after the answer
        outage.next("", table, times=100)
        body = {"function": "look"} if method == "POST" else None
        assert_told_to_retry(alice.send(method, path, body=body))
    outage.next("query", "EventsTable")
    answer = alice.send("GET", "/v1/health")
    assert (answer.status, answer["status"]) == (503, "degraded")
    assert answer["tables"] == {"sessions": "ok", "skeleton": "ok", "events": "storage_unavailable"}
    assert alice.send("GET", "/v1/health").status == 200


# ---- a damaged item


def damage(variable: str) -> None:
    """Break what is compressed in the items that hold turns."""
    client: Any = boto3.client("dynamodb")
    table = os.environ[variable]
    for item in client.scan(TableName=table)["Items"]:
        if item["sk"]["S"].startswith("turn#"):
            client.put_item(TableName=table, Item={**item, "packed": {"B": b"garbage"}})


def test_a_conversation_goes_on_over_damage(
    alice: Person, caplog: pytest.LogCaptureFixture
) -> None:
    alice.chat('probe.save {"text": "lost"}')
    damage("WEBBEE_TABLE_SESSIONS")
    answer = alice.chat('probe.save {"text": "next"}')
    assert (answer.status, answer["turn"]) == (200, 2)
    assert [(t["turn"], t["status"]) for t in alice.turns()] == [(1, "error"), (2, "ok")]
    assert "item=turn#1 reason=error | cannot be read: left out" in caplog.text
    for n in range(5):
        alice.chat(f'probe.save {{"text": "{n}"}}')
    assert [t["turn"] for t in alice.turns()] == [1, 2, 3, 4, 5, 6, 7]
    damage("WEBBEE_TABLE_TRANSCRIPTS")
    assert [t["turn"] for t in alice.turns()] == [3, 4, 5, 6, 7]
    assert alice.send("GET", "/v1/me/export").status == 200
