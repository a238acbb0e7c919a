"""The process in which the extensions run for one tenant: the real `tool_dispatch`, asked over a
pipe.

A line of JSON on standard input is an event, `{"id": 7, "event": {…}}`. Lines on standard output
say that it is begun, `{"id": 7}`, and answer it, `{"id": 7, "answer": …}` or
`{"id": 7, "error": {"kind", "message"}}`, in any order. The first line, `{}`, says that the
extensions are loaded. Both streams are taken away before extension code is loaded, so that what it
prints goes to the log.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Final

from .. import background
from .function import Function
from .process_pool import FINISHES, MEMORY_MB, SECONDS, TOO_LARGE, TOO_LONG
from .tool_dispatch import ToolService

LOOKS_S: Final = 0.5

Handler = Callable[[Mapping[str, Any], Any], Any]


def main() -> None:
    """Answer until the input ends."""
    events, answers = _taken(0, "rb"), _taken(1, "wb")
    os.dup2(2, 1)  # what is printed belongs to the log
    faulthandler.enable(all_threads=False)
    most_mb = float(os.environ.pop(MEMORY_MB, "inf"))
    longest_s = float(os.environ.pop(SECONDS, "inf"))
    finishes = bool(os.environ.pop(FINISHES, ""))
    # its extensions imported; what the kernel alone needs has left the environment before
    function = Function("tool_dispatch", ToolService, alone=True)
    function.service()
    process = Process(function, answers, finishes=finishes)
    process.tell({})
    threading.Thread(target=_watch, args=(most_mb, longest_s), daemon=True).start()
    for line in events:
        asked = json.loads(line)
        process.tell({"id": asked["id"]})  # what was not begun has not run, whatever comes now
        threading.Thread(target=process.answer, args=(asked,), daemon=True).start()
    os._exit(0)  # whoever asked has gone; what an extension left running does not hold it


def _taken(descriptor: int, mode: str) -> IO[bytes]:
    """A standard stream, moved to where no code looks for it and no child process inherits it."""
    moved = os.fdopen(os.dup(descriptor), mode)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return moved


class Process:
    """Answers events, each on a thread of its own."""

    def __init__(self, handler: Handler, answers: IO[bytes], *, finishes: bool = False) -> None:
        self._handler = handler
        self._answers = answers
        self._finishes = finishes
        self._lock = threading.Lock()

    def answer(self, asked: Mapping[str, Any]) -> None:
        """Handle one event."""
        try:
            said = {"answer": self._handler(asked["event"], None)}
        except Exception as error:
            said = {"error": {"kind": type(error).__name__, "message": str(error)}}
        if self._finishes:
            background.wait()
        self.tell({"id": asked["id"], **said})

    def tell(self, line: Mapping[str, Any]) -> None:
        raw = json.dumps(line).encode() + b"\n"
        with self._lock:
            self._answers.write(raw)
            self._answers.flush()


def _watch(most_mb: float, longest_s: float) -> None:
    """End the process where Lambda would end it: code that leaks, and code that nobody waits for
    any more and that goes on for good."""
    while True:
        time.sleep(LOOKS_S)
        if _memory_mb() > most_mb:
            os._exit(TOO_LARGE)
        if background.oldest_s() > longest_s:
            os._exit(TOO_LONG)


def _memory_mb() -> float:
    """Resident memory now; where the system does not tell, the most there has been."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


if __name__ == "__main__":
    main()
