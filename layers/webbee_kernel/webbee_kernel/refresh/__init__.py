"""What keeps the skeleton fresh: what is due, the queue, refreshing one section, schedules.

May import: extensions and what is below them; `asking` alone is for turns and imports none of it.
Entrance: `refresher.Refresher`; for a turn, `asking`.
"""
