"""Servers that nobody here wrote, from PyPI (`make .venv-servers`) and npm (`make .venv-npm`): approved,
each call a turn of the kernel in which a model makes it, remembered."""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.functions.support import say
from tests.mcp.conftest import approve, calls, kernel, seen
from tests.stand_ins.service import Reply, served
from webbee_kernel.mcp.connections import McpServer

ROOT: Final = Path(__file__).parents[2]
SHOP: Final = Reply(
    b"<html><body><article><h1>Shop</h1><p>We are open from 9 to 17.</p></article></body></html>",
    headers={"content-type": "text/html"},
)
"""A page on this machine."""


TALKS: Final = Path(__file__).with_name("foreign.txt").read_text("utf-8")
"""Of each server its name here, its package and how it is started; and calls, each a turn, with what
the result of each, or the file that it wrote, holds. `{0}` is an empty folder, `{1}` the address of a
page."""


@dataclass(slots=True)
class Foreign:
    """One server, and what it is asked: tool, arguments as JSON, what must be held."""

    id: str
    package: str
    program: Path
    args: list[str]
    calls: list[tuple[str, str, str]] = field(default_factory=list)


def servers() -> list[Foreign]:
    found: list[Foreign] = []
    for line in TALKS.strip().replace("\n    ", " ").splitlines():
        if line.startswith(" "):
            call, _, holds = line.strip().partition(" → ")
            tool, _, arguments = call.partition(" ")
            found[-1].calls.append((tool, arguments, holds))
        else:
            name, package, command = line.split(": ")
            program, *args = command.split()
            place = ".venv-npm/node_modules/.bin" if package[0] == "@" else ".venv-servers/bin"
            found.append(Foreign(name, package, ROOT / place / program, args))
    return found


def prepared(foreign: Foreign, folder: Path) -> McpServer:
    """The server over an empty folder; git's is a repository with a note to commit."""
    folder.mkdir(parents=True)
    if foreign.id == "git":
        (folder / "n.txt").write_text("a note\n")
        named = ("-c", "user.name=Ann", "-c", "user.email=a@b.c")
        for words in (("init", "-q"), (*named, "commit", "-q", "--allow-empty", "-m", "First")):
            subprocess.run(["git", "-C", str(folder), *words], check=True)
    given = tuple(part.format(folder) for part in foreign.args)
    env = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    if foreign.id == "fetch":
        env["PATH"] = ""  # where it finds npm it installs what no lock names, at its first call
    return McpServer(id=foreign.id, command=str(foreign.program), args=given, env=env)


@pytest.mark.parametrize("foreign", servers(), ids=lambda foreign: foreign.id)
def test_a_server_of_others_does_what_its_tools_say(foreign: Foreign, tmp_path: Path) -> None:
    if not foreign.program.exists():
        why = "is not here: make .venv-servers .venv-npm could not install it"
        pytest.skip(f"{foreign.package} {why}")
    folder = tmp_path / foreign.id
    server = prepared(foreign, folder)
    shown = seen(server)
    assert (shown.refused, shown.hidden) == ({}, {})
    approve(tmp_path, server)
    with served(answer=lambda _: SHOP) as shop:
        for tool, arguments, holds in foreign.calls:
            text = arguments.replace("{0}", str(folder)).replace("{1}", shop.url)
            script = [calls((f"{foreign.id}__{tool}", json.loads(text))), say("That is done.")]
            k = kernel(tmp_path, server, script=script, env={"WEBBEE_CALL_SECONDS": "120"})
            reply = k.chat(f"{re.sub('[-_]', ' ', tool)} {text}")
            if asked := reply.body.get("confirmation"):
                reply = k.confirm(asked["id"])
            assert [c["status"] for c in reply.body["calls"]] == ["ok"], reply.text
            told = k.memory().turns[-1].digests[-1].data_facts_json
            assert holds.replace("{0}", str(folder)) in told
