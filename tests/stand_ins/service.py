"""An HTTP server as a test scripts it: it notes what comes, and plays or makes the answers."""

import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson


@dataclass
class Reply:
    """One answer: bytes as they are, anything else as JSON. `chunks` are sent one by one instead;
    `breaks` leaves them without their end. `hang` keeps the client waiting until the test ends,
    `delay_s` so long at most; `drop` closes at once."""

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Iterable[bytes] | None = None
    delay_s: float = 0.0
    hang: bool = False
    drop: bool = False
    breaks: bool = False
    last: bool = False
    """Answer, then close the connection without having said so."""


@dataclass
class Request:
    """What came: lower-case header names."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def at(self) -> str:
        return urlsplit(self.path).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query))

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode()))


@dataclass
class Service:
    """A running server: its script comes first, then what `answer` makes of a request."""

    script: list[Reply]
    answer: Callable[[Request], Reply]
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    """A connection was closed, from this side or, after that, from the other."""

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.script.pop(0) if self.script else self.answer(request)


class _Server(ThreadingHTTPServer):
    closed: threading.Event

    def __init__(self, *given: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*given)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)
        self.closed.set()

    def server_close(self) -> None:
        """End kept connections, too: a client that outlives this server must not be answered by it."""
        super().server_close()
        for connection in tuple(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what some tests do."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65_536  # headers and body in one packet

        def do_POST(self) -> None:
            headers = {k.lower(): v for k, v in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            port = self.client_address[1]
            reply = service.reply(Request(self.command, self.path, headers, body, port))
            service.over.wait(30 if reply.hang else reply.delay_s)
            if reply.hang or reply.drop:
                self.close_connection = True
                return
            with contextlib.suppress(OSError):  # whoever asked may have gone
                self._write(reply)
            self.close_connection = reply.last or reply.breaks

        do_GET = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_POST  # noqa: N815 -- the base class's names

        def _write(self, reply: Reply) -> None:
            content = reply.body if isinstance(reply.body, bytes) else orjson.dumps(reply.body)
            whole = {"Content-Length": str(len(content))} if reply.status != 204 else {}
            told = whole if reply.chunks is None else {"Transfer-Encoding": "chunked"}
            self.send_response(reply.status)
            for name, value in {**told, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if reply.chunks is None:
                self.wfile.write(content if whole else b"")
                return
            for chunk in filter(None, reply.chunks):
                self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                self.wfile.flush()
            if not reply.breaks:
                self.wfile.write(b"0\r\n\r\n")

        def finish(self) -> None:
            """Close both ends, also where what is left to be sent meets nobody: what would stay
            open here is found by the collector in another test."""
            with contextlib.suppress(OSError):
                super().finish()
            self.rfile.close()

        def log_message(self, *_: object) -> None: ...

    return Handler


@contextmanager
def served(
    *script: Reply, answer: Callable[[Request], Reply] = lambda request: Reply()
) -> Iterator[Service]:
    """A server for the time of the block; what the script lacks is answered with `{}`."""
    service = Service(script=list(script), answer=answer)
    server = _Server(("127.0.0.1", 0), _handler(service))
    server.daemon_threads, server.closed = True, service.closed
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.over.set()
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


@contextmanager
def server_that(talks: Callable[[socket.socket], None]) -> Iterator[int]:
    """A listener that hands each connection to `talks` and keeps it open until the end."""
    held_open: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                held_open.append(connection)
                try:
                    talks(connection)
                except OSError:
                    continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)
            for connection in held_open:
                connection.close()
