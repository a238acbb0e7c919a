"""What each function loads when it starts, in the environment that the template gives it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from local.template import environment, load_template

ROOT = Path(__file__).parents[2]

START = """
import json, sys
import functions.{function}.handler as handler
handler.lambda_handler.service()
print(json.dumps(sorted(m.removeprefix("webbee_kernel.") for m in sys.modules if m.startswith("webbee_kernel."))))
"""


def loaded_by(function: str, resource: str) -> set[str]:
    """The kernel's modules that a fresh process holds once the function's service is built."""
    variables = environment(load_template(), resource)
    given = {name: "something" for name in variables if name.startswith("WEBBEE_TABLE_")}
    given |= {"WEBBEE_DISPATCH": "tool", "WEBBEE_CLOCK": "clock"}
    given |= {"WEBBEE_REFRESH_QUEUE_URL": "http://127.0.0.1:1/q"}
    given |= {"WEBBEE_EXTENSIONS_DIR": str(ROOT / "extensions")}
    asked = {k: v for k, v in given.items() if k in variables}
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "WEBBEE_"))}
    path = os.pathsep.join((str(ROOT / "layers/webbee_kernel"), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", START.format(function=function)],
        env={**clean, "PYTHONPATH": path, "AWS_DEFAULT_REGION": "us-east-1", **asked},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_chat_turn_loads_no_room_where_extension_code_runs() -> None:
    loaded = loaded_by("chat_turn", "ChatTurnFunction")
    rooms = {m.partition(".")[0] for m in loaded}
    assert "turn" in rooms
    assert not rooms & {"extensions", "compat", "inspector", "testing"}
    assert "refresh.due" not in loaded


def test_where_extension_code_runs_no_turn_is_loaded() -> None:
    loaded = loaded_by("tool_dispatch", "ToolDispatchFunction")
    rooms = {m.partition(".")[0] for m in loaded}
    assert "extensions" in rooms
    assert "refresh.due" not in loaded
    assert not rooms & {"turn", "grounding", "inspector", "testing"}


def test_the_clock_loads_neither_extension_code_nor_a_turn() -> None:
    loaded = loaded_by("skeleton_refresh", "SkeletonRefreshFunction")
    rooms = {m.partition(".")[0] for m in loaded}
    assert "refresh" in rooms
    assert not rooms & {"turn", "extensions", "compat", "page"}
