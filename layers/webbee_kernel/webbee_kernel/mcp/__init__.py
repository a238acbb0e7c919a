"""The Model Context Protocol, both sides of it.

- `client/`                   other people's servers as apps
- `json_rpc`, `primitives`    the kernel as a server, all of it pure: messages and streams; tools,
                              prompts, resources, content. `api/mcp_server` has the routes

Neither side imports the other. May import: extensions and what is below it.
Entrance: `client.server_apps.ServerApp` over `client.connections`; `json_rpc.message`.
"""
