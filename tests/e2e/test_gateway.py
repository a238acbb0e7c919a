"""The local run over real HTTP: the gateway asks for tokens, serves the template's routes and hands
real events to the real functions."""

import json
import re
from collections.abc import Iterator

import httpx
import pytest

from local.reference import all_routes
from local.world import World, local_world
from tests.functions.support import read_stream


def sent(
    world: World, key: str, token: str = "", body: object = None, **headers: str
) -> httpx.Response:
    """What `METHOD /path` is answered, with a token or without one."""
    method, _, path = key.partition(" ")
    given = {k.replace("_", "-"): v for k, v in headers.items()}
    given |= {"authorization": f"Bearer {token}"} if token else {}
    return httpx.request(method, world.url + path, json=body, headers=given, timeout=30)


def code(answer: httpx.Response) -> tuple[int, str]:
    """The status of an error, and its code in JSON."""
    return answer.status_code, answer.json()["error"]["code"]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with local_world() as running:
        yield running


SERVED = {route.key: route.public for route in all_routes()}


@pytest.mark.parametrize("key", [key for key, public in SERVED.items() if not public])
@pytest.mark.parametrize("token", ["", "mallory", "ALICE"], ids=repr)
def test_every_route_that_is_not_public_wants_a_token(world: World, key: str, token: str) -> None:
    body = {} if key.startswith("P") else None
    answer = sent(world, re.sub(r"\{\w+\+?\}", "x", key), token, body)
    assert code(answer) == (401, "not_authenticated")


@pytest.mark.parametrize("scheme", ["Basic alice", "alice", "Bearer", "Bearer alice bob"])
def test_only_bearer_tokens_count(world: World, scheme: str) -> None:
    told = sent(world, "GET /v1/sessions", authorization=scheme)
    assert told.status_code == 401


def test_a_page_whose_name_was_made_to_point_here_is_not_answered(world: World) -> None:
    """These tokens are no secrets: a name elsewhere that leads to this machine gets nothing."""
    names = {"evil.example.com": 400, "localhost": 200}
    for name, status in names.items():
        headers = {"host": name, "authorization": "Bearer alice"}
        assert httpx.get(f"{world.url}/v1/me", headers=headers).status_code == status


def test_a_public_path_is_so_for_its_methods_and_a_browser_may_ask_first(world: World) -> None:
    asked = {
        "OPTIONS /v1/chat": 204,
        "OPTIONS /v1/ext/mail/webhook/a": 204,
        "POST /v1/health": 401,
        "GET /v1/mcp": 401,
        "DELETE /v1/ext/mail/webhook/a": 404,
        "GET /v1/ext/mail": 401,
    }
    assert {key: sent(world, key).status_code for key in asked} == asked
    # what nobody serves, and a webhook that nobody has, are a 404 in JSON
    for key in ("GET /v2", "POST /v1/chat/more", "DELETE /v1/chat", "GET /v1/ext/"):
        assert code(sent(world, key, "alice")) == (404, "not_found")
    for method, body in (("GET", None), ("POST", "x")):
        answer = sent(world, f"{method} /v1/ext/tasks/webhook/any/where", body=body)
        assert (answer.status_code, answer.json()["error"]["field"]) == (404, "path")


def test_events_come_as_a_stream_that_goes_on_from_the_last_id(world: World) -> None:
    for message in ("add a task: buy bread", "add a task: paint the door"):
        sent(world, "POST /v1/chat", "bob", {"message": message, "session_id": "events"})
    answer = sent(world, "GET /v1/events", "bob")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.startswith("retry: ")
    events = read_stream(answer.text)
    assert len(events) >= 2
    assert [e["id"] for e in events] == sorted({e["id"] for e in events})
    assert {e["event"] for e in events} == {"panel_refresh"}
    told = json.loads(events[-1]["data"])
    assert told.pop("at")
    assert told == {"kind": "panel_refresh", "app_id": "tasks", "panels": ["tasks"]}
    later = read_stream(sent(world, "GET /v1/events", "bob", last_event_id=events[-2]["id"]).text)
    assert later == events[-1:]
    last = sent(world, f"GET /v1/events?last_event_id={events[-1]['id']}", "bob")
    assert read_stream(last.text) == []
