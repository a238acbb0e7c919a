"""Invoking a function until it has run, for as long as it certainly has not.

Lambda refuses before it runs anything: throttled (429), being changed (409), not there, not
permitted, unreachable. What it refused has done nothing, so it is asked again, or said to be not
run. Everything else (no answer in time, a connection that broke, 500) may have run.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from ..errors import DispatchRefused, DispatchUnanswered
from .clients import error_code, failure_kind, status_of

T = TypeVar("T")

FIRST_PAUSE_S: Final = 0.1
"""Seconds before the second attempt; each pause after it is twice as long."""
LONGEST_PAUSE_S: Final = 2.0
LEAST_SHARE: Final = 0.5
"""Of a call's time that must be left for it: begun later, it would not be through."""

_PASSING: Final = frozenset({409, 429})
"""Statuses of a refusal that passes by itself."""
_BEFORE_IT_RAN: Final = frozenset(
    {
        "EC2ThrottledException",
        "ENILimitReachedException",
        "EFSMountConnectivityException",
        "SubnetIPAddressLimitReachedException",
        "ResourceNotReadyException",
        "TooManyRequestsException",
    }
)
"""Lambda's errors, whatever their status, that come before a function runs: no place to run in."""
_UNSENT: Final = frozenset({"ConnectTimeoutError", "EndpointConnectionError"})
"""Errors of botocore in which nobody was reached."""


async def insist(attempt: Callable[[float], Awaitable[T]], seconds: float) -> T:
    """The result of an attempt, each given the seconds that are left of the call's own.

    DispatchRefused where it has certainly not run, also after pauses and further attempts;
    DispatchUnanswered where it may have.
    """
    loop = asyncio.get_running_loop()
    deadline, left, pause = loop.time() + seconds, seconds, FIRST_PAUSE_S
    while True:
        try:
            return await attempt(left)
        except Exception as error:
            if not failure_kind(error):
                raise
            name = error_code(error) or type(error).__name__
            if not is_refusal(error):
                raise DispatchUnanswered(
                    f"the extension function did not answer ({name})"
                ) from error
            wait = random.uniform(pause / 2, pause)  # noqa: S311 - spreads callers, hides nothing
            left = deadline - loop.time() - wait
            if not passes(error) or left < seconds * LEAST_SHARE:
                raise DispatchRefused(
                    f"the extension function was not run ({name}): retry"
                ) from error
        await asyncio.sleep(wait)
        pause = min(2 * pause, LONGEST_PAUSE_S)


def is_refusal(error: Exception) -> bool:
    """Whether what was invoked has certainly not run."""
    known = error_code(error) in _BEFORE_IT_RAN or type(error).__name__ in _UNSENT
    return known or 400 <= status_of(error) < 500


def passes(error: Exception) -> bool:
    """Whether a refusal may be gone a moment later."""
    return not 400 <= status_of(error) < 500 or status_of(error) in _PASSING
