"""A built function under Lambda's own runtime client and runtime emulator: one process tree per
slot, no Docker.

What runs is the build directory and the built layers, copied out of the checkout; nothing of the
checkout is on its path.
"""

import json
import os
import platform
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from local.project import ROOT
from tests.processes import free_port, kill
from webbee_kernel.api.process_pool import ProcessEnded

MACHINE = {"amd64": "x86_64", "aarch64": "arm64"}.get(
    platform.machine().lower(), platform.machine()
)
START_S = 60.0
ATTEMPTS = 5
"""Of starting, where another process took a port in the meantime."""


@dataclass(frozen=True, slots=True)
class Built:
    """What `sam build` made, laid out as Lambda lays it out: `task/<function>` for /var/task, `opt`
    for /opt."""

    root: Path
    python: Path
    emulator: Path

    @property
    def opt(self) -> Path:
        return self.root / "opt"

    def task(self, logical_id: str) -> Path:
        return self.root / "task" / logical_id


def lay_out(build: Path, target: Path) -> Built:
    """Copy a build directory's artefacts to `target`. Python and emulator are those of `make
    test-built`."""
    for artefact in sorted(p for p in build.iterdir() if p.is_dir()):
        goal = target / ("opt" if artefact.name.endswith("Layer") else f"task/{artefact.name}")
        shutil.copytree(artefact, goal, dirs_exist_ok=True)
    return Built(target, ROOT / ".venv-emulator/bin/python", _emulator())


def _emulator() -> Path:
    name = f"samcli/local/rapid/aws-lambda-rie-{MACHINE}"
    found = sorted((ROOT / ".venv-sam").glob(f"lib/python3*/site-packages/{name}"))
    if not found:
        raise FileNotFoundError(f"{name} is not in .venv-sam: run `make .venv-sam`")
    found[0].chmod(0o755)
    return found[0]


class Emulator:
    """One slot of one function. Requests queue: an overlapping one would kill the emulator."""

    def __init__(self, built: Built, logical_id: str, env: Mapping[str, str]) -> None:
        self._built = built
        self._name = logical_id
        self._env = dict(env)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self._said = b""
        self._url = ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the slot; returns when it listens. The function's init runs with the first
        event. A port that another process took first is given up for another one."""
        for left in reversed(range(ATTEMPTS)):
            if self._started(free_port(), free_port()):
                return
            said = self.logs()
            self.stop()
            if not left or "address already in use" not in said:
                raise RuntimeError(f"the emulator of {self._name} did not start:\n{said}")

    def _started(self, port: int, runtime_port: int) -> bool:
        self._url = f"http://127.0.0.1:{port}/2015-03-31/functions/function/invocations"
        command: list[str | Path] = [self._built.emulator, "--log-level", "error"]
        command += ["--runtime-interface-emulator-address", f"127.0.0.1:{port}"]
        command += ["--runtime-api-address", f"127.0.0.1:{runtime_port}"]
        command += [self._built.python, "-m", "awslambdaric", "handler.lambda_handler"]
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop
        self._process = subprocess.Popen(
            command,
            cwd=self.task,
            env=self.environment(),
            stdout=self._output,
            stderr=self._output,
            start_new_session=True,
        )
        deadline = time.monotonic() + START_S
        while not (listens(port) and listens(runtime_port)):
            if self._process.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return self._process.poll() is None

    def stop(self) -> None:
        if self._process is not None:
            kill(self._process)
            self._process = None
        if self._output is not None:
            self.logs()
            self._output.close()
            self._output = None

    def invoke(self, event: Any, timeout_s: float = 30.0) -> Any:
        """The function's answer to an event; ProcessEnded when it raised or could not start."""
        request = urllib.request.Request(self._url, data=json.dumps(event).encode(), method="POST")
        with self._lock:
            try:
                with urllib.request.urlopen(request, timeout=timeout_s) as response:
                    answer = json.loads(response.read())
            except urllib.error.HTTPError as error:  # 502: the init failed
                with error:
                    answer = json.loads(error.read())
        if isinstance(answer, dict) and {"errorType", "errorMessage"} <= answer.keys():
            raise ProcessEnded(answer["errorType"], answer["errorMessage"])
        return answer

    def logs(self) -> str:
        """Everything the function and the emulator wrote so far."""
        if self._output is not None:
            # Read at a place of its own: the writers share the file's position.
            self._said = os.pread(self._output.fileno(), 10_000_000, 0)
        return self._said.decode("utf-8", "replace")

    @property
    def task(self) -> Path:
        return self._built.task(self._name)

    def environment(self) -> dict[str, str]:
        """The whole environment of its process; nothing of this process's own is in it."""
        return {
            "PATH": os.defpath,
            "PYTHONPATH": str(self._built.opt / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",  # /opt and /var/task are read-only in Lambda
            "LAMBDA_TASK_ROOT": str(self.task),
            "_HANDLER": "handler.lambda_handler",
            "AWS_LAMBDA_FUNCTION_NAME": self._name,
            **self._env,
        }


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
