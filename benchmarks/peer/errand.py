"""The turn that all contenders play: one call of a read tool of about 500 bytes, one reply."""

from __future__ import annotations

from typing import Any

TABLE = "SESSIONS"
"""Whose template the table of those has that need one."""
REPLY = "Found 7 orders."
SYSTEM = "You answer questions about orders."


def message(turn: int) -> str:
    """What the user says."""
    return f"orders {turn}"


def number_in(text: str) -> int:
    """The order that the user asks about, which the model reads from the message."""
    return int(text.rsplit(" ", 1)[1])


def orders(number: int) -> dict[str, Any]:
    """The tool's result, different in every turn, with an address in it."""
    rows: list[dict[str, Any]] = [
        {
            "id": f"o-{number}-{i}",
            "item": f"Item {i} of order {number}",
            "amount": number + i,
            "paid": i % 2 == 0,
        }
        for i in range(7)
    ]
    rows[0]["by"] = f"buyer{number}@example.com"
    return {"count": len(rows), "orders": rows}
