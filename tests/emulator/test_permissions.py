"""Each function's role allows what the function asks AWS for, and nothing else.

The built functions are driven through every route and trigger; each signs its requests with a key
of its own, so what was asked is known by function. In AWS a request beyond the role would fail; an
action that nothing asks for would be a door left open.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.emulator.conftest import LOGICAL_IDS, Asked, Cloud, recorded
from tests.template.test_policies import ALLOWED, DATA, OWN_SECRETS, SECRETS

SESSION = "the session that comes with a call"

POLLER = "Lambda's poller, with the function's role"
TAKEN = "sqs:ReceiveMessage sqs:DeleteMessage sqs:GetQueueAttributes"
STREAM = "DescribeStream GetRecords GetShardIterator ListStreams"
FOLLOWED = " ".join(f"dynamodb:{action}" for action in STREAM.split())
NOT_ASKED = (
    ("*", "LogGroup", "logs:CreateLogStream logs:PutLogEvents", "Lambda itself, with the role"),
    ("skeleton_refresh", "RefreshQueue", TAKEN, POLLER),
    ("chat_turn", "LateQueue", TAKEN, POLLER),
    ("chat_turn", "LateQueue", "sqs:SendMessage", "where a result outlives its turn"),
    ("chat_turn", "EventsTable/stream", FOLLOWED, POLLER),
    ("chat_turn", "RefreshDeadLetterQueue", "sqs:SendMessage", "for a record that nobody can read"),
    ("chat_turn", "CacheTable", "dynamodb:GetItem", "where an answer was lost: an outcome"),
    ("skeleton_refresh", "CacheTable", "dynamodb:GetItem", "sections and jobs may use the cache"),
    ("chat_turn", "PolicyText", "ssm:GetParameter", "with a Policy: tests/template reads one"),
    ("*", "parameter${ExtensionSettings}", "ssm:GetParameter", "with ExtensionConfig: functions"),
    ("*", "BedrockModelArns", "bedrock:InvokeModel", "moto has no Bedrock: the adapter's tests"),
    ("chat_turn", "BedrockModelArns", "bedrock:InvokeModelWithResponseStream", "as above"),
    ("*", "ModelKey", "ssm:GetParameter", "with an openai model: the adapter's tests read it"),
    ("chat_turn", "@connections", "execute-api:ManageConnections", "moto has no WebSockets"),
    ("*", "KmsKeyArn", "kms:Decrypt kms:GenerateDataKey", "with a key of one's own, by services"),
    ("chat_turn", "PersonRole", "sts:AssumeRole", "for an export or an erasure: their own tests"),
)
"""Allowed actions that the drive does not ask for, each with its reason."""

APP = "/v1/extensions/walker"


def http(cloud: Cloud, method: str, path: str, body: Any = None, **query: str) -> Any:
    event = recorded("http_session") | {"rawPath": path}
    event["requestContext"]["http"]["method"] = method
    if body is not None:
        event["body"] = json.dumps(body)
    if query:
        event["queryStringParameters"] = query
    return cloud.http(event)


@pytest.fixture(scope="module")
def driven(cloud: Cloud, asked: list[Asked]) -> int:
    """Every route and every trigger, once; where the requests of that begin. Those before are other
    tests', attackers with the cell's own role among them."""
    begun = len(asked)
    http(cloud, "PUT", f"{APP}/secrets/token", {"value": "s3cret"})
    http(cloud, "GET", f"{APP}/secrets")
    http(cloud, "PUT", f"{APP}/installation")
    for _ in range(2):  # the second delivery is answered from the audit record
        walk = {"function": "walk", "params": {}, "request_id": "w"}
        walked = http(cloud, "POST", f"{APP}/call", walk)
        assert walked["status"] == "ok", walked
    http(cloud, "POST", f"{APP}/call", {"function": "__panel__board", "params": {}})
    for message in ("walk through everything", *["look around"] * 6):  # the ring goes round
        http(cloud, "POST", "/v1/chat", {"message": message, "session_id": "drive"})
    drop = {"message": "drop everything", "session_id": "drive"}
    card = http(cloud, "POST", "/v1/chat", drop)
    assert card["status"] == "confirmation", card
    http(cloud, "POST", f"/v1/confirmations/{card['confirmation']['id']}", {"accept": True})
    http(cloud, "GET", "/v1/sessions")
    http(cloud, "GET", "/v1/sessions/drive")
    http(cloud, "PATCH", "/v1/sessions/drive", {"title": "A walk"})
    http(cloud, "GET", "/v1/me/audit")
    http(cloud, "GET", "/v1/events")
    http(cloud, "GET", "/v1/extensions")
    http(cloud, "GET", "/v1/inspect", message="look around")
    http(cloud, "GET", "/v1/health")
    cloud.invoke("skeleton_refresh", recorded("eventbridge_tick"))
    cloud.invoke("skeleton_refresh", {"Records": cloud.drain()})  # delivered twice
    live(cloud)
    http(cloud, "DELETE", "/v1/sessions/drive")
    http(cloud, "DELETE", f"{APP}/installation")
    http(cloud, "DELETE", f"{APP}/secrets/token")
    return begun


def live(cloud: Cloud) -> None:
    """A page connects and leaves; an event is stored when no page is open."""
    ticket = http(cloud, "POST", "/v1/live")["url"].partition("?ticket=")[2]
    context = {"connectionId": "c1"}
    for kind in ("CONNECT", "DISCONNECT"):
        event = {"requestContext": {**context, "eventType": kind}}
        given = {"queryStringParameters": {"ticket": ticket}} if kind == "CONNECT" else {}
        assert cloud.invoke("chat_turn", event | given) == {"statusCode": 200}
    stored = {"eventSource": "aws:dynamodb", "eventName": "INSERT"}
    image = {"dynamodb": {"NewImage": cloud.items("EventsTable")[0]}}
    assert cloud.invoke("chat_turn", {"Records": [stored | image]}) == {"batchItemFailures": []}
    http(cloud, "POST", "/v1/turns/r-1/stop")


def uses(cloud: Cloud, asked: list[Asked]) -> dict[str, set[tuple[str, str]]]:
    """`(resource, action)` as policies name them, by function."""
    logical = {physical: name for name, physical in cloud.stack.names.items() if physical}
    door = cloud.stack.environments["chat_turn"]
    logical[door["WEBBEE_DISPATCH"]] = "ToolDispatchFunctionAliaslive"
    logical[door["WEBBEE_CLOCK"]] = "SkeletonRefreshFunctionAliaslive"
    logical[cloud.stack.outputs["RefreshQueueUrl"]] = "RefreshQueue"
    found: dict[str, set[tuple[str, str]]] = {function: set() for function in LOGICAL_IDS}
    for request in asked:
        if request.key in found or request.key.startswith("ASIA"):
            who = request.key if request.key in found else SESSION
            found.setdefault(who, set()).update(actions(request, logical))
    return found


def actions(request: Asked, logical: dict[str, str]) -> Iterator[tuple[str, str]]:
    service, _, operation = request.target.partition(".")
    if service == "Lambda":
        yield logical[request.body.decode()], f"lambda:{operation}"
        return
    if not service:  # STS speaks forms
        assert request.body.startswith(b"Action=AssumeRole&"), request.body
        yield from (("DataRole", f"sts:{done}") for done in ("AssumeRole", "TagSession"))
        return
    body = json.loads(request.body)
    if service.startswith("DynamoDB"):
        if operation == "TransactWriteItems":  # needs the actions of its parts
            for item in body["TransactItems"]:
                [(part, write)] = item.items()
                yield logical[write["TableName"]], f"dynamodb:{part}Item"
        elif "RequestItems" in body:
            for table in body["RequestItems"]:
                yield logical[table], f"dynamodb:{operation}"
        else:
            index = f"/index/{body['IndexName']}" if "IndexName" in body else ""
            yield logical[body["TableName"]] + index, f"dynamodb:{operation}"
    elif service == "AmazonSQS":
        yield logical[body["QueueUrl"]], "sqs:" + operation.removesuffix("Batch")
    elif service == "AmazonSSM":
        assert body["Name"].startswith("/webbee/webbee/")
        yield SECRETS, f"ssm:{operation}"
    elif service == "secretsmanager":
        yield "WebhookKey", f"{service}:{operation}"
    else:
        raise AssertionError(f"a service nobody allowed: {request.target}")


@pytest.fixture(scope="module")
def used(cloud: Cloud, driven: int, asked: list[Asked]) -> dict[str, set[tuple[str, str]]]:
    return uses(cloud, asked[driven:])


@pytest.fixture(scope="module")
def ever_used(cloud: Cloud, driven: int, asked: list[Asked]) -> dict[str, set[tuple[str, str]]]:
    """Also before the drive: what a process asks once a minute may have been asked then."""
    assert driven <= len(asked)
    return uses(cloud, asked)


def pairs(grants: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    return {(resource, action) for resource, actions in grants.items() for action in actions}


@pytest.mark.parametrize("function", LOGICAL_IDS)
def test_a_function_asks_for_nothing_its_role_does_not_allow(
    used: dict[str, set[tuple[str, str]]], function: str
) -> None:
    allowed = pairs(ALLOWED[LOGICAL_IDS[function]])
    assert used[function] or function == "tool_dispatch"  # which signs with what comes with a call
    assert sorted(used[function] - allowed) == []


def test_the_sessions_that_come_with_calls_ask_for_nothing_that_is_not_granted(
    used: dict[str, set[tuple[str, str]]],
) -> None:
    granted = {(SECRETS if r == OWN_SECRETS else r, a) for r, found in DATA.items() for a in found}
    assert len(used[SESSION]) > 8
    assert sorted(used[SESSION] - granted) == []


@pytest.mark.parametrize("function", LOGICAL_IDS)
def test_a_role_allows_nothing_its_function_does_not_ask_for(
    ever_used: dict[str, set[tuple[str, str]]], function: str
) -> None:
    allowed = pairs(ALLOWED[LOGICAL_IDS[function]])
    unused = {pair for pair in allowed - ever_used[function] if not excused(function, *pair)}
    assert sorted(unused) == []


def excused(function: str, resource: str, action: str) -> bool:
    return any(
        of in ("*", function) and named in resource and action in actions.split()
        for of, named, actions, _ in NOT_ASKED
    )
