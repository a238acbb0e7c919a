"""The files beside an extension's code: its manifest, its requirements, its utterances."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path

from .finding import Finding
from .names import near

SDK_PIN = re.compile(r"\s*imperal[-_.]sdk\s*==", re.IGNORECASE)
_LINE = re.compile(r"\(at line (\d+)")


def findings(folder: Path, functions: Collection[str]) -> Iterator[Finding]:
    """Every rule of this page. `functions` are those of the extension, empty where it does not
    load."""
    yield from _pins(folder / "requirements.txt")
    yield from _manifest(folder / "imperal.json")
    yield from _utterances(folder / "utterances.toml", functions)


def _pins(path: Path) -> Iterator[Finding]:
    """A pin of the SDK itself: other extensions of the deployment may pin another."""
    told = "is advice: extensions that pin different versions of the SDK all get the tested one"
    for number, line in enumerate(_text(path).splitlines(), 1):
        if SDK_PIN.match(line):
            yield Finding.of(path.name, number, "sdk-pin", f"{line.strip()} {told}")


def _manifest(path: Path) -> Iterator[Finding]:
    """A key that nearly is the one that is read."""
    try:
        data = json.loads(_text(path) or "{}")
    except ValueError:
        return  # why it does not load
    for key in data if "app_id" not in data else ():
        if near(key, ["app_id"]):
            told = f"{key!r} is not read: the id is 'app_id', else the folder's name"
            yield Finding.of(path.name, 1, "manifest", told)


def _utterances(path: Path, functions: Collection[str]) -> Iterator[Finding]:
    """What `webbee eval` would stumble over."""
    if not path.exists():
        return
    try:
        rows = tomllib.loads(_text(path)).get("case")
    except tomllib.TOMLDecodeError as error:
        at = _LINE.search(str(error))
        line = int(at[1]) if at else 1
        yield Finding.of(path.name, line, "utterances", str(error))
        return
    if not rows or not isinstance(rows, list):
        told = "it has no [[case]] with say and call: `webbee eval` reads nothing else"
        yield Finding.of(path.name, 1, "utterances", told)
        return
    for number, row in enumerate(rows, 1):
        wanted = str(row.get("call", ""))
        if functions and wanted and wanted not in functions:
            told = f"case {number}: there is no function {wanted!r}{near(wanted, list(functions))}"
            yield Finding.of(path.name, 1, "utterances", told)


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""
