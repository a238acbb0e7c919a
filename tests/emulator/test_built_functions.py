"""What `sam build` makes, under Lambda's runtime client and emulator: the production path from
event to item."""

from __future__ import annotations

import json
from typing import Any

from tests.emulator.conftest import Cloud, recorded
from webbee_kernel.observability import EMITTED


def chat(cloud: Cloud, message: str, session: str, **more: Any) -> dict[str, Any]:
    status, body = cloud.http(
        "chat_turn",
        "http_chat",
        body=json.dumps({"message": message, "session_id": session, **more}),
    )
    assert status == 200, body
    return dict(body)


def test_the_page_is_told_that_all_is_well(cloud: Cloud) -> None:
    status, body = cloud.http("chat_turn", "http_health")
    assert (status, body["status"]) == (200, "ok")
    assert body["tables"] == {"sessions": "ok", "skeleton": "ok", "events": "ok"}
    assert set(body["extensions"]) == {"mail", "tasks", "notes", "walker"}
    assert "ok" in body["extensions"].values()


def test_a_turn_runs_a_tool_in_the_other_function_and_is_stored(cloud: Cloud) -> None:
    cloud.messages()
    answer = chat(cloud, "add a task: send the Q3 budget to finance", "first", request_id="r-1")
    assert answer["status"] == "ok"
    assert [(c["app_id"], c["status"]) for c in answer["calls"]] == [("tasks", "ok")]
    assert (
        chat(cloud, "add a task: send the Q3 budget to finance", "first", request_id="r-1")
        == answer
    )  # answered once

    assert [
        i["sk"]["S"] for i in cloud.items("SessionsTable") if i["pk"]["S"] == "acme#alice#first"
    ] == ["turn#1"]
    assert any("Q3 budget" in str(item) for item in cloud.items("StoreTable"))
    assert len(cloud.items("AuditTable")) >= 1
    asked = [json.loads(m["body"]) for m in cloud.messages()]
    wanted = [w for m in asked for w in m.get("wanted", ())]
    assert {reason for app_id, _, reason in wanted if app_id == "tasks"} == {"effect"}


def test_the_remembered_turns_are_listed(cloud: Cloud) -> None:
    chat(cloud, "show my tasks", "listed")
    status, body = cloud.http("chat_turn", "http_session", rawPath="/v1/sessions/listed")
    assert status == 200
    assert [(t["turn"], t["message"]) for t in body["turns"]] == [(1, "show my tasks")]
    status, _ = cloud.http("chat_turn", "http_session", rawPath="/v1/sessions/never")
    assert status == 404


def test_tool_dispatch_answers_invocations(cloud: Cloud) -> None:
    catalogue = cloud.invoke("tool_dispatch", recorded("invoke_catalogue"))
    assert {"mail", "tasks", "notes"} <= {app["app_id"] for app in catalogue["apps"]}
    outcome = cloud.invoke("tool_dispatch", recorded("invoke_call") | {"app_id": "nothing"})
    assert (outcome["status"], outcome["error_code"]) == ("error", "UNKNOWN_TOOL")


def test_an_installation_makes_sections_due_and_the_tick_queues_them(cloud: Cloud) -> None:
    cloud.messages()  # what other tests left
    status, body = cloud.http(
        "chat_turn", "http_install", sub="ines", rawPath="/v1/extensions/tasks/installation"
    )
    assert (status, body) == (200, {"app_id": "tasks", "installed": True})

    assert cloud.invoke("skeleton_refresh", recorded("eventbridge_tick"))["queued"] >= 1
    told = [json.loads(m["body"]) for m in (*cloud.drain(), *cloud.drain())]

    # by her shard, or by the installation where a tick had just looked through it
    assert "shard_due" in {message["kind"] for message in told}
    assert "ines" in {message["user"]["imperal_id"] for message in told if "user" in message}
    sections = [
        i
        for i in cloud.items("SkeletonTable")
        if i["pk"]["S"] == "acme#ines" and i["sk"]["S"].startswith("tasks#")
    ]
    assert sections
    assert all("data" in s for s in sections)


def test_messages_that_nobody_can_read_come_again_alone(cloud: Cloud) -> None:
    batch = recorded("sqs_refresh_batch")
    failed = cloud.invoke("skeleton_refresh", batch)["batchItemFailures"]
    unread = batch["Records"][2:4]  # one of a kind that is not known, one that is no JSON
    assert failed == [{"itemIdentifier": record["messageId"]} for record in unread]


def test_without_an_authoriser_nobody_is_served(cloud: Cloud) -> None:
    status, body = cloud.http("chat_turn", "http_chat_without_authorizer")
    assert (status, body["error"]["code"]) == (401, "not_authenticated")


def lines(cloud: Cloud, function: str) -> list[dict[str, Any]]:
    """What a function wrote as JSON, log lines and metrics."""
    return [
        json.loads(text)
        for text in cloud.functions[function].logs().splitlines()
        if text.startswith("{")
    ]


def test_one_correlation_id_goes_from_the_api_to_the_last_handler_and_nothing_says_who(
    cloud: Cloud,
) -> None:
    cloud.messages()
    chat(cloud, "add a task: call +49 30 901820 about hunter2", "logged", request_id="one-turn")
    cloud.drain()

    api = recorded("http_chat")["requestContext"]["requestId"]
    of_turn = [found for found in lines(cloud, "tool_dispatch") if found.get("turn") == "one-turn"]
    assert {found["correlation_id"] for found in of_turn} == {api}
    assert {(found["session"], found["step"]) for found in of_turn} == {("logged", "0")}
    assert len({found["user"] for found in of_turn}) == 1
    for emulator in cloud.functions.values():
        logs = emulator.logs()
        assert "hunter2" not in logs
        assert "alice" not in logs
        assert "Traceback" not in logs


def test_each_function_writes_its_metrics_in_the_embedded_format(cloud: Cloud) -> None:
    chat(cloud, "show my tasks", "measured")
    cloud.invoke("skeleton_refresh", recorded("eventbridge_tick"))
    cloud.drain()

    emitted: dict[str, set[str]] = {}
    for function in cloud.functions:
        for found in lines(cloud, function):
            for directive in found.get("_aws", {}).get("CloudWatchMetrics", []):
                if directive["Namespace"] == "Webbee/webbee":
                    assert found["function"] == function
                    emitted.setdefault(function, set()).update(
                        m["Name"] for m in directive["Metrics"]
                    )

    assert {
        "Turns",
        "TurnMs",
        "ReadMs",
        "ClassifyMs",
        "CallsMs",
        "NarrateMs",
        "RecordMs",
        "PromptCharacters",
    } <= emitted["chat_turn"]
    assert {"DynamoDBCalls"} <= emitted["tool_dispatch"]
    assert {"UsersQueued", "OldestDueSeconds", "DynamoDBCalls"} <= emitted["skeleton_refresh"]
    assert all(
        function in EMITTED[name].functions for function, names in emitted.items() for name in names
    )
