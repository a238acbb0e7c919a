"""`make page`: bundle the page's sources into its `document.html`, with esbuild."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from webbee_kernel.api.page import FOLDER, SMALL

ESBUILD = Path(__file__).parents[1] / ".venv-page/node_modules/.bin/esbuild"
"""Where `make .venv-page` puts it; it needs Node.js, which nothing else here does."""


def small() -> str:
    """The document as it should be kept: `index.html` with style and script in their places, marked
    with the digest of what they were made of. CalledProcessError where a module cannot be read:
    esbuild has named the line."""
    style, code = _bundled("style.css"), _bundled("app.js", "--format=iife")
    html = (FOLDER / "index.html").read_text("utf-8")
    html = html.replace("<html ", f'<html data-of="{digest()}" ', 1)
    html = html.replace('<link rel="stylesheet" href="style.css">', f"<style>{style}</style>")
    return html.replace(
        '<script type="module" src="app.js"></script>', f'<script type="module">{code}</script>'
    )


def sources() -> list[Path]:
    """What the document is made of."""
    return sorted([*FOLDER.rglob("*.js"), *FOLDER.rglob("*.css"), FOLDER / "index.html"])


def digest() -> str:
    """32 digits that stand for the sources as they are."""
    found = hashlib.sha256()
    for path in sources():
        found.update(path.read_bytes())
    return found.hexdigest()[:32]


def _bundled(entry: str, *flags: str) -> str:
    command = [str(ESBUILD), str(FOLDER / entry), "--bundle", "--minify", "--target=es2022"]
    done = subprocess.run(  # noqa: S603
        [*command, "--charset=utf8", "--log-level=warning", *flags],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip()


def main() -> int:
    """Write it and say how large it is; 1 where there is no esbuild."""
    if not ESBUILD.exists():
        print("there is no esbuild: make page prepares it where npm is installed", file=sys.stderr)
        return 1
    SMALL.write_text(small(), "utf-8")
    print(f"wrote {SMALL.name}, {SMALL.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
