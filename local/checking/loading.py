"""Loading an extension to see whether it loads: as the functions do, in a process of its own.

What extension code does while it is imported (prints, threads, an endless loop, `os._exit`) stays
in that process: `python -m <this module> FOLDER` answers on its output with one JSON object.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path

from webbee_kernel.catalogue import FunctionInfo
from webbee_kernel.extensions.loader import frames_of, place_of, reason_of
from webbee_kernel.extensions.registry import Registry, load_extension
from webbee_kernel.guards.sinks import classed
from webbee_kernel.llm.tools import tool_spec

from ..project import child_environment
from . import registered
from .finding import Finding
from .names import Declared

SDK = "imperal-sdk==6.3.7"
"""What the build gives a folder that imports `imperal_sdk` and names no version of it."""

LOAD_S = 60
"""Seconds an import may take; Lambda's init leaves it ten."""

QUIET = "ignore::RuntimeWarning:runpy"
"""That this module is imported before it runs; the last words of a child are its own."""

MAX_SCHEMA = 4_000
"""Characters of a function's schema above which every prompt pays noticeably."""

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading showed. `app_id` is empty where it failed; the findings then say why."""

    app_id: str
    findings: list[Finding]
    declared: Declared = field(default_factory=lambda: Declared({}))


def load(folder: Path) -> Loaded:
    """Load the folder in a child process; a child that hangs or dies is a finding too."""
    command = [sys.executable, "-W", QUIET, "-m", f"{__package__}.loading", str(folder.resolve())]
    try:
        done = subprocess.run(  # noqa: S603 - ourselves
            command,
            env=child_environment(),
            capture_output=True,
            text=True,
            timeout=LOAD_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _failed(
            "main.py",
            1,
            f"it did not load in {LOAD_S} s: an import waits for something or never ends",
        )
    if not done.stdout:
        last = next(reversed(done.stderr.strip().splitlines()), "")
        told = f"it ended the process that imported it (exit status {done.returncode})"
        return _failed("main.py", 1, f"{told}: {last}" if last else told)
    answer = json.loads(done.stdout)
    return Loaded(
        answer["app_id"],
        [Finding(**{**f, "frames": tuple(f["frames"])}) for f in answer["findings"]],
        Declared(**answer["declared"]),
    )


def _failed(file: str, line: int, message: str) -> Loaded:
    return Loaded("", [Finding.of(file, line, "load", message)])


def _look(folder: Path) -> Loaded:
    """In the child: whether it loads, and what its catalogue entry costs."""
    try:
        extension = load_extension(folder)
    except (Exception, SystemExit) as error:
        file, line = place_of(error, folder)
        reason = reason_of(error, folder).removesuffix(f" ({file}:{line})")
        told = f"it does not load: {reason}{_remedy(error, folder)}"
        frames = tuple(frames_of(error, folder))
        return Loaded("", [Finding.of(file or "main.py", line or 1, "load", told, frames)])
    info = Registry({extension.app_id: extension}).catalogue().apps[extension.app_id]
    found = list(registered.findings(extension, folder))
    if not (info.functions or info.panels or info.sections):
        found.append(
            Finding.of("main.py", 1, "empty", "it registers no function, panel or section")
        )
    for function in info.functions:
        size = len(json.dumps(tool_spec(function).input_schema))
        if size > MAX_SCHEMA:
            text = f"{function.fn_name}'s schema has {size} characters: every prompt carries it"
            found.append(Finding.of(*_place(folder, function.fn_name), "schema", text))
    if info.icon and not (folder / info.icon).exists():
        found.append(Finding.of("main.py", 1, "icon", f"{info.icon} is not there"))
    consent = {f.fn_name: _classed(f) for f in info.functions}
    return Loaded(extension.app_id, found, replace(registered.declared(extension), consent=consent))


def _classed(function: FunctionInfo) -> str:
    """How calls of a function are classed, and by what: `outward – to (name)`."""
    told = classed(function)
    why = ", ".join(f"{path} ({why})" if path else f"its {why}" for path, _, why in told.sinks)
    return f"{told.effect} – {why}" if why else told.effect


def _remedy(error: BaseException, folder: Path) -> str:
    """What to do about a library that is not there; empty for other errors."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    pip = f"{os.path.relpath(sys.executable)} -m pip install"
    if error.name.partition(".")[0] == "imperal_sdk":
        return f" – it comes by itself when deployed; on this machine: {pip} {SDK}"
    requirements = folder / "requirements.txt"
    if requirements.exists() and any(
        map(_is_missing, _REQUIREMENT.findall(requirements.read_text("utf-8")))
    ):
        return f" – install what it requires: {pip} -r {os.path.relpath(requirements)}"
    return " – add it to requirements.txt"


def _is_missing(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return True
    return False


def _place(folder: Path, function: str) -> tuple[str, int]:
    """Where a function is registered."""
    for path in sorted(folder.glob("[!.]*.py")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if (
                re.search(rf'\.function\(\s*"{re.escape(function)}"', line)
                or line.strip().rstrip(",") == f'"{function}"'
            ):
                return path.name, number
    return "main.py", 1


def main(arguments: list[str]) -> None:
    """Answer on the real output, give extension code none, and end at once, whatever threads it
    left."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answer:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        json.dump(asdict(_look(Path(arguments[0]))), answer)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
