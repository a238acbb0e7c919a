"""Each function's role allows what the function asks AWS for, and nothing else.

The built functions are driven through every route and trigger; each signs its requests with a key
of its own, so what was asked is known by function. In AWS a request beyond the role would fail; an
action that nothing asks for would be a door left open.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.emulator.conftest import LOGICAL_IDS, Asked, Cloud, recorded
from tests.template.test_policies import ALLOWED, DATA, OWN_SECRETS, SECRETS

SESSION = "the session that comes with a call"

NOT_ASKED = {
    (
        "chat_turn",
        "CacheTable",
        "dynamodb:GetItem",
    ): "only where an answer was lost: then the outcome is looked for there",
    (
        "chat_turn",
        "PolicyText",
        "ssm:GetParameter",
    ): "only where a Policy is given: tests/template/test_stack.py reads one",
    ("*", "LogGroup", "logs:CreateLogStream"): "Lambda itself, with the function's role",
    ("*", "LogGroup", "logs:PutLogEvents"): "Lambda itself, with the function's role",
    (
        "skeleton_refresh",
        "RefreshQueue",
        "sqs:ReceiveMessage",
    ): "Lambda's poller, with the function's role",
    (
        "skeleton_refresh",
        "RefreshQueue",
        "sqs:DeleteMessage",
    ): "Lambda's poller, with the function's role",
    (
        "skeleton_refresh",
        "RefreshQueue",
        "sqs:GetQueueAttributes",
    ): "Lambda's poller, with the function's role",
    (
        "*",
        "BedrockModelArns",
        "bedrock:InvokeModel",
    ): "only with a Bedrock model, which moto has not; the adapter's own tests check the wire",
    (
        "chat_turn",
        "BedrockModelArns",
        "bedrock:InvokeModelWithResponseStream",
    ): "only with a Bedrock model, as above",
    (
        "chat_turn",
        "@connections",
        "execute-api:ManageConnections",
    ): "only with an open WebSocket, which moto has not; the tests of live turns post to one",
    **{
        ("chat_turn", "LateQueue", f"sqs:{action}"): (
            "Lambda's poller, with the function's role; sent to where a result outlives its turn"
        )
        for action in ("SendMessage", "ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
    },
    ("chat_turn", "RefreshDeadLetterQueue", "sqs:SendMessage"): (
        "only for a record of the events' stream that cannot be read"
    ),
    ("*", "parameter${ExtensionSettings}", "ssm:GetParameter"): (
        "only with ExtensionConfig; tests/functions read settings from a parameter"
    ),
    **{
        ("chat_turn", "EventsTable/stream", f"dynamodb:{action}"): (
            "Lambda's poller, with the function's role"
        )
        for action in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
    },
    (
        "*",
        "ModelKey",
        "ssm:GetParameter",
    ): "only with an openai model and its key; the adapter's own tests read it",
    ("*", "KmsKeyArn", "kms:Decrypt"): "only with a key of one's own, by the services themselves",
    ("*", "KmsKeyArn", "kms:GenerateDataKey"): "only with a key of one's own, by the services",
    (
        "chat_turn",
        "PersonRole",
        "sts:AssumeRole",
    ): "for an export or an erasure; the session policy's own tests read what it reaches",
    (
        "skeleton_refresh",
        "CacheTable",
        "dynamodb:GetItem",
    ): "handlers of sections and jobs may use the cache",
}
"""Allowed actions that the drive does not ask for, each with its reason."""


def http(
    cloud: Cloud,
    function: str,
    method: str,
    route: str,
    path: dict[str, str] | None = None,
    body: Any = None,
    **more: Any,
) -> Any:
    event = recorded("http_session") | {
        "rawPath": route.format(**(path or {})),
        **more,
    }
    event["requestContext"]["http"]["method"] = method
    if body is not None:
        event["body"] = json.dumps(body)
    answer = cloud.invoke(function, event)
    assert answer["statusCode"] == 200, answer
    return (
        json.loads(answer["body"])
        if "json" in answer["headers"]["content-type"]
        else answer["body"]
    )


@pytest.fixture(scope="module")
def driven(cloud: Cloud, asked: list[Asked]) -> int:
    """Every route and every trigger, once; where the requests of that begin. Those before are other
    tests', attackers with the cell's own role among them."""
    begun = len(asked)
    walker = {"app_id": "walker"}
    http(
        cloud,
        "chat_turn",
        "PUT",
        "/v1/extensions/{app_id}/secrets/{name}",
        walker | {"name": "token"},
        {"value": "s3cret"},
    )
    http(cloud, "chat_turn", "GET", "/v1/extensions/{app_id}/secrets", walker)
    http(cloud, "chat_turn", "PUT", "/v1/extensions/{app_id}/installation", walker)
    for _ in range(2):  # the second delivery is answered from the audit record
        walked = http(
            cloud,
            "chat_turn",
            "POST",
            "/v1/extensions/{app_id}/call",
            walker,
            {"function": "walk", "params": {}, "request_id": "w"},
        )
        assert walked["status"] == "ok", walked
    http(
        cloud,
        "chat_turn",
        "POST",
        "/v1/extensions/{app_id}/call",
        walker,
        {"function": "__panel__board", "params": {}},
    )
    for message in ("walk through everything", *["look around"] * 6):  # the ring goes round
        http(
            cloud, "chat_turn", "POST", "/v1/chat", body={"message": message, "session_id": "drive"}
        )
    asked = http(
        cloud,
        "chat_turn",
        "POST",
        "/v1/chat",
        body={"message": "drop everything", "session_id": "drive"},
    )
    assert asked["status"] == "confirmation", asked
    confirmation = asked["confirmation"]
    http(
        cloud,
        "chat_turn",
        "POST",
        "/v1/confirmations/{id}",
        {"id": confirmation.get("id") or confirmation["confirmation_id"]},
        {"accept": True},
    )
    http(cloud, "chat_turn", "GET", "/v1/sessions")
    http(cloud, "chat_turn", "GET", "/v1/sessions/{id}", {"id": "drive"})
    drive = {"id": "drive"}
    http(cloud, "chat_turn", "PATCH", "/v1/sessions/{id}", drive, {"title": "A walk"})
    http(cloud, "chat_turn", "GET", "/v1/me/audit")
    http(cloud, "chat_turn", "GET", "/v1/events")
    http(cloud, "chat_turn", "GET", "/v1/extensions")
    http(cloud, "chat_turn", "GET", "/v1/inspect", queryStringParameters={"message": "look around"})
    http(cloud, "chat_turn", "GET", "/v1/health")
    cloud.invoke("skeleton_refresh", recorded("eventbridge_tick"))
    batch = cloud.drain()
    cloud.invoke("skeleton_refresh", {"Records": batch})  # delivered twice
    live(cloud)
    http(cloud, "chat_turn", "DELETE", "/v1/sessions/{id}", {"id": "drive"})
    http(cloud, "chat_turn", "DELETE", "/v1/extensions/{app_id}/installation", walker)
    http(
        cloud,
        "chat_turn",
        "DELETE",
        "/v1/extensions/{app_id}/secrets/{name}",
        walker | {"name": "token"},
    )
    return begun


def live(cloud: Cloud) -> None:
    """A page connects and leaves; an event is stored when no page is open."""
    ticket = http(cloud, "chat_turn", "POST", "/v1/live")["url"].partition("?ticket=")[2]
    context = {"connectionId": "c1"}
    for kind in ("CONNECT", "DISCONNECT"):
        event = {"requestContext": {**context, "eventType": kind}}
        given = {"queryStringParameters": {"ticket": ticket}} if kind == "CONNECT" else {}
        assert cloud.invoke("chat_turn", event | given) == {"statusCode": 200}
    stored = {"eventSource": "aws:dynamodb", "eventName": "INSERT"}
    image = {"dynamodb": {"NewImage": cloud.items("EventsTable")[0]}}
    assert cloud.invoke("chat_turn", {"Records": [stored | image]}) == {"batchItemFailures": []}
    request = {"request_id": "r-1"}
    http(cloud, "chat_turn", "POST", "/v1/turns/{request_id}/stop", request)


def uses(cloud: Cloud, asked: list[Asked]) -> dict[str, set[tuple[str, str]]]:
    """`(resource, action)` as policies name them, by function."""
    logical = {physical: name for name, physical in cloud.stack.names.items() if physical}
    logical[cloud.stack.environments["chat_turn"]["WEBBEE_DISPATCH"]] = (
        "ToolDispatchFunctionAliaslive"
    )
    logical[cloud.stack.environments["chat_turn"]["WEBBEE_CLOCK"]] = (
        "SkeletonRefreshFunctionAliaslive"
    )
    logical[cloud.stack.outputs["RefreshQueueUrl"]] = "RefreshQueue"
    found: dict[str, set[tuple[str, str]]] = {function: set() for function in LOGICAL_IDS}
    for request in asked:
        if request.key in found or request.key.startswith("ASIA"):
            found.setdefault(request.key if request.key in found else SESSION, set()).update(
                actions(request, logical)
            )
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
                yield (
                    logical[write["TableName"]],
                    "dynamodb:" + {"ConditionCheck": "ConditionCheckItem"}.get(part, f"{part}Item"),
                )
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


@pytest.mark.parametrize("function", LOGICAL_IDS)
def test_a_function_asks_for_nothing_its_role_does_not_allow(
    used: dict[str, set[tuple[str, str]]], function: str
) -> None:
    allowed = {
        (resource, action)
        for resource, actions in ALLOWED[LOGICAL_IDS[function]].items()
        for action in actions
    }
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
    allowed = {
        (resource, action)
        for resource, actions in ALLOWED[LOGICAL_IDS[function]].items()
        for action in actions
    }
    unused = {pair for pair in allowed - ever_used[function] if not excused(function, *pair)}
    assert sorted(unused) == []


def excused(function: str, resource: str, action: str) -> bool:
    return any(f in ("*", function) and r in resource and a == action for f, r, a in NOT_ASKED)
