"""What is made ready in init is not loaded by the first turn."""

from __future__ import annotations

import json
import subprocess
import sys

from local.project import child_environment

FIRST = """
import json, sys
from benchmarks.work import RESULTS, kernel
from webbee_kernel.turn.ready import make_ready

running = kernel()
make_ready()
before = set(sys.modules)
running.chat("1 KB of rows")
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_the_first_turn_loads_no_module() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST],
        env=child_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert loaded == []
