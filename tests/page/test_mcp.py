"""A person uses a server that wants a sign-in, in a real browser: connects an account at the
server's own provider, and answers what the server asks in the middle of a call."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.mcp_servers import as_json
from tests.mcp.conftest import Told, told
from tests.mcp.guarded import Guard, guarded
from tests.mcp.test_signing_in import added, free_port
from tests.page.test_signin import ROOT
from tests.stand_ins.http import Answer
from tests.stand_ins.servers import ChatServer

__all__ = ["told"]

ASKED = {
    "message": "Which rounding do you want?",
    "requestedSchema": {
        "type": "object",
        "properties": {"mode": {"type": "string"}},
        "required": ["mode"],
    },
}
SERVE = """
import sys
from pathlib import Path
from local.world import prepare
from local.world import local_world
folder, port, model = sys.argv[1:]
with local_world(port=int(port), model=model, extensions_dir=Path(folder), prepare=prepare) as world:
    print(world.url, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def guard(told: Told) -> Iterator[Guard]:
    with guarded(told.url) as standing:
        yield standing


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with ChatServer() as serving:
        yield serving


@pytest.fixture
def url(guard: Guard, model: ChatServer, tmp_path: Path) -> Iterator[str]:
    """A deployment whose operator has added the server."""
    port = free_port()
    server = added(guard, tmp_path, f"http://127.0.0.1:{port}")
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'layers/webbee_kernel'}:{ROOT}",
        "WEBBEE_MCP_SERVERS": as_json([server]),
        "WEBBEE_HTTP_ALLOW_PRIVATE": "true",
    }
    command = [sys.executable, "-c", SERVE, str(tmp_path / "extensions"), str(port)]
    with subprocess.Popen(
        [*command, f"openai:{model.url}#stand-in"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as serving:
        assert serving.stdin and serving.stdout
        yield serving.stdout.readline().strip()
        serving.stdin.close()
        serving.wait(timeout=60)


def say(page: Any, text: str) -> None:
    page.locator("#composer-text").fill(text)
    page.keyboard.press("Enter")


def test_a_person_connects_an_account_and_answers_what_the_server_asks(
    visit: Any, told: Told, guard: Guard, model: ChatServer
) -> None:
    page = visit("bob")
    model.play(Answer(calls=(("sums__connect", {}),)))
    say(page, "connect my account of sums")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Connect an account of sums").click()
    question = opened.value
    question.get_by_role("button", name="Connect").click()
    question.get_by_role("heading", name="Connected").wait_for()
    page.bring_to_front()
    told.behave(elicit=ASKED)
    model.play(Answer(calls=(("sums__add", {"a": 1, "b": 2}),)))
    say(page, "add 1 and 2 with sums")
    page.get_by_text("Which rounding do you want?").locator("visible=true").first.wait_for()
    assert told.seen["answered"] == [{"action": "cancel"}]
    answers = {"a": 1, "b": 2, "_answers": {"mode": "up"}}
    model.play(Answer(calls=(("sums__add", answers),)))
    say(page, "round up")
    while len(told.seen["answered"]) < 2:
        page.wait_for_timeout(100)
    assert told.seen["answered"][-1] == {"action": "accept", "content": {"mode": "up"}}
