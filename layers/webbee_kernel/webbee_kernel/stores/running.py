"""Marks of running turns, which lie with the count of their requests: a turn writes none of its own
until it has run for half a lease. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from ..errors import TurnWorking

LEASE_S: Final = 10.0
"""Seconds for which a turn says that it runs. Whoever asks again meanwhile is told so; a turn whose
process died is begun anew after that."""

SOON_S: Final = 1.0
"""Seconds in which another delivery of a request is at the same moment: both run, to one end."""

BEGUN, GOES_ON, LEFT_NOTHING = "+=-"
_NAME: Final = 10


def mark(running: TurnWorking, now: float, what: str = BEGUN) -> str:
    """What the request of a running turn did then."""
    name = hashlib.sha256(f"{running.session_id} {running.request_id}".encode()).hexdigest()
    return f"{name[:_NAME]}{what}{now:.3f}"


def runs(own: str, beside: Iterable[str]) -> bool:
    """Whether the marks that stood beside this one say that its request runs. What was asked while
    it did began no turn."""
    since = until = float("-inf")
    of_it = {mark for mark in beside if mark.startswith(own[:_NAME])}
    for mark in sorted(of_it - {own}, key=lambda mark: (_moment(mark), mark)):
        if mark[_NAME] == LEFT_NOTHING:
            until = float("-inf")
        elif mark[_NAME] == GOES_ON:
            until = _moment(mark) + LEASE_S
        elif _moment(mark) >= until:
            since, until = _moment(mark), _moment(mark) + LEASE_S
    return since + SOON_S <= _moment(own) < until


def _moment(mark: str) -> float:
    return float(mark[_NAME + 1 :])
