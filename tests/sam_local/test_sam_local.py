"""The block and the commands of docs/deploy.md that run Lambda on this machine, in a plain shell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.documents import shell_blocks
from tests.emulator.conftest import LOGICAL_IDS
from tests.emulator.runtime import ROOT
from tests.sam_local import containers
from tests.sam_local.conftest import Sam

pytestmark = pytest.mark.timeout(1_800)
[BLOCK] = [block for block in shell_blocks("docs/deploy.md") if "sam local" in block]


def test_the_block_answers_a_turn_and_serves_the_public_routes(
    shell: Mapping[str, str], tmp_path: Path
) -> None:
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


EVENTS = sorted((ROOT / "events").glob("*.json"))


@pytest.fixture(scope="module")
def serving(sam: Sam) -> Iterator[Sam]:
    """With `start-lambda`, through which chat_turn and skeleton_refresh call tool_dispatch."""
    with sam.serving("start-lambda", "http://127.0.0.1:3001/"):
        yield sam


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_sam_local_invoke_answers(serving: Sam, path: Path) -> None:
    answer = serving.invoke(LOGICAL_IDS[path.stem.partition("-")[0]], path)
    assert answer.get("statusCode", 200) == 200, answer
    assert answer.get("batchItemFailures", []) == []


def test_chat_turn_calls_tool_dispatch_through_start_lambda(serving: Sam) -> None:
    answer = serving.invoke("ChatTurnFunction", ROOT / "events/chat_turn-chat.json")
    body: dict[str, Any] = json.loads(answer["body"])
    assert (answer["statusCode"], body["status"]) == (200, "ok"), body
    assert body["calls"], body
    assert {call["status"] for call in body["calls"]} == {"ok"}


def test_start_api_serves_the_public_routes(sam: Sam) -> None:
    with (
        sam.serving("start-api", "http://127.0.0.1:3000/"),
        urllib.request.urlopen("http://127.0.0.1:3000/", timeout=120) as page,
    ):
        assert page.headers.get_content_type() == "text/html"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(containers.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path


def left(places: Path, name: str, *, age_s: float = 3_600.0) -> Path:
    folder = places / f"{containers.FOLDER}{name}"
    (folder / "exec").mkdir(parents=True)
    (folder / "pid").write_text(str(os.getpid()))  # a process, but no engine: its number was reused
    then = folder.stat().st_mtime - age_s
    os.utime(folder, (then, then))
    return folder


def test_the_folder_of_an_engine_that_was_killed_is_removed(places: Path) -> None:
    killed = left(places, "killed")
    containers._clear_remains()
    assert not killed.exists()


def test_an_engine_that_serves_and_one_that_starts_are_left_alone(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    young = left(places, "young", age_s=1.0)
    alive = left(places, "alive")
    monkeypatch.setattr(containers, "_serves", lambda folder: folder == alive)
    containers._clear_remains()
    assert young.exists() and alive.exists()
