"""What everything stands on: clock, ids, text, logs, metrics, the loop thread, background work.

May import: nothing of the kernel.
Entrance: one module a noun; there is no other.
"""
