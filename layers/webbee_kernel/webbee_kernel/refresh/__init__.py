"""What keeps the skeleton fresh: who is due, the queue, refreshing one user, alerts, schedules.

May import: dispatch and what is below it; `asking` alone is for turns and imports none of it.
Entrance: `due.Refresher`; for a turn, `refresh_queue`.
"""
