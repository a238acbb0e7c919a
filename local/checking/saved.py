"""`webbee check` of what is saved, told beside the reload, which does not wait for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from webbee_kernel.extensions.reloading import app_of, changes

from ..project import child_environment

NOTHING = "nothing to mend"
COMMAND_LINE = f"{__name__.partition('.')[0]}.webbee"


def follow(root: Path, say: Callable[[str], None]) -> None:
    """Check all extensions of a folder, and what is saved of them, for good; `say` tells a text."""
    told: dict[str, str] = {}
    waiting = {main.parent.name for main in root.glob("*/main.py")}
    for changed in changes(root.resolve()):
        waiting |= {app_of(path, root.resolve()) for path in changed} - {""}
        check(waiting, root, told, say)
        waiting.clear()


def check(
    names: Iterable[str], root: Path, told: dict[str, str], say: Callable[[str], None]
) -> None:
    """Check each, at the lowest priority. What its last check told as well is not told again, and
    that there is nothing to mend only where there was something."""
    for name in sorted(n for n in names if (root / n / "main.py").exists()):
        calm = [nice, "-n", "19"] if (nice := shutil.which("nice")) else []
        command = [sys.executable, "-m", COMMAND_LINE, "check", os.path.relpath(root / name)]
        done = subprocess.run(  # noqa: S603 - ourselves
            [*calm, *command],
            env=child_environment(),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        text = done.stdout.strip() or done.stderr.strip()
        if text != told.get(name) and (name in told or NOTHING not in text):
            say(text)
        told[name] = text
