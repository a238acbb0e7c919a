"""layers/webbee_kernel/Makefile, which `sam build` calls to make the kernel layer."""

from __future__ import annotations

import subprocess
from pathlib import Path

from webbee_kernel import language

LAYER = Path(__file__).parents[2] / "layers/webbee_kernel"


def test_the_layer_keeps_the_locales_of_the_languages_that_have_a_file() -> None:
    """Printed, not run: the same line with pip's answer is tests/emulator/test_languages.py."""
    printed = subprocess.run(
        ["make", "--dry-run", "build-KernelLayer", "ARTIFACTS_DIR=/made"],
        cwd=LAYER,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (line,) = [x for x in printed.split(";") if "locale-data" in x]
    kept = {word.removesuffix(".dat") for word in line.split() if word.endswith(".dat")}
    assert kept == {"root", *language.tags()}
