"""`webbee deploy` checks, builds with AWS SAM and deploys; `webbee deploy-check` says what is
missing before that: on this machine, in these files, in the account that the shell names."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from ..deployability import Item, Readiness, Target, credentials, found, look, named, settings
from ..parameters import Deployment, declared, wrong
from ..project import COMMAND, IN_REPOSITORY, ROOT, assemble, filled_folder, folder_of_extensions
from ..terminal import CliError, mark, paint, progress, put_json
from .authors import extensions_of, problems

BUILD = Path(".webbee") / "deployment"
FIRST = 'make deploy PARAMETERS="…"' if IN_REPOSITORY else f"{COMMAND} deploy --parameters …"
"""What deploys, with the template's parameters."""


def deploy(options: argparse.Namespace) -> int:
    """Look at the account and the extensions, build the deployment with them and hand it to
    `sam deploy`. Nothing is built where something is missing."""
    folder = filled_folder(options.into)
    ready = _ready(options)
    for checked, listed in problems(extensions_of(folder)):
        for error in listed.errors:
            told = f"{checked / error.file}:{error.line}: {error.message}"
            raise CliError(f"{told} – {COMMAND} check {checked} tells the rest")
    place = ROOT
    if folder.resolve() != ROOT / "extensions":
        place = BUILD
        assemble(place, folder)
    region = ready.region
    at = ["--region", region] if region and "--region" not in options.rest else []
    overrides = f"Architecture={options.arch}"
    derived = [f"{name}={value}" for name, value in ready.derived.items()]
    given = [overrides, f"Release={int(time.time())}", *derived, *options.parameters]
    build = ["build", "--parameter-overrides", overrides]
    sent = ["deploy", *at, "--parameter-overrides", *given, *options.rest]
    if options.dry_run:
        print(f"next, in {place}:", *(f"sam {' '.join(c)}" for c in (build, sent)), sep="\n")
        return 0
    named_region = {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    env = {**os.environ, **named_region, "ARCH": options.arch, "PATH": _path()}
    print(f"region: {region}\nbuilding for {options.arch} (a minute where something changed)…")
    sys.stdout.flush()
    for command in (build, sent):
        done = subprocess.run(  # noqa: S603
            [_sam(), *command], cwd=place, env={**env, "SAM_CLI_TELEMETRY": "0"}, check=False
        )
        if done.returncode:
            return done.returncode
    print(paint("deployed", "green"))
    return 0


def _ready(options: argparse.Namespace) -> Readiness:
    """Where the deployment goes; CliError tells what is missing. A dry run asks nobody."""
    if options.dry_run:
        ready = Readiness(_region(options), tuple(wrong(options.parameters)))
    else:
        ready = look(options.parameters, options.rest)
    for warning in ready.warnings:
        print(paint("warning: ", "yellow") + warning, file=sys.stderr)
    if ready.problems:
        raise CliError("\n".join(ready.problems))
    for name, value in ready.derived.items():
        print(f"{name}={value}, by what this account may run at once", file=sys.stderr)
    return ready


def _region(options: argparse.Namespace) -> str:
    try:
        return Target.of(options.rest).region
    except LookupError:
        return ""


def _own(name: str) -> Path:
    """A program that `make deploy` prepares beside the project."""
    return ROOT / name


def _sam() -> str:
    own = _own(".venv-sam/bin/sam")
    found = str(own) if own.exists() else shutil.which("sam")
    if not found:
        raise CliError("sam is not here: pip install aws-sam-cli in an environment of its own")
    return found


def _path() -> str:
    """The path with Lambda's own Python first: `sam build` installs with its pip."""
    own = _own(".venv-313/bin/python3.13")
    found = str(own) if own.exists() else shutil.which("python3.13")
    if not found:
        raise CliError("python3.13 is not here: sam build installs with it what the functions need")
    return os.pathsep.join([str(Path(found).parent), os.environ.get("PATH", "")])


def deploy_check(options: argparse.Namespace) -> int:
    """1 when something is missing."""
    checks = (_tools, _credentials, _parameters, _account, _extensions)
    items: list[Item] = []
    for number, check in enumerate(checks, 1):
        items += check(options)
        progress("checking", number, len(checks))
    missing = [i for i in items if not i.ok and i.level == "error"]
    if options.json:
        put_json({"ready": not missing, "items": [asdict(i) for i in items]})
    else:
        for item in items:
            print(f"{mark(item.ok, item.level)} {item.name}: {item.message}")
        print(f"\nready: {FIRST}" if not missing else f"\n{len(missing)} to mend before {FIRST}")
    return 1 if missing else 0


def _tried(name: str, find: Callable[[], str], level: str = "error") -> Item:
    try:
        return Item(name, True, find(), level)
    except (LookupError, CliError) as error:
        return Item(name, False, str(error), level)


def _tools(options: argparse.Namespace) -> Iterator[Item]:
    """In the repository `make deploy` prepares both."""
    level = "warning" if IN_REPOSITORY else "error"
    yield _tried("sam", _sam, level)
    yield _tried("Python 3.13", lambda: _path().partition(os.pathsep)[0], level)


def _credentials(options: argparse.Namespace) -> Iterator[Item]:
    yield _tried("credentials", credentials)
    yield _tried("region", named)


def _given(options: argparse.Namespace) -> Mapping[str, str]:
    pairs = (str(pair).partition("=") for pair in options.parameters)
    return {name: value.strip('"') for name, _, value in pairs}


def _parameters(options: argparse.Namespace) -> Iterator[Item]:
    for sentence in wrong(options.parameters):
        yield Item("parameters", False, sentence)
    given = _given(options)
    for name, parameter in declared().items():
        if "Default" not in parameter:
            asked = f"name it to {FIRST}, the first time – {parameter['Description']}"
            yield Item(name, name in given, given.get(name) or asked, "warning")
    if given.get("Model", "offline") == "offline":
        told = "it matches phrases and understands no language; Model=bedrock:<id> does"
        yield Item("model", False, f"offline: {told}", "warning")


def _account(options: argparse.Namespace) -> Iterator[Item]:
    """What the functions would not start with, and what the account does not allow."""
    try:
        target = Target.of(options.rest)
        credentials()
    except LookupError:  # told above
        yield from settings(Deployment(_given(options)))
    else:
        yield from found(options.parameters, target)[0]


def _extensions(options: argparse.Namespace) -> Iterator[Item]:
    for folder, checked in problems(extensions_of(folder_of_extensions())):
        first = next((f"{f.file}:{f.line}: {f.message}" for f in checked.errors), "checked")
        yield Item(f"extension {folder.name}", not checked.errors, first)
