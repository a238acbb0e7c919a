"""The Model Context Protocol, both sides of it.

- `client/`   other people's servers as apps
- `server_…`  the kernel as a server, all of it pure: messages, streams, tools, prompts, resources,
  content, questions; `api/mcp.py` has the routes
"""
