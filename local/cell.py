"""The local cell: extension code in a process of its own, with an environment of its own.

What ends that process (`os._exit`, a crash in C code, a leak, an endless loop) ends the calls that
were running in it; they are answered as Lambda answers an execution environment that ended, and the
next call finds a new process. It is one process for all calls, where Lambda has one for each call
at a time: a crash takes the calls beside it along.
"""

from __future__ import annotations

import itertools
import json
import logging
import queue
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any

from webbee_kernel.config import FALLBACKS, TABLES, Settings

from .aws_port import aws_port
from .cell_process import TOO_LARGE, TOO_LONG
from .emulator import FunctionError
from .lambda_api import lambda_api
from .project import COMMAND, child_environment
from .template import Template, environment

NAME = "cell"
"""What callers invoke (`WEBBEE_DISPATCH`)."""
FUNCTION = "ToolDispatchFunction"
START_S = 60.0
"""Seconds in which the extensions have to be loaded."""
GRACE_S = 3.0
"""Seconds past its deadline after which a call's process is frozen: the cell itself answers one
second past it, whatever a handler does, unless code holds the interpreter."""
END_S = 2.0

ORDINARY = (
    *("PATH", "HOME", "USER", "LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR", "TMPDIR", "TEMP"),
    *("SYSTEMROOT", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "PYTHONUTF8"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""Variables of this machine that a program needs to run; of the rest the cell sees what the
template gives its function."""
BEYOND = ("WEBBEE_DEVELOP", "WEBBEE_CALL_SECONDS", "WEBBEE_HTTP_ALLOW_PRIVATE")
"""Settings that only a local cell has."""

_log = logging.getLogger("webbee.extension")


class Cell:
    """`invoke` runs an event in the process, which is started where there is none."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        self._life: _Life | None = None
        self._over = False

    def start(self) -> None:
        """Begin to load; nothing is waited for."""
        self._alive()

    def ready(self) -> None:
        """Wait until the extensions are loaded. OSError where their process ended instead."""
        if why := self._alive().loading():
            raise OSError(0, f"{why}; {COMMAND} check says which")

    def invoke(self, event: Any) -> Any:
        """The function's answer; FunctionError where it raised or its process ended."""
        for _ in range(2):
            life = self._alive()
            if why := life.loading():
                raise FunctionError("Runtime.ExitError", why)
            with suppress(_GoneError):
                return life.ask(event)
        raise FunctionError("Runtime.ExitError", "the cell ends as soon as it has started")

    def stop(self) -> None:
        """End the process for good."""
        with self._lock:
            self._over = True
            life = self._life
        if life:
            life.end()

    def _alive(self) -> _Life:
        with self._lock:
            if self._over:
                raise FunctionError("Runtime.ExitError", "the cell was stopped")
            if self._life is None or self._life.over:
                self._life = _Life(self._environment)
            return self._life


class _GoneError(Exception):
    """The process ended before it began the call."""


@dataclass(slots=True)
class _Asked:
    """A call and whoever waits for it."""

    what: str
    future: Future[Any] = field(default_factory=Future)
    begun: bool = False


class _Life:
    """One process, from its start to its end."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", f"{__package__}.cell_process"],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the server, which then ends this one
        )
        assert self._process.stdin and self._process.stdout
        self._events: IO[bytes] = self._process.stdin
        self._answers: IO[bytes] = self._process.stdout
        self._lock = threading.Lock()
        self._asked: dict[int, _Asked] = {}
        self._numbers = itertools.count()
        self._loaded: Future[str] = Future()
        self._killed = ""
        self.over = False
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="cell-events", daemon=True).start()
        self._reader = threading.Thread(target=self._read, name="cell-answers", daemon=True)
        self._reader.start()
        self._end = threading.Thread(target=self._wait, name="cell-end", daemon=True)
        self._end.start()

    def loading(self) -> str:
        """Wait until the extensions are loaded: empty, or why they never will be."""
        try:
            return self._loaded.result(START_S)
        except TimeoutError:
            self._kill(f"not loaded in {START_S:g} s")
            return self._loaded.result(END_S)

    def ask(self, event: Mapping[str, Any]) -> Any:
        """The answer to one event. A process that does not give it in time is ended."""
        asked, number = _Asked(_name(event)), next(self._numbers)
        with self._lock:
            if self.over:
                raise _GoneError
            self._asked[number] = asked
        seconds = float(event.get("deadline_s", START_S)) + GRACE_S
        try:
            self._lines.put(json.dumps({"id": number, "event": event}).encode() + b"\n")
            return asked.future.result(seconds)
        except TimeoutError:
            self._kill(f"{asked.what} let nothing else run for {seconds:.0f} s")
            raise FunctionError("Sandbox.Timedout", f"Task timed out after {seconds:.2f}") from None
        finally:
            self._asked.pop(number, None)

    def end(self) -> None:
        """End the process; what it runs is lost."""
        self._killed = "stopped"
        self._process.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._end.join(2 * END_S)

    def _kill(self, why: str) -> None:
        self._killed = why
        _log.error("app=cell | ended: %s; the next call starts a new one", why)
        self._process.kill()

    def _write(self) -> None:
        """Hand it the calls. A process that reads nothing holds up this thread, and no caller
        beyond the time of a call."""
        with suppress(OSError), self._events:  # it ended: whoever waits for that tells
            for raw in iter(self._lines.get, None):
                self._events.write(raw)
                self._events.flush()

    def _read(self) -> None:
        """Hand the answers to those who wait for them."""
        for raw in self._answers:
            line = json.loads(raw)
            if not line:
                self._loaded.set_result("")
            elif len(line) > 1:
                if asked := self._asked.pop(line["id"], None):
                    _settle(asked.future, line)
            elif asked := self._asked.get(line["id"]):
                asked.begun = True

    def _wait(self) -> None:
        """When the process ends, so does every call in it. Those that it had not begun have not
        run."""
        status = self._process.wait()
        self._reader.join(END_S)  # what it answered before counts
        with self._lock:
            self.over = True
            asked = list(self._asked.values())
            self._asked.clear()
        self._lines.put(None)
        if not self._reader.is_alive():
            self._answers.close()
        why = f"Runtime exited {_how(status)}"
        if not self._killed:
            _tell(why, [one.what for one in asked if one.begun], loaded=self._loaded.done())
        if not self._loaded.done():
            why = self._killed or why
            self._loaded.set_result(f"an extension ended the process that loads it: {why}")
        for one in asked:
            error = FunctionError("Runtime.ExitError", f"Error: {why}")
            one.future.set_exception(error if one.begun else _GoneError())


def _settle(future: Future[Any], line: Mapping[str, Any]) -> None:
    if error := line.get("error"):
        future.set_exception(FunctionError(error["kind"], error["message"]))
    else:
        future.set_result(line["answer"])


def _how(status: int) -> str:
    if status == TOO_LARGE:
        return "with more memory than the function may have"
    if status == TOO_LONG:
        return "after work that nobody waited for any more"
    return f"with signal {-status}" if status < 0 else f"with exit status {status}"


def _tell(why: str, running: list[str], *, loaded: bool) -> None:
    """Say in the terminal what ended, and with whom."""
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


@contextmanager
def local_cell(env: Mapping[str, str], template: Template) -> Iterator[tuple[Cell, str]]:
    """A cell for the time of the block, loading when this yields, and where it is invoked
    (`AWS_ENDPOINT_URL_LAMBDA`). `env` is the deployment's."""
    reached = [env[f"WEBBEE_TABLE_{noun.upper()}"] for noun in TABLES["tool_dispatch"]]
    with aws_port(reached, f"/{secrets.token_urlsafe(12)}") as aws:
        cell = Cell(cell_environment(env, template, aws))
        with lambda_api({NAME: cell}, prefix=f"/{secrets.token_urlsafe(12)}") as url:
            cell.start()
            try:
                yield cell, url
            finally:
                cell.stop()


def cell_environment(env: Mapping[str, str], template: Template, aws: str) -> dict[str, str]:
    """What the cell's process sees: what the template gives its function, and what a program needs
    to run here. Credentials of this machine's owner only where `ctx.ai` asks Bedrock, the model's
    key only where it asks a service that wants one.
    """
    given = {**environment(template, FUNCTION), **dict.fromkeys((*ORDINARY, *BEYOND))}
    seen = {k: v for k, v in env.items() if k in given or k.startswith((FALLBACKS, "LC_"))}
    seen |= {"PYTHONPATH": child_environment()["PYTHONPATH"], "PYTHONUTF8": "1"}
    asked = Settings.from_env(seen).model_of("ai").partition(":")[0]
    if asked == "openai" and "WEBBEE_MODEL_KEY" in env:
        seen["WEBBEE_MODEL_KEY"] = env["WEBBEE_MODEL_KEY"]
    region = env["AWS_DEFAULT_REGION"]
    own = {"AWS_ACCESS_KEY_ID": "cell", "AWS_SECRET_ACCESS_KEY": "cell"}
    if asked == "bedrock":
        own = {k: v for k, v in env.items() if k.startswith("AWS_")}
        own["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] = f"https://bedrock-runtime.{region}.amazonaws.com"
    parameters = template["Parameters"]
    return {
        **seen,
        **own,
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
        "AWS_ENDPOINT_URL": aws,
        "WEBBEE_CELL_MB": str(parameters["MemoryMb"]["Default"]),
        "WEBBEE_CELL_SECONDS": str(template["Resources"][FUNCTION]["Properties"]["Timeout"]),
    }
