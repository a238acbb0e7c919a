"""The block of docs/deploy.md that runs Lambda on this machine, typed in a shell that names no region;
`tests/emulator` drives the same functions further."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.documents import ROOT, shell_blocks
from tests.sam_local.containers import NoEngine, engine, provide_image

[BLOCK] = [block for block in shell_blocks("docs/deploy.md") if "sam local" in block]


@pytest.fixture
def shell() -> Iterator[Mapping[str, str]]:
    """The environment of such a shell, with a Docker engine that has the image."""
    try:
        with engine() as env:
            provide_image(env)
            kept = {k: v for k, v in env.items() if not k.startswith(("AWS_", "PYTHON", "WEBBEE_"))}
            credentials = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
            here = {
                "SAM_CLI_TELEMETRY": "0",
                "SAM_SKIP_PULL_IMAGE": "1",
            }  # there may be no registry
            yield {**kept, **credentials, **here}
    except NoEngine as reason:
        pytest.skip(f"sam local runs functions in containers: {reason}")


@pytest.mark.timeout(1_800)
def test_the_block_serves_a_turn_and_health(shell: Mapping[str, str], tmp_path: Path) -> None:
    said, log = tmp_path / "said", tmp_path / "log"
    with said.open("w") as out, log.open("w") as err:
        command = ["bash", "-euo", "pipefail", "-c", BLOCK]
        run = subprocess.Popen(
            command, cwd=ROOT, env=dict(shell), stdout=out, stderr=err, start_new_session=True
        )
        try:
            assert run.wait() == 0, log.read_text("utf-8")[-3000:]
        finally:  # what it left in the background
            os.killpg(run.pid, signal.SIGTERM)
    text = said.read_text("utf-8")
    turn, health = (
        json.JSONDecoder().raw_decode(text, text.index(f'{{"{first}"'))[0]
        for first in ("statusCode", "status")
    )
    assert turn["statusCode"] == 200
    assert {call["status"] for call in json.loads(turn["body"])["calls"]} == {"ok"}
    assert health["status"] == "ok"
