"""The three channels that feed live state into a turn: skeleton, cache, fact ledger.

May import: stores and what is below them.
Entrance: one module a channel.
"""
