"""The page: one self-contained document, bundled from `index.html`, `style.css` and the ES modules
of this folder. No CDN.

`document.html` is what is served; `make page` writes it, after a change of its sources.

May import: base. Entrance: `document`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
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
    """What a browser gets: the document, its gzip form and the headers that keep strangers' text
    from running."""

    html: str
    gzipped: bytes
    etag: str
    headers: Mapping[str, str]


def document(live_url: str = "") -> Document:
    """The document, made ready once per process and form; `live_url` is the WebSocket API's
    address, empty where there is none."""
    return _document(live_url, SMALL.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _document(live_url: str, _written: int) -> Document:
    html = SMALL.read_text("utf-8")
    parts = _PARTS.search(html)
    assert parts, "the document holds one style and one script"
    style, code = parts.groups()
    headers = {
        "content-security-policy": policy(code, style, live_url),
        "cache-control": "no-cache",
        "etag": f'"{hashlib.sha256(html.encode()).hexdigest()[:32]}"',
        "vary": "accept-encoding",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }
    return Document(html, gzip.compress(html.encode(), 9, mtime=0), headers["etag"], headers)


def policy(script: str, style: str, live_url: str = "") -> str:
    """A Content-Security-Policy that runs this script and this style, by hash, and nothing else,
    and connects to its own origin and to the WebSocket API."""
    live = urlsplit(live_url)
    socket = f" {live.scheme}://{live.netloc}" if live.netloc else ""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src https: data:",
            "media-src https: data:",
            f"connect-src 'self'{socket}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
