"""How commands speak, in colour where the terminal takes it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from textwrap import TextWrapper
from typing import Any

_COLOURS = "red green yellow blue magenta cyan".split()
_CODES = {"bold": "1", "dim": "2"} | {name: str(n) for n, name in enumerate(_COLOURS, 31)}
COLOURED = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str) -> str:
    """The text in these styles."""
    return (
        f"\x1b[{';'.join(_CODES[s] for s in styles)}m{text}\x1b[0m" if COLOURED and styles else text
    )


def wrapped(text: str, indent: str, *styles: str) -> str:
    """Lines no wider than the terminal (at most 140), each indented."""
    width = max(min(shutil.get_terminal_size((120, 24)).columns, 140), 40)
    wrap = TextWrapper(width, initial_indent=indent, subsequent_indent=f"{indent}  ")
    return "\n".join(
        paint(line, *styles) for part in text.split("\n") for line in wrap.wrap(part) or [""]
    )


class CliError(RuntimeError):
    """Ends a command with one line that says what to do; exit status 1."""


def tell(options: argparse.Namespace, value: Any, lines: Iterable[str]) -> None:
    """A command's answer: with `--json` the value as one document, else the lines."""
    if options.json:
        print(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        print("".join(f"{line}\n" for line in lines), end="")


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """The text, on a terminal that can erase a line, until the block ends."""
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    print(text if is_terminal else "", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print("\r\x1b[2K" if is_terminal else "", end="", file=sys.stderr, flush=True)


def mark(ok: bool, level: str = "error") -> str:
    """✓, ✗ or !."""
    if ok:
        return paint("✓", "green")
    return paint("✗", "red") if level == "error" else paint("!", "yellow")


def near(name: str, known: Iterable[str]) -> str:
    """` – did you mean …?`, where one of the known is nearly it; else empty."""
    matches = get_close_matches(name, list(known), 1)
    return f" – did you mean {matches[0]!r}?" if matches else ""
