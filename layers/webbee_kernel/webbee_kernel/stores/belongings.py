"""Where a person's data lies: every place, once. Export and erasure walk this table, and a test
fails where a table, or an item of one, is in none of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Place:
    """Items of one table in a person's own partitions: `tenant#user`, `tenant#user#<session>` or
    `tenant#user#<app>`, with sort keys that begin with `prefix`.

    `kind` is what a line of the export calls them. Kept ones lose what leads to the person.
    """

    kind: str
    table: str
    of: Literal["user", "session", "app"]
    prefix: str = ""
    kept: bool = False


PLACES: Final = (
    Place("cache", "cache", "app"),
    Place("document", "store", "app"),
    Place("memory", "sessions", "session"),
    Place("turn", "transcripts", "session"),
    Place("question", "sessions", "user", "pending#"),
    Place("accepted", "sessions", "user", "accepted#"),
    Place("skeleton", "skeleton", "user"),
    Place("event", "events", "user"),
    Place("limit", "limits", "user"),
    Place("connection", "connections", "user"),
    Place("audit", "audit", "user", kept=True),
    Place("session", "transcripts", "user", "session#"),
)
"""In the order of erasure: what leads to other places goes after them. Secrets lie beside the
tables, under `tenant/user`."""

NAMED: Final = ("connection", "ticket")
"""Kinds of items of the table of connections that name a person under keys of their own,
`<kind>!…`: for as long as a WebSocket is open, three hours at most, or a ticket for one lasts, a
minute. An erasure ends them before it walks (`ConnectionStore.forget`); an export has nothing of
theirs to tell that its caller did not send."""
