"""The life of a turn: read, classify, guard, dispatch, narrate, record.

May import: refresh, channels, stores, llm, grounding, pii and below; never extension code.
Entrance: `kernel.Kernel`.
"""
