"""`webbee deploy-check`: what is missing before a deployment: on this machine, in these files, in
the account that the shell names, and whether the models answer."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from webbee_kernel.config import Settings
from webbee_kernel.errors import SettingsError

from ..deployability import (
    STACK,
    Item,
    clients_of,
    credentials,
    found,
    named,
    option,
    settings,
)
from ..parameters import Deployment, declared, wrong
from ..project import COMMAND, IN_REPOSITORY, ROOT, folder_of_extensions
from ..terminal import mark, progress, put_json
from .authors import problems

FIRST = 'make deploy PARAMETERS="…"' if IN_REPOSITORY else f"{COMMAND} deploy --parameters …"
"""What deploys, with the template's parameters."""

NOTHING = '""'
"""What empties a parameter."""

_ADDRESSES = re.compile(r"\b(?:webhook_url|oauth_authorize_url)\(")


def deploy_check(options: argparse.Namespace) -> int:
    """1 when something is missing."""
    checks = (_tools, _credentials, _parameters, _model, _account, _extensions, _public_url)
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


def _tools(options: argparse.Namespace) -> Iterator[Item]:
    own = ROOT / ".venv-sam/bin/sam"
    sam = own if own.exists() else shutil.which("sam")
    prepared = "make deploy installs it beside the project"
    lacking = prepared if IN_REPOSITORY else "not found: pip install aws-sam-cli, in its own venv"
    yield Item("sam", bool(sam) or IN_REPOSITORY, str(sam) if sam else lacking)
    python = next(filter(_builds, _pythons()), None)
    missing = "the functions' runtime, needed to build them: install Python 3.13 with pip"
    yield Item("Python 3.13", python is not None, str(python or missing))


def _pythons() -> Iterator[Path]:
    """Where the functions' Python may be, in the order in which `make build` looks."""
    yield ROOT / ".venv-313/bin/python3.13"
    yield from (Path(named) for named in os.environ.get("PYTHON313", "").split())
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/3.13*/bin/python3.13"))
    if found := shutil.which("python3.13"):
        yield Path(found)


def _builds(python: Path) -> bool:
    """Whether a Python runs and can make environments; a version manager's shim may not."""
    probe = [str(python), "-c", "import ensurepip"]
    return python.exists() and (
        subprocess.run(probe, capture_output=True, check=False).returncode == 0  # noqa: S603
    )


def _credentials(options: argparse.Namespace) -> Iterator[Item]:
    for name, find in (("credentials", credentials), ("region", named)):
        try:
            yield Item(name, True, find())
        except LookupError as error:
            yield Item(name, False, str(error))


def _parameters(options: argparse.Namespace) -> Iterator[Item]:
    given = _given(options)
    for sentence in wrong(f"{name}={value or NOTHING}" for name, value in given.items()):
        yield Item("parameters", False, sentence)
    for name, parameter in declared().items():
        if "Default" not in parameter:
            value = given.get(name)
            asked = f"name it to {FIRST}, the first time – {parameter['Description']}"
            text = value or f"not in {Path(options.config).name}: {asked}"
            yield Item(name, bool(value), text, "warning")


def _given(options: argparse.Namespace) -> dict[str, str]:
    """The parameters of the command line over those of the samconfig file."""
    pairs = [*_of_file(Path(options.config)), *options.parameters]
    return {k: v.strip('"') for k, _, v in (str(p).partition("=") for p in pairs)}


def _of_file(config: Path) -> list[str]:
    """The parameter overrides of a samconfig file, as a list or as one string."""
    if not config.exists():
        return []
    found: dict[str, Any] = tomllib.loads(config.read_text("utf-8"))
    overrides = (
        found.get("default", {})
        .get("deploy", {})
        .get("parameters", {})
        .get("parameter_overrides", [])
    )
    return overrides.split() if isinstance(overrides, str) else list(overrides)


def _model(options: argparse.Namespace) -> Iterator[Item]:
    model = _given(options).get("Model", "offline")
    offline = (
        "offline: it matches phrases and understands no language; Model=bedrock:<id> answers like a"
        " person"
    )
    yield Item("model", model != "offline", offline if model == "offline" else model, "warning")


def _account(options: argparse.Namespace) -> Iterator[Item]:
    """What the functions would not start with, and what the account does not allow."""
    try:
        region = named()
        credentials()
    except LookupError:  # told above
        yield from settings(Deployment(_given(options)))
        return
    given = [f"{name}={value}" for name, value in _given(options).items()]
    stack = option("--stack-name", options.rest) or STACK
    yield from found(given, region, stack, clients_of(region))[0]


def _extensions(options: argparse.Namespace) -> Iterator[Item]:
    mains = sorted(folder_of_extensions().glob("*/main.py"))
    for folder, checked in problems([main.parent for main in mains]):
        first = next((f"{f.file}:{f.line}: {f.message}" for f in checked.errors), "checked")
        yield Item(f"extension {folder.name}", not checked.errors, first)


def _public_url(options: argparse.Namespace) -> Iterator[Item]:
    if names := giving_out_addresses(folder_of_extensions()):
        asked = _given(options).get("Options", "")
        try:
            given = Settings.from_env({"WEBBEE_OPTIONS": asked}).public_url
        except SettingsError:  # told with the parameters
            return
        text = (
            f"empty: {', '.join(names)} give out addresses of the API; set it after the first"
            " deployment (output ApiUrl)"
        )
        yield Item("PublicUrl", bool(given), given or text, "warning")


def giving_out_addresses(folder: Path) -> list[str]:
    """Extensions of a folder that name webhooks or begin sign-ins: they need the API's own
    address."""
    code = {
        main.parent.name: main.parent.rglob("[!.]*.py") for main in sorted(folder.glob("*/main.py"))
    }
    return [
        app
        for app, files in code.items()
        if any(_ADDRESSES.search(f.read_text("utf-8", "replace")) for f in files)
    ]
