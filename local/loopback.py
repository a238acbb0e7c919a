"""HTTP on this machine: a tiny client of the API, for the demo and the command line, and a server
for as long as a block runs. What the local run answers are ASGI applications on uvicorn."""

from __future__ import annotations

import http.client
import json
import secrets
import socket
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from .project import SERVE
from .terminal import CliError

KINDS = ("application/json", "text/event-stream")
"""What the API answers with."""
ASKED_AGAIN_S = 0.5
"""Seconds between two looks at a turn that goes on behind a 202."""


class Client:
    """One bearer token's view of the API. CliError where it refuses, with status, code and message,
    or where nobody, or somebody else, answers."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token

    def get(self, path: str, **query: str) -> Any:
        """GET with a query."""
        return self._send("GET", path + ("?" + urlencode(query) if query else ""))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """POST a JSON body."""
        return self._send("POST", path, body)

    def turn(self, message: str, session_id: str) -> dict[str, Any]:
        """One turn, however long it takes: what goes on behind a 202 is asked for again by its
        request id until it has ended. Its own deadline is the server's."""
        body = {"message": message, "session_id": session_id, "request_id": uuid.uuid4().hex}
        answer: dict[str, Any] = self.post("/v1/chat", body)
        while answer["status"] == "working":
            time.sleep(ASKED_AGAIN_S)
            answer = self.post("/v1/chat", body)
        return answer

    def put(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """PUT a JSON body."""
        return self._send("PUT", path, body)

    def delete(self, path: str) -> Any:
        """DELETE."""
        return self._send("DELETE", path)

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - http(s) only
            self._url + path, data=data, method=method, headers=headers
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
                text, kind = response.read().decode(), response.headers.get_content_type()
        except urllib.error.HTTPError as error:
            with error:
                raise CliError(f"{error.code} {_told(error.read().decode())}") from None
        except http.client.HTTPException as error:
            raise CliError(f"{self._url} speaks no HTTP: {error!r}") from None
        except OSError as error:
            why = f"the API does not answer ({getattr(error, 'reason', error)})"
            raise CliError(f"{why}: start one with `{SERVE}`, or name it with --url") from None
        if kind not in KINDS:
            raise CliError(f"{self._url} is no API of a kernel: it answers with {kind}")
        return json.loads(text) if kind == KINDS[0] else text


def _told(body: str) -> str:
    """Code and message of an error of the API; of anybody else's the first 500 characters."""
    try:
        error = json.loads(body)["error"]
        return f"{error['code']}: {error['message']}"
    except (ValueError, KeyError, TypeError):
        return body[:500]


KEPT_S = 3_600
"""Seconds for which a connection that nobody uses stays open."""
ENDS_S = 5.0
"""Seconds for which whoever ends a server waits for what is still being answered."""


@contextmanager
def served(
    application: Any,
    name: str,
    *,
    listener: socket.socket | None = None,
    pem: str = "",
    secret: bool = False,
) -> Iterator[str]:
    """Serve an ASGI application on a thread of this name, at the address this yields: a free port
    of 127.0.0.1 unless a listener is given; over TLS where a certificate's file is; where it is
    `secret`, under a path that nobody can guess who was not told it."""
    import uvicorn  # only here: most commands only ask
    from starlette.routing import Mount, Router

    below = f"/{secrets.token_urlsafe(12)}/" if secret else ""
    if secret:
        application = Router([Mount(below, application)], redirect_slashes=False)
    listener = listener or socket.create_server(("127.0.0.1", 0))
    # Head and body are two packets: the second would wait for the first's ACK. asyncio sets it only
    # on sockets that name their protocol.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    quiet: Any = {"log_level": "warning", "access_log": False, "lifespan": "off"}
    # a connection that the server closes while it is being used again is a call without an answer
    quiet |= {"timeout_keep_alive": KEPT_S}
    tls: Any = {"ssl_certfile": pem} if pem else {}
    server = uvicorn.Server(uvicorn.Config(application, **quiet, **tls))
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener]}, name=name, daemon=True
    )
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield f"http{'s' * bool(pem)}://127.0.0.1:{listener.getsockname()[1]}{below}"
    finally:
        server.should_exit = True
        thread.join(ENDS_S)
        listener.close()
