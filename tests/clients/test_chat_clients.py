"""Chat clients that others wrote, over the protocol of OpenAI: the terminal client `llm`, and what docs/clients.md says
of each client, its block run as it stands."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from local.world import World
from tests.clients.running import alone, node


def test_a_conversation_in_the_terminal_with_llm(world: World, pypi: Path, tmp_path: Path) -> None:
    named = dict.fromkeys(("model_id", "model_name", "api_key_name"), "webbee")
    known = [{**named, "api_base": f"{world.url}/v1/openai/v1"}]
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


HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "clients.md"
HERE_IS = "http://127.0.0.1:8000"


def block(client: str, kind: str, url: str = HERE_IS) -> str:
    """A client's one block of a kind, with the API's address as it is here."""
    told = PAGE.read_text("utf-8").partition(f"\n### {client}\n")[2].partition("\n### ")[0]
    [found] = re.findall(rf"^```{kind}\n(.*?)^```", told, re.M | re.S)
    return str(found).replace(HERE_IS, url)


def wants(npm: Path, package: str) -> None:
    if not (npm / package).exists():
        pytest.skip(f"`make .venv-npm` has not run with {package} in it")


BREAD = ('Added the task "buy bread"', "shall I do it?", 'Deleted the task "buy bread"')


def test_langchain(world: World, pypi: Path) -> None:
    ran = alone(pypi, "python", "-c", block("LangChain", "python", world.url))
    assert ran.returncode == 0, ran.stderr
    assert [text for text in BREAD if text not in ran.stdout] == []


def test_vercel_ai_sdk(world: World, npm: Path) -> None:
    wants(npm, "ai")
    (npm.parent / "page.mjs").write_text(block("Vercel AI SDK", "js", world.url))
    ran = node(npm, str(npm.parent / "page.mjs"))
    assert ran.returncode == 0, ran.stderr
    assert [text for text in BREAD if text not in ran.stdout] == []


def test_claude_desktop(world: World, npm: Path) -> None:
    wants(npm, "mcp-remote")
    said = block("Claude Desktop", "json", world.url)
    ran = node(npm, str(HERE / "desktop_host.mjs"), str(npm), said)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert {"tasks__add", "mail__send"} <= set(told["tools"])
    text = told["card"]["content"][0]["text"]
    assert "from the desktop" in text and "pressing “Delete”" in text and "/v1/" not in text
    assert told["card"]["structuredContent"]["confirmation"]["verb"] == "Delete"
    assert "from the desktop" in str(told["left"]), "no tool says yes"


def test_vs_code(world: World, npm: Path) -> None:
    said = json.loads(block("VS Code", "json", world.url))
    [asked] = said["inputs"]
    server = said["servers"]["webbee"]
    bearer = server["headers"]["Authorization"].replace(f"${{input:{asked['id']}}}", "bob")
    assert (server["type"], asked["password"]) == ("http", True)
    [scheme, token] = bearer.split()
    ran = node(npm, str(HERE / "mcp_client.mjs"), str(npm), server["url"], token)
    assert scheme == "Bearer" and ran.returncode == 0, ran.stderr
    assert "tasks__add" in json.loads(ran.stdout)["handshake"]["tools"]


def chat(url: str, headers: dict[str, str], *said: str, **more: Any) -> httpx.Response:
    """The request that a chat front end sends: its whole conversation, streamed."""
    messages = [
        {"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)
    ]
    body = {"model": "webbee", "stream": True, "messages": messages, **more}
    return httpx.post(f"{url}/chat/completions", json=body, headers=headers, timeout=60)


def text_of(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    lines = [line[6:] for line in response.text.splitlines() if line.startswith("data: {")]
    deltas = [c["delta"] for line in lines for c in json.loads(line)["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


TITLE = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Chat History:
<chat_history>
{history}
</chat_history>"""


def test_open_webui(world: World) -> None:
    command = block("Open WebUI", "sh")
    assert subprocess.run(["bash", "-n", "-c", command], check=False).returncode == 0
    given = dict(re.findall(r"-e (\w+)=(\S+)", command))
    url = given["OPENAI_API_BASE_URL"].replace("http://host.docker.internal:8000", world.url)
    headers = {"authorization": f"Bearer {given['OPENAI_API_KEY']}", "x-openwebui-chat-id": "c-1"}
    models = httpx.get(f"{url}/models", headers=headers).json()
    assert [m["id"] for m in models["data"]] == ["webbee"]
    first = "add a task: call the plumber"
    second = [first, text_of(chat(url, headers, first)), "delete the task call the plumber"]
    asked = text_of(chat(url, headers, *second))
    assert "shall I do it?" in asked
    history = zip(("USER", "ASSISTANT") * 2, [*second, asked], strict=True)
    title = TITLE.format(history="\n".join(f"{who}: {text}" for who, text in history))
    assert text_of(chat(url, headers, title))  # asked aside: it is no answer to the card
    done = text_of(chat(url, headers, *second, asked, "yes"))
    assert 'Deleted the task "call the plumber"' in done


def test_librechat(world: World, npm: Path) -> None:
    """Its own schema reads the block, its own agents hold two conversations over the endpoint."""
    wants(npm, "@librechat/agents")
    given = block("LibreChat", "yaml").replace("http://host.docker.internal:8000", world.url)

    def converse(conversation: str, *said: str) -> list[str]:
        ran = node(npm, str(HERE / "librechat.mjs"), str(npm), given, "bob", conversation, *said)
        assert ran.returncode == 0, ran.stderr
        told = json.loads(ran.stdout)
        assert told["models"] == ["webbee"]
        return list(told["replies"])

    wall = "add a task: paint the wall"
    added, listed, asked, deleted = converse(
        "0b5e-one", wall, "show my tasks", "delete the task paint the wall", "yes"
    )
    assert 'Added the task "paint the wall"' in added
    assert "paint the wall" in listed
    assert asked.rstrip().endswith("Yes or no \u2013 shall I do it?")
    assert 'Deleted the task "paint the wall"' in deleted
    converse("0b5e-two", "add a task: paint the door")
    sessions = httpx.get(f"{world.url}/v1/sessions", headers={"authorization": "Bearer bob"})
    titles = [session["title"] for session in sessions.json()["sessions"]]
    assert {wall, "add a task: paint the door"} <= set(titles), "one of ours for each of its own"
