"""`make run`: who comes early waits and finds a world in which everything is prepared, a long turn
is waited for, and what a run keeps the next one finds."""

import hashlib
import hmac
import http.client
import json
import os
import shlex
import signal
import socket
import stat
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from local import run
from local import world as worlds
from local.loopback import Client
from local.saved_state import KEY, StateFile
from local.stack import Stack
from local.world import World, apps_of, local_world, prepare, prepare_and_refresh

Command = Callable[..., tuple[str, str]]
FAILING = Path(__file__).parents[1] / "compat" / "failing"


def test_a_message_sent_before_the_end_of_the_start_is_answered_after_it() -> None:
    connections: list[http.client.HTTPConnection] = []

    def impatient(world: World) -> None:
        host, port = world.url.removeprefix("http://").split(":")
        early = http.client.HTTPConnection(host, int(port), timeout=30)
        body = json.dumps({"message": "show my unread mail", "session_id": "early"})
        headers = {"authorization": "Bearer bob", "content-type": "application/json"}
        early.request("POST", "/v1/chat", body, headers)
        connections.append(early)
        prepare(world)

    with local_world(prepare=impatient):
        answer = json.loads(connections[0].getresponse().read())
        connections[0].close()
    assert [(c["app_id"], c["status"]) for c in answer["calls"]] == [("mail", "ok")]


def test_the_first_message_meets_every_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "FIRST_REFRESH_S", 60.0)
    with local_world(prepare=prepare_and_refresh) as world:
        for user in ("alice", "bob", "dev"):
            apps = Client(world.url, user).get("/v1/extensions")["extensions"]
            assert all(a["installed"] for a in apps)
        sections = Client(world.url, "dev").get("/v1/inspect", message="")["sections"]
        assert {s["app_id"] for s in sections if s["in_prompt"]} == {"mail", "tasks", "notes"}
        assert apps_of(world) == {"mail": "", "tasks": "", "notes": ""}


LACKS = "ModuleNotFoundError: No module named 'a_library_that_is_not_there' (main.py:3)"


def test_an_extension_that_does_not_load_stops_nobody_and_is_named(command: Command) -> None:
    with local_world(env={"WEBBEE_EXTENSIONS_DIR": str(FAILING)}, prepare=prepare) as world:
        apps = apps_of(world)
        text = run.welcome(world.url, apps)
        out, _ = command("inspect", "hello", "--url", world.url)
        asked = ("inspect", "--search", "lacks.forecast", "--url", world.url)
        told = "lacks failed to load: the model sees nothing of it"
        assert apps["fine"] == "" and told in command(*asked, ends=1)[0]
    assert f"not loaded lacks: {LACKS}" in text and str(FAILING.parent) not in text
    assert f"✗ lacks failed to load: {LACKS}" in out and "fine failed" not in out


def test_the_welcome_names_apps_and_where_data_stays_and_asks_for_none_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, apps = "http://127.0.0.1:8000", {"plants": "", "library": ""}
    text = run.welcome(address, apps, keep=".webbee")
    assert "Apps: library, plants." in text
    assert '"message": "what can you do?"' in text and "mail" not in text
    assert "Its data stays in .webbee. `make forget` empties it." in text
    monkeypatch.chdir(tmp_path)  # a project beside the repository
    text = run.welcome(address, apps, keep=".webbee")
    assert "Remove .webbee to begin anew." in text
    assert "Its data" not in run.welcome(address, {})


def test_what_the_welcome_offers_works() -> None:
    with local_world(prepare=prepare) as world:
        [typed] = [
            line for line in run.welcome("URL", apps_of(world)).splitlines() if "curl" in line
        ]
        words = shlex.split(typed)
        user, body = words[5].split()[-1], json.loads(words[7])
        reply = Client(world.url, user).post("/v1/chat", body)
    assert [(c["app_id"], c["status"]) for c in reply["calls"]] == [("mail", "ok")]


def test_a_port_that_is_taken_is_said_after_data_that_another_run_has(
    tmp_path: Path, command: Command
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        dev = ("dev", "--port", str(port))
        assert f"./webbee dev --port {port + 1}" in command(*dev, "--fresh", ends=1)[1]
        with StateFile.exclusive(tmp_path):
            words = (*dev, "--keep", str(tmp_path), "--into", str(FAILING))
            _, said = command(*words, ends=1)
    assert f"{tmp_path} is in use by another run (process {os.getpid()}): stop that one" in said
    assert str(port + 1) not in said


@pytest.fixture
def signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in run.ENDS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("end", run.ENDS)
def test_a_run_ends_once_however_often_it_is_told(
    monkeypatch: pytest.MonkeyPatch, command: Command, end: signal.Signals
) -> None:
    ended: list[str] = []

    @contextmanager
    def told_twice(**_: object) -> Iterator[None]:
        try:
            os.kill(os.getpid(), end)
            yield
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            ended.append("in peace")

    monkeypatch.setattr(worlds, "local_world", told_twice)
    assert ("stopped" in command("dev", "--fresh")[0], ended) == (True, ["in peace"])


@pytest.mark.usefixtures("signals")
def test_what_keeps_a_run_from_its_start_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    body = json.dumps({"error": {"message": "The parameter store did not answer; try again."}})
    handler = SimpleNamespace(lambda_handler=lambda *_: {"statusCode": 503, "body": body})

    @contextmanager
    def refused(**_: object) -> Iterator[None]:
        Stack({}, {"chat_turn": cast("ModuleType", handler)}, {}, "").ask("PUT", "/v1/secret", {})
        yield

    monkeypatch.setattr(worlds, "local_world", refused)
    said = "webbee: PUT /v1/secret: The parameter store did not answer; try again.\n"
    assert command("dev", "--fresh", ends=1)[1] == said


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--keep", "webbee.toml"), "webbee: webbee.toml: File exists\n"),
        (("--fresh",), "webbee: webbee.toml: time: its env refers to NOT_SET, which is not set"),
    ],
)
def test_what_lies_in_the_way_of_a_start_is_told_as_what_it_is(
    bare: None, monkeypatch: pytest.MonkeyPatch, command: Command, given: tuple[str, ...], says: str
) -> None:
    Path("webbee.toml").write_text('[mcp.time]\ncommand = "x"\nenv = { A = "${NOT_SET}" }\n')
    if "--keep" in given:
        monkeypatch.setenv("NOT_SET", "set")
    dev = ("dev", "--port", "0", "--into", str(FAILING))
    assert command(*dev, *given, ends=1)[1].startswith(says)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("openai:http://127.0.0.1:9/v1", "#<model>; #<model> is missing"),
        ("gpt", "the model gpt: must be offline, bedrock:<id> or openai:<base-url>#<model>"),
        ("bedrock:some.model", "the model bedrock:some.model: no AWS credentials: set AWS_PROFILE"),
    ],
)
@pytest.mark.usefixtures("bare")
def test_a_model_that_cannot_be_had_is_told_before_anything_starts(
    model: str, why: str, command: Command
) -> None:
    assert why in command("dev", "--model", model, ends=1)[1]


def test_webhooks_and_schedules_are_the_local_tenants() -> None:
    """With the ready users' documents and secrets: a webhook by the address it was given, and by
    the short one, signed with what an operator set; a job goes through everybody."""
    tenanted = Path(__file__).parents[1] / "functions" / "tenanted"
    with local_world(env={"WEBBEE_EXTENSIONS_DIR": str(tenanted)}, prepare=prepare) as world:
        alice, ops = Client(world.url, "alice"), Client(world.url, "ops")
        begun = alice.post("/v1/extensions/herald/call", {"function": "connect"})["data"]
        assert begun["url"].startswith(f"{world.url}/v1/ext/herald/webhook/~local.")
        with urllib.request.urlopen(f"{begun['url']}?state={begun['state']}", timeout=30) as answer:
            assert json.load(answer) == {"tenant": "local", "user": "alice"}
        ops.put("/v1/extensions/herald/secrets/signing?user=__webhook__", {"value": "a shared key"})
        body = b'{"user": "alice"}'
        signature = hmac.new(b"a shared key", body, hashlib.sha256).hexdigest()
        for address in (begun["paid"], f"{world.url}/v1/ext/herald/webhook/paid"):
            sent = urllib.request.Request(address, data=body, headers={"x-signature": signature})
            with urllib.request.urlopen(sent, timeout=30) as answer:
                assert json.load(answer)["tenant"] == "local"
        world.refresh()
        account = {"function": "account", "params": {}}
        assert alice.post("/v1/extensions/herald/call", account)["data"]["daily"] >= 1


def test_a_turn_that_goes_on_behind_its_request_is_waited_for(command: Command) -> None:
    showcase = Path(__file__).parents[1] / "page" / "extensions"
    with local_world(extensions_dir=showcase, env={"WEBBEE_ANSWER_SECONDS": "0.5"}) as world:
        asked = {"message": "count slowly", "session_id": "a", "request_id": "r1"}
        api = Client(world.url, "dev")
        assert api.post("/v1/chat", asked)["status"] == "working"
        there = ("--url", world.url, "--session", "b")
        assert "Counted to 4." in command("chat", "count slowly", *there)[0]
        with pytest.raises(RuntimeError, match="404 not_found: there is no session 'none'"):
            api.get("/v1/sessions/none")
        while api.post("/v1/chat", asked)["status"] == "working":
            pass


def called(world: World, user: str, app: str, function: str, **params: Any) -> Any:
    body = {"function": function, "params": params}
    return Client(world.url, user).post(f"/v1/extensions/{app}/call", body).get("data")


def found(world: World, user: str, subject: str) -> int:
    data = called(world, user, "mail", "search", subject=subject)
    return int(data["found"]) if data else 0


def test_what_a_run_keeps_the_next_one_finds(tmp_path: Path) -> None:
    """Documents, mail, what was uninstalled, an account of one's own, the key of webhooks' addresses:
    else those that services were given would be dead, or anybody's. The demo's mailbox has other
    ports at each start, also after a run that was ended before it had prepared anything."""
    own = [{"address": "me@example.com", "password": "x", "imap_host": "127.0.0.1", "imap_port": 1}]
    kept = tmp_path / "kept"
    with local_world(prepare=prepare, keep=kept) as world:
        ops = Client(world.url, "ops")
        ops.put("/v1/extensions/mail/secrets/accounts", {"value": json.dumps(own)})
        called(world, "alice", "tasks", "add", title="Kept")
        Client(world.url, "alice").delete("/v1/extensions/notes/installation")
        world.mail.deliver("me@personal.com", b"Subject: Kept too\r\n\r\nHello\r\n")
        mails, key = len(world.mail.kept()), world.stack.env[KEY]
    assert stat.S_IMODE((kept / "state.json").stat().st_mode) == 0o600
    with local_world(keep=kept) as world:
        assert (len(world.mail.kept()), len(key) > 30) == (mails, True)
        assert world.stack.env[KEY] == key
        assert [found(world, user, "Q3 plan") for user in ("alice", "bob", "dev")] == [1, 1, 1]
    secrets = StateFile(kept).state["secrets"]
    assert [json.loads(v) for name, v in secrets.items() if "/ops/" in name] == [own]
    with local_world(prepare=prepare, keep=kept) as world:
        assert "Kept" in json.dumps(called(world, "alice", "tasks", "list_tasks"))
        assert [found(world, user, "Q3 plan") for user in ("bob", "ops")] == [1, 0]
        assert found(world, "alice", "Kept too") == 1
        listed = Client(world.url, "alice").get("/v1/extensions")["extensions"]
        assert [a["app_id"] for a in listed if not a["installed"]] == ["notes"]
    with local_world(prepare=prepare) as world:  # which keeps nothing
        assert called(world, "alice", "tasks", "list_tasks")["tasks"] == []
        assert world.stack.env[KEY] != key
