"""Everything that touches extension code: loading it, handing it its tools, running it.

May import: compat, mcp, channels, stores and what is below them. A turn never does.
Entrance: `host.ExtensionHost`.
"""
