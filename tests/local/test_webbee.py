"""The `webbee` command line, each command as a user types it."""

import ast
import json
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from local import webbee
from local.checking import loading, problems_of, source
from local.checking.rules import Module
from local.cli.talk import state_of
from local.project import child_environment
from local.world import World, local_world, prepare
from tests.processes import ran
from tests.stand_ins.service import server_that

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


Run = Callable[..., tuple[str, str]]
Write = Callable[..., Path]


@pytest.fixture
def here(world: World, command: Run) -> Run:
    """`here("chat", "hello")`: the command at that deployment, its output and its errors."""
    return lambda *words, ends=0: command(*words, "--url", world.url, ends=ends)


def test_chat_says_one_thing_and_goes_on_with_a_session(here: Run) -> None:
    out, _ = here("chat", "add", "a", "task:", "by terminal")
    assert "tasks.add" in out and "by terminal" in out
    for expected in (1, 2):
        answer = json.loads(here("chat", "show my tasks", "--session", "cli", "--json")[0])
        assert (answer["session_id"], answer["turn"]) == ("cli", expected)
    assert "tasks.list_tasks" in here("chat", "show my tasks", "--token", "bob")[0]


def test_inspect_prints_the_prompt_its_sizes_and_finds_values_and_who_wrote_them(here: Run) -> None:
    out, _ = here("inspect", "show my tasks")
    assert "[SKELETON]" in out and "catalogue" in out
    assert "tasks.add is a function, offered to" in here("inspect", "--search", "tasks.add")[0]
    assert "never written" in here("inspect", "--search", "rhubarb", ends=1)[0]
    typo = ("inspect", "--search", "rhubarb", "--session", "typo", "--json")
    assert "session typo has no turns yet" in here(*typo, ends=1)[1]
    assert json.loads(here("inspect", "--json")[0])["blocks"]
    # nothing is written: a section refreshed early would show it to every session
    here("chat", "show my tasks, dear zebrafinch", "--session", "birds", ends=1)
    out, _ = here("inspect", "--search", "zebrafinch", ends=1)
    assert "zebrafinch: written in session birds: the model of this session does not read it" in out
    assert "session birds, turn 1 message another session wrote it" in out
    here("inspect", "--search", "zebrafinch", "--session", "birds")


def test_inspect_says_why_a_section_is_no_longer_refreshed() -> None:
    shown = {"in_prompt": True, "why_not": "", "age": "cached ~5m ago"}
    failing = {**shown, "failures": 6, "last_error": "KeyError"}
    assert state_of(failing) == "cached ~5m ago, 6 × not refreshed: KeyError"
    assert state_of({**shown, "failures": 0, "last_error": ""}) == "cached ~5m ago"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("chat hello --url http://127.0.0.1:9", "make run"),
        ("chat hello --url https://api.example.com", "WEBBEE_TOKEN"),
        ("chat hello --url 127.0.0.1:8000", "is no address: --url https://"),
        ("check /nowhere/at/all", "no folder"),
        ("new plants --into /proc/nowhere", "No such file or directory"),
        ("new Bad-Name", "cannot be an extension's id"),
    ],
)
def test_errors_say_what_to_do(command: Run, words: str, says: str) -> None:
    out, err = command(*words.split(), ends=1)
    assert (out, says in err, "Traceback" in err) == ("", True, False), err


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
def test_an_address_of_something_else_is_told(command: Run, said: bytes, says: str) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(said)

    with server_that(answer) as port:
        _, err = command("inspect", "--url", f"http://127.0.0.1:{port}", ends=1)
    assert says in err


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
    print("deleted")
    return ActionResult.success("prose", "prose")

@ext.skeleton("section")
async def section(ctx):
    await ctx.skeleton.get("section")
    return {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "_x": 0, "g": 7}
"""
"""What no planted mistake of tests/authors is."""


def test_the_check_names_each_breach_with_its_line(written: Write) -> None:
    listed = problems_of(written("broken", BROKEN)).findings
    errors = {(2, "imports"), (10, "I-SKELETON-LLM-ONLY"), (11, "I-CACHE-TTL-CAP-300S")}
    assert errors <= {(f.line, f.rule) for f in listed if f.level == "error"}
    warnings = {(1, "blocking-import"), (8, "final"), (13, "print"), (14, "data")}
    warnings |= {(19, "seventh-field"), (19, "response")}
    assert warnings <= {(f.line, f.rule) for f in listed if f.level == "warning"}


SECTION = '@ext.skeleton("a")'


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ('@ext.skeleton("a/b")', "section name 'a/b' is refused"),
        (f"{SECTION}\nasync def first(ctx): ...\n\n{SECTION}", "section 'a' is registered twice"),
        ('@ext.skeleton("a", ttl=0)', "ttl of skeleton section 'a' is 0: give at least 1 second"),
        ('@ChatExtension(ext).function("a", "b", action_type="c")', "give one of read, write"),
    ],
)
def test_what_the_sdk_refuses_is_found_in_place(written: Write, declared: str, says: str) -> None:
    text = GOOD.replace("@chat.function", f"{declared}\nasync def a(ctx): ...\n\n@chat.function")
    [found] = loading.load(written("good", text)).findings  # types are checked elsewhere
    line = text.partition(f"{declared}\nasync")[0].count("\n") + declared.count("\n") + 1
    assert (found.file, found.line, says in found.message) == ("main.py", line, True)


def test_a_system_prompt_longer_than_the_classifier_reads_is_named() -> None:
    for length, warned in ((1_200, []), (1_201, [("system-prompt", 1)])):
        code = f"c = ChatExtension(e, system_prompt='{'r' * length}')"
        found = source.findings(Module("main.py", ast.parse(code)))
        assert [(f.rule, f.line) for f in found] == warned


LOADS = {
    "empty": ("main.py", 1, "no module attribute that is an Extension"),
    "exits": ("main.py", 7, "SystemExit: 4"),
    "lacks": ("main.py", 3, "'a_library_that_is_not_there' – add it to requirements.txt"),
    "raises": ("app.py", 6, "must not contain wildcard/separator characters"),
}


def test_a_folder_is_checked_whole_and_each_failure_has_file_and_line(command: Run) -> None:
    report = json.loads(command("check", str(FAILING), "--json", ends=1)[0])
    listed = {e["extension"]: e for e in report["extensions"]}
    assert (report["errors"], listed.pop("fine")["errors"]) == (len(LOADS), 0)
    for name, told in listed.items():
        file, line, text = LOADS[name]
        [found] = [f for f in told["findings"] if f["rule"] == "load"]
        assert (found["file"], found["line"], text in found["message"]) == (file, line, True)


def test_without_a_name_every_extension_beside_the_caller_is_checked(
    command: Run, written: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    written("extensions/good", GOOD)
    written("extensions/bad", "import nothing_of_the_kind\n")
    written("extensions/twin", GOOD, **{"imperal.json": '{"app_id": "good"}'})
    out, _ = command("check", ends=1)
    assert "good: nothing to mend" in out
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
            "import os\nos.write(1, b'{')\nprint('x', file=sys.stderr)\nraise ValueError('after')",
            "ValueError: after",
        ),
    ],
)
def test_what_an_import_does_stays_in_a_process_of_its_own(
    written: Write, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.setattr(loading, "LOAD_S", 2 if "while" in text else 60)
    folder = written("own", "import sys\nsys.modules['json'].canary = 1\n" + text)
    [finding] = loading.load(folder).findings
    assert says in finding.message
    assert not hasattr(json, "canary")


def test_an_import_that_leaves_threads_behind_still_ends_and_a_listed_library_is_to_be_installed(
    written: Write,
) -> None:
    left = "import threading, time\nthreading.Thread(target=time.sleep, args=(90,)).start()\n"
    assert loading.load(written("own", left + GOOD)).findings == []
    needs = {"requirements.txt": "# what it needs\npydantic>=2\nWeather.Bird==1.0\n"}
    [finding] = loading.load(written("own", "import weather_bird\n", **needs)).findings
    assert "install what it requires: " in finding.message
    assert "-m pip install -r " in finding.message
    proposed = (ROOT / "extensions" / "check_requirements.py").read_text("utf-8")
    assert f'SDK = "{loading.SDK}"' in proposed, "it is the one that the build installs"


def test_an_sdk_extension_may_have_plain_handlers_and_no_examples(command: Run) -> None:
    out, _ = command("check", str(ROOT / "tests" / "compat" / "extensions" / "pulse"))
    assert out.splitlines()[0] == "pulse: nothing to mend"


@pytest.mark.usefixtures("bare")
def test_deploy_check_names_what_is_missing_here(command: Run, written: Write) -> None:
    written("extensions/good", GOOD)
    written("extensions/plants", "ext = (")
    given = ("Model=bedrock:some.model", "JwtIssuer=https://login.example.com")
    out, _ = command("deploy-check", "--json", "--parameters", *given, ends=1)
    items: dict[str, Any] = {i["name"]: i for i in json.loads(out)["items"]}
    wanted = ("JwtIssuer", "JwtAudience", "BedrockModelArns", "region")
    assert [items[name]["ok"] for name in wanted] == [True, False, False, False]
    extensions = {name: i["ok"] for name, i in items.items() if name.startswith("extension ")}
    assert extensions == {"extension good": True, "extension plants": False}
    assert "main.py:1" in items["extension plants"]["message"]


def test_commands_explain_themselves_and_none_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("chat", "inspect", "new", "check", "deploy-check", ""):
        with pytest.raises(SystemExit, match="0"):
            webbee.main([name, "--help"] if name else [])
        says = "--json" if name else "what the model would read"
        assert says in capsys.readouterr().out, name


def test_extensions_of_the_repository_are_tested_without_its_developers_plugins() -> None:
    command = (sys.executable, "-m", "local.webbee", "test", "notes", "--", "--collect-only")
    without = ("-p", "no:socket", "-p", "no:timeout", "-p", "no:randomly")
    done = ran(*command, *without, env=child_environment())
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "notes/tests/test_" in done.stdout
