"""The Makefiles that `sam build` calls to make the layers of the kernel and of the extensions."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from local.template import TEMPLATE_PATH
from tests.processes import ran
from webbee_kernel import language
from webbee_kernel.language.resources import contents

LAYER = Path(__file__).parents[2] / "layers/webbee_kernel"
SHELL = ("find", "!", "-name", "-delete", "\\")


def printed() -> list[str]:
    """What the build would run; that it works is for tests/emulator, which start what was built."""
    done = ran("make", "--dry-run", "build-KernelLayer", "ARTIFACTS_DIR=/made", cwd=LAYER)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(";")


def test_the_layer_keeps_locales_and_stemmers_of_the_languages_that_have_a_file() -> None:
    (line,) = [x for x in printed() if "locale-data" in x]
    kept = {word.removesuffix(".dat") for word in line.split() if word.endswith(".dat")}
    assert kept == {"root", *language.tags()}
    (line,) = [x for x in printed() if "_stemmer.py" in x]
    kept = {word.partition("_stemmer")[0] for word in line.split() if word[0] not in "'\"/"}
    assert {contents(tag)["stemmer"] for tag in language.tags()} == kept - set(SHELL)


WITHOUT = """
import importlib, pkgutil, sys

class Gone:
    def find_spec(self, name, path=None, target=None):
        if any(name == gone or name.startswith(gone + ".") for gone in sys.argv[1:]):
            raise ImportError(f"{name} is not in the layer")

sys.meta_path.insert(0, Gone())
import webbee_kernel
for module in pkgutil.walk_packages(webbee_kernel.__path__, "webbee_kernel."):
    if not module.name.startswith(("webbee_kernel.compat", "webbee_kernel.mcp.server_session")):
        importlib.import_module(module.name)
import babel.dates, babel.lists, babel.numbers, babel.units, boto3, phonenumbers
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import EphemeralMetrics
from aws_lambda_powertools.utilities.batch import AsyncBatchProcessor
from aws_lambda_powertools.utilities.parameters import SecretsProvider
boto3.client("dynamodb", region_name="eu-central-1")
"""


def test_the_kernel_imports_nothing_that_the_layer_drops() -> None:
    """Also not by way of what it keeps of the same library."""
    (line,) = [x for x in printed() if "event_handler" in x]
    gone = [w.strip(")").replace("/", ".") for w in line.split() if "/" in w and w[0] != '"']
    assert {"aws_lambda_powertools.event_handler", "babel.messages"} < set(gone)
    done = ran(sys.executable, "-c", WITHOUT, *gone)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """An extensions folder with one extension, one half-made folder and what editors and tests
    leave behind."""
    folder = tmp_path / "extensions"
    left = ("tests/test_mail.py", "__pycache__/main.pyc", ".env", "../draft/notes.txt")
    for name in ("main.py", "views/inbox.py", *left):
        (file := folder / "mail" / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    for name in ("Makefile", "check_requirements.py"):
        shutil.copy(TEMPLATE_PATH.parent / "extensions" / name, folder)
    return folder


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `python3.13` first on the PATH that only writes down its arguments, but for the check of
    the requirements, which runs; the test has no network."""
    recorded = tmp_path / "arguments"
    fake = tmp_path / "bin" / "python3.13"
    fake.parent.mkdir()
    check = f'case "$1" in check_requirements.py) exec "{sys.executable}" "$@";; esac'
    fake.write_text(f'#!/bin/sh\n{check}\necho "$@" >> "{recorded}"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    return recorded


def build(sources: Path, artifacts: Path, **variables: str) -> set[str]:
    makes = ("ARCH", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES")
    clean = {name: value for name, value in os.environ.items() if name not in makes}
    env = {**clean, "ARTIFACTS_DIR": str(artifacts), **variables}
    done = ran("make", "build-ExtensionsLayer", cwd=sources, env=env)
    assert done.returncode == 0, done.stderr
    return {str(path.relative_to(artifacts)) for path in artifacts.rglob("*") if path.is_file()}


def test_it_takes_extensions_without_tests_and_requirements_for_the_runtime(
    sources: Path, pip: Path, tmp_path: Path
) -> None:
    files = ("main.py", "views/inbox.py")
    built = build(sources, tmp_path / "layer")
    assert built == {f"webbee_extensions/mail/{file}" for file in files}
    assert pip.read_text() == "-m compileall -q -j 0 --invalidation-mode unchecked-hash .\n"
    (sources / "mail/requirements.txt").write_text("")
    for arch, of in (("arm64", "aarch64"), ("x86_64", "x86_64")):
        pip.unlink()
        build(sources, tmp_path / arch, ARCH=arch)
        arguments = pip.read_text()
        assert f"--target {tmp_path}/{arch}/python" in arguments
        assert "--python-version 3.13 --only-binary :all:" in arguments
        assert f"--platform manylinux2014_{of} --platform manylinux_2_28_{of}" in arguments
        assert "--requirement mail/requirements.txt" in arguments
