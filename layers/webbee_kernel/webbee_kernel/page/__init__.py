"""The page: one self-contained document, made of `index.html`, `style.css` and plain ES modules of
this folder. No CDN.

`document.html` holds it in its small form, written by `make page`; while the sources are newer than
it, they are served as they are.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
SMALL = FOLDER / "document.html"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) )", re.MULTILINE)
_PARTS = re.compile(r'<style>(.*?)</style>.*<script type="module">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Document:
    """What a browser gets: the document, its gzip form and the headers that keep strangers' text
    from running."""

    html: str
    gzipped: bytes
    etag: str
    headers: Mapping[str, str]


@cache
def document() -> Document:
    """The document, made ready once per process."""
    html = SMALL.read_text("utf-8") if SMALL.exists() else ""
    if digest() not in html:
        html = assembled((FOLDER / "style.css").read_text("utf-8"), script())
    parts = _PARTS.search(html)
    assert parts, "the document holds one style and one script"
    style, code = parts.groups()
    headers = {
        "content-security-policy": policy(code, style),
        "cache-control": "no-cache",
        "etag": f'"{hashlib.sha256(html.encode()).hexdigest()[:32]}"',
        "vary": "accept-encoding",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }
    return Document(html, gzip.compress(html.encode(), 9, mtime=0), headers["etag"], headers)


def script() -> str:
    """The modules as one script, each after those it imports; what they declare has one name in all
    of them."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        source = (FOLDER / f"{name}.js").read_text("utf-8")
        for needed in _IMPORT.findall(source):
            if needed not in done:
                add(needed)
        done[name] = _EXPORT.sub("", _IMPORT.sub("", source))

    add("app")
    return "(() => {\n" + "".join(done.values()) + "})();\n"


def assembled(style: str, code: str) -> str:
    """`index.html` with this style and this script in their places, marked with the digest of what
    they were made of."""
    html = (
        (FOLDER / "index.html")
        .read_text("utf-8")
        .replace("<html ", f'<html data-of="{digest()}" ', 1)
    )
    html = html.replace('<link rel="stylesheet" href="style.css">', f"<style>{style}</style>")
    return html.replace(
        '<script type="module" src="app.js"></script>', f'<script type="module">{code}</script>'
    )


def digest() -> str:
    """32 digits that stand for the sources as they are."""
    found = hashlib.sha256()
    for path in sorted([*FOLDER.glob("*.js"), FOLDER / "style.css", FOLDER / "index.html"]):
        found.update(path.read_bytes())
    return found.hexdigest()[:32]


def policy(script: str, style: str) -> str:
    """A Content-Security-Policy that runs this script and this style, by hash, and nothing else."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src https: data:",
            "media-src https: data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
