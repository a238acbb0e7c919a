"""What an MCP client is given beside data and words, as far as the protocol leaves it to the server;
`tests/clients` runs the official conformance suite against the same app."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.functions.support import ALICE, Answer, Person, one_for_all, settle
from tests.functions.test_mcp_server import reply, send, stateless

EXTENSIONS = Path(__file__).parents[1] / "clients/extensions"
STREAM = {"accept": "application/json, text/event-stream"}
ASKS: dict[str, Any] = {"elicitation": {}}
OPEN = {**STREAM, "mcp-protocol-version": "2025-11-25"}


stack = one_for_all(extensions=EXTENSIONS)


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": f"conformance__{name}", "arguments": arguments}


def session(person: Person, can: dict[str, Any], version: str = "2025-11-25") -> dict[str, str]:
    """The headers of a client that has said in a handshake what it can do."""
    hello = {"protocolVersion": version, "capabilities": can, "clientInfo": {"name": "old"}}
    given = send(person, "initialize", hello, STREAM).headers.get("mcp-session-id")
    return {**OPEN, "mcp-protocol-version": version, **({"mcp-session-id": given} if given else {})}


def messages(answer: Answer) -> list[dict[str, Any]]:
    assert answer.headers["content-type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in answer.body.splitlines()]
    return [json.loads(line) for line in lines if line.startswith("{")]


def token(answer: Answer) -> dict[str, str]:
    [ident, *_] = (x for x in answer.body.splitlines() if x.startswith("id: "))
    return {"last-event-id": ident.removeprefix("id: ")}


DESTROYS = tool("test_input_required_result_tampered_state")


def back(person: Person, headers: dict[str, str]) -> Answer:
    return person.send("GET", "/v1/mcp", headers=headers)


def test_a_person_picks_a_read_and_says_what_it_found(person: Person) -> None:
    listed = {p["name"]: p for p in send(person, "prompts/list")["result"]["prompts"]}
    assert "conformance__test_input_required_result_tampered_state" not in listed, "it destroys"
    [kind, number] = listed["conformance__test_counted_prompt"]["arguments"]
    assert (kind["required"], number["required"]) == (True, False)
    told = send(person, "prompts/get", tool("test_counted_prompt", kind="grape", number="21"))
    assert json.loads(told["result"]["messages"][0]["content"]["text"])["twice"] == 42
    for wrong in (tool("test_counted_prompt", kind="stone"), DESTROYS, tool("nothing")):
        assert "error" in send(person, "prompts/get", wrong).body


def test_what_an_app_offers_to_be_read_is_a_resource_under_its_id(person: Person) -> None:
    listed = send(person, "resources/list")["result"]["resources"]
    assert "webbee://app/conformance/test://static-text" in [r["uri"] for r in listed]
    [template] = send(person, "resources/templates/list")["result"]["resourceTemplates"]
    uri = template["uriTemplate"].replace("{id}", "7")
    [part] = send(person, "resources/read", {"uri": uri})["result"]["contents"]
    assert (part["uri"], json.loads(part["text"])) == (uri, {"id": "7"})
    for none in ("webbee://app/conformance/test://none", "webbee://app/mail/x", "test://x"):
        assert send(person, "resources/read", {"uri": none})["error"]["code"] == -32002
    foreign = {"uri": "webbee://app/conformance/dict://evil.example/471193"}
    told = send(person, "resources/read", foreign)["error"]
    assert told["code"] == -32602 and "waits for the user's yes" in told["message"]


def test_sections_are_resources_for_developers_alone(person: Person) -> None:
    developer = Person(person.stack, {**person.claims, "role": "developer"})
    path = "/v1/extensions/conformance/installation"
    assert person.send("PUT", path, body={"refresh": True}).status == 200
    person.stack.tick()
    settle(person.stack.drain)
    uri = "webbee://skeleton/conformance/state"
    assert uri in str(send(developer, "resources/list").body)
    assert "_refreshed_at" in str(send(developer, "resources/read", {"uri": uri})["result"])
    assert uri not in str(send(person, "resources/list").body)
    for asking, wanted in ((person, uri), (developer, f"{uri}s")):
        assert send(asking, "resources/read", {"uri": wanted})["error"]["code"] == -32002


@pytest.mark.parametrize("accepts", [True, False])
def test_a_client_with_a_handshake_comes_back_for_the_result(person: Person, accepts: bool) -> None:
    stream = send(person, "tools/call", DESTROYS, session(person, ASKS))
    [asked] = messages(stream)
    assert asked["method"] == "elicitation/create"
    assert "retry: " in stream.body
    waits = back(person, token(stream))
    assert messages(waits) == []
    assert token(waits) == token(stream), "nobody has answered: it asks again"
    other = Person(person.stack, {**ALICE, "sub": "mallory"})
    assert reply(other, asked["id"], session(other, ASKS)).status == 202
    assert messages(back(other, token(stream)))[0]["result"]["isError"]
    assert messages(back(person, token(stream))) == [], "nobody answers for another"
    assert [back(person, h).status for h in ({"last-event-id": "forged"}, {})] == [405, 405]
    for _ in range(2):
        action = "accept" if accepts else "cancel"
        assert reply(person, asked["id"], session(person, ASKS), action).status == 202
    for _ in range(2):
        [ended] = messages(back(person, token(stream)))
        assert ended["id"] == 7
        assert ended["result"]["isError"] is not accepts
    [turn] = person.turns("mcp")
    assert len(turn["calls"]) == accepts


@pytest.mark.parametrize(
    ("can", "version"),
    [({}, "2025-11-25"), ({"elicitation": {"url": {}}}, "2025-11-25"), (ASKS, "2025-06-18")],
)
def test_it_is_told_where_it_cannot_ask(person: Person, can: dict[str, Any], version: str) -> None:
    told = send(person, "tools/call", DESTROYS, session(person, can, version))["result"]
    assert told["structuredContent"]["error_code"] == "CONFIRMATION_REQUIRED"
    named = tool("test_input_required_result_elicitation")
    asked = stateless(person, "tools/call", named, elicits=False)["result"]
    assert "What is your name?" in asked["content"][0]["text"]
    told = tool("test_input_required_result_elicitation", _answers={"name": "Alice"})
    assert not stateless(person, "tools/call", told, elicits=False)["result"]["isError"]
