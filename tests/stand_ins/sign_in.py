"""Three services at which people sign in, on loopback: each checks what a real one would check.

`Provider` knows a client with a secret, as an operator registers it; `Issuer` is OpenID Connect for
a page without one; `Guard` stands before a server of the Model Context Protocol, as remote ones do.
"""

import base64
import hashlib
import http.client
import json
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from local.gateway import TOKENS

from .service import Reply, Request, served

CLIENT = {"client_id": "web-1", "client_secret": "s3cret-of-the-app"}
PAGE_CLIENT = "page-client"
PERSON = dict(TOKENS["bob"])
LASTS_S = 3600
WRONG_GRANT = (400, {"error": "invalid_grant"})

Json = dict[str, Any]
Form = Mapping[str, str]


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def jwt(claims: Mapping[str, Any], signature: str = "signature") -> str:
    """A token as far as anybody looks who does not verify it."""
    return f"e30.{_text(json.dumps(claims).encode())}.{signature}"


def told(status: int, body: Any, **headers: str) -> Reply:
    """JSON that a page of another origin may read."""
    kind = {"content-type": "application/json", "access-control-allow-origin": "*"}
    return Reply(body, status, {**kind, **headers})


class SignIn:
    """Its codes are good once and only with the verifier, the redirect address and the client of
    their authorisation; a refresh token renews as long as it is known."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: list[Any] = []
        self.codes: dict[str, Form] = {}
        self._given = 0

    def back(self, asked: Form) -> Json:
        """What comes back with the browser of whoever agrees."""
        assert asked["code_challenge_method"] == "S256"
        self._given += 1
        self.codes[f"code-{self._given}"] = asked
        return {"code": f"code-{self._given}", "state": asked["state"]}

    def _taken(self, form: Form) -> Form | None:
        """The authorisation that this form's code is of; None where it is of none."""
        asked = self.codes.pop(form.get("code", ""), None)
        proof = _text(hashlib.sha256(form["code_verifier"].encode()).digest())
        same = asked and all(asked[name] == form[name] for name in ("redirect_uri", "client_id"))
        return asked if asked and same and proof == asked["code_challenge"] else None

    def token(self, form: Form) -> tuple[int, Any]:
        if form["grant_type"] == "refresh_token":
            return (200, self._renewed()) if self._known(form["refresh_token"]) else WRONG_GRANT
        asked = self._taken(form)
        return WRONG_GRANT if asked is None else (200, self._issued(asked))

    def _known(self, refresh: str) -> bool:
        raise NotImplementedError

    def _issued(self, asked: Form) -> Json:
        raise NotImplementedError

    def _renewed(self) -> Json:
        return self._issued({})

    def answer(self, request: Request) -> Reply:
        raise NotImplementedError


@contextmanager
def _running(kind: Any, *given: Any) -> Iterator[Any]:
    with served(answer=lambda request: made.answer(request)) as service:
        made = kind(service.url, *given)
        yield made


# ---- a client with a secret


class Provider(SignIn):
    """An OAuth provider that fails on request."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.claims: Json = {"sub": "42", "email": "sarah@acme.example", "name": "Sarah"}
        self.with_id_token = True
        self.fails: tuple[int, bytes] | None = None
        self.more: Json = {"refresh_token": "refresh-1"}

    @property
    def configuration(self) -> str:
        paths = {"authorize_url": "authorize", "token_url": "token", "userinfo_url": "me"}
        urls = {name: f"{self.address}/{path}" for name, path in paths.items()}
        return json.dumps({"acme": {**urls, "extra": {"prompt": "consent"}}})

    def consent(self, url: str) -> dict[str, str]:
        """The person agrees; the query that comes back with the browser."""
        asked = {k: v[0] for k, v in parse_qs(urlsplit(url).query, strict_parsing=True).items()}
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT["client_id"])
        return {**self.back(asked), "iss": self.address}

    def token(self, form: Form) -> tuple[int, Any]:
        if "code" in form and any(form.get(k) != v for k, v in CLIENT.items()):
            return 401, {"error": "invalid_client", "error_description": "secret text"}
        return super().token(form)

    def _known(self, refresh: str) -> bool:
        return refresh == self.more.get("refresh_token")

    def _renewed(self) -> Json:
        return {"access_token": "access-renewed", "expires_in": 600}

    def _issued(self, asked: Form) -> Json:
        made = {"access_token": f"access-{self._given}", "expires_in": 3600, "token_type": "Bearer"}
        token = {"id_token": jwt({**self.claims, "aud": asked["client_id"]})}
        return {**made, **self.more, **(token if self.with_id_token else {})}

    def answer(self, request: Request) -> Reply:
        if request.method == "GET":
            asked = {"path": request.path, "authorization": request.headers.get("authorization")}
            self.requests.append(asked)
            return Reply(self.claims)
        self.requests.append({"path": request.path, **request.form})
        status, body = self.fails or self.token(request.form)
        return Reply(body, status)


def provider() -> AbstractContextManager[Provider]:
    return _running(Provider)


# ---- OpenID Connect for the page


class Issuer(SignIn):
    """Its people: one, who is signed in here (`session`) or not. The gateway beside it knows each
    token it gave out, as the authoriser of an API knows those of its issuer. `/revoke` ends every
    one of them, and anything else tells what it was asked."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.session = False
        self.tokens: dict[str, dict[str, str]] = {}
        self._refresh: set[str] = set()

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser goes next: back, with a code or an error."""
        assert asked["client_id"] == PAGE_CLIENT
        if asked.get("prompt") == "none" and not self.session:
            said = {"state": asked["state"], "error": "login_required"}
        else:
            self.session = True  # a form that the person fills without looking
            said = self.back(asked)
        return f"{asked['redirect_uri']}?{urlencode(said)}"

    def _known(self, refresh: str) -> bool:
        """A refresh token is good once, too."""
        known = refresh in self._refresh
        self._refresh.discard(refresh)
        return known

    def _issued(self, asked: Form) -> Json:
        said = {"iss": self.address, "aud": PAGE_CLIENT, "nonce": asked.get("nonce", "")}
        token = jwt({**PERSON, **said, "exp": time.time() + LASTS_S}, secrets.token_hex(8))
        self.tokens[token] = PERSON
        self._refresh.add(refresh := secrets.token_hex(8))
        return {"id_token": token, "refresh_token": refresh, "expires_in": LASTS_S}

    def answer(self, request: Request) -> Reply:
        if request.method == "POST":
            self.requests.append(f"POST {request.path}")
            return told(*self.token(request.form))
        self.requests.append(request.path)
        match request.at:
            case "/.well-known/openid-configuration":
                names = {"authorization": "authorize", "token": "token", "end_session": "logout"}
                urls = {f"{k}_endpoint": f"{self.address}/{at}" for k, at in names.items()}
                return told(200, {"issuer": self.address, **urls})
            case "/authorize":
                return told(302, {}, location=self.authorize(request.query))
            case "/logout":
                self.session = False
                return told(302, {}, location=request.query["post_logout_redirect_uri"])
            case "/revoke":
                self.tokens.clear()
        return told(200, {"requests": self.requests})


def issuer() -> AbstractContextManager[Issuer]:
    return _running(Issuer)


# ---- before a server of the Model Context Protocol


OWN_HEADERS = {"connection", "content-length", "transfer-encoding", "authorization", "host"}


class Guard(SignIn):
    """It describes itself (RFC 9728, RFC 8414), registers clients (RFC 7591), wants PKCE and the
    resource that a token is for (RFC 8707), and renews. Whoever comes with a browser agrees at
    once."""

    def __init__(self, address: str, behind: str) -> None:
        super().__init__(address)
        self.url = f"{address}/mcp"
        self.behind = urlsplit(behind)
        self.clients: dict[str, list[str]] = {}
        self.tokens: list[str] = []
        self.refreshed: list[str] = []
        self.seen: set[str] = set()
        self.lifetime = 3600
        self.open: list[socket.socket] = []

    def minted(self, number: int) -> str:
        return jwt({"iss": self.address, "exp": 4_102_444_800, "jti": str(number)})

    def metadata(self, path: str) -> Json | None:
        """What stands at a well-known address."""
        names = {"authorization": "authorize", "token": "token", "registration": "register"}
        own = {"resource": self.url, "authorization_servers": [self.address]}
        return {
            "/.well-known/oauth-protected-resource/mcp": {**own, "scopes_supported": ["sums"]},
            "/.well-known/oauth-authorization-server": {
                "issuer": self.address,
                **{f"{name}_endpoint": f"{self.address}/{at}" for name, at in names.items()},
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            },
        }.get(path)

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser goes back to."""
        assert asked["redirect_uri"] in self.clients[asked["client_id"]]
        assert asked["resource"] == self.url
        return f"{asked['redirect_uri']}?{urlencode(self.back(asked))}"

    def token(self, form: Form) -> tuple[int, Any]:
        if form.get("resource") != self.url:
            return 400, {"error": "invalid_target"}
        return super().token(form)

    def _known(self, refresh: str) -> bool:
        """Good once: who comes with it again has stolen it, and nobody's is good any longer."""
        known = refresh == self.refreshed[-1]
        self.refreshed += [] if known else ["none"]
        return known

    def _issued(self, asked: Form) -> Json:
        self.tokens.append(self.minted(len(self.tokens)))
        self.refreshed.append(f"refresh-{len(self.refreshed)}")
        made = {"access_token": self.tokens[-1], "refresh_token": self.refreshed[-1]}
        return {**made, "token_type": "Bearer", "expires_in": self.lifetime}

    def answer(self, request: Request) -> Reply:
        match request.at:
            case "/mcp":
                return self._through(request)
            case "/authorize":
                return told(302, {}, location=self.authorize(request.query))
            case "/register":
                name = f"client-{len(self.clients)}"
                self.clients[name] = request.json["redirect_uris"]
                return told(201, {**request.json, "client_id": name})
            case "/token":
                return told(*self.token(request.form))
        found = self.metadata(request.at)
        return told(200 if found else 404, found or {})

    def _through(self, request: Request) -> Reply:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or token not in self.tokens:
            where = f"{self.address}/.well-known/oauth-protected-resource/mcp"
            return told(401, {}, **{"www-authenticate": f'Bearer resource_metadata="{where}"'})
        self.seen.add(token)
        headers = {k: v for k, v in request.headers.items() if k not in OWN_HEADERS}
        upstream = http.client.HTTPConnection(str(self.behind.hostname), self.behind.port)
        upstream.request(request.method, "/mcp", request.body, headers)
        self.open.append(upstream.sock)
        answer = upstream.getresponse()
        passed = {k: v for k, v in answer.getheaders() if k.lower() not in OWN_HEADERS}
        passed["connection"] = "close"

        def pieces() -> Iterator[bytes]:
            with closing(upstream), answer:
                while piece := answer.read1():
                    yield piece

        return Reply(None, answer.status, passed, pieces(), last=True)


@contextmanager
def guarded(behind: str) -> Iterator[Guard]:
    with _running(Guard, behind) as guard:
        yield guard
        for stream in guard.open:  # one that still comes has a thread that waits for its end
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
