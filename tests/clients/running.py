"""Runs programs of npm."""

from __future__ import annotations

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
