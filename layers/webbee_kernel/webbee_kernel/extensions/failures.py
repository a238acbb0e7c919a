"""Why an extension did not load, in words that may travel."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from ..text import one_line

MAX_REASON = 500
"""Characters of why an extension did not load: health, the catalogue and the inspector carry it."""


_FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:()'\"]+/)+")


def reason_of(error: BaseException, folder: Path) -> str:
    """`ImportError: no module named x (main.py:3)`: enough for the author, nothing of the
    operator's paths."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    text = _FOLDERS.sub("", text.replace(f"{folder.resolve().parent}/", ""))
    file, line = place_of(error, folder)
    return one_line(f"{type(error).__name__}: {text}", MAX_REASON) + (
        f" ({file}:{line})" if file else ""
    )


def place_of(error: BaseException, folder: Path) -> tuple[str, int]:
    """File and line in the extension's folder where a load failed; `("", 0)` where none of its own
    lines was running."""
    own = _own_frames(error, folder)
    if isinstance(error, SyntaxError) and error.filename:
        name = _inside(error.filename, folder)
        own += [(name, error.lineno or 1, "")] if name else []
    return own[-1][:2] if own else ("", 0)


def frames_of(error: BaseException, folder: Path) -> list[str]:
    """The extension's own lines that were running, the outermost first: `main.py:3 <module>: …`."""
    return [f"{name}:{line} {what}" for name, line, what in _own_frames(error, folder)]


def _own_frames(error: BaseException, folder: Path) -> list[tuple[str, int, str]]:
    return [
        (name, f.lineno or 1, f"{f.name}: {f.line or ''}".rstrip(": "))
        for f in traceback.extract_tb(error.__traceback__)
        if (name := _inside(f.filename, folder))
    ]


def _inside(name: str, folder: Path) -> str:
    """A file's name in the extension's folder; empty for the kernel's and libraries'."""
    root = folder.resolve()
    path = Path(name)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
