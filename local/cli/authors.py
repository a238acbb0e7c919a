"""`webbee dev`, `check`, `test`, `deploy`: what an author does with a folder of extensions,
wherever it is."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from ..checking import Checked, Finding, problems_of
from ..deployability import Readiness, look, named
from ..parameters import wrong
from ..project import (
    COMMAND,
    IN_REPOSITORY,
    ROOT,
    assemble,
    child_environment,
    folder_of_extensions,
)
from ..terminal import CliError, paint, progress, put_json

BUILD = Path(".webbee") / "deployment"


def dev(options: argparse.Namespace) -> int:
    """Serve the API with these extensions, reload and check what is saved, keep tables, secrets and
    mail in `.webbee`."""
    from .. import run

    folder = _folder(options.into)
    arguments = ["--host", options.host, "--port", str(options.port), "--model", options.model]
    keep = [] if options.fresh else ["--keep", options.keep]
    return run.main([*arguments, *keep, "--check", "--extensions", str(folder)])


def test(options: argparse.Namespace) -> int:
    """Run the tests of one extension, or of all of a folder, with pytest."""
    folder = _folder(options.into)
    where = folder / Path(options.extension).name if options.extension else folder
    if not where.is_dir():
        raise CliError(f"{where} is no folder: give an extension's id")
    command = [sys.executable, "-m", "pytest", "--import-mode=importlib", "-q", str(where)]
    if folder.resolve().is_relative_to(ROOT):  # whose options want plugins of its developers
        command += ["-c", os.devnull, "--rootdir", str(folder.resolve())]
    done = subprocess.run([*command, *options.rest], env=child_environment(), check=False)  # noqa: S603
    return done.returncode


def deploy(options: argparse.Namespace) -> int:
    """Check the extensions, build the deployment with them and hand it to `sam deploy`."""
    folder = _folder(options.into)
    ready = _ready(options)
    region = ready.region
    mains = [main.parent for main in sorted(folder.glob("*/main.py"))]
    for checked, found in problems(mains):
        for error in found.errors:
            told = f"{checked / error.file}:{error.line}: {error.message}"
            raise CliError(f"{told} – {COMMAND} check {checked} tells the rest")
    assemble(BUILD, folder)
    overrides = f"Architecture={options.arch}"
    build = ["build", "--parameter-overrides", overrides]
    at = ["--region", region] if region and "--region" not in options.rest else []
    derived = [f"{name}={value}" for name, value in ready.derived.items()]
    given = [overrides, f"Release={int(time.time())}", *derived, *options.parameters]
    sent = ["deploy", *at, "--parameter-overrides", *given, *options.rest]
    if options.dry_run:
        print(
            f"made {BUILD}; next, there:", *(f"sam {' '.join(c)}" for c in (build, sent)), sep="\n"
        )
        return 0
    env = {**os.environ, "ARCH": options.arch, "SAM_CLI_TELEMETRY": "0", "PATH": _path()}
    if region:
        print(f"region: {region}", flush=True)
        env |= {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    for command in (build, sent):
        done = subprocess.run([_sam(), *command], cwd=BUILD, env=env, check=False)  # noqa: S603
        if done.returncode:
            return done.returncode
    print(paint("deployed", "green"))
    return 0


def _ready(options: argparse.Namespace) -> Readiness:
    """The one region of the deployment, as `make deploy` finds it; empty where `sam` is told
    another or asks for it. Whoever sends is told first what is missing."""
    if refused := wrong(options.parameters):
        raise CliError("; ".join(refused))
    if options.dry_run or "--guided" in options.rest:
        if "--region" in options.rest:
            return Readiness()
        try:
            return Readiness(named())
        except LookupError:
            return Readiness()
    found = look(options.parameters, options.rest)
    for warning in found.warnings:
        print(paint("warning: ", "yellow") + warning, file=sys.stderr)
    if found.problems:
        raise CliError("\n".join(found.problems))
    return found


def _folder(named: str) -> Path:
    folder = folder_of_extensions(named)
    if not any(folder.glob("*/main.py")):
        raise CliError(f"{folder} holds no extension: webbee new <id> writes one")
    return folder


def _sam() -> str:
    own = ROOT / ".venv-sam" / "bin" / "sam"
    found = str(own) if own.exists() else shutil.which("sam")
    if not found:
        raise CliError("sam is not here: pip install aws-sam-cli in an environment of its own")
    return found


def _path() -> str:
    """The path with Lambda's own Python first: `sam build` installs with its pip."""
    own = ROOT / ".venv-313" / "bin"
    if not (IN_REPOSITORY and own.is_dir()) and not shutil.which("python3.13"):
        raise CliError("python3.13 is not here: sam build installs with it what the functions need")
    paths = [str(own)] if own.is_dir() else []
    return os.pathsep.join([*paths, os.environ.get("PATH", "")])


def check(options: argparse.Namespace) -> int:
    """Check one extension, or every folder of `extensions`. Exit status 1 when there is an error;
    warnings alone are 0."""
    folder = _one_or_all(str(options.extension))
    is_one = (folder / "main.py").exists()
    inside = [] if is_one else [main.parent for main in sorted(folder.glob("*/main.py"))]
    found = {}
    for number, (checked, listed) in enumerate(problems(inside or [folder]), 1):
        found[checked] = listed
        if inside:
            progress("checking", number, len(inside))
    errors = sum(len(listed.errors) for listed in found.values())
    servers = {} if options.extension else _servers(folder)
    if options.json:
        reports = [
            {
                "extension": f.name,
                "errors": len(listed.errors),
                "findings": [asdict(x) for x in listed.findings],
                "consent": dict(listed.consent),
            }
            for f, listed in found.items()
        ]
        told = {"servers": servers} if servers else {}
        put_json({"errors": errors, "extensions": reports, **told} if inside else reports[0])
    else:
        for checked, listed in found.items():
            _print(checked, listed)
            for function, classed in listed.consent.items():
                print(paint(f"    {function}: {classed}", "dim"))
        for server, state in servers.items():
            print(f"{server}: {paint('warning', 'yellow') + f' {state}' if state else 'approved'}")
    return 1 if errors else 0


def _servers(folder: Path) -> dict[str, str]:
    """What is wrong with each server of the Model Context Protocol; empty where nothing is."""
    from ..mcp_servers import configured

    if not configured():
        return {}
    from .mcp import states_of  # only here: it asks the servers

    return states_of(folder)


def problems(folders: Sequence[Path]) -> Iterator[tuple[Path, Checked]]:
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
    folder = Path(named) if named else home
    if not folder.is_dir():
        folder = home / named
    if not folder.is_dir():
        raise CliError(f"{named} is no folder: give the path of an extension")
    return folder


def _print(folder: Path, found: Checked) -> None:
    for f in found.findings:
        colour = "red" if f.level == "error" else "yellow"
        print(
            f"{folder / f.file}:{f.line}: {paint(f.level, colour)} {f.message}"
            f" {paint(f'[{f.rule}]', 'dim')}"
        )
        for frame in f.frames:
            print(paint(f"    {frame}", "dim"))
    errors, whole = len(found.errors), len(found.findings)
    counts = f"{_count(errors, 'error')}, {_count(whole - errors, 'warning')}"
    print(f"{folder.name}: {counts if whole else 'nothing to mend'}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
