"""layers/webbee_kernel/Makefile, which `sam build` calls to make the kernel layer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from webbee_kernel import language
from webbee_kernel.language.registry import contents

LAYER = Path(__file__).parents[2] / "layers/webbee_kernel"
SHELL = ("find", "!", "-name", "-delete", "\\")


def printed() -> list[str]:
    """What the build would run; that it works is for tests/emulator, which start what was built."""
    done = subprocess.run(
        ["make", "--dry-run", "build-KernelLayer", "ARTIFACTS_DIR=/made"],
        cwd=LAYER,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split(";")


def test_the_layer_keeps_the_locales_of_the_languages_that_have_a_file() -> None:
    (line,) = [x for x in printed() if "locale-data" in x]
    kept = {word.removesuffix(".dat") for word in line.split() if word.endswith(".dat")}
    assert kept == {"root", *language.tags()}


def test_the_layer_keeps_the_stemmers_of_the_languages_that_have_a_file() -> None:
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
    if not module.name.startswith(("webbee_kernel.compat.", "webbee_kernel.mcp.client")):
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
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *gone], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
