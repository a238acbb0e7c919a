"""Servers of the Model Context Protocol among the extensions of a registry."""

from __future__ import annotations

import logging
from typing import Final

from ..config import Settings
from ..errors import SettingsError
from ..mcp.client import approvals
from ..mcp.client.connections import Connections, McpServer, servers_of
from ..mcp.client.server_apps import ServerApp
from .oauth import find_provider
from .registry import LoadedExtension, Registry, check_names

connections: Final = Connections()
"""The sessions of this process."""

_log = logging.getLogger("webbee.mcp")


def add_servers(registry: Registry, settings: Settings) -> None:
    """Register every configured server as an extension, as approved in the approvals file. One that
    is not approved is reported and left out, one whose id an extension has is left out with a log
    line; SettingsError for a malformed one."""
    loaded, failed = {}, {}
    try:
        servers = servers_of(settings.mcp_servers)
    except ValueError as error:
        field = "WEBBEE_MCP_SERVERS"
        raise SettingsError(f"environment variable {field}: {error}", field=field) from None
    for server in servers:
        extension = registry.loaded.get(server.id)
        if extension and not extension.is_server:
            _log.error("server=%s | left out: the id is taken by an extension", server.id)
            continue
        try:
            loaded[server.id] = _app(registry, settings, server)
        except ValueError as error:
            failed[server.id] = str(error)
            _log.error("server=%s | left out: %s", server.id, error)
    registry.put(loaded, failed=failed, gone=failed)


def _app(registry: Registry, settings: Settings, server: McpServer) -> LoadedExtension:
    approval = approvals.of(server, approvals.read(settings.extensions_dir))
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
