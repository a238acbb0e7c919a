"""The page: `index.html`, `style.css` and plain ES modules of this folder as one self-contained document. No build step, no CDN."""

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
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) (\w+))", re.MULTILINE)
_SPARE = re.compile(r"^(?: +|//.*\n|\n)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """What a browser gets: the document, its gzip form and the headers that keep strangers' text from running."""

    html: str
    gzipped: bytes
    etag: str
    headers: Mapping[str, str]


@cache
def document() -> Document:
    """The document, made once per process from the files beside this one."""
    style = (FOLDER / "style.css").read_text("utf-8")
    script = bundle()
    html = (FOLDER / "index.html").read_text("utf-8")
    html = html.replace('<link rel="stylesheet" href="style.css">', f"<style>{style}</style>")
    html = html.replace('<script type="module" src="app.js"></script>', f'<script type="module">{script}</script>')
    etag = f'"{hashlib.sha256(html.encode()).hexdigest()[:32]}"'
    headers = {
        "content-security-policy": policy(script, style),
        "cache-control": "no-cache",
        "etag": etag,
        "vary": "accept-encoding",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }
    return Document(html, gzip.compress(html.encode(), 9, mtime=0), etag, headers)


def bundle(entry: str = "app") -> str:
    """The modules as one script: each a function that returns its exports, after those it imports; indentation and comments left out."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        source = (FOLDER / f"{name}.js").read_text("utf-8")
        for _, needed in _IMPORT.findall(source):
            if needed not in done:
                add(needed)
        exports = ", ".join(_EXPORT.findall(source))
        body = _SPARE.sub("", _EXPORT.sub("", _IMPORT.sub(r"const \1 = \2_js;\n", source)))
        done[name] = f"const {name}_js = (() => {{\n{body}return {{ {exports} }};\n}})();\n"

    add(entry)
    return "\n" + "".join(done.values())


def policy(script: str, style: str) -> str:
    """A Content-Security-Policy that runs this script and this style, by hash, and nothing else."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src https: data:",
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
