"""Programs that others wrote, against the local API. Skipped, with the reason, where they are not
installed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.world import World, local_world

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with local_world(origins=["https://app.example.com"]) as running:
        yield running


@pytest.fixture(scope="session")
def npm() -> Path:
    """The folder of npm's packages, `make .venv-npm` puts them there."""
    modules = ROOT / ".venv-npm/node_modules"
    if not (modules / ".bin/node").exists():
        told = "`make .venv-npm` has not run" if shutil.which("npm") else "npm is not installed"
        pytest.skip(f"the programs of tests/clients/package.json are missing: {told}")
    return modules


@pytest.fixture(scope="session")
def pypi() -> Path:
    """The programs of an environment of their own."""
    programs = ROOT / ".venv-clients/bin"
    if not (programs / "llm").exists():
        pytest.skip("the programs of requirements/clients.txt are missing: `make .venv-clients`")
    return programs
