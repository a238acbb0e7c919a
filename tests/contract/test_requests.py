"""What the adapters send to DynamoDB: how many requests, which, and what becomes of those that
fail."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError, ConnectTimeoutError, ParamValidationError
from moto.core.botocore_stubber import MockRawResponse

from benchmarks.meter import metered
from local.aws import local_aws
from tests.contract.conftest import Dynamo
from tests.contract.samples import ALICE, LATER, NOW, SESSION, event, pending, record, section, turn
from tests.processes import said
from webbee_kernel.aws.clients import aws_client, forget_clients
from webbee_kernel.errors import BadInput, SettingsError, StorageUnavailable
from webbee_kernel.stores import Collection
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.stores.dynamodb.client import translate
from webbee_kernel.stores.dynamodb.sessions import SessionStore
from webbee_kernel.stores.dynamodb.timers import book_text
from webbee_kernel.stores.types import (
    AcceptedDestination,
    AnswerLease,
    Lease,
    SessionSummary,
    ShardMark,
    UserState,
)

TIMER_CHANGED = ["GetItem Skeleton", "UpdateItem Skeleton"]
PUT_ONCE = ["GetItem Skeleton", "PutItem Skeleton"]
TWICE = ["UpdateItem Skeleton"] * 2
HELD = [section(), section("outbox")]
LEASE = Lease(2.0, UserState((*HELD,)), known=book_text(HELD))


async def sent(dynamo: Dynamo, work: Any) -> list[str]:
    with metered(dynamo.client) as meter:
        await work
    tables = [[t[len("test-") : -len("Table")] for t in call.tables] for call in meter.calls]
    return [f"{c.operation} {'+'.join(t)}" for c, t in zip(meter.calls, tables, strict=True)]


ASKED = pending().confirmation_id
ASKING = turn(3, waiting=(pending(),))
NOTES, FIRST_OF_ITS_KIND = Collection(ALICE, "a", "c"), Collection(ALICE, "a", "first-of-its-kind")
KEPT = AcceptedDestination("mail.send#0a1b", "mail", "send", "ann@example.org", NOW)
LISTED = SessionSummary("s1", "письмо 1", NOW, 1)


async def take(sessions: SessionStore) -> bool:
    lease = AnswerLease(30.0, yes=True)
    return await sessions.take_pending(SESSION, 3, ASKED, now=1.0, lease=lease)


WHO = {"tenant_id": ALICE.tenant_id, "imperal_id": ALICE.imperal_id}


async def test_each_operation_costs_what_it_says(dynamo: Dynamo) -> None:
    sessions, skeleton, cache, documents, audit, events, _, *rest = (
        getattr(dynamo.stores, name) for name in dynamo.stores._fields
    )
    transcripts, limits, connections, accepted, deployed = rest
    until, once = {"expires_at": LATER}, {"version": "", "answered": [ASKED]}
    told = {"events": (event(),), "events_expire_at": LATER}
    await documents.create(NOTES, {}, now=NOW, doc_id="d")
    expected = [
        (sessions.read(SESSION, now=0.0), ["Query Sessions"]),
        (accepted.list(ALICE, function="mail.send"), ["Query Sessions"]),
        (accepted.put(ALICE, [KEPT]), ["BatchWriteItem Sessions"]),
        (accepted.delete(ALICE, [KEPT.key]), ["BatchWriteItem Sessions"]),
        (sessions.append(SESSION, turn(1), **until, now=0.0), ["PutItem Sessions"]),
        (sessions.append(SESSION, ASKING, **until, now=0.0), ["TransactWriteItems Sessions"]),
        (sessions.find_pending(ALICE, ASKED, now=0.0), ["GetItem Sessions"]),
        (take(sessions), ["UpdateItem Sessions"]),
        (sessions.keep_pending(SESSION, 3, ASKED, was=30.0, until=60.0), ["UpdateItem Sessions"]),
        (sessions.replace(SESSION, turn(3), **once, **until), ["UpdateItem Sessions"]),
        (transcripts.append(SESSION, [turn(1)], seconds=LATER), ["PutItem Transcripts"]),
        (transcripts.read(SESSION, now=0.0), ["Query Transcripts"]),
        (transcripts.read(SESSION, before=(NOW, 1), now=0.0), ["Query Transcripts"] * 2),
        (transcripts.touch(ALICE, LISTED, **until), ["UpdateItem Transcripts"]),
        (transcripts.rename(SESSION, "A title"), ["UpdateItem Transcripts"]),
        (transcripts.list(ALICE, title="tit", now=0.0), ["Query Transcripts"]),
        (limits.take(ALICE, minute=29_000_000, requests=1, tokens=1), ["UpdateItem Limits"]),
        (limits.take(ALICE, minute=29_000_000, requests=1, tokens=1), ["UpdateItem Limits"]),
        (limits.spend(ALICE, day=0, tokens=1), ["UpdateItem Limits"]),
        (limits.spend("acme", day=0, tokens=1), ["UpdateItem Limits"]),
        (limits.tenant_tokens("acme", day=0), ["GetItem Limits"]),
        (sessions.delete(SESSION), ["BatchWriteItem Sessions"]),
        (skeleton.register(ALICE, [section()], who={}), [*PUT_ONCE, *TIMER_CHANGED]),
        (skeleton.register(ALICE, [section("outbox")], who={}), TIMER_CHANGED),
        (skeleton.read(ALICE), ["Query Skeleton"]),
        (skeleton.get(ALICE, "mail", "inbox"), ["Query Skeleton"]),
        (skeleton.lease(ALICE, now=1.0, until=2.0), ["UpdateItem Skeleton", "Query Skeleton"]),
        (skeleton.lease(ALICE, now=1.0, until=3.0), ["UpdateItem Skeleton"]),
        (skeleton.ask(ALICE, [("mail", "inbox")], now=1.0), ["UpdateItem Skeleton"]),
        (skeleton.write(ALICE, [section(version=1)], lease=LEASE), PUT_ONCE),
        # somebody asked meanwhile
        (skeleton.save(ALICE, [section(version=1)], lease=LEASE, now=1.0), TWICE),
        (skeleton.mark_seen(ALICE, 1.0), ["UpdateItem Skeleton"]),
        (skeleton.due(0, 1.0), ["Query Skeleton"]),
        (skeleton.begin_shard(0, now=1.0, until=2.0), ["UpdateItem Skeleton"]),
        (skeleton.move_shard(0, ShardMark(lease=2.0)), ["UpdateItem Skeleton"]),
        (skeleton.queued_until(ALICE), ["GetItem Skeleton"]),
        (skeleton.purge(ALICE, "mail"), ["Query Skeleton", *TIMER_CHANGED, "DeleteItem Skeleton"]),
        (cache.set(ALICE, "a", "m", "k", b"1", expires_at=9.0), ["PutItem Cache"]),
        (cache.get(ALICE, "a", "m", "k", now=1.0), ["GetItem Cache"]),
        (cache.delete(ALICE, "a", ("m",), "k"), ["DeleteItem Cache"]),
        (documents.create(NOTES, {}, now=NOW), ["PutItem Store"]),
        (documents.create(FIRST_OF_ITS_KIND, {}, now=NOW), ["PutItem Store", "PutItem Store"]),
        (documents.get(NOTES, "d"), ["GetItem Store"]),
        (documents.update(NOTES, "d", {"x": 1}, now=NOW), ["GetItem Store", "PutItem Store"]),
        (documents.query(NOTES), ["Query Store"]),
        (documents.count(NOTES), ["Query Store"]),
        (documents.delete(NOTES, "d"), ["DeleteItem Store"]),
        (audit.begin(ALICE, "e", record(), **until, now=0.0), ["PutItem Audit"]),
        (audit.append(ALICE, record(), **until), ["PutItem Audit"]),
        (audit.append(ALICE, record("02"), **until, **told), ["TransactWriteItems Audit+Events"]),
        (audit.begin(ALICE, "e", record(), **until, now=0.0), ["PutItem Audit", "GetItem Audit"]),
        (events.append(ALICE, event("e2"), **until), ["PutItem Events"]),
        (limits.mark(ALICE, "m", minute=29_000_000), ["UpdateItem Limits"]),
        (connections.issue("t", WHO, **until), ["BatchWriteItem Connections"]),
        (connections.take("t", now=0.0), ["DeleteItem Connections"]),
        (connections.open("c", WHO, **until), ["BatchWriteItem Connections"]),
        (connections.find("c", now=0.0), ["GetItem Connections"]),
        (connections.of_user(ALICE, now=0.0), ["Query Connections"]),
        (connections.close(ALICE, "c"), ["BatchWriteItem Connections"]),
        (connections.forget(ALICE), ["Query Connections", "BatchWriteItem Connections"]),
        (connections.stop(ALICE, "r1", **until), ["PutItem Connections"]),
        (connections.is_stopped(ALICE, "r1", now=0.0), ["GetItem Connections"]),
        (events.since(ALICE, "", now=0.0), ["Query Events"]),
        (deployed.set(ALICE, "a", "m", "k", b"1", expires_at=9.0), ["PutItem Sessions"]),
        (deployed.get(ALICE, "a", "m", "k", now=1.0), ["GetItem Sessions"]),
    ]
    for work, operations in expected:
        assert await sent(dynamo, work) == operations


async def test_a_turn_reads_session_and_skeleton_side_by_side(dynamo: Dynamo) -> None:
    both = threading.Barrier(2, timeout=30)  # neither request leaves before the other is on its way

    def wait(**_: Any) -> None:
        both.wait()

    dynamo.client.meta.events.register("before-call.dynamodb.Query", wait)
    with metered(dynamo.client) as meter:
        sessions, skeleton = dynamo.stores.sessions, dynamo.stores.skeleton
        await asyncio.gather(sessions.read(SESSION, now=0.0), skeleton.read(ALICE))
    assert (meter.reads, meter.writes) == (2, 0)


Flaky = Callable[[str], None]


@pytest.fixture
def loses_the_answer(dynamo: Dynamo) -> Flaky:
    """The next request of an operation is carried out, but its answer is lost; botocore repeats
    it."""

    def arrange(operation: str) -> None:
        answers = [AWSResponse("", 503, HTTPHeaders(), MockRawResponse("{}"))]

        def lose(**_: Any) -> AWSResponse | None:
            # every handler runs, moto's too; the first answer counts
            return answers.pop() if answers else None

        dynamo.client.meta.events.register_first(f"before-send.dynamodb.{operation}", lose)

    return arrange


async def test_a_turn_whose_answer_was_lost_is_recorded_once_and_known_as_recorded(
    dynamo: Dynamo, loses_the_answer: Flaky
) -> None:
    for seq, operation in ((1, "UpdateItem"), (2, "PutItem")):
        loses_the_answer(operation)
        assert await dynamo.stores.sessions.append(SESSION, turn(seq), expires_at=LATER, now=0.0)
    assert (await dynamo.stores.sessions.read(SESSION, now=0.0)).turns == (turn(1), turn(2))


async def test_a_question_survives_lost_answers(dynamo: Dynamo, loses_the_answer: Flaky) -> None:
    """Asked, taken and answered: each write meets its own stamp when it is repeated."""
    sessions = dynamo.stores.sessions
    loses_the_answer("TransactWriteItems")
    assert await sessions.append(SESSION, ASKING, expires_at=LATER, now=0.0)
    loses_the_answer("UpdateItem")
    assert await take(sessions)
    version = (await sessions.read(SESSION, now=0.0)).versions[3]
    answered, done = replace(ASKING, waiting=(), reply="done"), {"answered": [ASKED]}
    loses_the_answer("UpdateItem")
    assert await sessions.replace(SESSION, answered, version=version, **done, expires_at=LATER)
    memory = await sessions.read(SESSION, now=0.0)
    assert (memory.turns, memory.leases) == ((answered,), {})


async def test_a_claim_and_a_document_survive_a_lost_answer(
    dynamo: Dynamo, loses_the_answer: Flaky
) -> None:
    loses_the_answer("PutItem")
    assert await dynamo.stores.audit.begin(ALICE, "e", record(), expires_at=LATER, now=0.0) is None
    await dynamo.stores.documents.create(NOTES, {}, now=NOW)
    loses_the_answer("PutItem")
    made = await dynamo.stores.documents.create(NOTES, {"n": 1}, now=NOW, doc_id="d")
    assert await dynamo.stores.documents.get(NOTES, "d") == made


async def test_a_lease_and_a_save_survive_a_lost_answer(
    dynamo: Dynamo, loses_the_answer: Flaky
) -> None:
    skeleton = dynamo.stores.skeleton
    await skeleton.register(ALICE, [section()], who={})
    loses_the_answer("UpdateItem")
    leased = await skeleton.lease(ALICE, now=1.0, until=61.0)
    assert leased is not None
    refreshed = [section(data={"n": 1}, version=1)]
    loses_the_answer("PutItem")
    assert await skeleton.write(ALICE, refreshed, lease=leased)
    loses_the_answer("UpdateItem")
    assert await skeleton.save(ALICE, refreshed, lease=leased, now=2.0) is not None
    [found] = (await skeleton.read(ALICE)).sections
    assert found.data == {"n": 1}


@pytest.fixture
def meets_a_transaction(dynamo: Dynamo) -> Callable[..., None]:
    """The next request of an operation is refused because a transaction is at work on its item."""

    def arrange(operation: str, code: str, **more: Any) -> None:
        refused = error(code, message="later", **more).response
        answers = [(AWSResponse("", 400, HTTPHeaders(), MockRawResponse("")), refused)]
        events, answer = dynamo.client.meta.events, lambda **_: answers.pop() if answers else None
        events.register_first(f"before-call.dynamodb.{operation}", answer)

    return arrange


async def test_a_write_or_a_transaction_that_meets_another_is_repeated(
    dynamo: Dynamo, meets_a_transaction: Callable[..., None]
) -> None:
    reasons = [{"Code": "None"}, {"Code": "TransactionConflict"}]
    cancelled = "TransactionCanceledException"
    meets_a_transaction("TransactWriteItems", cancelled, CancellationReasons=reasons)
    await dynamo.stores.sessions.append(SESSION, ASKING, expires_at=LATER, now=0.0)
    assert (await dynamo.stores.sessions.read(SESSION, now=0.0)).turns == (ASKING,)
    meets_a_transaction("UpdateItem", "TransactionConflictException")
    assert await take(dynamo.stores.sessions)


def error(code: str, status: int = 400, message: str = "", **more: Any) -> ClientError:
    told = {"Error": {"Code": code, "Message": message}, **more}
    response: Any = {**told, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "PutItem")


TOO_LARGE = "Item size has exceeded the maximum allowed size"
THROTTLED = [{"Code": "None"}, {"Code": "ThrottlingError"}]


@pytest.mark.parametrize(
    ("met", "told"),
    [
        (error("ThrottlingException"), StorageUnavailable),
        (error("ProvisionedThroughputExceededException"), StorageUnavailable),
        (error("SomethingNew", 500), StorageUnavailable),
        (error("ResourceNotFoundException"), StorageUnavailable),
        (error("AccessDeniedException"), StorageUnavailable),
        (error("TransactionCanceledException", CancellationReasons=THROTTLED), StorageUnavailable),
        (ConnectTimeoutError(endpoint_url="https://dynamodb"), StorageUnavailable),
        (error("ValidationException", message=TOO_LARGE), BadInput),
        (error("ItemCollectionSizeLimitExceededException"), BadInput),
        (error("ValidationException", message="bad key"), None),
        (ParamValidationError(report="x"), None),
        (KeyError("x"), None),
    ],
)
def test_outages_name_the_table_what_is_too_large_is_the_callers_and_a_defect_stays_what_it_is(
    met: Exception, told: type[Exception] | None
) -> None:
    translated = translate(met, "The table sessions")
    assert (translated is met) if told is None else isinstance(translated, told)
    assert told is not StorageUnavailable or "The table sessions" in str(translated)


async def test_stores_without_a_table_say_which_variable_is_missing(dynamo: Dynamo) -> None:
    stores = dynamodb_stores(Tables(), client_factory=lambda _: dynamo.client)
    with pytest.raises(SettingsError, match="WEBBEE_TABLE_STORE"):
        await stores.documents.get(NOTES, "d")
    with pytest.raises(SettingsError, match="WEBBEE_SECRETS_PREFIX"):
        await stores.secrets.get("a/b")


async def test_secrets_are_encrypted_under_the_prefix_up_to_their_size(dynamo: Dynamo) -> None:
    await dynamo.stores.secrets.set("acme/auth0|42/mail/password", "x")
    factory = dynamo.stores.secrets._client_factory  # type: ignore[attr-defined]
    (described,) = factory("ssm").describe_parameters()["Parameters"]
    assert described["Name"] == "/webbee/test/acme/auth0.7C42/mail/password"
    assert described["Type"] == "SecureString"
    for value in ("", "x" * 8193):
        with pytest.raises(BadInput, match="8192 bytes"):
            await dynamo.stores.secrets.set("a/b", value)


def test_importing_the_adapters_does_not_import_boto3() -> None:
    code = "import sys, webbee_kernel.stores.dynamodb, benchmarks.meter"
    assert said(f"{code}; print('botocore' in sys.modules)") == "False"


def test_the_kernels_own_client_works_and_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    forget_clients(is_lazy=True)
    with local_aws():
        client = aws_client("dynamodb")
        assert client.list_tables()["TableNames"] == []
        assert aws_client("dynamodb") is client
        assert aws_client("dynamodb", read_timeout=20) is not client
        config = client.meta.config
        assert (config.retries["mode"], config.retries["total_max_attempts"]) == ("standard", 4)
        assert (config.connect_timeout, config.read_timeout) == (1, 3)
        assert config.max_pool_connections == 20


def test_a_deployment_gets_no_client_made_for_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def deployed(region: str, endpoint: str) -> Any:
        monkeypatch.setenv("AWS_DEFAULT_REGION", region)
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", endpoint)
        forget_clients(is_lazy=True)
        return aws_client("sqs")

    here = "http://127.0.0.1:1"
    assert deployed("eu-west-1", here) is deployed("eu-west-1", here)
    assert deployed("us-west-2", here).meta.region_name == "us-west-2"
    assert deployed("us-west-2", "http://127.0.0.1:2").meta.endpoint_url == "http://127.0.0.1:2"
