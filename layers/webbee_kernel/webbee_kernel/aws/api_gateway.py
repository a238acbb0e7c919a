"""Open WebSockets, as API Gateway's `@connections` serves them: what is posted to one arrives in
its browser."""

from __future__ import annotations

import logging
from typing import Any, Final

from .clients import aws_client, error_code, in_thread

MAX_FRAME_BYTES: Final = 120_000
"""API Gateway takes 128 KB a message."""

_GONE: Final = ("GoneException", "410")
"""What a connection that has ended is called, by name and by status."""

_log = logging.getLogger("webbee.live")


class OpenSockets:
    """Sends to open connections: none, in a deployment without WebSockets."""

    async def post(self, connection_id: str, frame: bytes) -> bool:
        """False where the connection is gone. What else fails is logged: a frame is never worth
        more than what it tells of, and events are found again."""
        return False

    async def end(self, connection_id: str) -> bool:
        """End a connection; False where that failed and it may still be open."""
        return True


class ApiGatewaySockets(OpenSockets):
    """The WebSocket API at `url`, `https://<api>.execute-api.<region>.amazonaws.com/<stage>`."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def post(self, connection_id: str, frame: bytes) -> bool:
        """One signed POST."""
        failed = await self._ask("post_to_connection", connection_id, Data=frame)
        return failed not in _GONE

    async def end(self, connection_id: str) -> bool:
        """One signed DELETE."""
        failed = await self._ask("delete_connection", connection_id)
        return not failed or failed in _GONE

    async def _ask(self, operation: str, connection_id: str, **request: Any) -> str:
        """Why it failed, empty where it did not; logged, but for a connection that is gone."""

        def ask() -> None:
            client = aws_client("apigatewaymanagementapi", attempts=2, address=self._url)
            getattr(client, operation)(ConnectionId=connection_id, **request)

        try:
            await in_thread(ask)
        except Exception as error:
            failed = error_code(error) or type(error).__name__
            if failed not in _GONE:
                _log.warning("error=%s | %s failed", failed, operation)
            return failed
        return ""
