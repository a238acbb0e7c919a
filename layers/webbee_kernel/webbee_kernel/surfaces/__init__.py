"""The clients behind `ctx`: one module a surface.

May import: events, channels, stores, models and what is below them.
Entrance: `extensions.context` hands them to handlers.
"""
