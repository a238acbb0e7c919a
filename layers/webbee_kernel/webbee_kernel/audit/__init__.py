"""What was done, for good, and the guard against doing it twice. It stands on the caller's side of
the seam: extension code can reach none of it.

May import: dispatch, events, stores. Entrance: `once.OnceDispatch`.
"""
