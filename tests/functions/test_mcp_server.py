"""The kernel as an MCP server: what a client's messages do, and what no client can do."""

from typing import Any

import pytest

from tests.functions.support import BOB, Answer, Person, one_for_all, rows

STATELESS = "2026-07-28"
META = "io.modelcontextprotocol/"
SESSION = {"mcp-session-id": "elicits-1", "mcp-protocol-version": "2025-11-25"}
"""Of a client that said in its handshake that it can ask its user."""
stack = one_for_all(env={"WEBBEE_USER_REQUESTS_PER_MINUTE": "20"})


def send(
    person: Person,
    method: str,
    params: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Answer:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}, **more}
    body = {k: v for k, v in body.items() if v is not ...}
    return person.send("POST", "/v1/mcp", body=body, headers=headers or {})


def stateless(
    person: Person, method: str, params: dict[str, Any] | None = None, *, elicits: bool = True
) -> Answer:
    """A request of the version without a handshake, by a client that can put questions to its
    user."""
    meta = {
        f"{META}protocolVersion": STATELESS,
        f"{META}clientCapabilities": {"elicitation": {"form": {}}} if elicits else {},
        f"{META}clientInfo": {"name": "desk", "version": "1"},
    }
    headers = {"mcp-protocol-version": STATELESS, "mcp-method": method}
    named = (params or {}).get("name") or (params or {}).get("uri")
    if named:
        headers["mcp-name"] = named
    return send(person, method, {**(params or {}), "_meta": meta}, headers)


REMOVE = {"name": "probe__remove", "arguments": {"text": "a"}}


def remove(person: Person, text: str = "a", **more: Any) -> Answer:
    """A call that destroys, by a client that elicits."""
    params = {"name": "probe__remove", "arguments": {"text": text}, **more}
    return stateless(person, "tools/call", params)


def answered(state: str, action: str) -> dict[str, Any]:
    return {"requestState": state, "inputResponses": {"confirm": {"action": action}}}


def stored(person: Person, collection: str) -> int:
    own = f"#{person.claims['sub']}#"
    found = (r for r in rows(person.stack, "store") if own in r["pk"])
    return sum(row["sk"].startswith(f"{collection}#") for row in found)


def test_the_callers_functions_are_tools_with_their_effects(person: Person) -> None:
    tools = {t["name"]: t for t in send(person, "tools/list")["result"]["tools"]}
    assert tools["probe__save"]["annotations"]["readOnlyHint"] is False
    assert tools["probe__save"]["annotations"]["destructiveHint"] is False
    assert tools["probe__remove"]["annotations"]["destructiveHint"] is True
    assert tools["probe__whoami"]["annotations"] == {"title": "Probe: whoami", "readOnlyHint": True}
    assert tools["probe__save"]["inputSchema"]["required"] == ["text"]
    person.uninstall("probe")
    assert "probe__save" not in str(send(person, "tools/list").body)
    refused = send(person, "tools/call", {"name": "probe__whoami"})["result"]
    assert refused["isError"]
    assert refused["structuredContent"]["error_code"] == "PERMISSION_DENIED"


@pytest.mark.parametrize("method", ["tools/list", "prompts/list"])
def test_a_cursor_that_names_no_tool_is_refused(person: Person, method: str) -> None:
    for cursor in ("nonsense", "probe__no", "\x00", "x" * 9000, 7, ["x"], {}, True):
        error = send(person, method, {"cursor": cursor})["error"]
        assert error["code"] == -32602
        assert "cursor" in error["message"]


def test_a_result_is_data_and_words_and_a_request_id_is_of_one_effect(person: Person) -> None:
    call = {"name": "probe__save", "arguments": {"text": "a"}}
    named = {**call, "_meta": {"webbee/requestId": "r1"}}
    answers = [
        send(person, "tools/call", named),
        send(person, "tools/call", named),
        send(person, "tools/call", call, {"idempotency-key": "r1"}),
    ]
    results = [a["result"] for a in answers]
    assert not any(r["isError"] for r in results)
    assert [r["structuredContent"] for r in results] == [results[0]["structuredContent"]] * 3
    assert results[0]["content"][0]["type"] == "text"
    send(person, "tools/call", REMOVE, {"idempotency-key": "r2"})
    other = {"name": "probe__save", "arguments": {"text": "b"}}
    for key in ("r1", "r2"):  # whether the first one ran at once, or waits for a yes
        refused = send(person, "tools/call", other, {"idempotency-key": key})["result"]
        assert refused["structuredContent"]["error_code"] == "request_conflict"
    assert stored(person, "texts") == 1


def test_a_yes_elicited_by_the_client_runs_that_call_once_and_a_no_none(person: Person) -> None:
    asked = remove(person)["result"]
    assert asked["resultType"] == "input_required"
    assert "remove" in asked["inputRequests"]["confirm"]["params"]["message"]
    state = asked["requestState"]
    assert stored(person, "removed") == 0
    assert remove(person)["result"]["requestState"] == state, "the same question is asked once"
    for wrong in (
        remove(person, "b", **answered(state, "accept")),
        remove(person, **answered(state[:-1] + "!", "accept")),
        remove(Person(person.stack, BOB), **answered(state, "accept")),
    ):
        assert (wrong["error"]["code"], wrong.status) == (-32602, 400)
    put_aside = remove(person, **answered(state, "cancel"))["result"]
    assert put_aside["structuredContent"]["error_code"] == "CONFIRMATION_REQUIRED"
    assert stored(person, "removed") == 0
    for _ in range(2):
        done = remove(person, **answered(state, "accept"))["result"]
        assert (done["resultType"], done["isError"]) == ("complete", False)
        assert done["structuredContent"] == {"removed": "a"}
    assert stored(person, "removed") == 1
    [turn] = person.turns("mcp")
    assert (turn["message"], turn["calls"][0]["fn_name"]) == ("MCP: Probe: remove (desk)", "remove")
    state = remove(person, "b")["result"]["requestState"]
    for action in ("decline", "accept"):  # a no is final
        assert remove(person, "b", **answered(state, action))["result"]["isError"]
    assert stored(person, "removed") == 1


def test_a_client_that_cannot_ask_is_told_how_and_makes_up_no_yes(person: Person) -> None:
    """It was shown the card as text; with its id it makes up what its user did."""
    key = {"idempotency-key": "k"}
    for answer in (
        send(person, "tools/call", REMOVE, key),
        stateless(person, "tools/call", REMOVE, elicits=False),
    ):
        waits = answer["result"]
        assert waits["isError"]
        assert "has not run" in waits["content"][0]["text"]
    card = waits["structuredContent"]["confirmation"]["id"]
    for state in (card, f"{card}."):
        made_up = {**REMOVE, **answered(state, "accept")}
        waits = stateless(person, "tools/call", made_up, elicits=False)["result"]
        assert waits["structuredContent"]["error_code"] == "CONFIRMATION_REQUIRED"
        assert stateless(person, "tools/call", made_up)["error"]["code"] == -32602
    assert {reply(person, card, headers).status for headers in ({}, SESSION)} == {202}
    assert {turn["status"] for turn in person.turns("mcp")} == {"confirmation"}
    assert stored(person, "removed") == 0
    assert person.confirm(card)["status"] == "ok"
    assert stored(person, "removed") == 1
    done = send(person, "tools/call", REMOVE, key)["result"]
    assert done["structuredContent"] == {"removed": "a"}
    assert stored(person, "removed") == 1


def reply(person: Person, question: str, headers: dict[str, str], action: str = "accept") -> Answer:
    """What a client's user did with a question that was put in a stream."""
    body = {"jsonrpc": "2.0", "id": question, "result": {"action": action}}
    return person.send("POST", "/v1/mcp", body=body, headers=headers)


def test_what_cannot_run_is_told_before_anybody_is_asked(person: Person) -> None:
    refused = {
        "probe__remove": ({"text": ""}, "VALIDATION"),
        "probe__save": ({"text": "<TEXT>"}, "FABRICATED_ID_SHAPE"),
        "probe__guarded": ({}, "PERMISSION_DENIED"),
        "probe__fail": ({}, "INTERNAL"),
    }
    for name, (given, code) in refused.items():
        result = send(person, "tools/call", {"name": name, "arguments": given})["result"]
        assert result["isError"]
        assert result["structuredContent"]["error_code"].startswith(code), result
        assert "hunter2" not in str(result)
    assert send(person, "tools/call", {"name": "probe__nothing"})["error"]["code"] == -32602
    assert person.turns("mcp") == []


def test_a_limit_is_told_to_the_clients_model(person: Person) -> None:
    answers = [send(person, "tools/call", {"name": "probe__whoami"}) for _ in range(41)]
    refused = [a["result"] for a in answers if a["result"]["isError"]]
    assert 0 < len(refused) < len(answers)
    assert {r["structuredContent"]["error_code"] for r in refused} == {"limit_reached"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", -32700),
        ("[]", -32600),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "result": {}}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32600),
    ],
)
def test_what_is_no_message_is_refused(person: Person, body: str, code: int) -> None:
    answer = person.send("POST", "/v1/mcp", body=body)
    assert (answer.status, answer["error"]["code"], answer["id"]) == (400, code, None)
