"""A small HTTP server of this machine alone, for as long as something needs it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Quiet(BaseHTTPRequestHandler):
    """A handler that keeps connections open and says nothing on the terminal."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@contextmanager
def loopback(handler: type[BaseHTTPRequestHandler], name: str) -> Iterator[str]:
    """Serve a handler on a free port of 127.0.0.1, at the address this yields; `name` is the
    thread's. A request still being answered does not hold up the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, name=name, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
