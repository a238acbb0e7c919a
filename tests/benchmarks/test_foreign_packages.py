"""The adapters on the real packages, in the environment that `make eval` makes for them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.foreign import packages
from tests.stand_ins.servers import ChatServer

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-measures/bin/python"

installed = pytest.mark.skipif(
    not PYTHON.exists(),
    reason="no .venv-measures here: `make eval` or `make .venv-measures` makes it",
)


def run(*arguments: str) -> str:
    path = f"{ROOT / 'layers/webbee_kernel'}:{ROOT}"
    done = subprocess.run(
        [PYTHON, *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_missing_package_is_named_with_what_to_do() -> None:
    with pytest.raises(packages.MissingPackage, match="make eval"):
        packages.folder("no_such_package_as_this")


@installed
def test_the_suites_are_whole_without_the_vendors_clients() -> None:
    script = """
import sys
from benchmarks.foreign import packages, tasks
print({n: (len(s.user_tasks), len(s.injection_tasks)) for n, s in packages.dojo().items()})
print(len(list(tasks.attack_cases(packages.dojo(), 1))), len(list(tasks.attack_cases(packages.dojo(), 3))))
print({"openai", "anthropic", "cohere", "torch"} & set(sys.modules))
"""
    sizes, cases, vendors = run("-c", script).splitlines()
    assert (
        sizes == "{'workspace': (40, 14), 'travel': (20, 7), 'banking': (16, 9), 'slack': (21, 5)}"
    )
    assert cases == "588 196"
    assert vendors == "set()"


@installed
def test_a_sample_prints_its_table_with_denominators() -> None:
    printed = run(
        "-m", "benchmarks.foreign", "--suite", "slack", "--only", "utility", "--sample", "7"
    )
    [row] = [line for line in printed.splitlines() if line.split()[:1] == ["slack"]]
    assert row.split()[1].endswith("/3")


@installed
def test_a_real_models_run_goes_over_the_wire_and_is_counted() -> None:
    with ChatServer() as server:
        model = f"openai:{server.url}#stand-in"
        arguments = ("--model", model, "--suite", "slack", "--only", "utility", "--sample", "7")
        printed = run("-m", "benchmarks.foreign", *arguments)
        assert len(server.requests) >= 3 and server.problems == []
    [row] = [line for line in printed.splitlines() if line.split()[:1] == ["slack"]]
    assert row.split()[1].endswith("/3") and row.split()[-1] == "0"
