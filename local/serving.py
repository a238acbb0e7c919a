"""A server of this machine for as long as a block runs: everything that the local run answers over
HTTP is an ASGI application on uvicorn."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

ENDS_S = 5.0
"""Seconds for which whoever ends a server waits for what is still being answered."""


@contextmanager
def served(
    application: Any, name: str, *, listener: socket.socket | None = None, pem: str = ""
) -> Iterator[str]:
    """Serve an ASGI application on a thread of this name, at the address this yields: a free port
    of 127.0.0.1 unless a listener is given; over TLS where a certificate's file is."""
    listener = listener or socket.create_server(("127.0.0.1", 0))
    quiet: Any = {"log_level": "warning", "access_log": False, "lifespan": "off"}
    tls: Any = {"ssl_certfile": pem} if pem else {}
    server = uvicorn.Server(uvicorn.Config(application, **quiet, **tls))
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener]}, name=name, daemon=True
    )
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield f"http{'s' * bool(pem)}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(ENDS_S)
        listener.close()
