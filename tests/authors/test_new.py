"""`webbee new`: what it writes is what it was told, passes its tests and the check, and its tests
see a function that fails."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENV = {**os.environ, "PYTHONPATH": f"{ROOT / 'layers/webbee_kernel'}:{ROOT}", "NO_COLOR": "1"}
COMMAND = (sys.executable, "-m", "local.webbee")


def webbee(*arguments: str, cwd: Path, typed: str = "") -> tuple[int, str]:
    """Exit status and output of the real command; `typed` is what somebody types at a terminal."""
    terminal, end = pty.openpty() if typed else (0, subprocess.DEVNULL)
    if typed:
        os.write(terminal, typed.encode())
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, env=ENV, stdin=end, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("app", "typed", "holds"),
    [
        ("shopping-list", "", ("list_entries", "The user's shopping list entries")),
        ("invoices", "", ("add_invoice", "show my invoices")),
        (
            "weather",
            "city\nhttps://weather.example.com/now\nWeather of cities\n",
            ("read_city", 'description="Weather of cities"', "https://weather.example.com/now"),
        ),
    ],
)
def test_a_new_extension_says_what_it_was_told_and_passes_the_check_and_its_tests(
    tmp_path: Path, app: str, typed: str, holds: tuple[str, ...]
) -> None:
    status, said = webbee("new", app, "--into", ".", cwd=tmp_path, typed=typed)
    assert status == 0, said
    main = (tmp_path / app / "main.py").read_text("utf-8")
    assert [part for part in holds if part not in main] == []
    assert "$" not in main

    status, said = webbee("check", app, cwd=tmp_path)
    assert (status, said.splitlines()[0]) == (0, f"{app}: nothing to mend")
    status, said = webbee("test", app, "--into", ".", cwd=tmp_path)
    assert (status, " passed" in said) == (0, True), said
    status, said = webbee("eval", app, "--into", ".", cwd=tmp_path)
    assert (status, "3 of 3 understood by offline" in said) == (0, True), said
    assert webbee("new", app, "--into", ".", cwd=tmp_path)[0] == 1


def test_its_test_of_a_message_sees_a_function_that_fails(tmp_path: Path) -> None:
    assert webbee("new", "plants", "--into", ".", cwd=tmp_path)[0] == 0
    main = tmp_path / "plants" / "main.py"
    text = main.read_text("utf-8")
    broken = text.replace('page = await ctx.store.query("plants", limit=50)', "return 5", 1)
    assert broken != text
    main.write_text(broken, "utf-8")
    status, said = webbee("test", "plants", "--into", ".", "--", "-k", "message", cwd=tmp_path)
    assert status == 1
    assert "FAILED" in said and "test_a_message_reaches_the_function" in said
    assert "not int: ActionResult.success(data, summary)" in said


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--thing", "Straße!", "cannot name a thing"),
        ("--address", "weather", "is no address"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, option: str, value: str, says: str) -> None:
    status, said = webbee("new", "weather", "--into", ".", option, value, cwd=tmp_path)
    assert (status, says in said) == (1, True), said
    assert list(tmp_path.iterdir()) == []
