"""Servers of the Model Context Protocol that nobody here wrote: each call of `SERVERS` is a turn of
the kernel in which a model calls that tool. `python -m tests.mcp.foreign_servers` writes what each did
into docs/mcp.md.

PyPI's come from `make .venv-servers`, npm's from `make .venv-npm`.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from local.mcp_servers import Seen, look, write
from tests.stand_ins.service import Reply, served
from webbee_kernel.extensions import mcp_apps
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.mcp.client import approvals
from webbee_kernel.mcp.client.connections import McpServer
from webbee_kernel.testing import TestKernel

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs" / "mcp.md"
NOW: Final = "2026-05-15T17:21:04Z"
MARKS: Final = ("<!-- servers -->", "<!-- /servers -->")


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
        if self.package.startswith("@"):
            return ROOT / ".venv-npm" / "node_modules" / ".bin" / self.command[0]
        return ROOT / ".venv-servers" / "bin" / self.command[0]


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


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one server: what it offers, and each call's end."""

    server: Foreign
    seen: Seen
    ends: tuple[tuple[Call, str, str], ...]
    """The call, its status, and its data or error."""


def play(foreign: Foreign, folder: Path) -> Played:
    """Approve what a server offers and hold the conversation with it."""
    _prepare(foreign, folder)
    command = [part.format(folder) for part in foreign.command[1:]]
    server = McpServer(
        id=foreign.id,
        command=str(foreign.program),
        args=tuple(command),
        env={"MEMORY_FILE_PATH": str(folder / "memory.jsonl"), **foreign.env},
    )
    seen = asyncio.run(look(mcp_apps.connections, server, "", NOW))
    extensions = folder.parent
    write(extensions, approvals.read(extensions) | {server.id: seen.approval})
    configured = json.dumps([server.model_dump(mode="json", exclude_defaults=True)])
    env = {
        "WEBBEE_MCP_SERVERS": configured,
        "WEBBEE_EXTENSIONS_DIR": str(extensions),
        "WEBBEE_CALL_SECONDS": "120",
    }
    ends = []
    with served(answer=lambda _: SHOP) as shop:
        for call in foreign.calls:
            text = json.dumps(call.arguments).replace("{0}", str(folder)).replace("{1}", shop.url)
            arguments = json.loads(text)
            k = TestKernel(env=env, model=FunctionModel(_Once(foreign.id, call.tool, arguments)))
            ends.append((call, *_turn(k, call, arguments)))
    return Played(foreign, seen, tuple(ends))


SHOP: Final = Reply(
    b"<html><body><article><h1>Shop</h1><p>We are open from 9 to 17.</p></article></body></html>",
    headers={"content-type": "text/html"},
)
"""A page on this machine."""


class _Once:
    """A model that makes one call and then says what came of it."""

    def __init__(self, app_id: str, fn_name: str, arguments: Mapping[str, Any]) -> None:
        self._call = ToolCall(f"{app_id}__{fn_name}", dict(arguments))
        self._made = False

    def __call__(self, request: ModelRequest) -> ModelResponse:
        if request.role == "classifier" and not self._made:
            self._made = True
            return ModelResponse(tool_calls=(self._call,))
        return ModelResponse("That is done.")


def _turn(k: TestKernel, call: Call, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """Say what is wanted, agree where the kernel asks; how the call ended and with what."""
    words = re.sub(r"[-_]", " ", call.tool)
    reply = k.chat(f"{words} {json.dumps(arguments)}")
    if asked := reply.body.get("confirmation"):
        reply = k.confirm(asked["id"])
    (ended,) = reply.body["calls"]
    digests = k.memory().turns[-1].digests
    told = digests[-1].data_facts_json if digests else reply.text
    return str(ended["status"]) + (", after a yes" if asked else ""), told


def _prepare(foreign: Foreign, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    if foreign.id == "git":
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
        git = ["git", "-C", str(folder)]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "config", "user.name", "Ann"], check=True)
        subprocess.run([*git, "config", "user.email", "ann@example.com"], check=True)
        subprocess.run(
            [*git, *identity, "commit", "-q", "--allow-empty", "-m", "First"], check=True
        )
        (folder / "n.txt").write_text("a note\n")


@contextmanager
def closed() -> Iterator[None]:
    """No server outlives the block."""
    try:
        yield
    finally:
        mcp_apps.connections.close()


def row(played: Played) -> str:
    """A line of the table."""
    about, approval = played.seen.about, played.seen.approval
    well = [call.tool for call, status, _ in played.ends if status.startswith("ok")]
    asked = [call.tool for call, status, _ in played.ends if "yes" in status]
    failed = [f"{c.tool}: {told[:90]}" for c, status, told in played.ends if status[:2] != "ok"]
    version = str(about.get("version", "?"))
    cells = (
        f"`{played.server.package}`",
        version,
        approval.protocol,
        str(len(approval.tools)),
        f"{len(well)} of {len(played.ends)}",
        ", ".join(f"`{name}`" for name in asked) or "–",
        "; ".join(failed) or "–",
    )
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def table(rows: list[Played]) -> str:
    """What each server did, as Markdown."""
    head = "| package | says it is | protocol | tools | called well | after a yes | failed |"
    return "\n".join([head, "|---|---|---|---|---|---|---|", *map(row, rows)])


def main() -> int:
    """Play all of them and write the table; 1 where a server is not here."""
    missing = [s.package for s in SERVERS if not s.program.exists()]
    if missing:
        print(f"not here: {', '.join(missing)}; make .venv-servers .venv-npm", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, closed():
        played = [play(s, Path(folder) / s.id) for s in SERVERS]
    text = DOCS.read_text("utf-8")
    before, _, rest = text.partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    made = f"{before}{MARKS[0]}\n{table(played)}\n{MARKS[1]}{after}"
    DOCS.write_text(made, "utf-8")
    print(table(played))
    return 0


if __name__ == "__main__":
    sys.exit(main())
