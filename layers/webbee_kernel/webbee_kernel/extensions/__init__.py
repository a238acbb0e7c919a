"""Everything that touches extension code: loading it, running it, what it is handed, what came of it.

May import: oauth, compat, surfaces, channels, stores and what is below them. A turn never imports it.
Entrance: `host.ExtensionHost`.
"""
