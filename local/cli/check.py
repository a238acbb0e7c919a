"""`webbee check`: what the rules, the type checker and the loaded extension show."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from ..checking import Finding, problems_of
from ..paint import paint
from ..project import folder_of_extensions
from .show import CliError, progress, put_json


def check(options: argparse.Namespace) -> int:
    """Check one extension, or every folder of `extensions`. Exit status 1 when there is an error;
    warnings alone are 0."""
    folder = _folder(str(options.extension))
    inside = (
        []
        if (folder / "main.py").exists()
        else [main.parent for main in sorted(folder.glob("*/main.py"))]
    )
    found = {}
    consent: dict[Path, Mapping[str, str]] = {}
    for number, (checked, listed) in enumerate(problems(inside or [folder], consent), 1):
        found[checked] = listed
        if inside:
            progress("checking", number, len(inside))
    errors = sum(_errors(listed) for listed in found.values())
    servers = {} if options.extension else _servers(folder)
    if options.json:
        reports = [
            {
                "extension": f.name,
                "errors": _errors(listed),
                "findings": [asdict(x) for x in listed],
                "consent": dict(consent[f]),
            }
            for f, listed in found.items()
        ]
        told = {"servers": servers} if servers else {}
        put_json({"errors": errors, "extensions": reports, **told} if inside else reports[0])
    else:
        for checked, listed in found.items():
            _print(checked, listed)
            for function, classed in consent[checked].items():
                print(paint(f"    {function}: {classed}", "dim"))
        for server, state in servers.items():
            print(f"{server}: {paint('warning', 'yellow') + f' {state}' if state else 'approved'}")
    return 1 if errors else 0


def _servers(folder: Path) -> dict[str, str]:
    """What is wrong with each server of the Model Context Protocol; empty where nothing is."""
    from ..servers import configured

    if not configured():
        return {}
    from .mcp import states_of  # only here: it asks the servers

    return states_of(folder)


def problems(
    folders: Sequence[Path], consent: dict[Path, Mapping[str, str]] | None = None
) -> Iterator[tuple[Path, list[Finding]]]:
    """Each folder with its findings; an id that another folder took is one. `consent` takes in how
    the functions of each are classed."""
    taken: set[str] = set()
    for folder in folders:
        checked = problems_of(folder)
        app_id, found = checked.app_id, checked.findings
        if consent is not None:
            consent[folder] = checked.consent
        if app_id in taken:
            told = f"the extension id {app_id!r} is taken by another folder"
            found.append(Finding.of("main.py", 1, "load", told))
        taken |= {app_id} - {""}
        yield folder, found


def _folder(named: str) -> Path:
    """An extension's folder, by path or id, or a folder of them: `extensions` beside the caller,
    else the project's own, without a name."""
    home = folder_of_extensions()
    folder = Path(named) if named else home
    if not folder.is_dir():
        folder = home / named
    if not folder.is_dir():
        raise CliError(f"{named} is no folder: give the path of an extension")
    return folder


def _print(folder: Path, found: Sequence[Finding]) -> None:
    for f in found:
        colour = "red" if f.level == "error" else "yellow"
        print(
            f"{folder / f.file}:{f.line}: {paint(f.level, colour)} {f.message}"
            f" {paint(f'[{f.rule}]', 'dim')}"
        )
        for frame in f.frames:
            print(paint(f"    {frame}", "dim"))
    errors = _errors(found)
    counts = f"{_count(errors, 'error')}, {_count(len(found) - errors, 'warning')}"
    print(f"{folder.name}: {counts if found else 'nothing to mend'}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _errors(found: Sequence[Finding]) -> int:
    return sum(f.level == "error" for f in found)
