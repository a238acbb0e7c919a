"""Servers of the Model Context Protocol: those of `webbee.toml` beside the caller, and what they
offer, for an operator to look at before it counts.

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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from webbee_kernel.mcp.client.approvals import FILE as APPROVED
from webbee_kernel.mcp.client.approvals import Approval, Drift, compared, digests
from webbee_kernel.mcp.client.connections import Connections, McpServer, SessionRequest, servers_of
from webbee_kernel.mcp.client.server_tools import action_type, hidden_characters, problem_of
from webbee_kernel.text import cut
from webbee_kernel.types import JSONObject

from .terminal import CliError

if TYPE_CHECKING:
    from webbee_kernel.mcp.client.server_session import Session


FILE: Final = Path("webbee.toml")
VARIABLE: Final = "WEBBEE_MCP_SERVERS"
REFERENCE: Final = re.compile(r"\$\{(\w+)\}")


def configured() -> tuple[McpServer, ...]:
    """The servers of the environment, else those of the file, with what their variables refer to.
    CliError with what is wrong."""
    named = os.environ.get(VARIABLE)
    try:
        if named:
            return servers_of(json.loads(named))
        tables = tomllib.loads(FILE.read_text("utf-8")).get("mcp", {}) if FILE.exists() else {}
        servers = servers_of({**given, "id": name} for name, given in tables.items())
    except ValueError as error:
        raise CliError(f"{VARIABLE if named else FILE}: {error}") from None
    return tuple(map(resolved, servers))


def resolved(server: McpServer) -> McpServer:
    """A server whose variables hold what they refer to. CliError for one that is not set."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            told = f"its env refers to {found[1]}, which is not set here"
            raise CliError(f"{FILE}: {server.id}: {told}")
        return os.environ[found[1]]

    given = {name: REFERENCE.sub(value, text) for name, text in server.env.items()}
    return server.model_copy(update={"env": given})


def variables() -> dict[str, str]:
    """The same as a variable of the functions."""
    servers = configured()
    return {VARIABLE: as_json(servers)} if servers else {}


def as_json(servers: Iterable[McpServer]) -> str:
    """What the variable, and the template's parameter, hold."""
    given = [s.model_dump(mode="json", exclude_defaults=True) for s in servers]
    return json.dumps(given, ensure_ascii=False)


def add(server: McpServer) -> None:
    """Write a server at the end of the file; the rest stays as somebody wrote it."""
    before = FILE.read_text("utf-8").rstrip("\n") + "\n\n" if FILE.exists() else ""
    given = server.model_dump(mode="json", exclude_defaults=True, exclude={"id"})
    inner = {name: given.pop(name, {}) for name in ("oauth", "env")}
    tables = [_table(f"mcp.{server.id}", given)]
    tables += [_table(f"mcp.{server.id}.{name}", own) for name, own in inner.items() if own]
    FILE.write_text(before + "\n".join(tables), "utf-8")


def _table(name: str, given: JSONObject) -> str:
    """A table of flat values: of these, JSON's form is TOML's."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in given.items()]
    return "\n".join([f"[{name}]", *lines]) + "\n"


NOBODY = "__operator__"
"""As whom the operator's own look is taken."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a server showed: `approval` as it would stand, `refused` tools with the reason, where
    in the others characters hide, and what the server says of itself."""

    approval: Approval
    refused: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)
    about: JSONObject = field(default_factory=dict)

    def drift(self, before: Approval | None) -> Drift:
        """How this differs from what was approved before."""
        return (before or Approval("")).drift(self.approval.digests)

    def only(self, names: Iterable[str]) -> Seen:
        """The same with these tools alone."""
        wanted = set(names)
        tools = tuple(t for t in self.approval.tools if t["name"] in wanted)
        others = digests(t for t in self.approval.tools if t["name"] not in wanted)
        left_out = {**self.approval.left_out, **others}
        return replace(self, approval=replace(self.approval, tools=tools, left_out=left_out))


async def look(connections: Connections, server: McpServer, token: str, now: str) -> Seen:
    """Ask a server what it offers. Raises what keeps it from answering."""

    async def work(session: Session) -> Seen:
        # a library may announce resources for every server: what counts is whether it has any
        has_any = session.has_resources and any(await session.list_resources())
        refused = {str(t.get("name"))[:100]: why for t in session.tools if (why := _why_not(t))}
        tools = tuple(compared(t) for t in session.tools if not _why_not(t))
        others = digests(t for t in session.tools if str(t.get("name"))[:100] in refused)
        approval = Approval(server.where, tools, session.protocol, has_any, now, others)
        hidden = {str(t["name"]): places for t in tools if (places := hidden_characters(t))}
        return Seen(approval, refused, hidden, session.about)

    wanted = SessionRequest(server, lambda *_: None, NOBODY, NOBODY, token)
    return await connections.use(wanted, work)


def _why_not(tool: JSONObject) -> str:
    """Why a tool is kept out, its input's JSON schema included; empty where it is not."""
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    if why := problem_of(tool):
        return why
    schema = tool["inputSchema"]
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        return cut(str(error.message), 200)
    return ""


def line_of(tool: JSONObject) -> str:
    """A tool as a list shows it: `fetch (read, open world)`."""
    hints = tool.get("annotations") or {}
    beyond = "" if hints.get("openWorldHint") is False else ", open world"
    return f"{tool['name']} ({action_type(hints)}{beyond})"


def write(folder: str | Path, approvals: Mapping[str, Approval]) -> Path:
    """Keep them, readable and in a stable order, so that a change shows in a review."""
    servers: dict[str, JSONObject] = {}
    for name, approval in sorted(approvals.items()):
        short = ("where", "protocol", "resources", "approved_at", "tools")
        servers[name] = {key: getattr(approval, key) for key in short}
        if approval.left_out:
            servers[name]["left_out"] = dict(sorted(approval.left_out.items()))
    path = Path(folder) / APPROVED
    path.write_text(json.dumps({"servers": servers}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path
