"""The page: one self-contained HTML document without a CDN. `make page` bundles it from
`index.html`, `style.css` and the ES modules of this folder into `document.html`, which is served.

Entrance: `document`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

FOLDER = Path(__file__).parent
SMALL = FOLDER / "document.html"
_PARTS = re.compile(r'<style>(.*?)</style>.*<script type="module">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Document:
    """The document, its gzip form and its headers."""

    html: str
    gzipped: bytes
    etag: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SignIn:
    """An OpenID Connect issuer, the page's client id there, and the origin of its endpoints if that
    differs (Amazon Cognito's domain)."""

    issuer: str
    client: str
    origin: str = ""


@lru_cache(maxsize=4)
def document(live_url: str = "", sign_in: SignIn | None = None) -> Document:
    """The document, cached per process; `live_url` is the WebSocket API's address or empty. Without
    `sign_in` the page asks for a token."""
    html = SMALL.read_text("utf-8")
    if sign_in:
        settings = json.dumps({"issuer": sign_in.issuer, "client": sign_in.client})
        # no part of it can close the element
        settings = settings.replace("<", "\\u003c")
        block = f'<script type="application/json" id="sign-in-settings">{settings}</script>'
        # JSON is not executed: the policy needs no hash of it
        html = html.replace("<div id=", block + "<div id=", 1)
    parts = _PARTS.search(html)
    assert parts, "the document holds one style and one script"
    style, code = parts.groups()
    headers = {
        "content-security-policy": policy(code, style, live_url, sign_in),
        "cache-control": "no-cache",
        "etag": f'"{hashlib.sha256(html.encode()).hexdigest()[:32]}"',
        "vary": "accept-encoding",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }
    return Document(html, gzip.compress(html.encode(), 9, mtime=0), headers["etag"], headers)


def policy(script: str, style: str, live_url: str = "", sign_in: SignIn | None = None) -> str:
    """A Content-Security-Policy for this script and style only, by hash, with connections to its
    own origin, the WebSocket API and the issuer."""
    signing = (sign_in.issuer, sign_in.origin) if sign_in else ()
    others = [urlsplit(url) for url in (live_url, *signing)]
    origins = dict.fromkeys(f" {o.scheme}://{o.netloc}" for o in others if o.netloc)
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src https: data:",
            "media-src https: data:",
            f"connect-src 'self'{''.join(origins)}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
