"""The `webbee` command line, each command as a user types it."""

from __future__ import annotations

import ast
import json
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import boto3
import pytest

from local import webbee
from local.checking import loading, problems_of, source
from local.checking.finding import Module
from local.cli.talk import state_of
from local.gateway import TENANT, TOKENS
from local.loopback import Client
from local.project import child_environment
from local.world import World, local_world, prepare
from tests.processes import ran
from webbee_kernel.config import ALL_TABLES

ROOT = Path(__file__).parents[2]
FAILING = ROOT / "tests" / "compat" / "failing"


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with local_world() as made:
        prepare(made)
        made.stack.tick()
        while made.stack.drain():
            pass
        yield made


Run = Callable[..., tuple[int, str, str]]
Write = Callable[[str, str], Path]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("chat", "hello")` → exit status, output, errors."""

    def command(*arguments: str) -> tuple[int, str, str]:
        status = webbee.main(list(arguments))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write an extension into `extensions` beside the caller: its folder."""
    monkeypatch.chdir(tmp_path)

    def written(app: str, text: str) -> Path:
        folder = tmp_path / "extensions" / app
        folder.mkdir(parents=True)
        (folder / "main.py").write_text(text, "utf-8")
        return folder

    return written


def test_chat_says_one_thing_and_shows_the_calls(run: Run, world: World) -> None:
    status, out, _ = run("chat", "add", "a", "task:", "by terminal", "--url", world.url)
    assert status == 0
    assert "tasks.add" in out
    assert "by terminal" in out


def test_chat_goes_on_with_a_session_and_prints_json(run: Run, world: World) -> None:
    for expected in (1, 2):
        _, out, _ = run("chat", "show my tasks", "--session", "cli", "--json", "--url", world.url)
        answer = json.loads(out)
        assert (answer["session_id"], answer["turn"]) == ("cli", expected)


def test_a_section_that_is_shown_and_no_longer_refreshed_says_why() -> None:
    shown = {"in_prompt": True, "why_not": "", "age": "cached ~5m ago"}
    failing = {**shown, "failures": 6, "last_error": "KeyError"}
    assert state_of(failing) == "cached ~5m ago, 6 × not refreshed: KeyError"
    assert state_of({**shown, "failures": 0, "last_error": ""}) == "cached ~5m ago"


def test_a_conversation_ends_with_the_input(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Mock(side_effect=["show my tasks", "", EOFError])
    monkeypatch.setattr("builtins.input", said)
    status, out, _ = run("chat", "--url", world.url, "--token", "bob")
    assert status == 0
    assert "tasks.list_tasks" in out


def test_sessions_are_listed_shown_and_deleted(run: Run, world: World) -> None:
    run("chat", "show my tasks", "--session", "gone", "--url", world.url)
    assert "gone" in run("sessions", "--url", world.url)[1]
    assert "show my tasks" in run("sessions", "gone", "--url", world.url)[1]
    assert run("sessions", "--delete", "gone", "--url", world.url)[0] == 0
    status, _, err = run("sessions", "gone", "--url", world.url)
    assert (status, "there is no session" in err) == (1, True)


def test_inspect_prints_the_prompt_its_sizes_and_finds_values(run: Run, world: World) -> None:
    at = ("--url", world.url)
    status, out, _ = run("inspect", "show my tasks", *at)
    assert status == 0
    assert "[SKELETON]" in out
    assert "catalogue" in out
    assert run("inspect", "--search", "mail_inbox_summary", "--url", world.url)[0] == 0
    status, out, _ = run("inspect", "--search", "rhubarb", "--url", world.url)
    assert (status, "never written" in out) == (1, True)
    status, _, err = run("inspect", "--search", "rhubarb", "--session", "typo", "--json", *at)
    assert (status, "session typo has no turns yet" in err) == (1, True)
    assert json.loads(run("inspect", "--json", "--url", world.url)[1])["blocks"]


def test_inspect_names_the_session_that_wrote_what_another_does_not_read(
    run: Run, world: World
) -> None:
    # nothing is written: a section refreshed early would show it to every session
    run("chat", "show my tasks, dear zebrafinch", "--session", "birds", "--url", world.url)
    status, out, _ = run("inspect", "--search", "zebrafinch", "--url", world.url)
    assert status == 1
    assert "zebrafinch: written in session birds: the model of this session does not read it" in out
    assert "session birds, turn 1 message another session wrote it" in out
    here = ("--session", "birds", "--url", world.url)
    assert run("inspect", "--search", "zebrafinch", *here)[0] == 0


def test_refresh_waits_until_the_sections_are_new(run: Run, world: World) -> None:
    world.keep_fresh()
    status, out, err = run("refresh", "tasks", "--url", world.url)
    assert (status, err) == (0, "")
    assert re.search(r"tasks\.tasks cached ~\d+s ago", out), out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chat", "hello", "--url", "http://127.0.0.1:9"], "make run"),
        (["chat", "hello", "--url", "https://api.example.com"], "WEBBEE_TOKEN"),
        (["chat", "hello", "--url", "127.0.0.1:8000"], "is no address: --url https://"),
        (["check", "/nowhere/at/all"], "no folder"),
        (["new", "plants", "--into", "/proc/nowhere"], "No such file or directory"),
        (["new", "Bad Name"], "cannot be an extension's id"),
    ],
)
def test_errors_say_what_to_do(run: Run, arguments: list[str], says: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert says in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "speaks no HTTP: BadStatusLine"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n",
            "is no API of a kernel: it answers with text/html",
        ),
    ],
)
def test_an_address_of_something_else_is_told(run: Run, said: bytes, says: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(said)

        other = threading.Thread(target=answer)
        other.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        status, _, err = run("sessions", "--url", url)
        other.join()
    assert (status, says in err) == (1, True), err


BROKEN = """import requests
from webbee_kernel.turn.kernel import Kernel
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension

ext = Extension("broken")
chat = ChatExtension(ext)

@chat.function("delete_all", "")
def delete_all(ctx, params):
    ctx.skeleton.get("x")
    ctx.cache.set("a b", 1, ttl_seconds=999)
    requests.get("https://example.com")
    print(ctx.fact_ledger)
    return ActionResult.success("prose", "prose")

@ext.skeleton("section")
async def section(ctx):
    await ctx.skeleton.get("section")
    return {"response": {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "_x": 0, "g": 7}}

@ext.signal("moved")
def moved(ctx):
    pass
"""


def test_the_check_names_each_breach_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(BROKEN)
    listed = problems_of(tmp_path).findings
    errors = {(2, "imports"), (8, "signature"), (13, "missing-attribute"), (21, "signature")}
    errors |= {(10, "I-SKELETON-LLM-ONLY"), (11, "I-CACHE-KEY-SAFETY")}
    errors |= {(11, "I-CACHE-TTL-CAP-300S")}
    assert errors <= {(f.line, f.rule) for f in listed if f.level == "error"}
    warnings = {(1, "blocking-import"), (13, "print"), (14, "data"), (19, "seventh-field")}
    warnings |= {(8, rule) for rule in ("description", "examples", "final")}
    assert warnings <= {(f.line, f.rule) for f in listed if f.level == "warning"}


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ('@ext.skeleton("a/b")', "section name 'a/b' is refused"),
        ('@ext.skeleton("a", ttl=0)', "ttl of skeleton section 'a' is 0: give at least 1 second"),
        ('@ChatExtension(ext).function("a", "b", action_type="c")', "give one of read, write"),
    ],
)
def test_what_the_sdk_refuses_is_found_where_it_stands(
    tmp_path: Path, declared: str, says: str
) -> None:
    text = GOOD.replace("@chat.function", f"{declared}\nasync def a(ctx): ...\n\n@chat.function")
    (tmp_path / "main.py").write_text(text)
    [found] = [f for f in problems_of(tmp_path).findings if f.rule == "load"]
    assert (found.file, found.line, says in found.message) == ("main.py", 7, True)


@pytest.mark.parametrize(("length", "warned"), [(1_200, []), (1_201, [("system-prompt", 1)])])
def test_a_system_prompt_longer_than_the_classifier_reads_is_named(
    tmp_path: Path, length: int, warned: list[tuple[str, int]]
) -> None:
    module = Module("main.py", ast.parse(f"c = ChatExtension(e, system_prompt='{'r' * length}')"))
    assert [(f.rule, f.line) for f in source.findings(module)] == warned


LOADS = {
    "empty": (
        "main.py",
        1,
        "it does not load: ValueError: empty/main.py has no module attribute that is an Extension",
    ),
    "exits": ("main.py", 7, "it does not load: SystemExit: 4"),
    "lacks": (
        "main.py",
        3,
        (
            "it does not load: ModuleNotFoundError: No module named 'a_library_that_is_not_there' –"
            " add it to requirements.txt"
        ),
    ),
    "raises": (
        "app.py",
        6,
        (
            "it does not load: ValueError: skeleton: section_name 'a:b' must not contain"
            " wildcard/separator characters"
        ),
    ),
}


def test_a_folder_of_extensions_is_checked_whole_and_each_failure_has_its_file_and_line(
    run: Run,
) -> None:
    status, out, _ = run("check", str(FAILING), "--json")
    report = json.loads(out)
    assert (status, report["errors"]) == (1, len(LOADS))
    assert [
        (e["extension"], e["errors"]) for e in report["extensions"] if e["extension"] == "fine"
    ] == [("fine", 0)]
    for listed in report["extensions"]:
        for finding in listed["findings"]:
            file, line, text = LOADS[listed["extension"]]
            assert (finding["file"], finding["line"], finding["rule"]) == (file, line, "load")
            assert finding["message"].startswith(text)


def test_without_a_name_every_extension_beside_the_caller_is_checked(
    run: Run, write: Write
) -> None:
    write("good", GOOD)
    write("bad", "import nothing_of_the_kind\n")
    (write("twin", GOOD) / "imperal.json").write_text('{"app_id": "good"}')
    status, out, _ = run("check")
    assert (status, "good: nothing to mend" in out) == (1, True)
    assert "extensions/bad/main.py:1: error it does not load" in out
    assert "twin/main.py:1: error the extension id 'good' is taken by another folder" in out


GOOD = """from webbee_kernel.sdk import ActionResult, ChatExtension, Extension

ext = Extension("good")
chat = ChatExtension(ext)


@chat.function("look", "Look at the sky", examples=["look at the sky"])
async def look(ctx):
    return ActionResult.success({}, "Looked.")
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import time\nwhile True:\n    pass\n", "it did not load in 2 s"),
        (
            (
                "import os, sys\nos.write(1, b'{')\nprint('x', file=sys.stderr)\nraise"
                " ValueError('after all')\n"
            ),
            "ValueError: after all",
        ),
    ],
)
def test_what_an_import_does_stays_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.setattr(loading, "LOAD_S", 2 if "while" in text else 60)
    (tmp_path / "main.py").write_text("import sys\nsys.modules['json'].canary = 1\n" + text)
    [finding] = loading.load(tmp_path).findings
    assert says in finding.message
    assert not hasattr(json, "canary")


def test_an_import_that_leaves_threads_behind_still_ends(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        f"import threading, time\nthreading.Thread(target=time.sleep, args=(90,)).start()\n{GOOD}"
    )
    assert loading.load(tmp_path).findings == []


def test_a_library_that_is_listed_but_not_installed_is_to_be_installed(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import weather_bird\n")
    (tmp_path / "requirements.txt").write_text("# what it needs\npydantic>=2\nWeather.Bird==1.0\n")
    [finding] = loading.load(tmp_path).findings
    assert "install what it requires: " in finding.message
    assert "-m pip install -r " in finding.message


def test_the_sdk_that_is_proposed_is_the_one_the_build_installs() -> None:
    assert f'SDK = "{loading.SDK}"' in (ROOT / "extensions" / "check_requirements.py").read_text(
        "utf-8"
    )


def test_an_sdk_extension_may_have_plain_handlers_and_no_examples(run: Run) -> None:
    status, out, _ = run("check", str(ROOT / "tests" / "compat" / "extensions" / "pulse"))
    assert (status, out.splitlines()[0]) == (0, "pulse: nothing to mend")


def test_an_operator_exports_and_erases_a_person(run: Run, world: World, tmp_path: Path) -> None:
    Client(world.url, "bob").turn("add a task: buy milk", "s1")
    names = {noun: f"{noun.capitalize()}Table" for noun in ALL_TABLES}
    tables = {f"{name}Name": {"Value": name} for name in names.values()}
    queue = {"Queue": {"Type": "AWS::SQS::Queue"}}
    template: dict[str, Any] = {"Resources": queue, "Outputs": tables}
    boto3.client("cloudformation").create_stack(StackName="shop", TemplateBody=json.dumps(template))
    person = ("--tenant", TENANT, "--user", TOKENS["bob"]["sub"], "--stack", "shop")
    file = tmp_path / "bob.jsonl"
    status, _, err = run("export", *person, "--into", str(file))
    assert (status, file.stat().st_mode & 0o077) == (0, 0), err
    kinds = {json.loads(line)["kind"] for line in file.read_text("utf-8").splitlines()}
    assert {"session", "document", "audit"} <= kinds
    assert run("erase", *person, "--yes")[0] == 0
    assert "nothing was kept of" in run("erase", *person, "--yes")[1]


def test_deploy_check_names_what_is_missing_in_what_is_beside_its_caller(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("good", GOOD)
    write("plants", "ext = (")
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "DEFAULT_REGION", "REGION", "PROFILE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    given = ("Model=bedrock:some.model", "JwtIssuer=https://login.example.com")
    status, out, _ = run("deploy-check", "--json", "--parameters", *given)
    items: dict[str, Any] = {i["name"]: i for i in json.loads(out)["items"]}
    assert status == 1
    wanted = ("JwtIssuer", "JwtAudience", "BedrockModelArns", "region")
    assert [items[name]["ok"] for name in wanted] == [True, False, False, False]
    extensions = {name: i["ok"] for name, i in items.items() if name.startswith("extension ")}
    assert extensions == {"extension good": True, "extension plants": False}
    assert "main.py:1" in items["extension plants"]["message"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        *(
            ([name, "--help"], "--json")
            for name in "chat inspect sessions refresh new check deploy-check".split()
        ),
        ([], "say something, or hold a conversation"),
    ],
)
def test_every_command_explains_itself_and_none_lists_them(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        webbee.main(arguments)
    assert stopped.value.code == 0
    assert says in capsys.readouterr().out


def test_extensions_of_the_repository_are_tested_without_its_developers_plugins() -> None:
    command = (sys.executable, "-m", "local.webbee", "test", "notes", "--", "--collect-only")
    without = ("-p", "no:socket", "-p", "no:timeout", "-p", "no:randomly")
    done = ran(*command, *without, env=child_environment())
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "notes/tests/test_" in done.stdout
