"""The gateway's socket: an HTTP server on the loopback interface of this process.

It runs on threads of its own and its work on an event loop of its own, so a handler reaches it
while it waits, and also while it blocks its thread with a synchronous client. Every answer ends its
connection: none is left to go stale while Lambda freezes the process between two invocations.
"""

from __future__ import annotations

import json
import logging
import socketserver
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl

from ....background import LoopThread
from ..handbuilt import find
from .dispatch import answer
from .wire import Answer, Refused, Request

HOST = "127.0.0.1"
MAX_BODY_BYTES = 6 * 1024 * 1024
"""Of one request: what Lambda takes, and more than the largest document."""
IDLE_S = 30
"""Seconds a connection may say nothing."""
BACKLOG = 128
NEVER_S = 3600
"""How often the server looks whether it should stop: it should not, and need not wake for it."""
_log = logging.getLogger("webbee.imperal")
_loop = LoopThread("webbee-gateway")


def serve() -> str:
    """Start the server; its address. OSError where there is no port to be had."""
    server = _Server((HOST, 0), _Connection)
    threading.Thread(
        target=server.serve_forever, args=(NEVER_S,), name="webbee-gateway-http", daemon=True
    ).start()
    return f"http://{HOST}:{server.server_address[1]}"


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = BACKLOG

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or a defect: its class is logged, nothing of the request."""
        _log.info("error=%s | a connection to the gateway broke", type(sys.exception()).__name__)


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        try:
            found = self._answer(self._body())
        except Refused as refused:
            found = refused.answer
        self._send(found)

    # http.server finds them by these names
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _serve  # noqa: N815

    def _answer(self, body: bytes) -> Answer:
        gateway = find(self.headers)
        if gateway is None or gateway.variables is None:
            raise Refused(401, "this token is wrong, or the call it was made in is over")
        path, _, query = self.path.partition("?")
        request = Request(
            self.command, path, dict(parse_qsl(query, keep_blank_values=True)), self.headers, body
        )
        # In the call's own variables: what is logged and counted there belongs to its invocation.
        return gateway.variables.copy().run(_loop.run, answer(request, gateway))

    def _body(self) -> bytes:
        """The request's body. One that is too large is read to its end first: a client that is
        still sending would not hear the answer."""
        if "transfer-encoding" in self.headers:
            raise Refused(411, "send the body whole, with its content-length")
        length = self.headers.get("content-length") or "0"
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            raise Refused(400, "the content-length is no number")
        size = int(length)
        if size <= MAX_BODY_BYTES:
            return self.rfile.read(size)
        while size > 0 and (chunk := self.rfile.read(min(size, 65536))):
            size -= len(chunk)
        raise Refused(413, f"a request holds at most {MAX_BODY_BYTES} bytes")

    def _send(self, found: Answer) -> None:
        raw = json.dumps(found.body, separators=(",", ":")).encode()
        self.close_connection = True
        self.request_version = (
            self.protocol_version
        )  # to nonsense too: http.server would send it no headers
        self.send_response_only(found.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("Connection", "close")
        for name, value in found.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server itself refuses, in this server's form; its text would repeat the
        request."""
        status = (
            HTTPStatus.METHOD_NOT_ALLOWED
            if code == HTTPStatus.NOT_IMPLEMENTED
            else HTTPStatus(code)
        )
        self._send(Answer(status, {"detail": status.phrase}))

    def log_message(self, format: str, *args: Any) -> None:
        """No access log: paths hold names of documents."""
