"""`webbee.toml` beside the caller: servers of the Model Context Protocol for this machine.

[mcp.time]
command = "uvx"
args = ["mcp-server-time"]
cwd = "/srv/time"
env = { TIME_KEY = "${TIME_KEY}" }

[mcp.docs]
url = "https://mcp.example.com/mcp"
auth = "bearer"

`${TIME_KEY}` is a variable of the shell that starts: a secret stands in no file.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from webbee_kernel.mcp.client.servers import McpServer, servers_of
from webbee_kernel.types import JSONObject

FILE: Final = Path("webbee.toml")
VARIABLE: Final = "WEBBEE_MCP_SERVERS"
REFERENCE: Final = re.compile(r"\$\{(\w+)\}")


def configured(path: Path = FILE, env: Mapping[str, str] = os.environ) -> tuple[McpServer, ...]:
    """The servers of the environment, else those of the file, with what their variables refer to.
    ValueError with what is wrong."""
    if env.get(VARIABLE):
        return servers_of(json.loads(env[VARIABLE]))
    if not path.exists():
        return ()
    tables = tomllib.loads(path.read_text("utf-8")).get("mcp", {})
    servers = servers_of({**given, "id": name} for name, given in tables.items())
    return tuple(resolved(server, env) for server in servers)


def resolved(server: McpServer, env: Mapping[str, str] = os.environ) -> McpServer:
    """A server whose variables hold what they refer to. ValueError for one that is not set."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in env:
            raise ValueError(f"{server.id}: its env refers to {found[1]}, which is not set here")
        return env[found[1]]

    given = {name: REFERENCE.sub(value, text) for name, text in server.env.items()}
    return server.model_copy(update={"env": given})


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
    given = server.model_dump(mode="json", exclude_defaults=True, exclude={"id"})
    inner = {name: given.pop(name, {}) for name in ("oauth", "env")}
    tables = [_table(f"mcp.{server.id}", given)]
    tables += [_table(f"mcp.{server.id}.{name}", own) for name, own in inner.items() if own]
    path.write_text(before + "\n".join(tables), "utf-8")


def _table(name: str, given: JSONObject) -> str:
    """A table of flat values: of these, JSON's form is TOML's."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in given.items()]
    return "\n".join([f"[{name}]", *lines]) + "\n"
