"""Servers that nobody here wrote, from PyPI (`make .venv-servers`) and npm (`make .venv-npm`): approved,
each call a turn of the kernel in which a model makes it, remembered."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

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


@dataclass(frozen=True, slots=True)
class Call:
    """A turn: what is called, and what its result, or the file it wrote, must hold."""

    tool: str
    arguments: Mapping[str, Any]
    holds: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """One server: its package, how it is started, what it is asked. `{0}` is an empty folder,
    `{1}` the address of a page."""

    id: str
    package: str
    command: tuple[str, ...]
    calls: tuple[Call, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def program(self) -> Path:
        """What is started."""
        is_npms = self.package.startswith("@")
        place = ".venv-npm/node_modules/.bin" if is_npms else ".venv-servers/bin"
        return ROOT / place / self.command[0]


def _call(tool: str, holds: str, **arguments: Any) -> Call:
    return Call(tool, arguments, holds)


SERVERS: Final = (
    Foreign(
        "everything",
        "@modelcontextprotocol/server-everything",
        ("mcp-server-everything",),
        (
            _call("echo", "hello there", message="hello there"),
            _call("get-sum", "42", a=2, b=40),
            _call("get-structured-content", "temperature", location="New York"),
            _call("get-tiny-image", "image/png"),
            _call("get-resource-links", "resource_link", count=2),
            _call("get-resource-reference", "demo://", resourceType="Text", resourceId=1),
            _call("get-annotated-message", "Error", messageType="error"),
            _call("trigger-long-running-operation", "completed", duration=1, steps=4),
            _call("list_resources", "demo://"),
        ),
    ),
    Foreign(
        "files",
        "@modelcontextprotocol/server-filesystem",
        ("mcp-server-filesystem", "{0}"),
        (
            _call("list_allowed_directories", "{0}"),
            _call("create_directory", "Successfully", path="{0}/plans"),
            _call("write_file", "Successfully", path="{0}/plans/a.txt", content="budget 4200"),
            _call("read_text_file", "budget 4200", path="{0}/plans/a.txt"),
            _call(
                "edit_file",
                "4300",
                path="{0}/plans/a.txt",
                edits=[{"oldText": "4200", "newText": "4300"}],
            ),
            _call("list_directory", "a.txt", path="{0}/plans"),
            _call("get_file_info", "size", path="{0}/plans/a.txt"),
            _call("search_files", "a.txt", path="{0}", pattern="**/*.txt"),
            _call("move_file", "b.txt", source="{0}/plans/a.txt", destination="{0}/b.txt"),
            _call("directory_tree", "b.txt", path="{0}"),
        ),
    ),
    Foreign(
        "memory",
        "@modelcontextprotocol/server-memory",
        ("mcp-server-memory",),
        (
            _call(
                "create_entities",
                "Ann",
                entities=[{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}],
            ),
            _call("search_nodes", "likes tea", query="Ann"),
            _call("read_graph", "likes tea"),
            _call("delete_entities", "deleted", entityNames=["Ann"]),
        ),
    ),
    Foreign(
        "thinking",
        "@modelcontextprotocol/server-sequential-thinking",
        ("mcp-server-sequential-thinking",),
        (
            _call(
                "sequentialthinking",
                "thoughtHistoryLength",
                thought="Begin with the end",
                nextThoughtNeeded=False,
                thoughtNumber=1,
                totalThoughts=1,
            ),
        ),
    ),
    Foreign(
        "time",
        "mcp-server-time",
        ("mcp-server-time", "--local-timezone", "UTC"),
        (
            _call("get_current_time", "Europe/Riga", timezone="Europe/Riga"),
            _call(
                "convert_time",
                "time_difference",
                source_timezone="Europe/Riga",
                time="12:00",
                target_timezone="Asia/Tokyo",
            ),
        ),
    ),
    Foreign(
        "git",
        "mcp-server-git",
        ("mcp-server-git", "--repository", "{0}"),
        (
            _call("git_status", "n.txt", repo_path="{0}"),
            _call("git_add", "staged", repo_path="{0}", files=["n.txt"]),
            _call("git_diff_staged", "a note", repo_path="{0}"),
            _call("git_commit", "committed", repo_path="{0}", message="Keep a note"),
            _call("git_log", "Keep a note", repo_path="{0}", max_count=1),
            _call("git_create_branch", "next", repo_path="{0}", branch_name="next"),
            _call("git_branch", "next", repo_path="{0}", branch_type="local"),
        ),
    ),
    Foreign(
        "sqlite",
        "mcp-server-sqlite",
        ("mcp-server-sqlite", "--db-path", "{0}/db.sqlite"),
        (
            _call("create_table", "created", query="CREATE TABLE parts (id INTEGER, name TEXT)"),
            _call("write_query", "affected_rows", query="INSERT INTO parts VALUES (7, 'bolt')"),
            _call("read_query", "bolt", query="SELECT * FROM parts"),
            _call("list_tables", "parts"),
            _call("describe_table", "INTEGER", table_name="parts"),
            _call("append_insight", "added", insight="Bolts sell"),
            _call("read_resource", "Bolts sell", uri="memo://insights"),
        ),
    ),
    Foreign(
        "fetch",
        "mcp-server-fetch",
        ("mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"),
        (_call("fetch", "open from 9 to 17", url="{1}"),),
        {"PATH": ""},  # where it finds npm it installs what no lock names, at its first call
    ),
)


def prepared(foreign: Foreign, folder: Path) -> McpServer:
    """The server over an empty folder; git's is a repository with a note to commit."""
    folder.mkdir(parents=True)
    if foreign.id == "git":
        (folder / "n.txt").write_text("a note\n")
        first = ("commit", "-q", "--allow-empty", "-m", "First")
        for words in (
            ("init", "-q"),
            ("config", "user.name", "Ann"),
            ("config", "user.email", "a@b.c"),
            first,
        ):
            subprocess.run(["git", "-C", str(folder), *words], check=True)
    given = tuple(part.format(folder) for part in foreign.command[1:])
    env = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl"), **foreign.env}
    return McpServer(id=foreign.id, command=str(foreign.program), args=given, env=env)


@pytest.mark.parametrize("foreign", SERVERS, ids=lambda foreign: foreign.id)
def test_a_server_of_others_does_what_its_tools_say(foreign: Foreign, tmp_path: Path) -> None:
    if not foreign.program.exists():
        pytest.skip(
            f"{foreign.package} is not here: make .venv-servers .venv-npm could not install it"
        )
    folder = tmp_path / foreign.id
    server = prepared(foreign, folder)
    shown = seen(server)
    assert (shown.refused, shown.hidden) == ({}, {})
    approve(tmp_path, server)
    with served(answer=lambda _: SHOP) as shop:
        for call in foreign.calls:
            text = json.dumps(call.arguments).replace("{0}", str(folder)).replace("{1}", shop.url)
            script = [
                calls((f"{foreign.id}__{call.tool}", json.loads(text))),
                says("That is done."),
            ]
            k = kernel(tmp_path, server, script=script, env={"WEBBEE_CALL_SECONDS": "120"})
            reply = k.chat(f"{re.sub('[-_]', ' ', call.tool)} {text}")
            if asked := reply.body.get("confirmation"):
                reply = k.confirm(asked["id"])
            assert [c["status"] for c in reply.body["calls"]] == ["ok"], reply.text
            told = k.memory().turns[-1].digests[-1].data_facts_json
            assert call.holds.format(folder) in told
