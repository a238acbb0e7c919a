"""Runs programs of npm and PyPI."""

import os
import subprocess
from pathlib import Path

from tests.processes import ran


def node(npm: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ran(npm / ".bin/node", *arguments, cwd=npm.parent, timeout=600)


def alone(
    pypi: Path, program: str, *arguments: str, said: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """A program of the environment of clients, which knows nothing of this project."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env = {**inherited, "PATH": f"{pypi}:{os.environ['PATH']}", **environment}
    return ran(pypi / program, *arguments, env=env, input=said, timeout=600)
