"""Processes in which extensions run, one per tenant, started by a process that runs none itself.

Whatever ends such a process (`os._exit`, a crash in C code, a leak, an endless loop) ends the calls
running in it; they fail as on Lambda when an execution environment ends, and the tenant's next call
gets a new process. All descendants of this process can be stopped, resumed and killed: Linux only.
A process whose parent ends becomes a child of this one (`adopt`), so none escapes by forking.
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
_POLL_S: Final = 0.001
_SIGNAL_S: Final = 2.0
"""Seconds in which every descendant has to stop or end."""


def adopt() -> None:
    """Become the parent of every descendant whose own parent ends, and make this process's memory
    and environment unreadable to them: only root may read `/proc/<pid>`."""
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((_SET_CHILD_SUBREAPER, 1), (_SET_DUMPABLE, 0)):
        if libc.prctl(option, value, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


def _signal_until(states: str, number: signal.Signals) -> None:
    """Signal every descendant until each is in one of these states."""
    until = time.monotonic() + _SIGNAL_S
    # repeated: one may fork while the others are being signalled
    while left := [pid for pid, state in descendants().items() if state not in states]:
        _signal(left, number)
        if time.monotonic() > until:
            raise OSError(0, f"a descendant process does not react to {number.name}")
        time.sleep(_POLL_S)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _kill_descendants() -> None:
    _signal_until("ZX", signal.SIGKILL)
    for pid in descendants():  # adopted ones, which nobody waits for
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def descendants(pid: int = 0) -> dict[int, str]:
    """Every descendant of a process, by default of this one, with its state (R, S, T, Z, …)."""
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
        # by generations: `/proc` lists parents only
        last = {child for child, parent in parents.items() if parent in last}
        found |= {child: states[child] for child in last}
    return found


CLOSED: Final = 93
"""Exit status of a process that ends itself: an extension closed its sockets."""
CLOSED_TEXT: Final = "it closed a call's connection"
FINISHES: Final = "WEBBEE_PROCESS_FINISHES"
"""Environment variable of the child: whether an answer waits for background work."""
START_S: Final = 60.0
"""Seconds in which the extensions have to be loaded."""
GRACE_S: Final = 3.0
"""Seconds past its deadline after which a call's process is killed. The process itself answers one
second past it, unless a handler holds the interpreter."""
LONGEST_S: Final = 180.0
"""Maximum seconds of a call with its background work: ten less than the function's timeout."""
END_S: Final = 2.0

_log = logging.getLogger("webbee.extension")


class ProcessEnded(Exception):
    """A call's process raised, did not load, or ended: `kind` as Lambda names it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class ProcessPool:
    """Runs each event in its tenant's process, started on demand.

    With `alone` there is one process at a time: it is stopped between two calls, and killed with
    all its descendants before another tenant's starts. Answers then wait for background work.
    """

    def __init__(self, environment: Mapping[str, str], *, alone: bool = False) -> None:
        finishes = {FINISHES: "1"} if alone else {}
        self._environment = {**environment, "WEBBEE_TENANCY": "environment", **finishes}
        self._alone = alone
        self._lock = threading.Lock()
        self._one_call = threading.Lock()
        self._processes: dict[str, _Process] = {}
        """By tenant; under `""` one that has run no tenant's code."""
        self._is_stopped = False
        if alone:
            adopt()

    def start(self) -> None:
        """Begin to load the extensions, without waiting."""
        self._process_of("")

    def ready(self) -> None:
        """Wait until the extensions are loaded. OSError where their process ended instead."""
        if why := self._process_of("").loading():
            raise OSError(0, why)

    def invoke(self, event: Mapping[str, Any]) -> Any:
        """The function's answer; ProcessEnded where it raised or its process ended."""
        if not self._alone:
            return self._invoke(event)
        with self._one_call:
            try:
                return self._invoke(event)
            finally:
                _signal_until("TtZX", signal.SIGSTOP)

    def _invoke(self, event: Mapping[str, Any]) -> Any:
        tenant_id = str((event.get("user") or {}).get("tenant_id", ""))
        # it may end between being found and being asked: then once more with a new one
        for _ in range(2):
            process = self._process_of(tenant_id)
            if why := process.loading():
                raise ProcessEnded("Runtime.ExitError", why)
            if self._alone:
                _signal(descendants(), signal.SIGCONT)
            with suppress(_GoneError):
                return process.ask(event, LONGEST_S if self._alone else None)
        raise ProcessEnded("Runtime.ExitError", "the process ends as soon as it has started")

    def stop(self) -> None:
        """End all processes for good."""
        with self._lock:
            self._is_stopped = True
            processes = list(self._processes.values())
        for process in processes:
            process.end()

    def _process_of(self, tenant_id: str) -> _Process:
        """The tenant's process; for `""` any, or with `alone` one that has run no tenant's code."""
        with self._lock:
            if self._is_stopped:
                raise ProcessEnded("Runtime.ExitError", "the process was stopped")
            here = self._processes = {t: p for t, p in self._processes.items() if not p.has_ended}
            if not tenant_id and here and not self._alone:
                return here.get("", next(iter(here.values())))
            if tenant_id not in here:
                # the one that is loaded already, if there is one
                here[tenant_id] = here.pop("") if "" in here else self._new_process()
            return here[tenant_id]

    def _new_process(self) -> _Process:
        if self._alone:
            for process in self._processes.values():
                process.kill_reason = "stopped"
            self._processes.clear()
            _kill_descendants()
        return _Process(self._environment)


class _GoneError(Exception):
    """The process ended before it began the call."""


class _Process:
    """One child process with its own folder for temporary files.

    Each call has its own socket, whose other end is sent to the child. The call is a line of JSON;
    the child writes an empty line when it begins the call, then the answer as a line of JSON.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._folder = tempfile.mkdtemp(prefix="webbee-")
        self._control, theirs = socket.socketpair()
        self._control.settimeout(START_S)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", f"{__package__}.tool_dispatch"],
                env={**environment, "TMPDIR": self._folder},
                stdin=theirs.fileno(),
                stdout=2,  # what is printed belongs to the log
                start_new_session=True,  # Ctrl-C is for the server, which then ends this one
            )
        self._calls: dict[socket.socket, str] = {}
        """Running calls, each with the name of what it runs."""
        self._load_error = ""
        self._end_reason = ""
        self.kill_reason = ""
        """Why this process ends it: nothing more is logged then."""
        self.has_ended = False
        self._waiting = threading.Thread(target=self._wait, name="process-end", daemon=True)
        self._waiting.start()

    def loading(self) -> str:
        """Wait until the extensions are loaded: empty, or why they never will be."""
        try:
            # left there for whoever waits next
            if self._control.recv(1, socket.MSG_PEEK):
                return ""
        except TimeoutError:
            self._kill(f"not loaded in {START_S:g} s")
        except OSError:
            pass  # it has ended, and the socket is closed
        self._await_end()
        return self._load_error

    def ask(self, event: Mapping[str, Any], longest_s: float | None = None) -> Any:
        """The answer to one event. A process that does not give it in time is killed."""
        seconds = longest_s or float(event.get("deadline_s", START_S)) + GRACE_S
        call, name = self._connect(), _name(event)
        self._calls[call] = name
        has_begun = raw = b""
        try:
            # suppressed: the process ended, and what was not begun has not run
            with call, call.makefile("rb") as lines, suppress(ConnectionError):
                call.settimeout(seconds)
                call.sendall(json.dumps(event).encode() + b"\n")
                has_begun = lines.readline()
                raw = lines.readline()
        except TimeoutError:
            self._kill(f"{name} let nothing else run for {seconds:.0f} s")
            raise ProcessEnded("Sandbox.Timedout", f"Task timed out after {seconds:.2f}") from None
        finally:
            if not raw.endswith(b"\n"):
                self._await_end()  # which names this call in the log
            del self._calls[call]
        if not has_begun:
            raise _GoneError
        if not raw.endswith(b"\n"):
            raise ProcessEnded("Runtime.ExitError", f"Error: {self._end_reason}")
        said = json.loads(raw)
        if error := said.get("error"):
            raise ProcessEnded(error["kind"], error["message"])
        return said["answer"]

    def _connect(self) -> socket.socket:
        """A socket for one call; _GoneError where the process has ended."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [b"\n"], [theirs.fileno()])
        except OSError:
            ours.close()
            self._await_end()
            raise _GoneError from None
        return ours

    def end(self) -> None:
        """End the process with the calls that run in it."""
        self.kill_reason = "stopped"
        self._process.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._waiting.join(2 * END_S)

    def _await_end(self) -> None:
        """Wait for the end of a process that closed a socket; one that goes on is killed."""
        self._waiting.join(END_S)
        if not self.has_ended:
            self._kill(CLOSED_TEXT)
            self._waiting.join()

    def _kill(self, why: str) -> None:
        self.kill_reason = why
        _log.error("app=tool_dispatch | ended: %s; the next call starts a new one", why)
        self._process.kill()

    def _wait(self) -> None:
        """When the process ends, so do its calls."""
        status = self._process.wait()
        self.has_ended = True
        # the control socket first: no new call begins. A child process may hold the other ends
        for connection in (self._control, *self._calls):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        is_loaded = bool(self._control.recv(1, socket.MSG_PEEK))
        self._control.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._end_reason = f"Runtime exited {_how(status)}"
        if not is_loaded:
            why = self.kill_reason or self._end_reason
            self._load_error = f"an extension ended the process that loads it: {why}"
        if not self.kill_reason:
            blamed = " or ".join(self._calls.values()) or "what an extension left behind"
            text = f"{blamed} ended it: {self._end_reason}; the next call starts a new one"
            _log.error("app=tool_dispatch | %s", self._load_error or text)


def _how(status: int) -> str:
    if status == CLOSED:
        return f"after {CLOSED_TEXT}"
    return f"with signal {-status}" if status < 0 else f"with exit status {status}"


def _name(event: Mapping[str, Any]) -> str:
    """What a call runs, as its author knows it."""
    if sections := (event.get("arguments") or {}).get("sections"):
        return ", ".join(f"{app}.{name}" for app, names in sections.items() for name in names)
    return f"{event.get('app_id', '')}.{event.get('name', event.get('kind', ''))}".strip(".")
