"""`sam local` as documented: a Docker engine, the image of this machine's parts, AWS on moto."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.emulator.runtime import MACHINE, ROOT
from tests.sam_local.containers import NoEngine, engine, provide_image

OVERRIDES = f"JwtIssuer=https://login.example.com JwtAudience=webbee Architecture={MACHINE}"

CELL = "ToolDispatchFunction"
"""Asked for with a tenant: `sam local` takes its TenancyConfig for given whatever the condition
says."""


@dataclass(frozen=True, slots=True)
class Sam:
    """The `sam local` of the documentation, in a shell that names no region."""

    env: Mapping[str, str]
    build: Path

    def command(self, *arguments: str) -> list[str]:
        """As documented; what is added is for a build beside the default one."""
        sam = str(ROOT / ".venv-sam/bin/sam")
        given = (
            "--template",
            str(self.build / "template.yaml"),
            "--parameter-overrides",
            OVERRIDES,
        )
        here = ("--config-file", str(ROOT / "samconfig.toml"))
        return [sam, "local", *arguments, *given, *here, "--container-host", "127.0.0.1"]

    def invoke(self, function: str, event: Path) -> Any:
        """What the function answers; `sam local invoke` exits with 0 even when it failed."""
        whose = ("--tenant-id", "local") if function == CELL else ()
        command = self.command("invoke", function, "--event", str(event), *whose)
        done = subprocess.run(command, cwd=ROOT, env=dict(self.env), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        answer = json.loads(done.stdout.strip().splitlines()[-1])
        assert "errorType" not in answer, (answer, done.stderr[-3000:])
        return answer

    @contextmanager
    def serving(self, what: str, url: str) -> Iterator[None]:
        """`sam local start-lambda` or `start-api`, once `url` answers."""
        process = subprocess.Popen(
            self.command(what),
            cwd=ROOT,
            env=dict(self.env),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _until_it_answers(url, process)
            yield
        finally:
            process.terminate()
            process.wait(60)


def _until_it_answers(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "it ended"
        try:
            urllib.request.urlopen(url, timeout=120).close()
        except urllib.error.HTTPError as answered:
            answered.close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.5)
        else:
            return
    raise AssertionError(f"{url} does not answer")


@pytest.fixture(scope="session")
def shell() -> Iterator[Mapping[str, str]]:
    """The environment of a shell that names no region, with a Docker engine that has the image."""
    with _engine() as env:
        provide_image(env)
        kept = {k: v for k, v in env.items() if not k.startswith(("AWS_", "PYTHON", "WEBBEE_"))}
        credentials = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
        here = {"SAM_CLI_TELEMETRY": "0", "SAM_SKIP_PULL_IMAGE": "1"}  # there may be no registry
        yield {**kept, **credentials, **here}


@pytest.fixture(scope="module")
def sam(shell: Mapping[str, str]) -> Iterator[Sam]:
    with _aws():
        yield Sam(shell, Path(os.environ["WEBBEE_BUILT"]))


@contextmanager
def _engine() -> Iterator[Mapping[str, str]]:
    try:
        with engine() as env:
            yield env
    except NoEngine as reason:
        pytest.skip(f"sam local runs functions in containers: {reason}")


@contextmanager
def _aws() -> Iterator[None]:
    """`make aws HOST=0.0.0.0`."""
    command = [sys.executable, "-m", "local.aws", "--host", "0.0.0.0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        assert "listens" in server.stdout.readline()
        yield
        server.terminate()
