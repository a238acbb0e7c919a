"""What an author types first: `webbee new` writes what it was told, which passes its tests and the
check, and whose tests see a function that fails."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from local import webbee
from local.project import child_environment
from webbee_kernel.testing import TestKernel

ROOT = Path(__file__).resolve().parents[2]


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """`run("new", "weather", "--into", ".")` → exit status and output, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str]:
        status = webbee.main(list(arguments))
        return status, "".join(capfd.readouterr())

    return command


def typed_at_a_terminal(text: str, *arguments: str, cwd: Path) -> None:
    """The real command, and somebody who answers what it asks."""
    terminal, end = pty.openpty()
    os.write(terminal, text.encode())
    command = [sys.executable, "-m", "local.webbee", *arguments]
    told = {"cwd": cwd, "env": child_environment(), "stdin": end, "timeout": 120}
    subprocess.run(command, **told, capture_output=True, check=True)


NOW, DEGREE = "https://weather.example.com/now", ("--thing", "Degree", "--address", "none")
WEATHER = ("read_city", 'description="Weather of cities"', NOW)
NEW = {
    "shopping-list": ((), "", ("list_entries", "The user's shopping list entries")),
    "weather": ((), f"city\n{NOW}\nWeather of cities\n", WEATHER),
    "temperature": (DEGREE, "", ("tell_degree", "Temperature of degrees")),
    "invoices": ((), "", ("add_invoice", "show my invoices")),
    "import": (("--thing", "class"), "", ("add_class", "show my import classes")),
}
"""What is said of a new extension, what is typed, and what it then holds; a plural names its
things."""


def test_new_extensions_say_what_was_told_and_pass_all_checks(run: Run, tmp_path: Path) -> None:
    for app, (said_of_it, typed, holds) in NEW.items():
        if typed:
            typed_at_a_terminal(typed, "new", app, cwd=tmp_path)
        else:
            assert run("new", app, *said_of_it)[0] == 0
        main = (tmp_path / "extensions" / app / "main.py").read_text("utf-8")
        assert [part for part in holds if part not in main] == []
        assert "$" not in main

    status, said = run("check")
    assert (status, [app for app in NEW if f"{app}: nothing to mend" not in said]) == (0, []), said
    status, said = run("test")
    assert (status, " passed" in said) == (0, True), said
    assert run("new", "weather")[0] == 1


@pytest.fixture
def weather(run: Run, tmp_path: Path) -> Path:
    assert run("new", "weather", "--into", ".")[0] == 0
    return tmp_path / "weather"


ADD = "add Rome 30 to my weather entries"


@pytest.mark.parametrize(
    "said",
    [
        (ADD, "delete it"),
        (ADD, "delete that entry"),
        (ADD, "show my weather entries", "delete the first one"),
        (ADD, "delete Rome 30 from my weather entries"),
        ("new weather entry: Rome 30", "delete the weather entry rome"),
    ],
)
def test_what_a_new_app_keeps_is_deleted_by_chat(weather: Path, said: tuple[str, ...]) -> None:
    kernel = TestKernel([weather, ROOT / "extensions" / "tasks"])
    *before, last = [kernel.chat(message).body for message in said]
    assert [call["status"] for body in before for call in body["calls"]] == ["ok"] * len(before)
    assert "Rome 30" in last["confirmation"]["summary"], last
    reply = kernel.confirm(last["confirmation"]["id"]).body["reply"]
    assert reply.startswith("Deleted: Rome 30."), reply
    undone = kernel.chat("undo that").body
    assert "Rome 30" in undone["confirmation"]["summary"], undone
    assert "Rome 30" in kernel.confirm(undone["confirmation"]["id"]).body["reply"]


def test_a_title_that_nothing_has_is_answered_with_those_that_there_are(weather: Path) -> None:
    kernel = TestKernel([weather])
    kernel.chat(ADD)
    kernel.chat("add Oslo 3 to my weather entries")
    asked = kernel.chat("delete Lima from my weather entries").body
    assert "confirmation" not in asked
    assert all(title in asked["reply"] for title in ("Lima", "Rome 30", "Oslo 3"))
    assert kernel.chat("show my weather entries").body["reply"].startswith("2 entries.")
    for _ in range(2):
        asked = kernel.chat("delete the first one").body
        kernel.confirm(asked["confirmation"]["id"])
    assert kernel.chat("show my weather entries").body["reply"] == "No entries."


def test_its_test_of_a_message_sees_a_function_that_fails(run: Run, tmp_path: Path) -> None:
    assert run("new", "plants", "--into", ".")[0] == 0
    main = tmp_path / "plants" / "main.py"
    text = main.read_text("utf-8")
    broken = text.replace('page = await ctx.store.query("plants", limit=50)', "return 5", 1)
    assert broken != text
    main.write_text(broken, "utf-8")
    status, said = run("test", "plants", "--into", ".", "--", "-k", "message")
    assert status == 1
    assert "FAILED" in said and "test_a_message_reaches_the_function" in said
    assert "not int: ActionResult.success(data, summary)" in said


def test_what_cannot_be_is_said_and_not_made(run: Run, tmp_path: Path) -> None:
    cannot = {"--thing=Straße!": "cannot name a thing", "--address=weather": "is no address"}
    for option, says in cannot.items():
        status, said = run("new", "weather", "--into", ".", option)
        assert (status, says in said) == (1, True), said
    assert list(tmp_path.iterdir()) == []
