"""Servers under test, ended as a crash would end them."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

from webbee_kernel.api.process_pool import below


def kill(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """End a process at once, and whatever it started: a tenant's process is a group of its own and
    halted between calls, so nobody else would ever end it."""
    for pid in (process.pid, *below(process.pid)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
