"""A type checker over a copy of the extension in which contexts are annotated.

Pyrefly reads the copy, in under a second, with the SDK's own types: misspelt names and attributes,
wrong arguments, props that a node lacks, ways out without a result. Handlers mostly say neither
what `ctx` is nor what they return; the copy does, on the same line. Without pyrefly on this machine
there are no such findings.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import webbee_kernel

from .rules import FUNCTIONS, Finding, decorator, ended, is_handler, source_lines, sources

SECONDS = 120.0
PARTS = (ast.arg, ast.expr)
CONTEXT = "__webbee_context"
RESULT = f"{CONTEXT}.ActionResult | {CONTEXT}_Model | {CONTEXT}_Mapping[str, {CONTEXT}_Any]"
"""What a handler may return."""
IMPORTS = (
    f"import webbee_kernel.sdk as {CONTEXT}",
    f"from collections.abc import Mapping as {CONTEXT}_Mapping",
    f"from typing import Any as {CONTEXT}_Any",
    f"from pydantic import BaseModel as {CONTEXT}_Model",
)
REMEDIES = {
    "unused-coroutine": "it does nothing without an await",
    "not-async": "take the await away",
    "bad-return": "return ActionResult.success(data, summary) or a dict on every way out",
}
"""What is to be done, where the type checker says what is wrong only."""
UNAWAITED = "Coroutine"
"""How it calls what was not awaited, whatever is wrong with it."""
ERRORS = frozenset(
    "unknown-name missing-attribute missing-import missing-module-attribute unused-coroutine"
    " bad-argument-count missing-argument unexpected-keyword not-callable bad-unpacking"
    " bad-argument-type bad-index unbound-name not-iterable bad-return no-matching-overload"
    " unsupported-operation bad-keyword-argument async-error not-async".split()
)
"""Kinds that fail when the line runs. Of others a checker may be wrong, or the code still work."""

IGNORED = frozenset(
    "missing-source missing-source-for-stubs untyped-import redundant-cast"
    " bad-specialization".split()  # the last of handlers that are not async, as they are told
)

OPTIONS = (
    *("--python-version=3.11", "--use-ignore-files=false", "--output-format=json"),
    *("--preset=default", "--permissive-ignores=true", "--summary=none", "--progress-bar=no"),
    *("--error=unused-coroutine", "--ignore=deprecated"),
)


def findings(folder: Path) -> list[Finding]:
    """What the type checker says of the extension's own modules; tests aside."""
    beside = Path(sysconfig.get_path("scripts")) / "pyrefly"
    tool = str(beside) if beside.exists() else shutil.which("pyrefly")
    if tool is None:
        return []
    with tempfile.TemporaryDirectory(prefix="webbee-check-") as made:
        copy = Path(made)
        for path, name in sources(folder):
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(annotated(path.read_text("utf-8")), "utf-8")
        return sorted(_checked(tool, copy), key=lambda f: (f.file, f.line))


def annotated(source: str) -> str:
    """The source with `ctx` annotated in every handler that leaves it open, each on its line."""
    tree = ast.parse(source)
    handlers = [n for n in ast.walk(tree) if isinstance(n, FUNCTIONS)]
    notes = [
        (first.end_lineno or 1, first.end_col_offset or 0, f': "{CONTEXT}.Context"')
        for node in handlers
        for first in node.args.args[:1]
        if first.annotation is None and (is_handler(node) or first.arg == "ctx")
    ]
    notes += [
        (*_colon(source, node), f' -> "{RESULT}"')
        for node in handlers
        if node.returns is None and decorator(node, "function", "skeleton")
    ]
    lines = source_lines(source)
    for line, column, note in sorted(notes, reverse=True):
        raw = lines[line - 1].encode()
        lines[line - 1] = (raw[:column] + note.encode() + raw[column:]).decode()
    return "\n".join([*lines, *IMPORTS] if notes else lines)


def _colon(source: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, int]:
    """Line and byte of the first colon behind the name and the parameters of a function."""
    parts = [n for n in ast.walk(node.args) if isinstance(n, PARTS)]
    ends = [(n.end_lineno or 1, n.end_col_offset or 0) for n in parts]
    line, column = max(ends, default=(node.lineno, node.col_offset))
    for number, text in enumerate(source_lines(source)[line - 1 :], line):
        if (at := text.encode().find(b":", column if number == line else 0)) >= 0:
            return number, at
    raise ValueError(f"the signature of {node.name} has no end")


def _checked(tool: str, copy: Path) -> Iterator[Finding]:
    kernel = Path(webbee_kernel.__file__).resolve().parents[1]
    paths = (f"--search-path={copy}", f"--search-path={kernel}")
    command = [tool, "check", *OPTIONS, *paths, f"--python-interpreter-path={sys.executable}"]
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = ended(command, SECONDS, cwd=copy, env=env)
    if done is None:
        told = f"its types were not checked: the type checker did not end within {SECONDS:g} s"
        yield Finding.of("main.py", 1, "types", told)
        return
    start = done.stdout.find("{")
    for found in json.loads(done.stdout[start:] or "{}").get("errors", []) if start >= 0 else []:
        kind = str(found["name"])
        if kind in IGNORED:
            continue
        severe = kind in ERRORS and found.get("severity", "error") == "error"
        level = "error" if severe else "warning"
        path = copy / found["path"]
        file = path.relative_to(copy).as_posix() if path.is_relative_to(copy) else path.name
        message = str(found.get("concise_description") or found["description"]).splitlines()[0]
        remedy = f": {REMEDIES[kind]}" if kind in REMEDIES else ""
        if UNAWAITED in message and kind not in REMEDIES:
            remedy = ": it was not awaited, put an await before the call"
        message = message.replace(f"{CONTEXT}.", "").replace(f"{CONTEXT}_", "")
        yield Finding(file, int(found["line"]), level, kind, message + remedy)
