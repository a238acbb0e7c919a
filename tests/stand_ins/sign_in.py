"""Three services at which people sign in, on loopback: each checks what a real one would check.

`Provider` knows a client with a secret, as an operator registers it; `Issuer` is OpenID Connect for
a page without one; `Guard` stands before a server of the Model Context Protocol, as remote ones do.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from local.gateway import TOKENS

from .service import Reply, Request, served

CLIENT = {"client_id": "web-1", "client_secret": "s3cret-of-the-app"}
PAGE_CLIENT = "page-client"
PERSON = dict(TOKENS["bob"])
LASTS_S = 3600
WRONG_GRANT = (400, {"error": "invalid_grant"})


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def jwt(claims: Mapping[str, Any], signature: str = "signature") -> str:
    """A token as far as anybody looks who does not verify it."""
    return f"e30.{_text(json.dumps(claims).encode())}.{signature}"


def told(status: int, body: Any, **headers: str) -> Reply:
    """JSON that a page of another origin may read."""
    kind = {"content-type": "application/json", "access-control-allow-origin": "*"}
    return Reply(body, status, {**kind, **headers})


class Codes:
    """Codes are good once and only with the verifier, the redirect address and the client of their
    authorisation."""

    def __init__(self) -> None:
        self._waiting: dict[str, Mapping[str, str]] = {}
        self._given = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def give(self, asked: Mapping[str, str]) -> str:
        assert asked["code_challenge_method"] == "S256"
        self._given += 1
        code = f"code-{self._given}"
        self._waiting[code] = asked
        return code

    def take(self, form: Mapping[str, str]) -> Mapping[str, str] | None:
        """The authorisation that this form's code is of; None where it is of none."""
        asked = self._waiting.pop(form.get("code", ""), None)
        proof = _text(hashlib.sha256(form["code_verifier"].encode()).digest())
        if asked is None or proof != asked["code_challenge"]:
            return None
        same = all(asked[name] == form[name] for name in ("redirect_uri", "client_id"))
        return asked if same else None


# ---- a client with a secret


class Provider:
    """An OAuth provider that fails on request."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: list[dict[str, Any]] = []
        self.claims: dict[str, Any] = {"sub": "42", "email": "sarah@acme.example", "name": "Sarah"}
        self.with_id_token = True
        self.answer: tuple[int, bytes] | None = None
        self.more: dict[str, Any] = {"refresh_token": "refresh-1"}
        self._codes = Codes()
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
        return {"code": self._codes.give(asked), "state": asked["state"], "iss": self.address}

    def token(self, form: Mapping[str, str]) -> tuple[int, Any]:
        """The token endpoint."""
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] != self.more.get("refresh_token"):
                return WRONG_GRANT
            return 200, {"access_token": "access-renewed", "expires_in": 600}
        if any(form.get(k) != v for k, v in CLIENT.items()):
            return 401, {"error": "invalid_client", "error_description": "secret text"}
        if self._codes.take(form) is None:
            return WRONG_GRANT
        self._issued += 1
        token = {"id_token": jwt({**self.claims, "aud": form["client_id"]})}
        return 200, {
            "access_token": f"access-{self._issued}",
            "expires_in": 3600,
            "token_type": "Bearer",
            **self.more,
            **(token if self.with_id_token else {}),
        }


@contextmanager
def provider() -> Iterator[Provider]:
    """One that answers until the block ends."""

    def answer(request: Request) -> Reply:
        if request.method == "GET":
            asked = {"path": request.path, "authorization": request.headers.get("authorization")}
            running.requests.append(asked)
            return Reply(running.claims)
        running.requests.append({"path": request.path, **request.form})
        status, body = running.answer or running.token(request.form)
        return Reply(body, status)

    with served(answer=answer) as service:
        running = Provider(service.url)
        yield running


# ---- OpenID Connect for the page


class Issuer:
    """Its people: one, who is signed in here (`session`) or not. The gateway beside it knows each
    token it gave out, as the authoriser of an API knows those of its issuer."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.session = False
        self.requests: list[str] = []
        self.tokens: dict[str, dict[str, str]] = {}
        self._codes = Codes()
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
        assert asked["client_id"] == PAGE_CLIENT
        told = {"state": asked["state"]}
        if asked.get("prompt") == "none" and not self.session:
            told["error"] = "login_required"
        else:
            self.session = True  # a form that the person fills without looking
            told["code"] = self._codes.give(asked)
        return f"{asked['redirect_uri']}?{urlencode(told)}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The token endpoint: a refresh token is good once, too."""
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self._refresh:
                return WRONG_GRANT
            self._refresh.discard(form["refresh_token"])
            return 200, self._issued("")
        asked = self._codes.take(form)
        return (200, self._issued(asked["nonce"])) if asked else WRONG_GRANT

    def _issued(self, nonce: str) -> dict[str, Any]:
        ends = time.time() + LASTS_S
        claims = {**PERSON, "iss": self.address, "aud": PAGE_CLIENT, "exp": ends, "nonce": nonce}
        token = jwt(claims, secrets.token_hex(8))
        self.tokens[token] = PERSON
        refresh = secrets.token_hex(8)
        self._refresh.add(refresh)
        return {"id_token": token, "refresh_token": refresh, "expires_in": LASTS_S}


@contextmanager
def issuer() -> Iterator[Issuer]:
    """The issuer, serving until the block ends; `/revoke` ends every token that it gave out, and
    anything else tells what it was asked."""

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            running.requests.append(f"POST {request.path}")
            return told(*running.token(request.form))
        running.requests.append(request.path)
        if request.at.endswith("openid-configuration"):
            return told(200, running.metadata())
        if request.at == "/authorize":
            return told(302, {}, location=running.authorize(request.query))
        if request.at == "/logout":
            running.session = False
            return told(302, {}, location=request.query["post_logout_redirect_uri"])
        if request.at == "/revoke":
            running.tokens.clear()
        return told(200, {"requests": running.requests})

    with served(answer=answer) as service:
        running = Issuer(service.url)
        yield running


# ---- before a server of the Model Context Protocol


OWN_HEADERS = {"connection", "content-length", "transfer-encoding", "authorization", "host"}


class Guard:
    """It describes itself (RFC 9728, RFC 8414), registers clients (RFC 7591), wants PKCE and the
    resource that a token is for (RFC 8707), and renews. Whoever comes with a browser agrees at
    once."""

    def __init__(self, address: str, behind: str) -> None:
        self.address = address
        self.url = f"{address}/mcp"
        self.behind = urlsplit(behind)
        self.clients: dict[str, list[str]] = {}
        self.codes = Codes()
        self.tokens: list[str] = []
        self.refreshed: list[str] = []
        self.seen: set[str] = set()
        self.lifetime = 3600
        self.open: list[socket.socket] = []

    def minted(self, number: int) -> str:
        """The token of this number."""
        return jwt({"iss": self.address, "exp": 4_102_444_800, "jti": str(number)})

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
        assert asked["resource"] == self.url
        told = {"code": self.codes.give(asked), "state": asked["state"]}
        return f"{asked['redirect_uri']}?{urlencode(told)}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """A token for this resource, to the client that asked."""
        if form.get("resource") != self.url:
            return 400, {"error": "invalid_target"}
        if form["grant_type"] == "refresh_token":
            # good once: who comes with it again has stolen it, and nobody's is good any longer
            if form["refresh_token"] != self.refreshed[-1]:
                self.refreshed.append("none")
                return WRONG_GRANT
        elif self.codes.take(form) is None:
            return WRONG_GRANT
        self.tokens.append(self.minted(len(self.tokens)))
        self.refreshed.append(f"refresh-{len(self.refreshed)}")
        told = {"access_token": self.tokens[-1], "refresh_token": self.refreshed[-1]}
        return 200, {**told, "token_type": "Bearer", "expires_in": self.lifetime}


@contextmanager
def guarded(behind: str) -> Iterator[Guard]:
    """A guard before the server at that address."""

    def answer(request: Request) -> Reply:
        match request.at:
            case "/mcp":
                return through(request)
            case "/authorize":
                return told(302, {}, location=guard.authorize(request.query))
            case "/register":
                return told(201, guard.register(request.json))
            case "/token":
                return told(*guard.token(request.form))
        found = guard.metadata(request.at)
        return told(200 if found else 404, found or {})

    def through(request: Request) -> Reply:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or token not in guard.tokens:
            where = f"{guard.address}/.well-known/oauth-protected-resource/mcp"
            return told(401, {}, **{"www-authenticate": f'Bearer resource_metadata="{where}"'})
        guard.seen.add(token)
        headers = {k: v for k, v in request.headers.items() if k not in OWN_HEADERS}
        upstream = http.client.HTTPConnection(str(guard.behind.hostname), guard.behind.port)
        upstream.request(request.method, "/mcp", request.body, headers)
        guard.open.append(upstream.sock)
        answer = upstream.getresponse()
        passed = {k: v for k, v in answer.getheaders() if k.lower() not in OWN_HEADERS}
        passed["connection"] = "close"
        return Reply(None, answer.status, passed, pieces(upstream, answer), last=True)

    def pieces(upstream: Any, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        with closing(upstream), answer:
            while piece := answer.read1():
                yield piece

    with served(answer=answer) as service:
        guard = Guard(service.url, behind)
        yield guard
        for stream in guard.open:  # one that still comes has a thread that waits for its end
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
