"""`webbee deploy` checks, builds with AWS SAM and deploys; `webbee deploy-check` says what is
missing before that: on this machine, in these files, in the account that the shell names."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

from ..deployability import Item, look, options_of, region_of, tried
from ..project import COMMAND, IN_REPOSITORY, ROOT, assemble, filled_folder, folder_of_extensions
from ..terminal import CliError, mark, paint, tell
from .authors import extensions_of, problems

BUILD = Path(".webbee") / "deployment"


def deploy(options: argparse.Namespace) -> int:
    """Look at the account and the extensions, build the deployment with them and hand it to
    `sam deploy`. Nothing is built where something is missing."""
    folder = filled_folder(options.into)
    items = [*look(options.parameters, options.rest), *_extensions(folder)]
    for line in (_line(item) for item in items if item.derived or not item.ok):
        print(line, file=sys.stderr)
    if _missing(items):
        raise CliError(f"nothing was built; of extensions {COMMAND} check tells the rest")
    place = ROOT
    if folder.resolve() != ROOT / "extensions":
        place = BUILD
        assemble(place, folder)
    region = region_of(options.rest)
    at = [] if options_of(options.rest).region else ["--region", region]
    overrides = f"Architecture={options.arch}"
    derived = [f"{item.name}={item.derived}" for item in items if item.derived]
    given = [overrides, f"Release={int(time.time())}", *derived, *options.parameters]
    build = ["build", "--parameter-overrides", overrides]
    sent = ["deploy", *at, "--parameter-overrides", *given, *options.rest]
    # `sam build` installs with Lambda's own Python, which it takes from the path
    path = os.pathsep.join([str(Path(_program(*PYTHON)).parent), os.environ.get("PATH", "")])
    env = {**os.environ, "AWS_REGION": region, "AWS_DEFAULT_REGION": region, "PATH": path}
    env |= {"ARCH": options.arch, "SAM_CLI_TELEMETRY": "0"}
    print(f"region: {region}\nbuilding for {options.arch} (a minute where something changed)…")
    sys.stdout.flush()
    sam = _program(*SAM)
    for command in (build, sent):
        done = subprocess.run([sam, *command], cwd=place, env=env, check=False)  # noqa: S603
        if done.returncode:
            return done.returncode
    print(paint("deployed", "green"))
    return 0


def _line(item: Item) -> str:
    return f"{mark(item.ok, item.level)} {item.name}: {item.message}"


def _missing(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if not item.ok and item.level == "error"]


def _program(own: str, remedy: str) -> str:
    """Its path, as `make deploy` prepares it beside the project, or the shell's; CliError where
    there is none."""
    prepared = ROOT / own
    found = str(prepared) if prepared.exists() else shutil.which(prepared.name)
    if not found:
        raise CliError(f"{prepared.name} is not here: {remedy}")
    return found


SAM = (".venv-sam/bin/sam", "pip install aws-sam-cli in an environment of its own")
PYTHON = (".venv-313/bin/python3.13", "sam build installs with it what the functions need")


def deploy_check(options: argparse.Namespace) -> int:
    """1 when something is missing."""
    folder = folder_of_extensions()
    level = "warning" if IN_REPOSITORY else "error"  # where `make deploy` prepares both
    tools = {"sam": SAM, "Python 3.13": PYTHON}
    items = [tried(name, partial(_program, *tool), level) for name, tool in tools.items()]
    items += [*look(options.parameters, options.rest), *_extensions(folder)]
    missing = _missing(items)
    lines = [_line(item) for item in items]
    lines += [f"\n{len(missing)} to mend before {COMMAND} deploy" if missing else "\nready"]
    tell(options, {"ready": not missing, "items": [asdict(i) for i in items]}, lines)
    return 1 if missing else 0


def _extensions(folder: Path) -> Iterator[Item]:
    for one, checked in problems(extensions_of(folder)):
        first = next((f"{one / f.file}:{f.line}: {f.message}" for f in checked.errors), "checked")
        yield Item(f"extension {one.name}", not checked.errors, first)
