"""The Model Context Protocol, both sides of it.

- `client/`   other people's servers as apps
- `server_…`  the kernel as a server: its messages and tools; `api/mcp.py` has the route
"""
