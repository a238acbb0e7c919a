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
import urllib.request
from collections.abc import Callable

_NAME = "webbee-background"
_log = logging.getLogger("webbee.background")


class AfterResponse:
    """Keeps the environment awake until `wait_idle` returns, once per invocation."""

    def __init__(self, runtime_api: str, wait_idle: Callable[[], object]) -> None:
        self._url = f"http://{runtime_api}/2020-01-01/extension"
        self._wait_idle = wait_idle
        self._finished = threading.Semaphore(0)

    def start(self) -> None:
        """Register during init and follow the invocations from a thread."""
        # the runtime's own loopback address, here and below
        request = urllib.request.Request(  # noqa: S310
            f"{self._url}/register",
            data=json.dumps({"events": ["INVOKE"]}).encode(),
            headers={"Lambda-Extension-Name": _NAME},
            method="POST",
        )
        with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310
            identifier = response.headers["Lambda-Extension-Identifier"]
        threading.Thread(target=self._follow, args=(identifier,), name=_NAME, daemon=True).start()

    def invocation_answered(self) -> None:
        """The handler returned: what is still running may finish."""
        self._finished.release()

    def _follow(self, identifier: str) -> None:
        while True:
            headers = {"Lambda-Extension-Identifier": identifier}
            request = urllib.request.Request(f"{self._url}/event/next", headers=headers)  # noqa: S310
            with urllib.request.urlopen(request) as response:  # noqa: S310
                response.read()
            self._finished.acquire()
            try:
                self._wait_idle()
            except Exception as error:
                _log.error("error=%s | waiting for background tasks failed", type(error).__name__)
