"""extensions/Makefile, which `sam build` calls to make the extensions layer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from local.template import TEMPLATE_PATH

MAKEFILE = TEMPLATE_PATH.parent / "extensions" / "Makefile"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """An extensions folder with one extension, one half-made folder and what editors and tests
    leave behind."""
    folder = tmp_path / "extensions"
    for name in (
        "mail/main.py",
        "mail/views/inbox.py",
        "mail/tests/test_mail.py",
        "mail/__pycache__/main.pyc",
        "mail/.env",
        "draft/notes.txt",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    for path in (MAKEFILE, MAKEFILE.with_name("check_requirements.py")):
        shutil.copy(path, folder)
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
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("ARCH", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES")
    }
    env = {**clean, "ARTIFACTS_DIR": str(artifacts), **variables}
    subprocess.run(
        ["make", "build-ExtensionsLayer"],
        cwd=sources,
        env=env,
        check=True,
        capture_output=True,
        timeout=30,
    )
    return {str(path.relative_to(artifacts)) for path in artifacts.rglob("*") if path.is_file()}


def test_it_takes_extensions_without_their_tests_and_caches(
    sources: Path, pip: Path, tmp_path: Path
) -> None:
    assert build(sources, tmp_path / "layer") == {
        "webbee_extensions/mail/main.py",
        "webbee_extensions/mail/views/inbox.py",
    }
    assert pip.read_text() == "-m compileall -q -j 0 --invalidation-mode unchecked-hash .\n"


@pytest.mark.parametrize(("arch", "platform"), [("arm64", "aarch64"), ("x86_64", "x86_64")])
def test_it_installs_requirements_for_the_runtime_and_not_for_this_machine(
    sources: Path, pip: Path, tmp_path: Path, arch: str, platform: str
) -> None:
    (sources / "mail/requirements.txt").write_text("")

    build(sources, tmp_path / "layer", ARCH=arch)

    arguments = pip.read_text()
    assert f"--target {tmp_path}/layer/python" in arguments
    assert "--python-version 3.13 --only-binary :all:" in arguments
    assert f"--platform manylinux2014_{platform} --platform manylinux_2_28_{platform}" in arguments
    assert "--requirement mail/requirements.txt" in arguments
