"""`webbee check`: the static rules, then what only loading shows."""

from __future__ import annotations

import argparse
import json
import re
import traceback
from dataclasses import asdict
from pathlib import Path

from webbee_kernel.catalogue import tool_spec
from webbee_kernel.registry import Registry, load_extension

from ..paint import paint
from .rules import Finding, findings
from .show import CliError, put_json

MAX_SCHEMA = 4_000
"""Characters of a function's schema above which every prompt pays noticeably."""


def check(options: argparse.Namespace) -> int:
    """1 when there is an error; warnings alone are 0."""
    folder = Path(options.extension)
    if not folder.is_dir():
        folder = Path("extensions") / str(options.extension)
    if not folder.is_dir():
        raise CliError(f"{options.extension} is no folder: give the path of an extension")
    found = problems(folder)
    errors = sum(f.level == "error" for f in found)
    if options.json:
        put_json({"extension": folder.name, "errors": errors, "findings": [asdict(f) for f in found]})
        return 1 if errors else 0
    for f in found:
        colour = "red" if f.level == "error" else "yellow"
        print(f"{folder / f.file}:{f.line}: {paint(f.level, colour)} {f.message} {paint(f.rule, 'dim')}")
    print(f"{folder.name}: {errors} errors, {len(found) - errors} warnings" if found else f"{folder.name}: nothing to mend")
    return 1 if errors else 0


def problems(folder: Path) -> list[Finding]:
    """Static findings first; an extension with a syntax error is not loaded."""
    found = findings(folder)
    if not any(f.rule in ("syntax", "layout") for f in found):
        found += _loaded(folder.resolve())
    return found


def _loaded(folder: Path) -> list[Finding]:
    """What loading it shows: whether it loads, and what its catalogue entry costs."""
    try:
        extension = load_extension(folder)
    except (Exception, SystemExit) as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if str(folder) in f.filename]
        file, line = (Path(frames[-1].filename).name, frames[-1].lineno or 1) if frames else ("main.py", 1)
        return [Finding(file, line, "error", "load", f"it does not load: {type(error).__name__}: {error}")]
    info = Registry({extension.app_id: extension}).catalogue().apps[extension.app_id]
    found = []
    if not (info.functions or info.panels or info.sections):
        found.append(Finding("main.py", 1, "warning", "empty", "it registers no function, panel or section"))
    for function in info.functions:
        size = len(json.dumps(tool_spec(function).input_schema))
        if size > MAX_SCHEMA:
            place = _place(folder, function.fn_name)
            found.append(
                Finding(*place, "warning", "schema", f"{function.fn_name}'s schema has {size} characters: every prompt carries it")
            )
    if info.icon and not (folder / info.icon).exists():
        found.append(Finding("main.py", 1, "warning", "icon", f"{info.icon} is not there"))
    return found


def _place(folder: Path, function: str) -> tuple[str, int]:
    """Where a function is registered."""
    for path in sorted(folder.glob("*.py")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if re.search(rf'\.function\(\s*"{re.escape(function)}"', line) or line.strip().rstrip(",") == f'"{function}"':
                return path.name, number
    return "main.py", 1
