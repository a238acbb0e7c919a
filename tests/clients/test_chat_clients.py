"""Chat clients that others wrote, over the protocol of OpenAI: the terminal client `llm`, and
LangChain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.world import World, local_world
from tests.clients.running import alone

LANGCHAIN = """
import json, sys
from langchain_openai import ChatOpenAI
model = ChatOpenAI(base_url=sys.argv[1] + "/v1/openai/v1", api_key="bob", model="webbee", max_retries=0,
                   default_headers={"X-Conversation-Id": "chain"})
first = model.invoke("add a task: buy bread")
streamed = "".join(chunk.content for chunk in model.stream("show my tasks"))
print(json.dumps([first.content, streamed]))
"""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with local_world() as running:
        yield running


def test_a_conversation_in_the_terminal_with_llm(world: World, pypi: Path, tmp_path: Path) -> None:
    known = [
        {
            "model_id": "webbee",
            "model_name": "webbee",
            "api_base": f"{world.url}/v1/openai/v1",
            "api_key_name": "webbee",
        }
    ]
    (tmp_path / "extra-openai-models.yaml").write_text(json.dumps(known))
    (tmp_path / "keys.json").write_text('{"webbee": "dev"}')
    said = "add a task: buy eggs\nshow my tasks\ndelete the task buy eggs\nyes\nexit\n"
    chat = alone(pypi, "llm", "chat", "-m", "webbee", said=said, LLM_USER_PATH=str(tmp_path))
    assert chat.returncode == 0, chat.stderr
    *_, added, listed, asked, deleted, _ = chat.stdout.split("> ")
    assert "buy eggs" in added
    assert "buy eggs" in listed
    assert asked.rstrip().endswith("Yes or no \u2013 shall I do it?")
    assert "buy eggs" in asked and "delete" in asked
    assert "Deleted" in deleted


def test_langchain_invokes_and_streams(world: World, pypi: Path) -> None:
    ran = alone(pypi, "python", "-c", LANGCHAIN, world.url)
    assert ran.returncode == 0, ran.stderr
    first, streamed = json.loads(ran.stdout)
    assert "buy bread" in first
    assert "buy bread" in streamed
