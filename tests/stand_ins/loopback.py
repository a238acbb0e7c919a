"""A small HTTP server on loopback for as long as a block lasts: what stand-ins of other services
share."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


class Loopback(BaseHTTPRequestHandler):
    """Answers requests of every method; which, stands in `command`."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        """One request."""
        raise NotImplementedError

    def _answer(self) -> None:
        self.answer()

    do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = _answer  # noqa: N815 - the library's names

    @property
    def at(self) -> str:
        """The path without its query."""
        return urlsplit(self.path).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query))

    def content(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.content().decode()))

    def send(self, status: int, body: Any = b"", headers: Mapping[str, str] | None = None) -> None:
        """One answer: bytes as they are, anything else as JSON."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = {} if isinstance(body, bytes) else {"content-type": "application/json"}
        self.send_response(status)
        for name, value in {**kind, **(headers or {}), "content-length": str(len(raw))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no failure of ours."""


@contextmanager
def serving(handler: type[Loopback]) -> Iterator[str]:
    """The address at which the handler answers."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
