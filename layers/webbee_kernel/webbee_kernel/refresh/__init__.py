"""The refresh loop of the skeleton: due users, the queue, refreshing one user, alerts, schedules.

May import: dispatch and what is below it; `refresh_queue` alone is for turns.
Entrance: `due.Refresher`; for a turn, `refresh_queue`.
"""
