"""Processes in which extensions run, one for each tenant, kept by a process that runs none itself.

What ends such a process (`os._exit`, a crash in C code, a leak, an endless loop) ends the calls
that were running in it; they are answered as Lambda answers an execution environment that ended,
and the tenant's next call finds a new one. Those that it has started, and all that those have
started, are halted, resumed and ended: Linux only. A process whose parent ends is this one's then
(`adopt`), so nothing gets away by starting another and leaving.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

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
    _signal_until("TtZX", signal.SIGSTOP, "stopped")


def go_on() -> None:
    """Let them run again."""
    _signal(below(), signal.SIGCONT)


def end() -> None:
    """End them all, and bury them."""
    _signal_until("ZX", signal.SIGKILL, "ended")
    for pid in below():  # what nobody of this process waits for
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _signal_until(states: str, number: int, what: str) -> None:
    """Signal every process below this one that is in none of these states."""
    until = time.monotonic() + _PATIENCE_S
    # again until none is left: one may have forked while it was looked for
    while left := [pid for pid, state in below().items() if state not in states]:
        _signal(left, number)
        if time.monotonic() > until:
            raise OSError(0, f"a process below this one cannot be {what}")
        time.sleep(_LOOK_S)


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def below(pid: int = 0) -> dict[int, str]:
    """Every process below this one, or below another, with its state (R, S, T, Z, …)."""
    parents, states = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                # the name in brackets may hold spaces and brackets itself
                state, parent = (entry / "stat").read_text("utf-8").rpartition(")")[2].split()[:2]
                parents[int(entry.name)], states[int(entry.name)] = int(parent), state
    found: dict[int, str] = {}
    last = {pid or os.getpid()}
    while last:
        # generation by generation, since `/proc` tells of parents only
        last = {child for child, parent in parents.items() if parent in last}
        found |= {child: states[child] for child in last}
    return found


TOO_LARGE: Final = 91
TOO_LONG: Final = 92
"""Exit statuses of a process that ends itself: it holds more memory, or works longer, than the
deployed function may."""
MEMORY_MB: Final = "WEBBEE_PROCESS_MB"
SECONDS: Final = "WEBBEE_PROCESS_SECONDS"
FINISHES: Final = "WEBBEE_PROCESS_FINISHES"
"""Variables of the process alone: its limits, none where they are missing, and whether an answer
waits for the work that outlives its call."""
START_S: Final = 60.0
"""Seconds in which the extensions have to be loaded."""
GRACE_S: Final = 3.0
"""Seconds past its deadline after which a call's process is frozen: the process itself answers one
second past it, whatever a handler does, unless code holds the interpreter."""
LONGEST_S: Final = 180.0
"""Seconds that a call and what it leaves behind may take where its answer waits for both: ten less
than the function's timeout."""
END_S: Final = 2.0

_log = logging.getLogger("webbee.extension")


class ProcessEnded(Exception):
    """A call's process raised, did not load, or ended: `kind` as Lambda names it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class ProcessPool:
    """`invoke` runs an event in its tenant's process, which is started where there is none.

    With `alone` there is one process at a time: it stands still between two calls, and all that a
    tenant's code has started ends before another tenant's begins. Answers then wait for what
    outlives its call.
    """

    def __init__(self, environment: Mapping[str, str], *, alone: bool = False) -> None:
        finishes = {FINISHES: "1"} if alone else {}
        self._environment = {**environment, "WEBBEE_TENANCY": "environment", **finishes}
        self._alone = alone
        self._lock = threading.Lock()
        self._one = threading.RLock()
        self._processes: dict[str, _Process] = {}
        self._fresh: _Process | None = None
        self._over = False
        if alone:
            adopt()

    def start(self) -> None:
        """Begin to load; nothing is waited for."""
        self._of("")

    def ready(self) -> None:
        """Wait until the extensions are loaded. OSError where their process ended instead."""
        if why := self._of("").loading():
            raise OSError(0, why)

    def invoke(self, event: Mapping[str, Any]) -> Any:
        """The function's answer; ProcessEnded where it raised or its process ended."""
        if not self._alone:
            return self._invoke(event)
        with self._one:
            try:
                return self._invoke(event)
            finally:
                halt()

    def _invoke(self, event: Mapping[str, Any]) -> Any:
        tenant_id = str((event.get("user") or {}).get("tenant_id", ""))
        # it may end between being found and being asked: then once more with a new one
        for _ in range(2):
            process = self._of(tenant_id)
            if why := process.loading():
                raise ProcessEnded("Runtime.ExitError", why)
            if self._alone:
                go_on()
            with suppress(_GoneError):
                return process.ask(event, LONGEST_S if self._alone else None)
        raise ProcessEnded("Runtime.ExitError", "the process ends as soon as it has started")

    def stop(self) -> None:
        """End all processes for good."""
        with self._lock:
            self._over = True
            processes = [*self._processes.values(), self._fresh]
        for process in filter(None, processes):
            process.end()

    def _of(self, tenant_id: str) -> _Process:
        """The tenant's process, or nobody's (`""`)."""
        with self._lock:
            if self._over:
                raise ProcessEnded("Runtime.ExitError", "the process was stopped")
            there = self._processes = {t: p for t, p in self._processes.items() if not p.over}
            if self._fresh and self._fresh.over:
                self._fresh = None
            if not tenant_id:
                return self._nobodys()
            if tenant_id not in there:
                # the one that has loaded already, and in which no tenant's code has run
                there[tenant_id], self._fresh = self._fresh or self._new(), None
            return there[tenant_id]

    def _nobodys(self) -> _Process:
        """One that no tenant's code has run in; where several may run, any does."""
        if self._fresh is None and self._processes and not self._alone:
            return next(iter(self._processes.values()))
        self._fresh = self._fresh or self._new()
        return self._fresh

    def _new(self) -> _Process:
        """A new process; where it is to be alone, nothing of the one before is left."""
        if self._alone:
            for process in self._processes.values():
                process.forget()
            self._processes.clear()
            end()
        return _Process(self._environment)


class _GoneError(Exception):
    """The process ended before it began the call."""


class _Process:
    """One process, from its start to its end, with a folder of its own for temporary files.

    A call has a connection to itself, of which the process was handed its end: it reads a line, the
    event, says with a byte that it begins, and answers with a line.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._folder = tempfile.mkdtemp(prefix="webbee-")
        self._calls, theirs = socket.socketpair()
        self._calls.settimeout(START_S)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", f"{__package__}.tool_dispatch"],
                env={**environment, "TMPDIR": self._folder},
                stdin=theirs.fileno(),
                stdout=2,  # what is printed belongs to the log
                start_new_session=True,  # Ctrl-C is for the server, which then ends this one
            )
        self._idle: list[socket.socket] = []
        self._open: dict[socket.socket, str] = {}
        """Calls on their way, each with what it runs."""
        self._begun: set[socket.socket] = set()
        self._killed = ""
        self._unloaded = ""
        self._why = ""
        self.over = False
        self._end = threading.Thread(target=self._wait, name="cell-end", daemon=True)
        self._end.start()

    def loading(self) -> str:
        """Wait until the extensions are loaded: empty, or why they never will be."""
        try:
            # left there for whoever waits next
            if self._calls.recv(1, socket.MSG_PEEK):
                return ""
        except TimeoutError:
            self._kill(f"not loaded in {START_S:g} s")
        except OSError:
            pass  # over, and closed
        self._await_end()
        return self._unloaded

    def ask(self, event: Mapping[str, Any], longest_s: float | None = None) -> Any:
        """The answer to one event. A process that does not give it in time is ended."""
        seconds = longest_s or float(event.get("deadline_s", START_S)) + GRACE_S
        call = self._connection()
        self._open[call], raw = _name(event), b""
        try:
            raw = self._exchange(call, event, seconds)
            if not raw.endswith(b"\n"):
                self._await_end()  # which blames this call
                raise ProcessEnded("Runtime.ExitError", f"Error: {self._why}")
        except TimeoutError:
            self._kill(f"{_name(event)} let nothing else run for {seconds:.0f} s")
            raise ProcessEnded("Sandbox.Timedout", f"Task timed out after {seconds:.2f}") from None
        finally:
            del self._open[call]
            self._begun.discard(call)
            if raw.endswith(b"\n") and not self.over:
                self._idle.append(call)
            else:
                call.close()
        said = json.loads(raw)
        if error := said.get("error"):
            raise ProcessEnded(error["kind"], error["message"])
        return said["answer"]

    def _connection(self) -> socket.socket:
        """One that no call is on; _GoneError where the process is over."""
        with suppress(IndexError):
            return self._idle.pop()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._calls, [b"\n"], [theirs.fileno()])
        except OSError:
            ours.close()
            self._await_end()
            raise _GoneError from None
        return ours

    def _exchange(self, call: socket.socket, event: Mapping[str, Any], seconds: float) -> bytes:
        """What is answered, cut off where the process ended; _GoneError where it had not begun."""
        call.settimeout(seconds)
        begun = b""
        try:
            call.sendall(json.dumps(event).encode() + b"\n")
            if begun := call.recv(1, socket.MSG_PEEK):
                # before the byte is taken: whoever finds none looks here
                self._begun.add(call)
                call.recv(1)
        except TimeoutError:
            raise
        except OSError:
            pass  # it ended: what it has not begun has not run
        if not begun:
            self._await_end()  # else the next one would find it again
            raise _GoneError
        with call.makefile("rb") as answer:
            return answer.readline()

    def end(self) -> None:
        """End the process; what it runs is lost."""
        self._killed = "stopped"
        self._process.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._end.join(2 * END_S)

    def _await_end(self) -> None:
        """Wait for the end of a process that has closed a connection; one that lives on has lost
        more than that, and is ended."""
        self._end.join(END_S)
        if not self.over:
            self._kill("it closed a call's connection")
            self._end.join()

    def forget(self) -> None:
        """Say nothing when it ends: it is ended from outside."""
        self._killed = "stopped"

    def _kill(self, why: str) -> None:
        self._killed = why
        _log.error("app=cell | ended: %s; the next call starts a new one", why)
        self._process.kill()

    def _wait(self) -> None:
        """When the process ends, so does every call in it."""
        status = self._process.wait()
        self.over = True
        # this one first: who comes later finds it shut
        with suppress(OSError):
            self._calls.shutdown(socket.SHUT_RDWR)
        running = []
        # a child of it may hold the other ends; what it said before is there all the same
        for call, name in list(self._open.items()):
            with suppress(OSError):
                call.shutdown(socket.SHUT_RDWR)
                if call.recv(1, socket.MSG_PEEK) or call in self._begun:
                    running.append(name)
        while self._idle:
            self._idle.pop().close()
        is_loaded = bool(self._calls.recv(1, socket.MSG_PEEK))
        shutil.rmtree(self._folder, ignore_errors=True)
        self._why = f"Runtime exited {_how(status)}"
        # what was ended on purpose has been told, or is nobody's concern
        if not self._killed:
            _tell(self._why, running, loaded=is_loaded)
        if not is_loaded:
            why = self._killed or self._why
            self._unloaded = f"an extension ended the process that loads it: {why}"
        self._calls.close()


def _how(status: int) -> str:
    if status == TOO_LARGE:
        return "with more memory than the function may have"
    if status == TOO_LONG:
        return "after work that nobody waited for any more"
    return f"with signal {-status}" if status < 0 else f"with exit status {status}"


def _tell(why: str, running: list[str], *, loaded: bool) -> None:
    """Say in the log what ended, and with whom."""
    if not loaded:
        _log.error("app=cell | an extension ended the process that loads it: %s", why)
    else:
        blamed = " or ".join(running) or "what an extension left behind"
        _log.error("app=cell | %s ended it: %s; the next call starts a new one", blamed, why)


def _name(event: Mapping[str, Any]) -> str:
    """What a call runs, as its author knows it."""
    if sections := (event.get("arguments") or {}).get("sections"):
        return ", ".join(f"{app}.{name}" for app, names in sections.items() for name in names)
    return f"{event.get('app_id', '')}.{event.get('name', event.get('kind', ''))}".strip(".")
