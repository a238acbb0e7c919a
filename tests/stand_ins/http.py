"""The HTTP half of the stand-in model servers: what they play, what they note, one thread a
connection."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import unquote

from .brain import WireTool, think

Call = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `stop` is the service's own word, empty for the one that fits; `status` and
    `code` make an error answer.

    A call's arguments may be a str: text that is no JSON object, as a model wrote it. Streamed, it
    comes in tokens every `pace_s` seconds, and breaks off after `broken_off` pieces.

    `reasoning` comes with it as the service sends it: Converse's blocks of reasoningContent, or
    fields of a chat message; `extras` are fields of a chat message's calls, in their order.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: str = ""
    refusal: str = ""
    cached_tokens: int = 0
    status: int = 200
    code: str = ""
    message: str = "no"
    param: str = ""
    reasoning: Any = None
    extras: tuple[Mapping[str, Any], ...] = ()
    retry_after: float | None = None
    delay_s: float = 0.0
    pace_s: float = 0.0
    broken_off: int | None = None
    drop: bool = False
    raw: bytes | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """One request, whether it passed the checks or not: `path` is unquoted, `headers` have
    lower-case names."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(slots=True)
class _State:
    script: deque[Answer] = field(default_factory=deque)
    requests: list[Received] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class ModelServer(ABC):
    """One server; the subclass speaks the protocol. `requests` and `problems` are what arrived
    since the last `reset`."""

    path: ClassVar[str] = ""

    def __init__(self, port: int = 0) -> None:
        self._state = _State()
        self._stopping = threading.Event()
        self._http = _Server(("127.0.0.1", port), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_port}{self.path}"

    @property
    def requests(self) -> list[Received]:
        """What arrived, in order."""
        return self._state.requests

    @property
    def problems(self) -> list[str]:
        """What was wrong with it; each such request was refused with status 400."""
        return self._state.problems

    def play(self, *answers: Answer) -> None:
        """Answer the next requests so."""
        self._state.script.extend(answers)

    def reset(self) -> None:
        """Forget script, requests and problems."""
        self._state = _State()

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._http.serve_forever, args=(0.02,), name=type(self).__name__, daemon=True
        ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one POST."""
        state = self._state
        content = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        headers = {k.lower(): v for k, v in handler.headers.items()}
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        received = Received(unquote(handler.path), headers, body)
        state.requests.append(received)
        answer = self.refusal(received) or (
            state.script.popleft() if state.script else self._thought(received)
        )
        self._stopping.wait(answer.delay_s)
        with contextlib.suppress(OSError):  # whoever asked may have gone
            if answer.drop:
                handler.close_connection = True
                handler.connection.shutdown(socket.SHUT_RDWR)
            elif answer.status == 200 and (pieces := self.pieces(answer, received)):
                self._stream(handler, answer, *pieces)
            elif answer.status == 200:
                _send(handler, answer, self.body(answer, received), {})
            else:
                _send(handler, answer, self.error_body(answer), self.error_headers(answer))

    def _thought(self, received: Received) -> Answer:
        response = think(*self.understood(received))
        return Answer(response.text, tuple((c.name, c.arguments) for c in response.tool_calls))

    def refuse(self, problems: list[str], code: str, status: int = 400) -> Answer | None:
        """A 400 that names the problems, and a note of them; None where there are none."""
        self._state.problems.extend(problems)
        return Answer(status=status, code=code, message="; ".join(problems)) if problems else None

    @abstractmethod
    def refusal(self, received: Received) -> Answer | None:
        """The answer to a request the service would not take."""

    @abstractmethod
    def understood(self, received: Received) -> tuple[str, str, list[WireTool]]:
        """System part, prompt and tools, read back from the wire."""

    @abstractmethod
    def body(self, answer: Answer, received: Received) -> dict[str, Any]:
        """The service's form of an answer."""

    @abstractmethod
    def pieces(self, answer: Answer, received: Received) -> tuple[str, Iterator[bytes]] | None:
        """The same in pieces, with their content type; None where none were asked for."""

    def _stream(
        self, handler: BaseHTTPRequestHandler, answer: Answer, kind: str, pieces: Iterator[bytes]
    ) -> None:
        handler.send_response(200)
        handler.send_header("content-type", kind)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for number, piece in enumerate(pieces):
            if number == answer.broken_off:
                handler.close_connection = True
                handler.wfile.flush()
                handler.connection.shutdown(socket.SHUT_RDWR)
                return
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            handler.wfile.flush()
            self._stopping.wait(answer.pace_s)
        handler.wfile.write(b"0\r\n\r\n")

    @abstractmethod
    def error_body(self, answer: Answer) -> dict[str, Any]:
        """The service's form of an error."""

    def error_headers(self, answer: Answer) -> dict[str, str]:
        """Headers that an error has beside `retry-after`."""
        return {}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65_536  # headers and body in one packet

        def do_POST(self) -> None:
            server.serve(self)

        def finish(self) -> None:
            """Close both ends, also where what is left to be sent meets nobody: what would stay
            open here is found by the collector in another test."""
            with contextlib.suppress(OSError):
                super().finish()
            self.rfile.close()

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    return Handler


def _send(
    handler: BaseHTTPRequestHandler,
    answer: Answer,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
) -> None:
    content = answer.raw if answer.raw is not None else json.dumps(body).encode()
    handler.send_response(answer.status)
    for name, value in headers.items():
        handler.send_header(name, value)
    if answer.retry_after is not None:
        handler.send_header("retry-after", f"{answer.retry_after:g}")
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def tokens(received: Received, answer: Answer) -> tuple[int, int]:
    """Sent and written, four characters a token."""
    return len(json.dumps(received.body)) // 4, len(answer.text + json.dumps(answer.calls)) // 4
