"""`webbee deploy-check`: what is missing before a deployment. Looks at this machine and these
files; asks AWS nothing."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..project import COMMAND, IN_REPOSITORY, ROOT, folder_of_extensions
from ..region import credentials, named
from ..template import load_template
from .check import problems
from .show import mark, progress, put_json

FIRST = 'make deploy PARAMETERS="…"' if IN_REPOSITORY else f"{COMMAND} deploy --parameters …"
"""What deploys, with the template's parameters."""

_ADDRESSES = re.compile(r"\b(?:webhook_url|oauth_authorize_url)\(")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to have. `level` is error (deployment fails or nobody can use it) or warning."""

    name: str
    ok: bool
    message: str
    level: str = "error"


def deploy_check(options: argparse.Namespace) -> int:
    """1 when something is missing."""
    checks = (_tools, _account, _parameters, _model, _extensions, _public_url)
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
    sam = next(
        (p for p in (ROOT / ".venv-sam/bin/sam", shutil.which("sam")) if p and Path(p).exists()),
        None,
    )
    prepared = "make deploy installs it beside the project"
    lacking = prepared if IN_REPOSITORY else "not found: pip install aws-sam-cli, in its own venv"
    yield Item("sam", bool(sam) or IN_REPOSITORY, str(sam) if sam else lacking)
    python = next(
        (
            p
            for p in (ROOT / ".venv-313/bin/python3.13", shutil.which("python3.13"))
            if p and Path(p).exists()
        ),
        None,
    )
    probe = [str(python), "-c", "import ensurepip"]
    works = (
        python is not None
        and subprocess.run(probe, capture_output=True, check=False).returncode == 0  # noqa: S603
    )
    missing = "the functions' runtime, needed to build them: install Python 3.13 with pip"
    yield Item("Python 3.13", works, f"{python}" if works else missing)


def _account(options: argparse.Namespace) -> Iterator[Item]:
    for name, find in (("credentials", credentials), ("region", named)):
        try:
            yield Item(name, True, find())
        except LookupError as error:
            yield Item(name, False, str(error))


def _parameters(options: argparse.Namespace) -> Iterator[Item]:
    given = _given(Path(options.config))
    for name, parameter in load_template(ROOT / "template.yaml")["Parameters"].items():
        if "Default" not in parameter:
            value = given.get(name)
            asked = f"name it to {FIRST}, the first time – {parameter['Description']}"
            text = value or f"not in {Path(options.config).name}: {asked}"
            yield Item(name, bool(value), text, "warning")


def _given(config: Path) -> dict[str, str]:
    """The parameter overrides of a samconfig file, as a list or as one string."""
    if not config.exists():
        return {}
    settings: dict[str, Any] = tomllib.loads(config.read_text("utf-8"))
    overrides = (
        settings.get("default", {})
        .get("deploy", {})
        .get("parameters", {})
        .get("parameter_overrides", [])
    )
    pairs = overrides.split() if isinstance(overrides, str) else overrides
    return {k: v.strip('"') for k, _, v in (str(p).partition("=") for p in pairs)}


def _model(options: argparse.Namespace) -> Iterator[Item]:
    given = _given(Path(options.config))
    model = given.get("Model", "offline")
    offline = (
        "offline: it matches phrases and understands no language; Model=bedrock:<id> answers like a"
        " person"
    )
    yield Item("model", model != "offline", offline if model == "offline" else model, "warning")
    if model.startswith("bedrock:"):
        arns = given.get("BedrockModelArns", "")
        yield Item(
            "BedrockModelArns",
            bool(arns),
            arns or f"empty: the functions may not invoke {model.removeprefix('bedrock:')}",
        )


def _extensions(options: argparse.Namespace) -> Iterator[Item]:
    mains = sorted(folder_of_extensions().glob("*/main.py"))
    for folder, found in problems([main.parent for main in mains]):
        errors = [f for f in found if f.level == "error"]
        first = f"{errors[0].file}:{errors[0].line}: {errors[0].message}" if errors else "checked"
        yield Item(f"extension {folder.name}", not errors, first)


def _public_url(options: argparse.Namespace) -> Iterator[Item]:
    if names := giving_out_addresses(folder_of_extensions()):
        given = _given(Path(options.config)).get("PublicUrl", "")
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
