"""Servers of the Model Context Protocol among the extensions of a registry."""

from __future__ import annotations

import logging
from typing import Final

from ..config import Settings
from ..errors import SettingsError
from ..mcp.client import approvals
from ..mcp.client.approvals import Approval
from ..mcp.client.connections import Connections, McpServer, servers_of
from ..mcp.client.server_apps import ServerApp
from .oauth import find_provider
from .registry import LoadedExtension, Registry, checked

connections: Final = Connections()
"""The sessions of this process, whoever hosts their apps."""

_log = logging.getLogger("webbee.mcp")


def configured(settings: Settings) -> tuple[McpServer, ...]:
    """The servers of the settings, which no process without any has to know the form of."""
    try:
        return servers_of(settings.mcp_servers)
    except ValueError as error:
        field = "WEBBEE_MCP_SERVERS"
        raise SettingsError(f"environment variable {field}: {error}", field=field) from None


def add_servers(registry: Registry, settings: Settings) -> None:
    """Put every configured server among the extensions, as the file of approvals beside them has
    it. One that was not approved, or whose id is an extension's, is reported and left out."""
    loaded, failed, servers = {}, {}, configured(settings)
    try:
        known = approvals.read(settings.extensions_dir)
    except ValueError as error:
        known, failed = {}, {server.id: str(error) for server in servers}
    for server in servers:
        if server.id in failed:
            continue
        try:
            loaded[server.id] = _app(registry, settings, server, known)
        except ValueError as error:
            failed[_name(registry, server)] = str(error)
            _log.error("server=%s | left out: %s", server.id, error)
    # never an `mcp-…`: the id behind that is an extension's, which stays
    registry.put(loaded, failed=failed, gone=failed.keys() & {s.id for s in servers})


def _app(
    registry: Registry, settings: Settings, server: McpServer, known: dict[str, Approval]
) -> LoadedExtension:
    if _is_taken(registry, server):
        raise ValueError(f"the id {server.id!r} is taken by an extension")
    approval = approvals.of(server, known)
    if isinstance(approval, str):
        raise ValueError(approval)
    if name := server.signs_in_with:
        find_provider(name, settings)
    app = ServerApp(server, approval, connections)

    def changed(of: ServerApp) -> None:
        if of.drift:
            _log.warning("server=%s | not as it was approved: %s", server.id, of.drift)
        registry.put({server.id: _loaded(of)})

    app.changed = changed
    return _loaded(app)


def _loaded(app: ServerApp) -> LoadedExtension:
    return checked(LoadedExtension(app.server.id, app.extension(), None, True, app.withdrawn))


def _is_taken(registry: Registry, server: McpServer) -> bool:
    there = registry.loaded.get(server.id)
    return there is not None and not there.is_server


def _name(registry: Registry, server: McpServer) -> str:
    """Under which name a failure stands: never that of the extension which has the id."""
    return f"mcp-{server.id}" if _is_taken(registry, server) else server.id
