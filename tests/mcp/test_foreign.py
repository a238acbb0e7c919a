"""Servers that nobody here wrote, from PyPI (`make .venv-servers`) and npm (`make .venv-npm`): approved,
each call a turn of the kernel in which a model makes it, remembered."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.mcp.conftest import approve, calls, kernel, says, seen
from tests.stand_ins.service import Reply, served
from webbee_kernel.mcp.client.connections import McpServer

ROOT: Final = Path(__file__).parents[2]
SHOP: Final = Reply(
    b"<html><body><article><h1>Shop</h1><p>We are open from 9 to 17.</p></article></body></html>",
    headers={"content-type": "text/html"},
)
"""A page on this machine."""


TALKS: Final = """
everything: @modelcontextprotocol/server-everything: mcp-server-everything
  echo {"message": "hello there"} → hello there
  get-sum {"a": 2, "b": 40} → 42
  get-structured-content {"location": "New York"} → temperature
  get-tiny-image {} → image/png
  get-resource-links {"count": 2} → resource_link
  get-resource-reference {"resourceType": "Text", "resourceId": 1} → demo://
  get-annotated-message {"messageType": "error"} → Error
  trigger-long-running-operation {"duration": 1, "steps": 4} → completed
  list_resources {} → demo://
files: @modelcontextprotocol/server-filesystem: mcp-server-filesystem {0}
  list_allowed_directories {} → {0}
  create_directory {"path": "{0}/plans"} → Successfully
  write_file {"path": "{0}/plans/a.txt", "content": "budget 4200"} → Successfully
  read_text_file {"path": "{0}/plans/a.txt"} → budget 4200
  edit_file {"path": "{0}/plans/a.txt", "edits": [{"oldText": "4200", "newText": "4300"}]} → 4300
  list_directory {"path": "{0}/plans"} → a.txt
  get_file_info {"path": "{0}/plans/a.txt"} → size
  search_files {"path": "{0}", "pattern": "**/*.txt"} → a.txt
  move_file {"source": "{0}/plans/a.txt", "destination": "{0}/b.txt"} → b.txt
  directory_tree {"path": "{0}"} → b.txt
memory: @modelcontextprotocol/server-memory: mcp-server-memory
  create_entities {"entities": [{"name": "Ann", "entityType": "person",
    "observations": ["likes tea"]}]} → Ann
  search_nodes {"query": "Ann"} → likes tea
  read_graph {} → likes tea
  delete_entities {"entityNames": ["Ann"]} → deleted
thinking: @modelcontextprotocol/server-sequential-thinking: mcp-server-sequential-thinking
  sequentialthinking {"thought": "Begin with the end", "nextThoughtNeeded": false,
    "thoughtNumber": 1, "totalThoughts": 1} → thoughtHistoryLength
time: mcp-server-time: mcp-server-time --local-timezone UTC
  get_current_time {"timezone": "Europe/Riga"} → Europe/Riga
  convert_time {"source_timezone": "Europe/Riga", "time": "12:00",
    "target_timezone": "Asia/Tokyo"} → time_difference
git: mcp-server-git: mcp-server-git --repository {0}
  git_status {"repo_path": "{0}"} → n.txt
  git_add {"repo_path": "{0}", "files": ["n.txt"]} → staged
  git_diff_staged {"repo_path": "{0}"} → a note
  git_commit {"repo_path": "{0}", "message": "Keep a note"} → committed
  git_log {"repo_path": "{0}", "max_count": 1} → Keep a note
  git_create_branch {"repo_path": "{0}", "branch_name": "next"} → next
  git_branch {"repo_path": "{0}", "branch_type": "local"} → next
sqlite: mcp-server-sqlite: mcp-server-sqlite --db-path {0}/db.sqlite
  create_table {"query": "CREATE TABLE parts (id INTEGER, name TEXT)"} → created
  write_query {"query": "INSERT INTO parts VALUES (7, 'bolt')"} → affected_rows
  read_query {"query": "SELECT * FROM parts"} → bolt
  list_tables {} → parts
  describe_table {"table_name": "parts"} → INTEGER
  append_insight {"insight": "Bolts sell"} → added
  read_resource {"uri": "memo://insights"} → Bolts sell
fetch: mcp-server-fetch: mcp-server-fetch --ignore-robots-txt --allow-private-ips
  fetch {"url": "{1}"} → open from 9 to 17
"""
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
            script = [calls((f"{foreign.id}__{tool}", json.loads(text))), says("That is done.")]
            k = kernel(tmp_path, server, script=script, env={"WEBBEE_CALL_SECONDS": "120"})
            reply = k.chat(f"{re.sub('[-_]', ' ', tool)} {text}")
            if asked := reply.body.get("confirmation"):
                reply = k.confirm(asked["id"])
            assert [c["status"] for c in reply.body["calls"]] == ["ok"], reply.text
            told = k.memory().turns[-1].digests[-1].data_facts_json
            assert holds.replace("{0}", str(folder)) in told
