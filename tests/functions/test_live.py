"""WebSockets as API Gateway brings them: its events to the real handlers, and what these post to a
real `@connections` over HTTP."""

import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from local.gateway import socket_event
from local.stack import Stack
from tests.functions.support import (
    ALICE,
    BOB,
    Answer,
    Held,
    Person,
    deployed,
    obey,
    say,
    settle,
    until,
)
from tests.stand_ins.service import Reply, Request, served
from webbee_kernel.clock import FrozenClock
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import FunctionModel


@dataclass
class Connections:
    """What was posted to each open connection, as its browser would see it; others are gone."""

    url: str = ""
    open: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    posts: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)


@contextmanager
def connections() -> Iterator[Connections]:
    found = Connections()

    def answer(request: Request) -> Reply:
        name = unquote(request.path.rpartition("/")[2])
        ends, gone = request.method == "DELETE", name not in found.open
        (found.ended if ends else found.posts).append(name)
        if gone:
            return Reply({}, 410, {"x-amzn-errortype": "GoneException"})
        if ends:
            del found.open[name]
        else:
            found.open[name].append(request.json)
        return Reply({}, 204 if ends else 200)

    with served(answer=answer) as service:
        found.url = f"{service.url}/stage"
        yield found


@dataclass
class Page:
    """An open page of a user."""

    stack: Stack
    sockets: Connections
    name: str

    @classmethod
    def opened(
        cls, stack: Stack, sockets: Connections, person: Person, name: str, last: str = ""
    ) -> Self:
        assert connect(stack, ticket_of(person), name) == 200
        sockets.open[name] = []
        page = cls(stack, sockets, name)
        page.say("hello", last_event_id=last)
        return page

    def say(self, kind: str, **more: Any) -> int:
        body = json.dumps({"type": kind, **more})
        event = {**socket_event("MESSAGE", self.name), "body": body}
        return int(self.stack.invoke("chat_turn", event)["statusCode"])

    def lose(self) -> None:
        """The connection breaks, and nobody says so."""
        del self.sockets.open[self.name]

    @property
    def frames(self) -> list[dict[str, Any]]:
        return self.sockets.open[self.name]

    def heard(self, kind: str) -> list[dict[str, Any]]:
        return [f for f in self.frames if f["type"] == kind]


def live(sockets: Connections, **env: str) -> dict[str, str]:
    return {
        "WEBBEE_LIVE_URL": "wss://live.example/live",
        "WEBBEE_CONNECTIONS_URL": sockets.url,
        "WEBBEE_USER_REQUESTS_PER_MINUTE": "0",
        **env,
    }


@pytest.fixture
def sockets() -> Iterator[Connections]:
    with connections() as found:
        yield found


@pytest.fixture
def deployment(sockets: Connections) -> dict[str, Any]:
    return {"env": live(sockets)}


@pytest.fixture
def page(stack: Stack, sockets: Connections, alice: Person) -> Page:
    return Page.opened(stack, sockets, alice, "c1")


def ticket_of(person: Person) -> str:
    url = person.send("POST", "/v1/live")["url"]
    return parse_qs(urlsplit(url).query)["ticket"][0]


def connect(stack: Stack, ticket: str, name: str = "c0") -> int:
    event = socket_event("CONNECT", name, {"ticket": ticket})
    return int(stack.invoke("chat_turn", event)["statusCode"])


def test_a_ticket_opens_one_connection_within_a_minute_which_ends_with_its_token(
    sockets: Connections, clock: FrozenClock, alice: Person
) -> None:
    first, late = ticket_of(alice), ticket_of(alice)
    assert (connect(alice.stack, first), connect(alice.stack, first)) == (200, 401)
    assert connect(alice.stack, "a guess") == 401
    passing = Person(alice.stack, {**ALICE, "exp": int(clock.now()) + 20})
    ends_with_its_token, stream = ticket_of(passing), alice.stack.stream()
    page = Page.opened(alice.stack, sockets, passing, "c1")
    clock.advance(21)
    assert connect(alice.stack, ends_with_its_token) == 401
    alice.chat('probe.save {"text": "a"}')
    settle(stream.hand_over)
    assert page.heard("event") == []
    assert page.say("turn", message="hello", session_id="s9") == 410
    assert (sockets.ended, alice.turns("s9")) == (["c1"], [])
    clock.advance(39)
    assert connect(alice.stack, late) == 401


def test_a_turn_is_told_as_it_goes_and_ends_as_a_request_does(sockets: Connections) -> None:
    there: list[list[str]] = []

    def asked(request: ModelRequest) -> ModelResponse:
        there.append([frame["type"] for frame in sockets.open["c1"]])
        return obey(request)

    message = 'probe.save {"text": "a"}'
    with deployed(env=live(sockets), model=FunctionModel(asked)) as stack:
        alice = Person(stack, ALICE)
        page = Page.opened(stack, sockets, alice, "c1")
        page.say("turn", message=message, session_id="s1", request_id="r1")
        [end] = until(lambda: page.heard("turn.ended"))
        assert there[0] == ["ready", "turn.started"], "before the first model was asked"
        kinds = [f["type"] for f in page.frames]
        assert kinds[:4] == ["ready", "turn.started", "call.started", "call.ended"]
        body = alice.chat(message, request_id="r1").body
        assert {k: end[k] for k in body} == body
        assert body["reply"].startswith("".join(f["text"] for f in page.heard("text")))
        [started], [ended] = page.heard("call.started"), page.heard("call.ended")
        assert started["arguments"] == {"text": "a"}
        [turn] = alice.turns()
        assert turn["details"][0]["data"] == ended["data"]


def test_only_a_developer_sees_where_a_turns_time_went(sockets: Connections, stack: Stack) -> None:
    for role in ("user", "developer"):
        page = Page.opened(stack, sockets, Person(stack, {**ALICE, "role": role}), role)
        page.say("turn", message="probe.look {}", session_id=role, request_id=role)
        until(lambda page=page: page.heard("turn.ended"))  # type: ignore[misc]
        kinds = {f["kind"] for f in page.heard("trace")}
        assert kinds >= {"store", "call"} if role == "developer" else kinds == set()


def test_an_event_reaches_its_user_pages(sockets: Connections, stack: Stack, alice: Person) -> None:
    stream = stack.stream()
    one, two = (Page.opened(stack, sockets, alice, name) for name in ("c1", "c2"))
    other = Page.opened(stack, sockets, Person(stack, BOB), "c3")
    alice.chat('probe.save {"text": "a"}')
    before = len(sockets.posts)
    settle(stream.hand_over)
    assert [f["id"] for f in one.heard("event")] == [f["id"] for f in two.heard("event")]
    stored = {e["id"] for e in alice.events()}
    assert {f["id"] for f in one.heard("event")} == stored != set()
    assert (other.heard("event"), len(sockets.posts) - before) == ([], 2 * len(stored))
    one.lose()
    known = sockets.posts.count("c1")
    for text in ("b", "c"):
        alice.chat(f'probe.save {{"text": "{text}"}}')
        settle(stream.hand_over)
    assert sockets.posts.count("c1") == known + 1  # which found it gone
    assert one.say("ping") == 410


def test_random_disconnects_lose_no_event(sockets: Connections, alice: Person) -> None:
    """Whatever is stored while a page is away, comes back or is gone without a word."""
    chance = random.Random(16)
    stream = alice.stack.stream()
    seen: set[str] = set()
    last, page = "", None
    for number in range(60):
        if page is None and chance.random() < 0.6:
            page = Page.opened(alice.stack, sockets, alice, f"c{number}", last)
        if chance.random() < 0.5:
            alice.chat(f'probe.save {{"text": "{number}"}}', session_id=f"s{number}")
        if chance.random() < 0.7:
            stream.hand_over()
        if page and chance.random() < 0.5:
            told = [f["id"] for f in page.heard("event")]
            last = max([*told, last, *(f["last_event_id"] for f in page.heard("ready"))])
            seen.update(told)
            page.lose()
            page = None
    page = Page.opened(alice.stack, sockets, alice, "last", last)
    seen.update(f["id"] for f in page.heard("event"))
    assert {e["id"] for e in alice.events()} - seen == set()


def test_what_takes_long_is_answered_202_and_arrives_as_an_event(sockets: Connections) -> None:
    model, env = Held(say("I am listening.")), live(sockets, WEBBEE_ANSWER_SECONDS="0.2")
    with deployed(env=env, model=model) as stack:
        alice = Person(stack, ALICE)
        later = alice.chat("hello", request_id="r1")
        working = {"status": "working", "request_id": "r1", "session_id": "s1"}
        assert (later.status, later.body) == (202, working)
        body = {"message": "hi", "session_id": "s2", "request_id": "r2"}
        prefer = {"prefer": "respond-async"}
        at_once = alice.send("POST", "/v1/chat", body=body, headers=prefer)
        assert (at_once.status, at_once["request_id"]) == (202, "r2")
        model.let.set()
        ended = until(lambda: len(alice.events("turn")) == 2 and alice.events("turn"))
        told = {e["request_id"]: e["reply"] for e in ended}
        assert told == {"r1": "I am listening.", "r2": "I am listening."}
        told_again = until(lambda: (r := alice.chat("hello", request_id="r1")).status == 200 and r)
        assert (told_again["reply"], told_again["turn"]) == ("I am listening.", 1)


def test_a_slow_turn_that_fails_is_told_once_and_no_poll_repeats_it(sockets: Connections) -> None:
    model = Held(ModelUnavailable("The model server has no model m.", cause="no_model"))
    env = live(sockets, WEBBEE_ANSWER_SECONDS="0.2", WEBBEE_USER_REQUESTS_PER_MINUTE="2")
    with deployed(env=env, model=model) as stack:
        alice = Person(stack, ALICE)
        assert alice.chat("hello", request_id="r1").status == 202
        time.sleep(1.2)  # what comes within a second is taken for the same delivery
        for _ in range(5):  # more than the limit of messages
            assert alice.chat("hello", request_id="r1").status == 202
        model.let.set()
        until(lambda: alice.events("turn"))

        def poll() -> Answer:
            """Until it is answered: on a busy machine reading takes longer than it may."""
            return until(lambda: (r := alice.chat("hello", request_id="r1")).status == 200 and r)

        told = poll()
        assert told["status"] == "error"
        assert told["reply"].startswith("The model this assistant is set to use does not exist")
        for _ in range(5):
            assert poll()["reply"] == told["reply"]
        assert [request.role for request in model.requests] == ["classifier"]
        assert len(alice.events("turn")) == 1


def test_a_slow_turn_that_breaks_has_one_number_wherever_it_is_told(
    sockets: Connections, caplog: pytest.LogCaptureFixture
) -> None:
    model, env = Held(RuntimeError("secret")), live(sockets, WEBBEE_ANSWER_SECONDS="0.2")
    with caplog.at_level("ERROR"), deployed(env=env, model=model) as stack:
        alice = Person(stack, ALICE)
        assert alice.chat("hello", request_id="r1").status == 202
        model.let.set()
        [event] = until(lambda: alice.events("turn"))
        told = until(lambda: (r := alice.chat("hello", request_id="r1")).status == 200 and r)
    assert (event["error"]["code"], event["error"]["message"]) == ("internal", told["reply"])
    [line] = [line for line in caplog.messages if line.startswith("incident=")]
    assert line.partition("=")[2].partition(" ")[0] in told["reply"]


def test_a_turn_is_stopped_by_its_own_user_from_anywhere(sockets: Connections) -> None:
    model = Held(AssertionError("it was cancelled"))
    with deployed(env=live(sockets), model=model) as stack:
        alice = Person(stack, ALICE)
        page = Page.opened(stack, sockets, alice, "c1")
        page.say("turn", message="hello", session_id="s1", request_id="r1")
        Person(stack, BOB).send("POST", "/v1/turns/r1/stop")
        assert page.heard("turn.ended") == []
        answer = alice.send("POST", "/v1/turns/r1/stop")
        assert answer.body == {"request_id": "r1", "status": "stopping"}
        [end] = until(lambda: page.heard("turn.ended"))
        assert (end["stopped"], end["reply"]) == (True, "Stopped, as you asked.")
        assert [t["reply"] for t in alice.turns()] == ["Stopped, as you asked."]
        model.let.set()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ("{", "body"),
        ("[]", "body"),
        ('{"type": "dance"}', "type"),
        ('{"type": "turn", "message": " "}', "message"),
        ('{"type": "stop"}', "request_id"),
        ('{"type": "hello", "last_event_id": 7}', "last_event_id"),
        ('{"type": "hello", "last_event_id": "nonsense"}', "last_event_id"),
    ],
)
def test_a_frame_not_served_is_told_why(stack: Stack, page: Page, body: str, field: str) -> None:
    stack.invoke("chat_turn", {**socket_event("MESSAGE", "c1"), "body": body})
    [told] = page.heard("error")
    assert told["error"]["field"] == field
