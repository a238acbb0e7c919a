"""What happens before the first event: where modules come from, and how a wrong environment stops a
function."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.emulator.conftest import LOGICAL_IDS, Cloud, recorded
from tests.emulator.runtime import ROOT, Built, Emulator, FunctionError

WHERE = """
import json, sys
import handler
print(json.dumps({"standard": sys.base_prefix, "path": sys.path, "files": [m.__file__ for m in list(sys.modules.values()) if getattr(m, "__file__", None)]}))
"""


@pytest.mark.parametrize("function", LOGICAL_IDS)
def test_a_handler_imports_from_its_folder_the_layers_and_the_runtime_only(
    built: Built, environment: Callable[[str], dict[str, str]], function: str
) -> None:
    slot = Emulator(built, LOGICAL_IDS[function], environment(function))
    command = [built.python, "-c", WHERE]
    done = subprocess.run(
        command,
        cwd=slot.task,
        env=slot.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = json.loads(done.stdout)

    homes = [
        built.root.resolve(),
        built.python.parent.parent.resolve(),
        Path(found["standard"]).resolve(),
    ]
    strangers = [
        f
        for f in found["files"]
        if not any(Path(f).resolve().is_relative_to(home) for home in homes)
    ]
    assert strangers == []
    kernel = [f for f in found["files"] if "webbee_kernel" in f]
    assert kernel
    assert all(Path(f).is_relative_to(built.opt) for f in kernel)
    assert not any(
        str(ROOT / folder) in entry
        for entry in found["path"]
        for folder in ("layers", "extensions", "functions")
    )
    assert str(ROOT) not in found["path"]


@pytest.mark.parametrize(
    ("function", "variable", "value", "why"),
    [
        ("chat_turn", "WEBBEE_TABLE_SESSIONS", "", "is missing"),
        ("chat_turn", "WEBBEE_MODEL", "gpt", "must be offline, bedrock:<id> or"),
        ("tool_dispatch", "WEBBEE_EXTENSIONS_DIR", "", "is missing"),
        ("skeleton_refresh", "WEBBEE_DUE_SHARDS", "many", "should be a valid integer"),
        ("skeleton_refresh", "WEBBEE_TABLE_SKELETON", "", "is missing"),
    ],
)
def test_a_wrong_variable_stops_the_function_at_init_with_one_line_that_names_it(
    built: Built,
    environment: Callable[[str], dict[str, str]],
    function: str,
    variable: str,
    value: str,
    why: str,
) -> None:
    with Emulator(built, LOGICAL_IDS[function], environment(function) | {variable: value}) as slot:
        with pytest.raises(FunctionError) as failure:
            slot.invoke(recorded("eventbridge_tick"))
        logs = slot.logs()
    assert failure.value.kind.endswith("SettingsError")
    assert failure.value.message.startswith(f"environment variable {variable}")
    assert why in failure.value.message
    assert "\n" not in failure.value.message
    assert len([line for line in logs.splitlines() if variable in line]) >= 1


def test_the_emulator_keeps_requests_apart(cloud: Cloud) -> None:
    with ThreadPoolExecutor(4) as threads:
        answers = list(
            threads.map(cloud.functions["tool_dispatch"].invoke, [recorded("invoke_catalogue")] * 8)
        )
    assert all(answer == answers[0] for answer in answers)
