"""The kernel as a server, all of it pure: messages, streams, tools, prompts, resources,
content.

- may import: catalogue, values, sdk, errors, base
- entrance: `messages` reads what came, the others shape what goes; `api/mcp_routes` serves it
"""
