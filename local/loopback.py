"""A small HTTP server of this machine alone, for as long as something needs it."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Quiet(BaseHTTPRequestHandler):
    """A handler that keeps connections open and says nothing on the terminal."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Whoever only opens a connection keeps it, as with AWS."""
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@contextmanager
def loopback(
    handler: type[BaseHTTPRequestHandler], name: str, trust: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Serve a handler on a free port of 127.0.0.1, at the address this yields, over TLS where a
    server's context is given; `name` is the thread's. A request still being answered does not hold
    up the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if trust:
        server.socket = trust.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, name=name, daemon=True)
    thread.start()
    try:
        yield f"http{'s' * bool(trust)}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
