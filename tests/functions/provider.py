"""An OAuth provider on this machine: it checks what a real one would check, and fails on
request."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

CLIENT = {"client_id": "web-1", "client_secret": "s3cret-of-the-app"}


class Provider:
    """Codes are good once and only with the verifier, the redirect address and the client of their
    authorisation."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: list[dict[str, Any]] = []
        self.claims: dict[str, Any] = {"sub": "42", "email": "sarah@acme.example", "name": "Sarah"}
        self.with_id_token = True
        self.answer: tuple[int, bytes] | None = None
        self.more: dict[str, Any] = {"refresh_token": "refresh-1"}
        self._codes: dict[str, Mapping[str, str]] = {}
        self._issued = 0

    @property
    def configuration(self) -> str:
        """`WEBBEE_OAUTH_PROVIDERS` for this provider."""
        urls = {
            "authorize_url": f"{self.address}/authorize",
            "token_url": f"{self.address}/token",
            "userinfo_url": f"{self.address}/me",
        }
        return json.dumps({"acme": {**urls, "extra": {"prompt": "consent"}}})

    def consent(self, url: str) -> dict[str, str]:
        """The person agrees; the query that comes back with the browser."""
        asked = {k: v[0] for k, v in parse_qs(urlsplit(url).query, strict_parsing=True).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT["client_id"]
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": self.address}

    def token(self, form: Mapping[str, str]) -> tuple[int, Any]:
        """The token endpoint."""
        asked = self._codes.pop(form.get("code", ""), None)
        if form["grant_type"] == "refresh_token":
            known = form["refresh_token"] == self.more.get("refresh_token")
            return (
                (200, {"access_token": "access-renewed", "expires_in": 60})
                if known
                else (400, {"error": "invalid_grant"})
            )
        if any(form.get(k) != v for k, v in CLIENT.items()):
            return 401, {
                "error": "invalid_client",
                "error_description": "secret text of the provider",
            }
        if (
            asked is None
            or form["redirect_uri"] != asked["redirect_uri"]
            or _challenge(form["code_verifier"]) != asked["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        self._issued += 1
        payload = (
            base64.urlsafe_b64encode(json.dumps({**self.claims, "aud": form["client_id"]}).encode())
            .rstrip(b"=")
            .decode()
        )
        token = {"id_token": f"e30.{payload}.sig"} if self.with_id_token else {}
        return 200, {
            "access_token": f"access-{self._issued}",
            "expires_in": 3600,
            "token_type": "Bearer",
            **self.more,
            **token,
        }


@contextmanager
def provider() -> Iterator[Provider]:
    """One that answers until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
            running.requests.append({"path": self.path, **form})
            self._send(*(running.answer or _json(running.token(form))))

        def do_GET(self) -> None:
            running.requests.append(
                {"path": self.path, "authorization": self.headers["authorization"]}
            )
            self._send(*_json((200, running.claims)))

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running = Provider(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()


def _json(answer: tuple[int, Any]) -> tuple[int, bytes]:
    return answer[0], json.dumps(answer[1]).encode()


def _challenge(verifier: str) -> str:
    return (
        base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    )
