"""The endpoint of the Model Context Protocol.

- may import: what the rest of `api` may, `mcp/server`
- entrance: `routes.Mcp`, which imports the others with the first message
"""
