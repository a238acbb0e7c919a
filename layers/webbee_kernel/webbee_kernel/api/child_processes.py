"""Processes that this one has started, and all that those have started: halted, resumed, ended.

Linux only. A process whose parent ends is this one's then (`adopt`), so nothing gets away by
starting another and leaving.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_SET_DUMPABLE: Final = 4
_SET_CHILD_SUBREAPER: Final = 36
"""prctl(2)."""
_LOOK_S: Final = 0.001
_PATIENCE_S: Final = 2.0


def adopt() -> None:
    """Become the parent of every process below this one whose own parent ends, and close this
    one's memory and environment to them: without rights of root, nobody reads `/proc/<it>`."""
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((_SET_CHILD_SUBREAPER, 1), (_SET_DUMPABLE, 0)):
        if libc.prctl(option, value, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


def halt() -> None:
    """Stop them all. A process that starts others meanwhile is stopped with those."""
    until = time.monotonic() + _PATIENCE_S
    while running := [pid for pid, state in below().items() if state not in "TtZX"]:
        _signal(running, signal.SIGSTOP)
        if time.monotonic() > until:
            raise OSError(0, "a process below this one cannot be stopped")
        time.sleep(_LOOK_S)


def go_on() -> None:
    """Let them run again."""
    _signal(below(), signal.SIGCONT)


def end() -> None:
    """End them all, and bury them."""
    until = time.monotonic() + _PATIENCE_S
    while left := [pid for pid, state in below().items() if state not in "ZX"]:
        _signal(left, signal.SIGKILL)
        if time.monotonic() > until:
            raise OSError(0, "a process below this one cannot be ended")
        time.sleep(_LOOK_S)
    for pid in below():  # what nobody of this process waits for
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _signal(pids: list[int] | dict[int, str], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def below(pid: int = 0) -> dict[int, str]:
    """Every process below this one, or below another, with its state (R, S, T, Z, …)."""
    parents, states = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                state, parent = (entry / "stat").read_text("utf-8").rpartition(")")[2].split()[:2]
                parents[int(entry.name)], states[int(entry.name)] = int(parent), state
    found: dict[int, str] = {}
    last = {pid or os.getpid()}
    while last:
        last = {child for child, parent in parents.items() if parent in last}
        found |= {child: states[child] for child in last}
    return found
