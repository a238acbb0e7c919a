"""What `webbee check` finds in an extension, each finding with its file and line.

- `rules`        the table of rules, a finding, and small helpers over syntax trees
- `source`       limits that a source breaks where it stands, and what runs otherwise than it reads
- `results`      what a handler returns
- `cross_references`  what two places must agree on: names, forms, collections, events, people
- `loading`      what only the loaded extension shows: signatures, cron, descriptions
- `typed`        a type checker over a copy in which handlers' contexts are annotated

A line that ends in `# check: ignore[rule]` is left alone by that rule.

May import: everything of the kernel. Entrance: `problems_of`, and `lines_of` what it found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from ..terminal import paint
from . import cross_references, source, typed
from .loading import load
from .rules import RULES, CheckResult, Finding, parse, source_lines

CERTAIN = frozenset({"unknown-name", "unused-coroutine"})
"""What a type checker knows for certain also of code that is written against another SDK."""

BETTER = ("await", "return", "imports", "load", "signature")
WORSE = ("not-async", "bad-return", "missing-import", "invalid-syntax")
"""Rules of our own, and those of the type checker that tell of the same line in other words."""

IGNORED = re.compile(r"#\s*check:\s*ignore\[([\w\s,-]+)\]")


def lines_of(folder: Path, found: CheckResult) -> Iterator[str]:
    """What there is to say of an extension, as people read it."""
    for f in found.findings:
        level = paint(f.level, "red" if f.level == "error" else "yellow")
        rule = paint(f"[{f.rule}]", "dim")
        yield f"{folder / f.file}:{f.line}: {level} {f.message} {rule}"
        yield from (paint(f"    {frame}", "dim") for frame in f.frames)
    errors, warnings = len(found.errors), len(found.findings) - len(found.errors)
    counts = [f"{n} {of}{'s' * (n != 1)}" for n, of in ((errors, "error"), (warnings, "warning"))]
    yield f"{folder.resolve().name}: {', '.join(counts) if found.findings else 'nothing to mend'}"
    for function, classed in found.consent.items():
        yield paint(f"    {function}: {classed}", "dim")


def problems_of(folder: Path) -> CheckResult:
    """What there is to say of an extension."""
    if not (folder / "main.py").exists():
        told = "an extension is a folder with a main.py"
        return CheckResult("", [Finding.of("main.py", 1, "layout", told)])
    modules, broken = parse(folder)
    if broken:
        return CheckResult("", broken)
    with ThreadPoolExecutor(2) as both:  # two processes: neither needs the other's answer
        loading, typing = both.submit(load, folder), both.submit(typed.findings, folder)
        found = [*cross_references.findings(modules)]
        for module in modules:
            found += source.findings(module)
        loaded = loading.result()
        found += loaded.findings
        theirs = any(m.imports("imperal_sdk") for m in modules)
        found += [f for f in typing.result() if not theirs or f.rule in CERTAIN]
    if theirs:
        found = [f for f in found if f.rule not in RULES or not RULES[f.rule].ours]
    kept = dict.fromkeys(f for f in found if not _is_ignored(folder, f))
    # a line's own rules say it better than the type checker: of both only those
    own = {(f.file, f.line) for f in kept if f.rule in BETTER}
    once = [f for f in kept if (f.file, f.line) not in own or f.rule not in WORSE]
    return replace(loaded, findings=sorted(once, key=lambda f: (f.file, f.line)))


def _is_ignored(folder: Path, finding: Finding) -> bool:
    path = folder / finding.file
    lines = source_lines(path.read_text("utf-8")) if path.exists() else []
    line = lines[finding.line - 1] if 0 < finding.line <= len(lines) else ""
    named = IGNORED.search(line)
    return named is not None and finding.rule in re.split(r"[\s,]+", named[1])


__all__ = ["CheckResult", "Finding", "lines_of", "problems_of"]
