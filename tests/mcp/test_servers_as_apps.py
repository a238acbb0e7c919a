"""A server's tools are functions of an app: called, remembered, guarded like any other."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.functions.support import say
from tests.mcp.conftest import Told, approve, ask, calls, kernel
from tests.processes import said
from webbee_kernel.errors import CallError, SettingsError
from webbee_kernel.mcp import connections
from webbee_kernel.mcp.connections import Connections, McpServer, SessionRequest
from webbee_kernel.mcp.server_tools import checker, read_approvals
from webbee_kernel.sdk import User
from webbee_kernel.testing import TestKernel
from webbee_kernel.types import JSONObject

SUM = {"a": 1, "b": 1}
ANN = User("ann", email="ann@example.com", tenant_id="acme")


def test_a_result_is_remembered_to_the_letter(
    told: Told, server: McpServer, tmp_path: Path
) -> None:
    script = [calls(("sums__add", {"a": 2, "b": 40})), say("The sum is 42.")]
    k = kernel(tmp_path, server, script=script)
    assert k.chat("add 2 and 40").text == "The sum is 42."
    assert told.calls == [{"name": "add", "arguments": {"a": 2, "b": 40}}]
    (digest,) = k.memory().turns[-1].digests
    assert (digest.app_id, digest.fn_name, digest.data_facts_json) == ("sums", "add", '{"sum": 42}')


def test_every_tool_is_a_function_with_the_servers_schema(tmp_path: Path, k: TestKernel) -> None:
    app = k.registry.catalogue().apps["sums"]
    assert app.display_name == "Sums"
    assert {f.fn_name: f.action_type for f in app.functions} == {
        "add": "read",
        **dict.fromkeys(("note_keep", "drop_notes"), "destructive"),
    }
    schemas = {f.fn_name: f.input_schema for f in app.functions}
    (told,) = [t for t in read_approvals(tmp_path)["sums"].tools if t["name"] == "add"]
    assert schemas["add"] == told["inputSchema"]
    assert schemas["note_keep"]["x-open-world"] is True, "only a closed world is unmarked"


def test_arguments_outside_the_schema_never_reach_the_server(told: Told, k: TestKernel) -> None:
    """A misspelt one is named with the nearest right one."""
    missing = ask(k, "sums", "add", {"a": 1})
    wrong = ask(k, "sums", "add", {"a": 1, "b": "two"})
    assert (missing.error_code, missing.problems[0]["field"]) == ("VALIDATION_MISSING_FIELD", "b")
    assert (wrong.error_code, wrong.problems[0]["field"]) == ("VALIDATION_TYPE_ERROR", "b")
    instead = ask(k, "sums", "note_keep", {"txt": "buy milk"})
    beside = ask(k, "sums", "add", {**SUM, "aa": 2})
    assert instead.error == "text is missing: 'txt' is no argument"
    assert "'aa' was unexpected): did you mean 'a'?" in beside.error
    assert told.calls == []


DRAFT_3 = {"$schema": "http://json-schema.org/draft-03/schema#"}


@pytest.mark.parametrize(
    ("schema", "arguments", "code", "field"),
    [
        ({**DRAFT_3, "properties": {"a": {"required": True}}}, {}, "MISSING_FIELD", "a"),
        ({"properties": {"a": False}}, {"a": 1}, "TYPE_ERROR", "params"),
        ({"properties": {"a": {"required": True}}}, {"a": {}}, "", ""),
        ({"properties": {"a": {"type": "whatever"}}}, {"a": 1}, "", ""),
    ],
    ids=["the third draft", "nothing is allowed", "of another draft", "no type"],
)
def test_arguments_are_checked_by_a_schema_of_any_draft_as_far_as_it_is_one(
    schema: JSONObject, arguments: JSONObject, code: str, field: str
) -> None:
    check = checker({"type": "object", **schema})
    if not code:  # left to the server
        check(arguments)
        return
    with pytest.raises(CallError) as refused:
        check(arguments)
    assert (refused.value.code, refused.value.field) == (f"VALIDATION_{code}", field)


def test_a_text_is_its_own_summary_and_progress_is_told(told: Told, k: TestKernel) -> None:
    text = {"content": [{"type": "text", "text": "two notes"}]}
    told.behave(answers={"add": {**text, "structuredContent": {"result": "two notes"}}})
    assert ask(k, "sums", "add", SUM).summary == "two notes"
    events = k.run(k.app.stores.events.since(k.key, "", now=k.clock.now()))
    (progress,) = [e.data for e in events if e.kind == "progress"]
    assert progress == {"app_id": "sums", "percent": 25.0, "text": "a quarter"}


def test_a_session_is_kept_and_is_one_persons(told: Told, k: TestKernel) -> None:
    for user in (None, ANN) * 2:
        ask(k, "sums", "add", SUM, user=user)
    greeted = {h["mcp-session-id"] for h in told.headers if "mcp-session-id" in h}
    assert len(greeted) == 3, "the operator's and two persons'"
    made = len(told.calls)
    told.behave(forget=True)
    assert ask(k, "sums", "note_keep", {"text": "two"}).ok
    assert len(told.calls) == made + 1, "greeted anew, the call was made once"


async def test_a_session_gives_way_to_others_only_when_no_call_is_using_it(
    told: Told, server: McpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_OPEN", 1)
    those, begun, free = Connections(), threading.Event(), threading.Event()

    async def long(session: Any) -> bool:
        begun.set()
        await asyncio.to_thread(free.wait, 30)
        return bool(session.dead)

    async def short(session: Any) -> bool:
        return bool(session.dead)

    def use(user: str, work: Any) -> Any:
        return those.use(SessionRequest(server, lambda _: None, "acme", user), work)

    busy = asyncio.ensure_future(use("alice", long))
    await asyncio.to_thread(begun.wait, 30)
    others = [await use(user, short) for user in ("ann", "bob")]
    free.set()
    assert [await busy, *others] == [False] * 3
    opened = told.greetings
    await use("alice", short)
    assert told.greetings == opened
    await use("ann", short)
    assert told.greetings == opened + 1, "an idle one has given way"
    await asyncio.to_thread(those.close)


def test_a_token_is_the_apps_secret_and_reaches_no_other(told: Told, tmp_path: Path) -> None:
    server = McpServer(id="sums", url=told.url, auth="bearer")
    approve(tmp_path, server, token="operators")
    k = kernel(tmp_path, server)
    without = ask(k, "sums", "add", SUM)
    k.run(k.app.stores.secrets.set(f"{k.user.tenant_id}/_app/sums/token", "s3cret"))
    assert without.error_code == "PERMISSION_DENIED"
    assert ask(k, "sums", "add", SUM).data == {"sum": 2}
    shown = {h["authorization"] for h in told.headers}
    assert shown == {"Bearer operators", "Bearer s3cret"}


def test_nothing_of_the_protocol_is_loaded_before_a_call(server: McpServer, tmp_path: Path) -> None:
    """Neither where no server is configured nor by a cold start that has some."""
    configured = f'[{{"id": "sums", "url": "{server.url}"}}]'
    code = f"""
        import sys
        from webbee_kernel.bootstrap import bootstrap, make_host
        from webbee_kernel.config import Settings
        from webbee_kernel.stores.memory import memory_stores

        def loaded(**env):
            env = {{'WEBBEE_EXTENSIONS_DIR': {str(tmp_path)!r}, **env}}
            app = bootstrap(Settings.from_env(env), stores=memory_stores())
            names = sorted(make_host(app).catalogue.apps)
            there = {{m.split('.')[0] for m in sys.modules}}
            client = 'webbee_kernel.mcp.connections' in sys.modules
            return names, there & {{'mcp', 'mcp_types', 'jsonschema', 'httpx2'}}, client

        print(loaded(), loaded(WEBBEE_MCP_SERVERS={configured!r}))
    """
    assert said(code) == "([], set(), False) (['sums'], set(), True)"


ASKED = {
    "message": "Who shall read the note?",
    "requestedSchema": {
        "type": "object",
        "properties": {"reader": {"type": "string", "description": "A name"}},
        "required": ["reader"],
    },
}


def test_a_servers_question_is_one_to_the_user(told: Told, k: TestKernel) -> None:
    told.behave(elicit=ASKED)
    asked = ask(k, "sums", "note_keep", {"text": "one"})
    assert asked.error_code == "NEEDS_ANSWER"
    assert "Sums asks the user: “Who shall read the note?” (reader: string, A name)" in asked.error
    function = k.registry.catalogue().function("sums", "note_keep")
    assert function is not None
    assert "_answers" in function.input_schema["properties"]

    answered = ask(k, "sums", "note_keep", {"text": "one", "_answers": {"reader": "Ann"}})
    assert answered.data == {"text": "note.keep done"}
    accepted = {"action": "accept", "content": {"reader": "Ann"}}
    assert told.answered == [{"action": "cancel"}, accepted]
    assert told.calls[-1]["arguments"] == {"text": "one"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"id": "Sums", "url": "https://a/"}, "id"),
        ({"id": "kernel", "url": "https://a/"}, "the kernel's own"),
        ({"id": "sums"}, "either a url or a command"),
        ({"id": "sums", "url": "https://a/", "auth": "oauth"}, "provider"),
        ({"id": "sums", "command": "sh", "auth": "bearer"}, "url"),
    ],
)
def test_a_wrong_setting_stops_the_start(tmp_path: Path, given: dict[str, str], why: str) -> None:
    env = {"WEBBEE_MCP_SERVERS": json.dumps([given]), "WEBBEE_EXTENSIONS_DIR": str(tmp_path)}
    with pytest.raises(SettingsError, match="WEBBEE_MCP_SERVERS") as told:
        TestKernel(env=env)
    assert why in str(told.value)
