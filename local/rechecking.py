"""What `webbee check` finds in an extension, told at the line each time a file of it is saved.

Reloading waits for none of it: the check runs in a process of its own, at the lowest priority, and
a newer save ends it. What it has told before is counted, not told again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from webbee_kernel.extensions.reloading import app_of, changes

from .paint import paint
from .project import child_environment

Finding = dict[str, Any]
NICENESS: Final = 19


def follow(root: Path, say: Callable[[str], None]) -> None:
    """Check what is saved below a folder of extensions, in the background, until the process
    ends."""
    rechecks = Rechecks(root.resolve(), say)
    threading.Thread(target=rechecks.follow, name="webbee-check", daemon=True).start()


class Rechecks:
    """Runs one check an extension at a time; `say` tells a line."""

    def __init__(self, root: Path, say: Callable[[str], None]) -> None:
        self._root = root
        self._say = say
        self._lock = threading.Lock()
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._told: dict[str, set[str]] = {}

    def follow(self) -> None:
        """Check what changes, for good."""
        for changed in changes(self._root):
            self.begin({app_of(path, self._root) for path in changed} - {""})

    def begin(self, names: Iterable[str]) -> list[threading.Thread]:
        """Check these extensions; a check of an older state of one ends."""
        begun = []
        for name in sorted(names):
            if not (self._root / name / "main.py").exists():
                continue
            with self._lock:
                if older := self._running.pop(name, None):
                    older.terminate()
                try:
                    self._running[name] = process = _checking(self._root / name)
                except OSError as error:  # the next save is checked again
                    self._say(f"check {name}: not begun: {error}")
                    continue
            thread = threading.Thread(target=self._tell, args=(name, process), daemon=True)
            thread.start()
            begun.append(thread)
        return begun

    def _tell(self, name: str, process: subprocess.Popen[str]) -> None:
        said, wrong = process.communicate()
        with self._lock:
            if self._running.get(name) is not process:
                return
            del self._running[name]
        try:
            found: Sequence[Finding] = json.loads(said)["findings"]
        except (ValueError, KeyError, TypeError):
            last = next(reversed(wrong.strip().splitlines()), "and told nothing")
            self._say(f"check {name}: ended with status {process.returncode}: {last}")
            return
        lines = {_key(f): _line(self._root / name, f) for f in found}
        before = self._told.get(name, set())
        self._told[name] = set(lines)
        new = [line for key, line in lines.items() if key not in before]
        gone, same = len(before - set(lines)), len(lines) - len(new)
        for line in new:
            self._say(line)
        if new or gone or not before:
            self._say(f"check {name}: {_counts(len(new), same, gone)}")


def _checking(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", _CALM, "check", "--json", str(folder)],
        env={**child_environment(), "WEBBEE_CHECKS": f"{__package__}.webbee"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


_CALM: Final = f"""
import os, runpy
if hasattr(os, "nice"):
    os.nice({NICENESS})
runpy.run_module(os.environ.pop("WEBBEE_CHECKS"), run_name="__main__", alter_sys=True)
"""


def _key(finding: Finding) -> str:
    """The same for a finding that only moved to another line."""
    return "\n".join(str(finding[part]) for part in ("file", "rule", "message"))


def _line(folder: Path, finding: Finding) -> str:
    level = paint(finding["level"], "red" if finding["level"] == "error" else "yellow")
    where = os.path.relpath(folder / finding["file"])
    return f"{where}:{finding['line']}: {level} {finding['message']}"


def _counts(new: int, same: int, gone: int) -> str:
    if not (new or same or gone):
        return "nothing to mend"
    parts = ((new, "new"), (same, "as before"), (gone, "mended"))
    return ", ".join(f"{number} {what}" for number, what in parts if number)
