"""Given an event as AWS sends it, the function's answer."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from local.stack import Stack, http_event, load_handler, local_stack
from tests.functions.support import EVENTS, event, rows
from webbee_kernel.api.function import Function
from webbee_kernel.errors import SettingsError


@pytest.mark.parametrize("name", json.loads(EVENTS.read_text("utf-8")))
def test_every_recorded_event_is_answered(stack: Stack, name: str) -> None:
    """Whatever function it reaches: an event of another kind than expected raises nothing."""
    recorded = event(name)
    if recorded.get("version") == "2.0":
        answer = stack.invoke("chat_turn", recorded)
        assert set(answer) == {"statusCode", "headers", "body", "isBase64Encoded"}
        assert (answer["statusCode"] in (200, 401, 404), answer["isBase64Encoded"]) == (True, False)
        assert answer["headers"]["cache-control"] == "no-store"
    elif "Records" in recorded:
        assert "batchItemFailures" in stack.invoke("skeleton_refresh", recorded)
    elif "source" in recorded:
        assert "queued" in stack.invoke("skeleton_refresh", recorded)
    else:
        assert stack.invoke("tool_dispatch", recorded)


def test_claims_and_a_body_are_read_as_the_gateway_writes_them(stack: Stack) -> None:
    answer = json.loads(stack.invoke("chat_turn", event("http_chat"))["body"])
    assert (answer["reply"], answer["receipts"][0]["status"]) == ('Saved "hello".', "done")
    # sub and custom:tenant_id, as Cognito writes them
    assert {r["pk"] for r in rows(stack, "sessions")} == {"acme#alice#s1"}
    heard = json.loads(stack.invoke("chat_turn", event("http_webhook"))["body"])
    assert heard == {"body": "ping", "query": {"a": "1"}, "user": "__webhook__"}


def test_another_environment_is_another_deployment_without_a_new_import() -> None:
    handler = load_handler("chat_turn").lambda_handler
    health = http_event("GET", "/v1/health")
    with local_stack(env={"WEBBEE_SESSION_DAYS": "7"}):
        assert handler(health)["statusCode"] == 200
        first = handler.service()
    with local_stack(env={"WEBBEE_SESSION_DAYS": "8"}):
        assert handler(health)["statusCode"] == 200
        assert handler.service() is not first
        assert handler.service() is handler.service()
    with (
        local_stack(env={"WEBBEE_TURN_SECONDS": "soon"}),
        pytest.raises(SettingsError, match="WEBBEE_TURN_SECONDS"),
    ):
        handler(health)


def test_two_first_requests_at_once_get_one_service() -> None:
    both = threading.Barrier(2)

    def build(*_: object) -> Any:
        with suppress(threading.BrokenBarrierError):  # nobody else is building
            both.wait(0.2)
        return object()

    with local_stack(), ThreadPoolExecutor(2) as threads:
        function = Function("chat_turn", build)
        services = [threads.submit(function.service) for _ in range(2)]
        assert len({id(service.result()) for service in services}) == 1
