"""Work that goes on after a Lambda function has answered.

Lambda freezes an environment once the runtime has answered *and* every extension has asked for the
next event. This internal extension asks only when background tasks are done, so
`ctx.background_task` is neither frozen nor lost, and the caller gets its answer at once. The
function's timeout still bounds it.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from typing import Final

from ..types import JSONObject

_NAME = "webbee-background"
TRIES: Final = 5
AGAIN_S: Final = 0.1
"""How often an event is asked for, and the seconds between: the runtime's API is in this machine,
and one that stays away is an environment that Lambda will replace."""

_log = logging.getLogger("webbee.background")


class AfterResponse:
    """Keeps the environment awake until `wait_idle` returns, once per invocation."""

    def __init__(self, runtime_api: str, wait_idle: Callable[[], object]) -> None:
        self._address = runtime_api  # the runtime's own, on the loopback
        self._wait_idle = wait_idle
        self._finished = threading.Semaphore(0)

    def start(self) -> None:
        """Register during init and follow the invocations from a thread."""
        named = self._asked(
            "POST", "register", {"Lambda-Extension-Name": _NAME}, {"events": ["INVOKE"]}, timeout=5
        )
        identifier = named["Lambda-Extension-Identifier"]
        threading.Thread(target=self._follow, args=(identifier,), name=_NAME, daemon=True).start()

    def invocation_answered(self) -> None:
        """The handler returned: what is still running may finish."""
        self._finished.release()

    def _follow(self, identifier: str) -> None:
        while self._next(identifier):
            self._finished.acquire()
            try:
                self._wait_idle()
            except Exception as error:
                _log.error("error=%s | waiting for background tasks failed", type(error).__name__)

    def _next(self, identifier: str) -> bool:
        """Wait for the next event; False where it cannot be asked for. Lambda waits for this
        question: one that failed is put again, or every answer of this environment would end with
        the function's time."""
        for _ in range(TRIES):
            try:
                self._asked("GET", "event/next", {"Lambda-Extension-Identifier": identifier})
                return True
            except (OSError, HTTPException) as error:
                _log.error("error=%s | the next event could not be asked for", type(error).__name__)
                time.sleep(AGAIN_S)
        return False

    def _asked(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: JSONObject | None = None,
        *,
        timeout: float | None = None,
    ) -> dict[str, str]:
        """One request of the extensions API: the headers of its answer. OSError where it is
        refused. (urllib would read all certificates of the machine for this plain address.)"""
        connection = HTTPConnection(self._address, timeout=timeout)
        try:
            connection.request(
                method,
                f"/2020-01-01/extension/{path}",
                body=json.dumps(body) if body else None,
                headers=headers,
            )
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                raise OSError(f"{path} answered {response.status}")
            return dict(response.headers.items())
        finally:
            connection.close()
