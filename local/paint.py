"""Colour where the terminal takes it, plain text where not."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
COLOURED = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str) -> str:
    """The text in these styles."""
    return (
        f"\x1b[{';'.join(_CODES[s] for s in styles)}m{text}\x1b[0m" if COLOURED and styles else text
    )


def wrapped(text: str, indent: str, *styles: str) -> str:
    """Lines no wider than the terminal (at most 140), each indented."""
    width = min(shutil.get_terminal_size((120, 24)).columns, 140) - len(indent)
    lines = [
        w
        for line in text.split("\n")
        for w in textwrap.wrap(line, max(width, 40), subsequent_indent="  ") or [""]
    ]
    return "\n".join(indent + paint(line, *styles) for line in lines)
