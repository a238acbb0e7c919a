"""A service of AWS as a test scripts it: an HTTP server that notes what comes and plays answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson


@dataclass
class Reply:
    """One answer; `hang` keeps the client waiting until the test ends, `drop` closes at once."""

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    drop: bool = False
    last: bool = False
    """Answer, then close the connection without having said so."""


@dataclass
class Request:
    """What came: lower-case header names."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class Service:
    """A running server; what the script lacks is answered with `{}`."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    """A connection was closed, from this side or, after that, from the other."""


class _Server(ThreadingHTTPServer):
    closed: threading.Event

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.closed.set()

    def handle_error(self, *_: object) -> None:
        """A client that goes away is what some tests do."""


@contextmanager
def served(*script: Reply) -> Iterator[Service]:
    """A server for the time of the block."""
    service = Service(script=list(script))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            headers = {k.lower(): v for k, v in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            service.requests.append(
                Request(self.path, headers, body, connection=self.client_address[1])
            )
            reply = service.script.pop(0) if service.script else Reply()
            if reply.hang:
                service.over.wait(30)
            if reply.hang or reply.drop:
                self.close_connection = True
                return
            content = reply.body if isinstance(reply.body, bytes) else orjson.dumps(reply.body)
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
            self.close_connection = reply.last

        def log_message(self, *_: object) -> None: ...

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.closed = True, service.closed
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.over.set()
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
