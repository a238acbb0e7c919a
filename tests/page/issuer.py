"""An OpenID Connect issuer on loopback: it checks what a real one checks of a public client with PKCE.

Its tokens are JWTs whose signature is a random word; the gateway beside it knows each it gave out, as the
authoriser of an API knows those of its issuer. `python -m tests.page.issuer` serves it with the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from local.gateway import TOKENS
from local.world import local_world, prepare

ROOT = Path(__file__).parents[2]
CLIENT = "page-client"
PERSON = dict(TOKENS["bob"])


class Issuer:
    """Its people: one, who is signed in here (`session`) or not. `lasts` are a token's seconds."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.session = False
        self.lasts = 3600
        self.requests: list[str] = []
        self.tokens: dict[str, dict[str, str]] = {}
        self._codes: dict[str, dict[str, str]] = {}
        self._refresh: set[str] = set()

    def metadata(self) -> dict[str, str]:
        """`/.well-known/openid-configuration`."""
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "end_session_endpoint": f"{self.address}/logout",
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser goes next: back, with a code or an error."""
        assert asked["client_id"] == CLIENT and asked["code_challenge_method"] == "S256"
        back, state = asked["redirect_uri"], asked["state"]
        if asked.get("prompt") == "none" and not self.session:
            return f"{back}?{urlencode({'error': 'login_required', 'state': state})}"
        self.session = True  # a form that the person fills without looking
        code = secrets.token_hex(8)
        self._codes[code] = asked
        return f"{back}?{urlencode({'code': code, 'state': state})}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The token endpoint: a code is good once and only with its verifier, a refresh token once."""
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self._refresh:
                return 400, {"error": "invalid_grant"}
            self._refresh.discard(form["refresh_token"])
            return 200, self._issued("")
        asked = self._codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        same = asked and asked["code_challenge"] == challenge
        if not same or asked["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        return 200, self._issued(asked["nonce"])

    def _issued(self, nonce: str) -> dict[str, Any]:
        claims = {**PERSON, "iss": self.address, "aud": CLIENT, "exp": time.time() + self.lasts}
        parts = [{"alg": "none"}, {**claims, "nonce": nonce}]
        made = [
            base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts
        ]
        token = ".".join([*made, secrets.token_hex(8)])
        self.tokens[token] = PERSON
        refresh = secrets.token_hex(8)
        self._refresh.add(refresh)
        return {"id_token": token, "refresh_token": refresh, "expires_in": self.lasts}

    def revoke(self) -> None:
        """No token that was given out is good any more; refresh tokens are."""
        self.tokens.clear()


class _Handler(BaseHTTPRequestHandler):
    issuer: Issuer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.issuer.requests.append(self.path)
        query = dict(parse_qsl(url.query))
        if url.path.endswith("openid-configuration"):
            self._send(200, self.issuer.metadata())
        elif url.path == "/authorize":
            self._send(302, {}, self.issuer.authorize(query))
        elif url.path == "/logout":
            self.issuer.session = False
            self._send(302, {}, query["post_logout_redirect_uri"])
        elif url.path == "/revoke":
            self.issuer.revoke()
            self._send(200, {})
        else:
            self._send(200, {"requests": self.issuer.requests})

    def do_POST(self) -> None:
        self.issuer.requests.append(f"POST {self.path}")
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        self._send(*self.issuer.token(dict(parse_qsl(text))))

    def _send(self, status: int, body: dict[str, Any], to: str = "") -> None:
        self.send_response(status)
        self.send_header("access-control-allow-origin", "*")
        self.send_header("content-type", "application/json")
        if to:
            self.send_header("location", to)
        text = json.dumps(body).encode()
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@contextmanager
def issuer() -> Iterator[Issuer]:
    """The issuer, serving until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    running = Issuer(f"http://127.0.0.1:{server.server_address[1]}")
    _Handler.issuer = running
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    """Serve page and issuer until standard input closes; prints both addresses."""
    with issuer() as running, tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "notes").symlink_to(ROOT / "extensions/notes")
        env = {
            "WEBBEE_EXTENSIONS_DIR": folder,
            "WEBBEE_ISSUER": running.address,
            "WEBBEE_SIGN_IN_CLIENT": CLIENT,
        }
        with local_world(env=env, tokens=running.tokens, prepare=prepare) as world:
            print(world.url, running.address, flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
