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
from .registry import LoadedExtension, Registry, check_names

connections: Final = Connections()
"""The sessions of this process."""

_log = logging.getLogger("webbee.mcp")


def add_servers(registry: Registry, settings: Settings) -> None:
    """Register every configured server as an extension, as approved in the approvals file. One that
    is not approved, or whose id is taken, is reported and left out; SettingsError for a malformed
    one."""
    loaded, failed = {}, {}
    try:
        servers = servers_of(settings.mcp_servers)
    except ValueError as error:
        field = "WEBBEE_MCP_SERVERS"
        raise SettingsError(f"environment variable {field}: {error}", field=field) from None
    try:
        approved = approvals.read(settings.extensions_dir)
    except ValueError as error:
        approved, failed = {}, {server.id: str(error) for server in servers}
    for server in servers:
        if server.id in failed:
            continue
        try:
            loaded[server.id] = _app(registry, settings, server, approved)
        except ValueError as error:
            failed[_name(registry, server)] = str(error)
            _log.error("server=%s | left out: %s", server.id, error)
    # never an `mcp-…`: the id behind that is an extension's, which stays
    registry.put(loaded, failed=failed, gone=failed.keys() & {s.id for s in servers})


def _app(
    registry: Registry, settings: Settings, server: McpServer, approved: dict[str, Approval]
) -> LoadedExtension:
    if _is_taken(registry, server):
        raise ValueError(f"the id {server.id!r} is taken by an extension")
    approval = approvals.of(server, approved)
    if isinstance(approval, str):
        raise ValueError(approval)
    if name := server.signs_in_with:
        find_provider(name, settings)
    app = ServerApp(server, approval, connections)

    def on_change(of: ServerApp) -> None:
        if of.drift:
            _log.warning("server=%s | not as it was approved: %s", server.id, of.drift)
        registry.put({server.id: _load(of)})

    app.on_change = on_change
    return _load(app)


def _load(app: ServerApp) -> LoadedExtension:
    return check_names(LoadedExtension(app.server.id, app.extension(), None, True, app.withdrawn))


def _is_taken(registry: Registry, server: McpServer) -> bool:
    extension = registry.loaded.get(server.id)
    return extension is not None and not extension.is_server


def _name(registry: Registry, server: McpServer) -> str:
    """The id under which a failure is listed, never that of an extension."""
    return f"mcp-{server.id}" if _is_taken(registry, server) else server.id
