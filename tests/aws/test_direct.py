"""Our own client against a server that plays AWS: what it sends, reads, repeats and gives up."""

from __future__ import annotations

import datetime as dt
import ssl
import zlib
from collections.abc import Iterator
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import boto3
import orjson
import pytest
from botocore.config import Config
from botocore.exceptions import (
    ChecksumError,
    ClientError,
    ConnectionClosedError,
    ReadTimeoutError,
    SSLError,
)

from tests.aws.service import Reply, Service, served
from tests.aws.trust import certificate
from webbee_kernel.aws import direct, trust
from webbee_kernel.aws.clients import endpoint, usual
from webbee_kernel.aws.direct import Direct, Quota
from webbee_kernel.aws.signing import Credentials

KEYS = Credentials("AKID", "secret", "token")
THROTTLED = Reply({"__type": "com.amazonaws#ThrottlingException", "message": "slow"}, 400)


def client(url: str, service: str = "dynamodb", **options: Any) -> Direct:
    given: dict[str, Any] = {
        "region": "eu-west-1",
        "endpoint": url,
        "credentials": lambda: KEYS,
        "read_timeout": 5,
        "attempts": 4,
        "elsewhere": lambda: theirs(url, service),
        "sleep": lambda _: None,
    }
    return Direct(service, **given | options)


def theirs(url: str, service: str) -> Any:
    made: Any = boto3.client
    return made(
        service,
        region_name="eu-west-1",
        endpoint_url=url,
        aws_access_key_id=KEYS.key,
        aws_secret_access_key=KEYS.secret,
        aws_session_token=KEYS.token,
        config=Config(retries={"mode": "standard", "total_max_attempts": 1}),
    )


@pytest.fixture
def service() -> Iterator[Service]:
    with served() as running:
        yield running


ITEM = {"pk": {"S": "é\u2028"}, "n": {"N": "1.50"}, "raw": {"B": b"\x00\xff"}, "y": {"BOOL": True}}
NESTED = {"m": {"M": {"B": {"S": "named B"}, "in": {"B": b"x"}}}, "l": {"L": [{"BS": [b"a"]}]}}
WIRE = orjson.loads('{"pk":{"S":"é\\u2028"},"n":{"N":"1.50"},"raw":{"B":"AP8="},"y":{"BOOL":true}}')
REQUESTS: list[tuple[str, str, dict[str, Any], Any]] = [
    ("dynamodb", "get_item", {"TableName": "t", "Key": {"pk": {"S": "a"}}}, {"Item": WIRE}),
    ("dynamodb", "put_item", {"TableName": "t", "Item": ITEM | NESTED}, {}),
    (
        "dynamodb",
        "query",
        {
            "TableName": "t",
            "KeyConditionExpression": "#pk = :pk",
            "ExpressionAttributeNames": {"#pk": "pk"},
            "ExpressionAttributeValues": {":pk": {"S": "x"}},
            "ConsistentRead": True,
            "Limit": 5,
        },
        {"Items": [WIRE, WIRE], "Count": 2, "ScannedCount": 2, "LastEvaluatedKey": WIRE},
    ),
    (
        "dynamodb",
        "update_item",
        {"TableName": "t", "Key": {"pk": {"S": "a"}}, "UpdateExpression": "SET a = :a"},
        {"Attributes": {"l": {"L": [{"BS": ["YQ=="]}]}, "m": {"M": {"B": {"S": "named B"}}}}},
    ),
    (
        "dynamodb",
        "transact_write_items",
        {"TransactItems": [{"Put": {"TableName": "t", "Item": ITEM}}], "ClientRequestToken": "r"},
        {},
    ),
    (
        "dynamodb",
        "batch_write_item",
        {"RequestItems": {"B": [{"PutRequest": {"Item": ITEM}}]}},
        {"UnprocessedItems": {"B": [{"PutRequest": {"Item": WIRE}}]}},
    ),
    (
        "sqs",
        "send_message_batch",
        {
            "QueueUrl": "https://sqs/q",
            "Entries": [{"Id": "1", "MessageBody": "ü", "DelaySeconds": 5}],
        },
        {"Successful": [{"Id": "1", "MessageId": "m", "MD5OfMessageBody": "x"}], "Failed": []},
    ),
    (
        "ssm",
        "get_parameter",
        {"Name": "/a/b", "WithDecryption": True},
        {"Parameter": {"Name": "/a/b", "Value": "v", "Version": 1}},
    ),
    (
        "bedrock-runtime",
        "converse",
        {
            "modelId": "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.a.b-v1:0",
            "messages": [{"role": "user", "content": [{"text": "é"}]}],
            "inferenceConfig": {"temperature": 0.0},
        },
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"toolUse": {"toolUseId": "1", "name": "f", "input": {"n": 2**70}}}
                    ],
                }
            },
            "stopReason": "tool_use",
            "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
            "metrics": {"latencyMs": 5},
        },
    ),
]


def without_metadata(answer: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in answer.items() if k != "ResponseMetadata"}


@pytest.mark.parametrize(("name", "operation", "request_", "body"), REQUESTS)
def test_requests_and_answers_are_botocores(
    service: Service, name: str, operation: str, request_: dict[str, Any], body: Any
) -> None:
    import json

    reply = Reply(json.dumps(body).encode(), headers={"x-amzn-RequestId": "R1"})
    service.script[:] = [reply, reply]
    botocores = theirs(service.url, name)
    ours = getattr(client(service.url, name), operation)(**request_)
    expected = getattr(botocores, operation)(**request_)
    botocores.close()
    assert without_metadata(ours) == without_metadata(expected)
    for key in ("RequestId", "HTTPStatusCode", "RetryAttempts"):
        assert ours["ResponseMetadata"][key] == expected["ResponseMetadata"][key]
    mine, other = service.requests
    assert mine.path == other.path
    assert mine.json == other.json
    told = ("content-type", "x-amz-target", "x-amz-security-token", "host")
    assert [mine.headers.get(h) for h in told] == [other.headers.get(h) for h in told]


def test_an_invocation_is_botocores(service: Service) -> None:
    function = "arn:aws:lambda:eu-west-1:1:function:cell:live"
    headers = {"X-Amz-Function-Error": "Unhandled"}
    service.script[:] = [Reply(b"[1]", headers=headers), Reply(b"[1]", headers=headers)]
    botocores = theirs(service.url, "lambda")
    ours, expected = (
        c.invoke(FunctionName=function, Payload='{"a": 1}', InvocationType="RequestResponse")
        for c in (client(service.url, "lambda"), botocores)
    )
    assert ours["Payload"].read() == expected["Payload"].read() == b"[1]"
    botocores.close()
    assert [ours[k] == expected[k] for k in ("FunctionError", "StatusCode")] == [True, True]
    mine, other = service.requests
    assert (mine.path, mine.body) == (other.path, other.body)
    assert mine.headers["x-amz-invocation-type"] == other.headers["x-amz-invocation-type"]


def test_a_role_is_taken_as_botocore_takes_it(service: Service) -> None:
    asked = {
        "RoleArn": "arn:aws:iam::1:role/Data",
        "RoleSessionName": "one",
        "DurationSeconds": 900,
        "Tags": [{"Key": "tenant", "Value": "a c+m&é"}, {"Key": "secrets", "Value": "/x"}],
        "Policy": '{"a": [1, 2]}',
    }
    taken = (
        '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>'
        "<Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>a&amp;b</SecretAccessKey>"
        "<SessionToken>t+/=</SessionToken><Expiration>2026-11-22T17:00:00Z</Expiration>"
        "</Credentials><AssumedRoleUser><AssumedRoleId>AROA:one</AssumedRoleId><Arn>arn:x</Arn>"
        "</AssumedRoleUser><PackedPolicySize>6</PackedPolicySize></AssumeRoleResult>"
        "<ResponseMetadata><RequestId>R1</RequestId></ResponseMetadata></AssumeRoleResponse>"
    )
    reply = Reply(taken.encode(), headers={"Content-Type": "text/xml"})
    service.script[:] = [reply, reply]
    botocores = theirs(service.url, "sts")
    ours = client(service.url, "sts").assume_role(**asked)
    expected = botocores.assume_role(**asked)
    botocores.close()
    assert without_metadata(ours) == without_metadata(expected)
    assert ours["Credentials"]["SecretAccessKey"] == "a&b"
    mine, other = service.requests
    assert (mine.path, mine.body) == (other.path, other.body)
    assert mine.headers["content-type"] == other.headers["content-type"]


ERRORS = [
    (
        "sts",
        Reply(
            b"<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>"
            b"<Message>User is not authorized</Message></Error></ErrorResponse>",
            403,
        ),
    ),
    (
        "dynamodb",
        Reply(
            {
                "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
                "message": "The conditional request failed",
                "Item": WIRE,
            },
            400,
        ),
    ),
    (
        "dynamodb",
        Reply(
            {
                "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
                "Message": "cancelled",
                "CancellationReasons": [
                    {"Code": "None"},
                    {"Code": "ConditionalCheckFailed", "Message": "no", "Item": WIRE},
                ],
            },
            400,
        ),
    ),
    ("dynamodb", Reply(b"<html>no JSON</html>", 413)),
    (
        "sqs",
        Reply(
            {"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "gone"},
            400,
            {"x-amzn-query-error": "AWS.SimpleQueueService.NonExistentQueue;Sender"},
        ),
    ),
    (
        "lambda",
        Reply(
            {"Type": "User", "message": "throttled", "Reason": "CallerRateLimitExceeded"},
            429,
            {"x-amzn-ErrorType": "TooManyRequestsException:http://internal"},
        ),
    ),
]


@pytest.mark.parametrize(("name", "reply"), ERRORS)
def test_errors_are_botocores(service: Service, name: str, reply: Reply) -> None:
    service.script[:] = [reply, reply]
    botocores = theirs(service.url, name)
    asked = {
        "dynamodb": ("get_item", {"TableName": "t", "Key": {"pk": {"S": "a"}}}),
        "sqs": ("send_message_batch", {"QueueUrl": "q", "Entries": []}),
        "lambda": ("invoke", {"FunctionName": "f"}),
        "sts": ("assume_role", {"RoleArn": "arn:aws:iam::1:role/D" * 2, "RoleSessionName": "one"}),
    }[name]
    found = []
    for one in (client(service.url, name, attempts=1), botocores):
        with pytest.raises(ClientError) as error:
            getattr(one, asked[0])(**asked[1])
        found.append(error.value)
    botocores.close()
    ours, expected = found
    assert ours.response["Error"]["Code"] == expected.response["Error"]["Code"]
    for key in ("Item", "CancellationReasons"):
        assert ours.response.get(key) == expected.response.get(key)
    if reply.status != 413:
        assert ours.response["Error"]["Message"] == expected.response["Error"]["Message"]
        assert str(ours) == str(expected)


@pytest.mark.parametrize("first", [THROTTLED, Reply(b"busy", 503), Reply(drop=True)])
def test_what_passes_is_asked_again_with_the_same_token(service: Service, first: Reply) -> None:
    service.script[:] = [first, first]
    client(service.url).transact_write_items(TransactItems=[])
    tokens = {request.json["ClientRequestToken"] for request in service.requests}
    assert (len(service.requests), len(tokens)) == (3, 1)


def test_an_error_that_stays_is_asked_once(service: Service) -> None:
    service.script[:] = [Reply({"__type": "x#ValidationException", "message": "no"}, 400)]
    with pytest.raises(ClientError, match="ValidationException"):
        client(service.url).query(TableName="t")
    assert len(service.requests) == 1


def test_attempts_end(service: Service) -> None:
    service.script[:] = [THROTTLED] * 9
    with pytest.raises(ClientError, match=r"ThrottlingException.*reached max retries: 3"):
        client(service.url).query(TableName="t")
    assert len(service.requests) == 4


def test_pauses_grow_and_are_not_all_the_same(service: Service) -> None:
    pauses: list[float] = []
    for _ in range(40):
        service.script[:] = [THROTTLED] * 3
        client(service.url, sleep=pauses.append).query(TableName="t")
    for n in range(3):
        one = pauses[n::3]
        assert max(one) <= 2**n
        assert max(one) > 2**n / 2
        assert len(set(one)) == 40


def test_a_service_that_only_fails_is_left_alone() -> None:
    quota = Quota()
    assert [quota.take(5) for _ in range(101)] == [True] * 100 + [False]
    quota.give(0)
    assert not quota.take(5)
    quota.give(5)
    assert quota.take(5)


def test_a_body_that_its_checksum_contradicts_is_asked_for_again(service: Service) -> None:
    good = b'{"Item":{}}'
    bad = Reply(b'{"Item":{"x":1}}', headers={"x-amz-crc32": str(zlib.crc32(good))})
    service.script[:] = [bad, Reply(good, headers={"x-amz-crc32": str(zlib.crc32(good))})]
    assert client(service.url).get_item(TableName="t", Key={})["Item"] == {}
    service.script[:] = [bad]
    with pytest.raises(ChecksumError):
        client(service.url, attempts=1).get_item(TableName="t", Key={})


def test_a_wrong_clock_is_corrected_once(service: Service) -> None:
    ahead = dt.datetime.now(dt.UTC) + dt.timedelta(hours=2)
    told = {"Date": format_datetime(ahead)}
    skewed = Reply({"__type": "x#InvalidSignatureException", "message": "?"}, 400, told)
    service.script[:] = [skewed]
    ours = client(service.url)
    ours.query(TableName="t")
    ours.query(TableName="t")
    times = [request.headers["x-amz-date"][:11] for request in service.requests]
    assert times[1:] == [f"{ahead:%Y%m%dT%H}"] * 2
    assert times[0] != times[1]
    service.script[:] = [skewed]
    with pytest.raises(ClientError, match="InvalidSignature"):
        ours.query(TableName="t")


def test_connections_are_kept_and_a_stale_one_is_replaced(service: Service) -> None:
    ours = client(service.url, attempts=1)
    service.script[:] = [Reply(), Reply(last=True), Reply()]
    for _ in range(2):
        ours.query(TableName="t")
    first, second = (request.connection for request in service.requests)
    assert first == second
    assert service.closed.wait(30)  # and with it the server's farewell has arrived
    ours.query(TableName="t")
    assert service.requests[2].connection != first


def test_a_service_that_hangs_is_named_as_botocore_names_it(service: Service) -> None:
    service.script[:] = [Reply(hang=True)]
    with pytest.raises(ReadTimeoutError):
        client(service.url, read_timeout=0.2, attempts=1).query(TableName="t")
    service.script[:] = [Reply(drop=True)]
    with pytest.raises(ConnectionClosedError):
        client(service.url, attempts=1).query(TableName="t")


def test_the_trace_goes_along_unsigned(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-2-3")
    client(service.url).query(TableName="t")
    [request] = service.requests
    assert request.headers["x-amzn-trace-id"] == "Root=1-2-3"
    assert "trace" not in request.headers["authorization"]


def test_what_it_does_not_speak_is_botocores(service: Service) -> None:
    service.script[:] = [Reply({"TableNames": ["t"]})]
    assert client(service.url).list_tables()["TableNames"] == ["t"]


@pytest.mark.usefixtures("own_trust")
def test_tls_is_verified_and_the_trust_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = certificate(tmp_path, dt.datetime.now(dt.UTC))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(trusted)
    with served(tls=serving) as service:
        with pytest.raises(SSLError):
            client(service.url, attempts=1).query(TableName="t")
        assert trust.tls() is trust.tls()
        forget_trust()
        monkeypatch.setattr(trust, "bundle", lambda: str(trusted))
        client(service.url, attempts=1).query(TableName="t")
        assert len(service.requests) == 1  # what Amazon's authorities do not know is in the bundle


def forget_trust() -> None:
    """Another process, as far as trust goes."""
    for made in (direct.pool, trust.widen, trust.tls):
        made.cache_clear()


@pytest.fixture
def own_trust() -> Iterator[None]:
    """Trust that no other test has widened, or finds widened."""
    forget_trust()
    yield
    forget_trust()


def test_amazons_authorities_are_some_of_botocores() -> None:
    first, all_of_them = (ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) for _ in range(2))
    first.load_verify_locations(trust.ROOTS)
    all_of_them.load_verify_locations(trust.bundle())
    known = set(all_of_them.get_ca_certs(binary_form=True))
    found = first.get_ca_certs(binary_form=True)
    assert len(found) == 5
    assert known.issuperset(found)


LAMBDA = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "a",
    "AWS_SECRET_ACCESS_KEY": "b",
}


@pytest.mark.parametrize(
    ("more", "held", "expected"),
    [
        ({}, False, True),
        ({"AWS_ACCESS_KEY_ID": ""}, False, False),
        ({"AWS_ACCESS_KEY_ID": ""}, True, True),
        ({"AWS_DEFAULT_REGION": "", "AWS_REGION": "us-east-1"}, False, True),
        ({"AWS_DEFAULT_REGION": ""}, False, False),
        ({"AWS_DEFAULT_REGION": "cn-north-1"}, False, False),
        ({"AWS_DEFAULT_REGION": "us-gov-west-1"}, False, False),
        ({"AWS_DEFAULT_REGION": "us-isob-east-1"}, False, False),
        ({"https_proxy": "http://proxy"}, False, False),
        ({"AWS_PROFILE": "dev"}, False, False),
        ({"AWS_CA_BUNDLE": "/x"}, False, False),
        ({"AWS_USE_FIPS_ENDPOINT": "true"}, True, False),
    ],
)
def test_everything_unusual_is_botocores(more: dict[str, str], held: bool, expected: bool) -> None:
    assert usual(LAMBDA | more, held) is expected


@pytest.mark.parametrize("name", ["dynamodb", "sqs", "ssm", "lambda", "bedrock-runtime"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"AWS_ENDPOINT_URL": "http://localhost:1"},
        {"AWS_ENDPOINT_URL": "http://x:1", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://y:2"},
        {"AWS_ENDPOINT_URL": "http://x:1", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"},
    ],
)
def test_addresses_are_botocores(
    name: str, more: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in (LAMBDA | more).items():
        monkeypatch.setenv(key, value)
    made: Any = boto3.Session().client
    expected = made(name)
    assert endpoint(name, LAMBDA | more) == expected.meta.endpoint_url
    expected.close()
