"""`webbee check`, `test`: what an author asks of a folder of extensions, wherever it is."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..checking import CheckResult, Finding, lines_of, problems_of
from ..project import ROOT, child_environment, filled_folder, folder_of_extensions
from ..terminal import CliError, tell, waiting


def test(options: argparse.Namespace) -> int:
    """Run the tests of one extension, or of all of a folder, with pytest."""
    folder = filled_folder(options.into)
    where = folder / Path(options.extension).name if options.extension else folder
    if not where.is_dir():
        raise CliError(f"{where} is no folder: give an extension's id")
    command = [sys.executable, "-m", "pytest", "--import-mode=importlib", "-q", str(where)]
    if folder.resolve().is_relative_to(ROOT):  # whose options want plugins of its developers
        command += ["-c", os.devnull, "--rootdir", str(folder.resolve())]
    done = subprocess.run([*command, *options.rest], env=child_environment(), check=False)  # noqa: S603
    return done.returncode


def check(options: argparse.Namespace) -> int:
    """Check one extension, or every folder of `extensions`. Exit status 1 when there is an error;
    warnings alone are 0."""
    folder = _one_or_all(str(options.extension))
    inside = [] if (folder / "main.py").exists() else extensions_of(folder)
    with waiting("checking"):
        found = dict(problems(inside or [folder]))
    errors = sum(len(listed.errors) for listed in found.values())
    reports: list[dict[str, Any]] = [
        {
            "extension": f.name,
            "errors": len(listed.errors),
            "findings": [asdict(x) for x in listed.findings],
            "consent": dict(listed.consent),
        }
        for f, listed in found.items()
    ]
    lines = [line for checked, listed in found.items() for line in lines_of(checked, listed)]
    tell(options, {"errors": errors, "extensions": reports} if inside else reports[0], lines)
    return 1 if errors else 0


def extensions_of(folder: Path) -> list[Path]:
    """The extensions of a folder."""
    return [main.parent for main in sorted(folder.glob("*/main.py"))]


def problems(folders: Sequence[Path]) -> Iterator[tuple[Path, CheckResult]]:
    """Each folder with what was found in it; an id that another folder took is a finding."""
    taken: set[str] = set()
    for folder in folders:
        checked = problems_of(folder)
        if checked.app_id in taken:
            told = f"the extension id {checked.app_id!r} is taken by another folder"
            checked.findings.append(Finding.of("main.py", 1, "load", told))
        taken |= {checked.app_id} - {""}
        yield folder, checked


def _one_or_all(named: str) -> Path:
    """An extension's folder, by path or id, or a folder of them: `extensions` beside the caller,
    else the project's own, without a name."""
    home = folder_of_extensions()
    for folder in (Path(named) if named else home, home / named):
        if folder.is_dir():
            return folder
    raise CliError(f"{named} is no folder: give the path of an extension")
