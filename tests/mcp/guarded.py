"""A server of the protocol behind a provider of its own, as remote servers are: it describes itself
(RFC 9728, RFC 8414), registers clients (RFC 7591), wants PKCE and the resource that a token is for
(RFC 8707), and renews. Whoever comes with a browser agrees at once."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

_OURS = {"connection", "content-length", "transfer-encoding", "authorization", "host"}


class Guard:
    """What it has given out, and to whom."""

    def __init__(self, address: str, behind: str) -> None:
        self.address = address
        self.url = f"{address}/mcp"
        self.behind = urlsplit(behind)
        self.clients: dict[str, list[str]] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: list[str] = []
        self.refreshed: list[str] = []
        self.seen: set[str] = set()
        self.lifetime = 3600

    def minted(self, number: int) -> str:
        """The token of this number: a JWT as far as anybody looks who does not verify it."""
        claims = {"iss": self.address, "exp": 4_102_444_800, "jti": str(number)}
        payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
        return f"e30.{payload}.signature"

    def metadata(self, path: str) -> dict[str, Any] | None:
        """What stands at a well-known address."""
        a = self.address
        return {
            "/.well-known/oauth-protected-resource/mcp": {
                "resource": self.url,
                "authorization_servers": [a],
                "scopes_supported": ["sums"],
            },
            "/.well-known/oauth-authorization-server": {
                "issuer": a,
                "authorization_endpoint": f"{a}/authorize",
                "token_endpoint": f"{a}/token",
                "registration_endpoint": f"{a}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            },
        }.get(path)

    def register(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A client without a secret."""
        name = f"client-{len(self.clients)}"
        self.clients[name] = asked["redirect_uris"]
        return {**asked, "client_id": name}

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser goes back to."""
        assert asked["redirect_uri"] in self.clients[asked["client_id"]]
        assert asked["code_challenge_method"] == "S256"
        assert asked["resource"] == self.url
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """A token for this resource, to the client that asked, once a code."""
        if form.get("resource") != self.url:
            return 400, {"error": "invalid_target"}
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refreshed:
                return 400, {"error": "invalid_grant"}
        else:
            asked = self.codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            known = asked and asked["client_id"] == form["client_id"]
            if not asked or not known or proof != asked["code_challenge"]:
                return 400, {"error": "invalid_grant"}
        self.tokens.append(self.minted(len(self.tokens)))
        self.refreshed.append(f"refresh-{len(self.refreshed)}")
        told = {"access_token": self.tokens[-1], "refresh_token": self.refreshed[-1]}
        return 200, {**told, "token_type": "Bearer", "expires_in": self.lifetime}


class Handler(BaseHTTPRequestHandler):
    """One request to the guard, or through it."""

    protocol_version = "HTTP/1.1"
    server: Guarding

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        guard, asked = self.server.guard, urlsplit(self.path)
        if asked.path == "/mcp":
            self._through(guard, body)
        elif asked.path == "/authorize":
            back = guard.authorize(dict(parse_qsl(asked.query)))
            self._send(302, {}, {"location": back})
        elif asked.path == "/register":
            self._send(201, guard.register(json.loads(body)))
        elif asked.path == "/token":
            self._send(*guard.token(dict(parse_qsl(body.decode()))))
        else:
            told = guard.metadata(asked.path)
            self._send(200 if told else 404, told or {})

    def _through(self, guard: Guard, body: bytes) -> None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or token not in guard.tokens:
            where = f"{guard.address}/.well-known/oauth-protected-resource/mcp"
            self._send(401, {}, {"www-authenticate": f'Bearer resource_metadata="{where}"'})
            return
        guard.seen.add(token)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in _OURS}
        upstream = http.client.HTTPConnection(str(guard.behind.hostname), guard.behind.port)
        upstream.request(self.command, "/mcp", body, headers)
        self.server.open.append(upstream.sock)
        with closing(upstream), upstream.getresponse() as answer:
            self._pass_on(answer)

    def _pass_on(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _OURS:
                self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        while piece := answer.read1():
            self.wfile.write(piece)
            self.wfile.flush()

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        typed = {"content-type": "application/json", "content-length": str(len(content))}
        self.send_response(status)
        for name, value in {**typed, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - the library's names

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class Guarding(ThreadingHTTPServer):
    """The server of a guard."""

    guard: Guard
    open: list[socket.socket]
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no failure of ours."""


@contextmanager
def guarded(behind: str) -> Iterator[Guard]:
    """A guard before the server at that address."""
    with Guarding(("127.0.0.1", 0), Handler) as server:
        server.open = []
        server.guard = guard = Guard(f"http://127.0.0.1:{server.server_port}", behind)
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield guard
        server.shutdown()
        for stream in server.open:  # one that still comes has a thread that waits for its end
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
        thread.join()
