"""Servers of the Model Context Protocol as apps.

- `approvals`    what an operator has approved of each server: its tools, word for word
- `tools`        a tool as a chat function: name, hints, schema, what its texts hide
- `apps`         a server as an `Extension`
- `connections`  sessions with servers, kept warm; the only module that imports `mcp`
- `results`      what a tool answered, as data

What a server says of its tools is data of a stranger's. It stands in prompts only as an operator
approved it; a tool that has changed since is withdrawn until somebody looked at it.

May import: sdk, types, errors, extensions/context. Entrance: `apps.app_of`.
"""
