"""The local run over real HTTP: the gateway asks for tokens, serves the template's routes and hands
real events to the real functions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from local.gateway import FUNCTION_OF
from local.reference import all_routes
from local.template import load_template, routes
from local.world import World, local_world
from webbee_kernel.api.router import Router


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Browser:
    """Plain HTTP with a token, or without one."""

    url: str
    token: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        given = {**self.extra, **{k.replace("_", "-"): v for k, v in headers.items()}}
        if self.token:
            given["authorization"] = f"Bearer {self.token}"
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        answer = httpx.request(method, self.url + path, content=data, headers=given, timeout=30)
        return Response(answer.status_code, dict(answer.headers), answer.text)

    def chat(self, message: str, session_id: str = "s1") -> Any:
        answer = self.send("POST", "/v1/chat", {"message": message, "session_id": session_id})
        assert answer.status == 200, answer.text
        return answer.json


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with local_world() as running:
        yield running


@pytest.fixture
def alice(world: World) -> Browser:
    return Browser(world.url, "alice")


@pytest.fixture
def bob(world: World) -> Browser:
    return Browser(world.url, "bob")


ROUTES = routes(load_template())


def filled(path: str) -> str:
    return re.sub(r"\{\w+\+?\}", "x", path)


SERVED = {route.key: route.public for route in all_routes()}


@pytest.mark.parametrize("key", [key for key, public in SERVED.items() if not public])
@pytest.mark.parametrize("token", ["", "mallory", "ALICE"], ids=repr)
def test_every_route_that_is_not_public_wants_a_token(world: World, key: str, token: str) -> None:
    method, _, path = key.partition(" ")
    answer = Browser(world.url, token).send(
        method, filled(path), {} if method in ("POST", "PUT") else None
    )
    assert answer.status == 401
    assert answer.json["error"]["code"] == "not_authenticated"


@pytest.mark.parametrize("scheme", ["Basic alice", "alice", "Bearer", "Bearer alice bob"])
def test_only_bearer_tokens_count(world: World, scheme: str) -> None:
    told = Browser(world.url, extra={"authorization": scheme}).send("GET", "/v1/sessions").status
    assert told == 401


def test_a_page_whose_name_was_made_to_point_here_is_not_answered(world: World) -> None:
    """These tokens are no secrets: a name elsewhere that leads to this machine gets nothing."""
    names = {"evil.example.com": 400, "localhost": 200}
    for name, status in names.items():
        headers = {"host": name, "authorization": "Bearer alice"}
        assert httpx.get(f"{world.url}/v1/me", headers=headers).status_code == status


def test_only_the_door_has_routes(world: World) -> None:
    routers = {
        name: any(isinstance(v, Router) for v in vars(handler.lambda_handler.service()).values())
        for name, handler in world.stack.handlers.items()
    }
    assert [name for name, has_one in routers.items() if has_one] == ["chat_turn"]
    assert {FUNCTION_OF[route.function] for route in ROUTES} == {"chat_turn"}


def test_a_browser_may_ask_first_without_a_token(world: World) -> None:
    for path in ("/v1/chat", "/v1/ext/mail/webhook/a"):
        answer = Browser(world.url, "").send("OPTIONS", path)
        assert answer.status == 204


def test_a_public_path_is_public_for_its_methods_alone(world: World) -> None:
    nobody = Browser(world.url, "")
    assert nobody.send("POST", "/v1/health").status == 401
    assert nobody.send("GET", "/v1/mcp").status == 401
    assert nobody.send("DELETE", "/v1/ext/mail/webhook/a").status == 404
    assert nobody.send("GET", "/v1/ext/mail").status == 401


def test_a_path_nobody_serves_is_a_404_in_json(alice: Browser) -> None:
    for method, path in (
        ("GET", "/v2"),
        ("POST", "/v1/chat/more"),
        ("DELETE", "/v1/chat"),
        ("GET", "/v1/ext/"),
    ):
        answer = alice.send(method, path)
        assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")


def parsed(stream: str) -> list[dict[str, str]]:
    """The events of a text/event-stream, by the rules a browser follows."""
    events = []
    for block in stream.split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.split("\n") if line)
        if "data" in fields:
            events.append(fields)
    return events


def test_events_come_as_a_stream_that_goes_on_from_the_last_id(bob: Browser) -> None:
    bob.chat("add a task: buy bread", "events")
    bob.chat("add a task: paint the door", "events")
    answer = bob.send("GET", "/v1/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.startswith("retry: ")
    events = parsed(answer.text)
    assert len(events) >= 2
    assert [e["id"] for e in events] == sorted({e["id"] for e in events})
    assert {e["event"] for e in events} == {"panel_refresh"}
    assert json.loads(events[-1]["data"]) == {
        "at": json.loads(events[-1]["data"])["at"],
        "kind": "panel_refresh",
        "app_id": "tasks",
        "panels": ["tasks"],
    }
    later = parsed(bob.send("GET", "/v1/events", last_event_id=events[-2]["id"]).text)
    assert later == events[-1:]
    assert parsed(bob.send("GET", f"/v1/events?last_event_id={events[-1]['id']}").text) == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_webhook_nobody_registered_is_a_404(world: World, method: str) -> None:
    answer = Browser(world.url).send(
        method, "/v1/ext/tasks/webhook/any/where", b"x" if method == "POST" else None
    )
    assert (answer.status, answer.json["error"]["field"]) == (404, "path")
