"""The Model Context Protocol, both sides of it.

Other people's servers as apps:

- `server_tools`   what an operator has approved of each server: its tools, word for word; a tool
                   as a chat function: name, hints, schema, what its texts hide
- `server_apps`    a server as an `Extension` of the registry
- `connections`    sessions with servers, kept warm
- `server_session` one session; it alone imports `mcp`

What a server says of its tools is data of a stranger's. It stands in prompts only as an operator
approved it; a tool that has changed since is withdrawn until somebody looked at it.

The kernel as a server, all of it pure; `api/mcp_server` has the routes:

- `json_rpc`       messages and streams
- `primitives`     tools, prompts, resources, content

Neither side imports the other. May import: extensions and what is below it.
Entrance: `server_apps.ServerApp` over `connections`; `json_rpc.message`.
"""
