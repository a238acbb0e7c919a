"""The turn that all contenders of `beside` play, one call of a read tool of about 500 bytes and one
reply, over the same table, with the same model without latency; and one of them in a process of its
own: `-m benchmarks.peers <contender> <measure> <url> <certificate>` prints what its turns took, as
JSON.

`cpu` plays the sessions up to their points and times the turns from there on; `calls` goes on with
the same sessions. Function calls are those of all threads, of Python and of C.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

POINTS = (5, 50, 500)
TURNS = 5
TABLE = "SESSIONS"
"""Whose template the table of those has that need one."""
REPLY = "Found 7 orders."
SYSTEM = "You answer questions about orders."
Play = Callable[[str, int], str]


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


def measured(play: Play, read: Callable[[], float], *, goes_on: bool) -> dict[str, float]:
    """The median of what turns from each point on add to a reading; sessions that go on have been
    played up to there and five turns more."""
    from statistics import median

    found = {}
    for point in POINTS:
        begin = point + TURNS if goes_on else 1
        counted = point + TURNS + 1 if goes_on else point
        spent = []
        for turn in range(begin, counted + TURNS):
            before = read()
            _played(play, f"s{point}", turn)
            spent.append(read() - before)
        found[str(point)] = median(spent[counted - begin :])
    return found


def _played(play: Play, session: str, turn: int) -> None:
    reply = play(session, turn)
    if reply != REPLY:
        raise AssertionError(f"turn {turn} of {session} ended with {reply!r}")


def cpu_ms() -> float:
    """Of all threads of this process so far."""
    return time.process_time() * 1000


class Calls:
    """Counts the function calls of every thread that starts after it."""

    count = 0

    def __call__(self, _: Any, event: str, __: Any) -> None:
        self.count += event in ("call", "c_call")


def nothing(url: str, pem: str) -> Play:
    """The floor: boto3 alone. One Query of the last turns, the tool, one PutItem of the turn."""
    import boto3

    client = boto3.client("dynamodb", endpoint_url=url, verify=pem)

    def play(session: str, turn: int) -> str:
        pk = {"S": f"acme#alice#{session}"}
        client.query(
            TableName=os.environ["PEER_TABLE"],
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": pk},
            ConsistentRead=True,
        )
        told = {"message": message(turn), "data": orders(number_in(message(turn))), "reply": REPLY}
        client.put_item(
            TableName=os.environ["PEER_TABLE"],
            Item={"pk": pk, "sk": {"S": f"turn#{turn % 5}"}, "turn": {"S": json.dumps(told)}},
        )
        return REPLY

    return play


def main(contender: str, measure: str, url: str, pem: str) -> None:
    """Print the figures; with those of CPU what the process took to the end of its first turn."""
    counter = Calls()
    if measure == "calls":
        threading.setprofile(counter)
        sys.setprofile(counter)
    is_bare = contender == "nothing"
    player = nothing if is_bare else importlib.import_module(f"benchmarks.{contender}").player
    play: Play = player(url, pem)
    if measure == "calls":
        found = measured(play, lambda: counter.count, goes_on=True)
    else:
        _played(play, "first", 1)
        found = {"first": cpu_ms(), **measured(play, cpu_ms, goes_on=False)}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
