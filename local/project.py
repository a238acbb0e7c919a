"""Where the project's own files are: in the repository, or in what pip installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import webbee_kernel
from webbee_kernel.mcp.server_tools import APPROVED

from .terminal import CliError

HERE: Final = Path(__file__).resolve().parent
IN_REPOSITORY: Final = (HERE.parent / "template.yaml").exists()
COMMAND: Final = "./webbee" if IN_REPOSITORY else "webbee"
"""How its user calls the command line."""
URL: Final = "http://127.0.0.1:8000"
"""Where it is served unless somebody says otherwise."""
SERVE: Final = "make run" if IN_REPOSITORY else f"{COMMAND} dev"
"""How its user serves what is here."""
ROOT: Final = HERE.parent if IN_REPOSITORY else HERE / "deployment"
"""template.yaml, functions/ and what builds the layers."""
KERNEL: Final = Path(webbee_kernel.__file__).resolve().parent
EXTENSIONS: Final = Path("extensions")
LAYERS: Final = ("layers/webbee_kernel", "layers/mcp")
BUILDS: Final = (
    *("template.yaml", "samconfig.toml", "functions"),
    *(f"{layer}/{name}" for layer in LAYERS for name in ("Makefile", "requirements.txt")),
    *(f"extensions/{n}" for n in ("Makefile", "check_requirements.py", "constraints.txt")),
)
"""What `sam build` takes, beside the kernel and extensions."""


def folder_of_extensions(named: str = "") -> Path:
    """The folder named; else `extensions` beside the caller, or the caller's own folder where it
    holds extensions, or the repository's."""
    if named:
        return Path(named)
    if EXTENSIONS.is_dir():
        return EXTENSIONS
    here = Path()
    return here if any(here.glob("*/main.py")) or not IN_REPOSITORY else ROOT / EXTENSIONS


def filled_folder(named: str = "") -> Path:
    """The same; CliError where it holds no extension."""
    folder = folder_of_extensions(named)
    if not any(folder.glob("*/main.py")):
        raise CliError(f"{folder} holds no extension: {COMMAND} new <id> writes one")
    return folder


def child_environment() -> Mapping[str, str]:
    """The environment of a Python of ours that imports what this one does."""
    paths = [str(KERNEL.parent), str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}


def assemble(target: Path, extensions: Path) -> None:
    """What `sam build` takes, made anew in `target`: the project's files, the kernel that is
    running here, and a folder of extensions without their tests."""
    shutil.rmtree(target, ignore_errors=True)
    skip = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
    for name in BUILDS:
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copy)
    shutil.copytree(KERNEL, target / LAYERS[0] / "webbee_kernel", ignore=skip)
    if (extensions / APPROVED).exists():
        shutil.copy(extensions / APPROVED, target / "extensions" / APPROVED)
    without = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "tests")
    for main in sorted(extensions.glob("*/main.py")):
        shutil.copytree(main.parent, target / "extensions" / main.parent.name, ignore=without)
