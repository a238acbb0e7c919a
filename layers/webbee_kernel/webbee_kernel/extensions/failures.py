"""Why an extension did not load, in words that may travel."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from ..base.text import one_line

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
    root = folder.resolve()
    places = [(f.filename, f.lineno or 1) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno or 1))
    own = [
        (Path(name).relative_to(root).as_posix(), line)
        for name, line in places
        if Path(name).is_relative_to(root)
    ]
    return own[-1] if own else ("", 0)
