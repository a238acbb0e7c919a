"""The Model Context Protocol, both sides of it.

- `client/`  other people's servers as apps
- `server/`  the kernel as a server; `api/mcp_routes` has the routes

Neither side imports the other. May import: extensions/context and what is below it.
Entrance: `client.apps.ServerApp` over `client.connections`; `server.messages`.
"""
