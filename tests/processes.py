"""Servers under test: their ports, and their end as of a crash."""

import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

from local.project import child_environment
from webbee_kernel.api.process_pool import descendants


def kill(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """End a process at once, and whatever it started: a tenant's process is a group of its own and
    halted between calls, so nobody else would ever end it."""
    for pid in (process.pid, *descendants(process.pid)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def ran(
    *command: str | Path, timeout: float = 300, **told: Any
) -> subprocess.CompletedProcess[str]:
    """What a command came to and wrote; `told` is for `subprocess.run`."""
    whole = [str(c) for c in command]
    return subprocess.run(
        whole, capture_output=True, text=True, check=False, timeout=timeout, **told
    )


def said(code: str, *arguments: str, **env: str) -> str:
    """What a Python of its own prints that imports what this one does and knows no deployment but
    that of `env`."""
    here = child_environment().items()
    clean = {k: v for k, v in here if not k.startswith(("AWS_", "WEBBEE_"))}
    done = ran(sys.executable, "-c", textwrap.dedent(code), *arguments, env=clean | env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def free_port() -> int:
    """A port that nothing holds now, below those that outgoing connections are given: these are
    taken at any moment. Chance is the machine's: a test's own is the same in each run."""
    for port in random.SystemRandom().sample(range(10_000, 32_768), 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no free port between 10000 and 32767")
