"""The Model Context Protocol, both sides of it.

- `client/`  other people's servers as apps
- `server/`  the kernel as a server; `api/mcp` has the routes
"""
