"""`webbee mcp`: servers of the Model Context Protocol, those of `webbee.toml` beside the caller
(docs/mcp.md shows one), what they offer, and the operator's yes to it, before which it does not
count."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import re
import sys
import tomllib
import webbrowser
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import ValidationError

from webbee_kernel.mcp.connections import (
    Connections,
    McpServer,
    SessionRequest,
    failure_of,
    servers_of,
)
from webbee_kernel.mcp.server_tools import (
    APPROVED,
    COMPARED,
    Approval,
    Drift,
    action_type,
    approval_of,
    compared,
    digests,
    hidden_characters,
    problem_of,
    read_approvals,
)
from webbee_kernel.text import cut, reveal
from webbee_kernel.types import JSONObject

from .project import COMMAND, SERVE, folder_of_extensions
from .terminal import CliError, mark, paint, tell, waiting

if TYPE_CHECKING:
    from webbee_kernel.mcp.server_session import Session

T = TypeVar("T")
FILE: Final = Path("webbee.toml")
VARIABLE: Final = "WEBBEE_MCP_SERVERS"
REFERENCE: Final = re.compile(r"\$\{(\w+)\}")


def configured() -> tuple[McpServer, ...]:
    """The servers of the file, with what their variables refer to. CliError with what is wrong."""
    try:
        tables = tomllib.loads(FILE.read_text("utf-8")).get("mcp", {}) if FILE.exists() else {}
        servers = servers_of({**given, "id": name} for name, given in tables.items())
    except ValueError as error:
        raise CliError(f"{FILE}: {error}") from None
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


def _write_down(server: McpServer) -> None:
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
        refused = {str(t.get("name"))[:100]: why for t in session.tools if (why := _why_not(t))}
        tools = tuple(compared(t) for t in session.tools if not _why_not(t))
        others = digests(t for t in session.tools if str(t.get("name"))[:100] in refused)
        approval = Approval(server.where, tools, session.protocol, now, others)
        hidden = {str(t["name"]): places for t in tools if (places := hidden_characters(t))}
        return Seen(approval, refused, hidden, session.about)

    wanted = SessionRequest(server, lambda _: None, NOBODY, NOBODY, token)
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


def write(folder: str | Path, approvals: Mapping[str, Approval]) -> Path:
    """Keep them, readable and in a stable order, so that a change shows in a review."""
    servers = {
        name: {**asdict(one), "left_out": dict(sorted(one.left_out.items()))}
        for name, one in sorted(approvals.items())
    }
    path = Path(folder) / APPROVED
    path.write_text(json.dumps({"servers": servers}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


WIDE = 160
"""Characters of a description that a list shows; a change is shown whole."""


def _asked(work: Coroutine[Any, Any, T]) -> T:
    """What servers say. What fails is told in a sentence: the tracebacks that the SDK logs
    meanwhile tell no operator more."""
    logging.disable(logging.CRITICAL)
    try:
        return asyncio.run(work)
    finally:
        logging.disable(logging.NOTSET)


def listed(options: argparse.Namespace) -> int:
    """Every server: whether it answers, what it offers against what was approved. 1 where
    something has to be looked at."""
    given, known = configured(), _known(options)

    async def all_of() -> list[str]:
        return await asyncio.gather(*(_state(server, known, options.token) for server in given))

    states = dict(zip((server.id for server in given), _asked(all_of()), strict=True))
    lines = [
        f"{mark(not states[s.id])} {s.id}: {states[s.id] or 'as approved'} ({s.where})"
        for s in given
    ]
    if remote := [server for server in given if server.url]:
        lines.append(f"\nMcpServers of a deployment:\n{as_json(remote)}")
    if not given:
        lines.append(f"no server yet: {COMMAND} mcp add time -- uvx mcp-server-time")
    tell(options, {name: state or "ok" for name, state in states.items()}, lines)
    return int(any(states.values()))


def add(options: argparse.Namespace) -> int:
    """Name a server in webbee.toml, look at what it offers, approve it."""
    if any(server.id == options.id for server in configured()):
        raise CliError(f"{options.id} is in {FILE} already")
    command = options.rest
    if bool(command) == bool(options.server):
        raise CliError("give either --server URL, its address, or -- COMMAND …, which runs it here")
    # `NAME` alone refers to the shell's variable of that name
    given = (one.partition("=") for one in options.env)
    env = {name: value if equals else f"${{{name}}}" for name, equals, value in given}
    try:
        server = McpServer(
            id=options.id,
            url=options.server or None,
            command=command[0] if command else "",
            args=tuple(command[1:]),
            env=env,
            cwd=options.cwd,
            name=options.name,
            auth="bearer" if options.bearer else "none",
        )
        if options.oauth:
            server, options.token = _signed_in(server, options.public_url)
    except ValidationError as error:
        first = error.errors()[0]
        at = f"{first['loc'][0]}: " if first["loc"] else ""
        raise CliError(at + first["msg"].removeprefix("Value error, ")) from None
    if not _approved(resolved(server), options):
        return 1
    _write_down(server)
    told = f"{SERVE}, started anew, serves it, and the page's Apps list what it can do"
    print(f"{server.id} is in {FILE}; {told}")
    return 0


def _signed_in(server: McpServer, public_url: str) -> tuple[McpServer, str]:
    """The server with its provider, and the operator's token."""
    if not server.url:
        raise CliError("only a server with a url is signed in to")
    from .mcp_signin import NoSignIn, sign_in

    back = f"{public_url.rstrip('/')}/v1/ext/{server.id}/oauth/{server.id}/callback"
    try:
        found = asyncio.run(sign_in(server.url, [back], _to_browser))
    except NoSignIn as error:
        raise CliError(f"{server.id}: no sign-in: {error}") from None
    if found.secret:
        path = f"/v1/extensions/{server.id}/secrets/{server.id}_client_secret"
        print(f"its client has a secret: an operator sets it with PUT {path}\n  {found.secret}")
    more = {"auth": "oauth", "oauth": found.provider, "scopes": found.scopes}
    return McpServer.model_validate({**server.model_dump(), **more}), found.token


async def _to_browser(address: str) -> None:
    print(f"sign in with your browser:\n  {address}", flush=True)
    if sys.stdin.isatty():
        await asyncio.to_thread(webbrowser.open, address)


def approve(options: argparse.Namespace) -> int:
    """Look at what servers offer now and approve it; all of them without a name."""
    given = configured()
    chosen = [s for s in given if s.id in options.ids] if options.ids else list(given)
    if missing := set(options.ids) - {s.id for s in given}:
        raise CliError(f"no server is called {', '.join(sorted(missing))}")
    agreed = [_approved(server, options) for server in chosen]
    return 0 if all(agreed) else 1


def _approved(server: McpServer, options: argparse.Namespace) -> bool:
    """Show what one server offers and keep it where the operator agrees."""
    with waiting(f"asking {server.id}"):
        found = _asked(_look(server, options.token))
    if isinstance(found, str):
        print(f"{mark(False)} {server.id}: {found}")
        return False
    known = _known(options)
    before = known.get(server.id)
    if options.only:
        found = found.only(options.only.split(","))
    for line in told(server, found, before):
        print(line)
    refused = f"{server.id} is not {'approved' if 'ids' in options else 'added'}"
    if not options.yes and not _agrees(refused):
        print(refused)
        return False
    path = write(folder_of_extensions(options.into), known | {server.id: found.approval})
    tools = len(found.approval.tools)
    counted = f"{tools} tool{'s' * (tools != 1)}"
    print(f"{mark(True)} {server.id}: {counted} approved in {path}")
    return True


def told(server: McpServer, found: Seen, before: Approval | None) -> list[str]:
    """What an operator reads before he agrees."""
    about, drift = found.about, found.drift(before)
    says = " ".join(reveal(str(about.get(key, ""))) for key in ("name", "version")).strip()
    spoken = f"version {found.approval.protocol} of the protocol"
    lines = [f"{paint(server.id, 'bold')} ({server.where}) says it is {says or '?'}, {spoken}"]
    old = {t["name"]: t for t in before.tools} if before else {}
    for tool in found.approval.tools:
        name = str(tool["name"])
        word = "changed" if name in drift.changed else "new" if name in drift.new else ""
        hints = tool.get("annotations") or {}
        beyond = "" if hints.get("openWorldHint") is False else ", open world"
        kind = f"({action_type(hints)}{beyond})"
        lines.append(f"  {paint(word.ljust(8), 'yellow')}{name} {kind}")
        said = cut(" ".join(reveal(str(tool.get("description", ""))).split()), WIDE)
        lines += _changes(old.get(name, {}), tool) if word == "changed" else [f"{'':10}{said}"]
        if name in found.hidden:
            places = ", ".join(reveal(place) for place in found.hidden[name])
            lines.append(paint(f"          hidden characters in {places}", "red"))
    lines += [f"  {paint('gone'.ljust(8), 'yellow')}{reveal(name)}" for name in drift.gone]
    silent = [t["name"] for t in found.approval.tools if not t.get("annotations")]
    if silent:
        lines.append(
            f"  {', '.join(map(reveal, silent))}: the server does not say what they do, so each"
            " call is asked about first; readOnlyHint in annotations says that a tool only reads"
        )
    no = paint("refused".ljust(8), "red")
    return [
        *lines,
        *(f"  {no}{reveal(name)}: {why}" for name, why in found.refused.items()),
    ]


def _changes(old: JSONObject, new: JSONObject) -> Iterable[str]:
    """Both forms of every part of a definition that differs."""
    for key in COMPARED:
        if old.get(key) != new.get(key):
            for sign, form in (("-", old.get(key)), ("+", new.get(key))):
                yield f"          {sign} {key}: {reveal(json.dumps(form, ensure_ascii=False))}"


async def _state(server: McpServer, known: dict[str, Approval], token: str) -> str:
    """What is wrong with a server; empty where nothing is."""
    found, approval = await _look(server, token), approval_of(server, known)
    if isinstance(approval, str) or isinstance(found, str):
        return found if isinstance(found, str) else str(approval)
    differs = found.drift(approval)
    return f"not as it was approved ({differs})" if differs else ""


async def _look(server: McpServer, token: str) -> Seen | str:
    """What a server offers, or why it does not say."""
    connections = Connections()
    try:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return await look(connections, server, token, now)
    except Exception as error:
        return str(failure_of(error, server).error)
    finally:
        await asyncio.to_thread(connections.close)


def _agrees(refused: str) -> bool:
    """Whether the operator says yes. CliError behind a pipe, which has read nothing of it."""
    if not sys.stdin.isatty():
        why = "nobody at a terminal has looked at this"
        raise CliError(f"{refused}: {why}. Again with --yes approves it unseen")
    return input("Approve these tools? [y/N] ").strip().lower() in ("y", "yes")


def _known(options: argparse.Namespace) -> dict[str, Approval]:
    try:
        return read_approvals(folder_of_extensions(options.into))
    except ValueError as error:
        raise CliError(str(error)) from None
