"""What a start of `chat_turn` does before anybody asks: counted, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

MOST_PATTERNS = 80
COUNTED = """
import re._compiler as compiler, sys

ours, compiled = 0, compiler.compile

def counted(pattern, flags=0):
    global ours
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].partition(".")[0] in ("re", "functools"):
        frame = frame.f_back
    ours += frame.f_globals["__name__"].startswith("webbee_kernel")
    return compiled(pattern, flags)

compiler.compile = counted
import webbee_kernel.api.chat_turn
print(ours)
"""


def test_a_start_compiles_few_patterns() -> None:
    """A pattern takes 0.1 to 0.5 ms. What no turn needs, or only some, is compiled with its first
    use: in a function with `functools.cache`, or in a module that is imported there."""
    run = [sys.executable, "-c", COUNTED]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert 10 < int(done.stdout) <= MOST_PATTERNS
