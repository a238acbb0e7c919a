"""Servers of the Model Context Protocol as apps.

- `approvals`    what an operator has approved of each server: its tools, word for word
- `server_tools` a tool as a chat function: name, hints, schema, what its texts hide
- `server_apps`  a server as an `Extension` of the registry
- `connections`  sessions with servers, kept warm; `server_session` alone imports `mcp`

What a server says of its tools is data of a stranger's. It stands in prompts only as an operator
approved it; a tool that has changed since is withdrawn until somebody looked at it.

May import: sdk, types, errors, extensions. Entrance: `server_apps.ServerApp`.
"""
