"""Runs programs of npm and PyPI."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def node(npm: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A script under the Node that stands among the packages."""
    return subprocess.run(
        [str(npm / ".bin/node"), *arguments],
        cwd=npm.parent,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def alone(
    pypi: Path, program: str, *arguments: str, said: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """A program of the environment of clients, which knows nothing of this project."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(pypi / program), *arguments],
        env={**inherited, "PATH": f"{pypi}:{os.environ['PATH']}", **environment},
        input=said,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
