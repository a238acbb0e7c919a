"""What `GET /v1/health` asks."""

from __future__ import annotations

from typing import Any

from ..errors import KernelError

HEALTH_CACHE_S = 60.0
"""Seconds for which an app's answer holds."""


async def reachable(check: Any) -> str:
    """`ok`, or the code of what kept a table from answering."""
    try:
        await check
    except KernelError as error:
        return error.code
    return "ok"
