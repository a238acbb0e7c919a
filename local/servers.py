"""`webbee.toml` beside the caller: servers of the Model Context Protocol for this machine.

[mcp.time]
command = "uvx"
args = ["mcp-server-time"]

[mcp.docs]
url = "https://mcp.example.com/mcp"
auth = "bearer"
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from webbee_kernel.values.mcp import McpServer, servers_of
from webbee_kernel.values.plain import JSONObject

FILE: Final = Path("webbee.toml")
VARIABLE: Final = "WEBBEE_MCP_SERVERS"


def configured(path: Path = FILE, env: Mapping[str, str] = os.environ) -> tuple[McpServer, ...]:
    """The servers of the environment, else those of the file. ValueError with what is wrong."""
    if env.get(VARIABLE):
        return servers_of(json.loads(env[VARIABLE]))
    if not path.exists():
        return ()
    tables = tomllib.loads(path.read_text("utf-8")).get("mcp", {})
    return servers_of({**given, "id": name} for name, given in tables.items())


def variables(path: Path = FILE) -> dict[str, str]:
    """The same as a variable of the functions."""
    servers = configured(path)
    return {VARIABLE: as_json(servers)} if servers else {}


def as_json(servers: Iterable[McpServer]) -> str:
    """What the variable, and the template's parameter, hold."""
    given = [s.model_dump(mode="json", exclude_defaults=True) for s in servers]
    return json.dumps(given, ensure_ascii=False)


def add(server: McpServer, path: Path = FILE) -> None:
    """Write a server at the end of the file; the rest stays as somebody wrote it."""
    before = path.read_text("utf-8").rstrip("\n") + "\n\n" if path.exists() else ""
    given = server.model_dump(mode="json", exclude_defaults=True, exclude={"id", "env"})
    own = given.pop("oauth", {})
    tables = [_table(f"mcp.{server.id}", given)]
    tables += [_table(f"mcp.{server.id}.oauth", own)] if own else []
    path.write_text(before + "\n".join(tables), "utf-8")


def _table(name: str, given: JSONObject) -> str:
    """A table of flat values: of these, JSON's form is TOML's."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in given.items()]
    return "\n".join([f"[{name}]", *lines]) + "\n"
