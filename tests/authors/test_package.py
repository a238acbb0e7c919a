"""What pip makes of this repository: the SDK with its types, the harness and the command, for a
folder of extensions that is somewhere else. Built and installed without a network."""

import json
import os
import re
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

from tests.processes import ran

ROOT = Path(__file__).resolve().parents[2]
CLEAN = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run(*command: str | Path, cwd: Path) -> str:
    done = ran(*command, cwd=cwd, env=CLEAN)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a fresh environment with the wheel; the libraries it requires are this one's."""
    pytest.importorskip("hatchling")
    made = tmp_path_factory.mktemp("package")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", made, cwd=ROOT)
    venv.create(made / "env", with_pip=False)  # a pip of its own costs more than all the rest
    (wheel,) = made.glob("*.whl")
    pip = (sys.executable, "-m", "pip", "--python", made / "env/bin/python", "install", "-q")
    run(*pip, "--no-index", "--no-deps", "--no-compile", wheel, cwd=made)
    (site,) = (made / "env/lib").glob("python3*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return made / "env/bin"


@pytest.fixture(scope="module")
def elsewhere(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    assert "extensions/weather/main.py" in run(installed / "webbee", "new", "weather", cwd=folder)
    return folder


def test_a_new_extension_is_tested_outside_the_repository_and_deployed_of_what_was_installed(
    installed: Path, elsewhere: Path
) -> None:
    assert "weather: nothing to mend" in run(installed / "webbee", "check", cwd=elsewhere)
    assert "passed" in run(installed / "webbee", "test", "weather", cwd=elsewhere)
    code = "from webbee_local.project import Path, assemble; assemble(Path('made'), Path('extensions'))"
    run(installed / "python", "-c", code, cwd=elsewhere)
    made = elsewhere / "made"
    for name in """template.yaml samconfig.toml functions/chat_turn/handler.py
        layers/webbee_kernel/Makefile layers/webbee_kernel/requirements.txt
        layers/webbee_kernel/webbee_kernel/sdk/__init__.py layers/mcp/Makefile
        layers/mcp/requirements.txt extensions/Makefile extensions/weather/main.py""".split():
        assert (made / name).is_file(), name
    assert not (made / "extensions/weather/tests").exists()


def test_an_editor_resolves_the_sdk_and_finds_mistakes(installed: Path, elsewhere: Path) -> None:
    code = "from webbee_kernel.sdk import Context\nfrom webbee_kernel.testing import ExtensionHarness\n"
    code += "async def f(ctx: Context) -> None:\n    await ctx.store.creat('a', {})\n"
    (elsewhere / "wrong.py").write_text(code, "utf-8")
    (elsewhere / "pyrefly.toml").write_text('preset = "default"\n', "utf-8")
    pyrefly = Path(sysconfig.get_path("scripts")) / "pyrefly"
    command = [pyrefly, "check", "--python-interpreter-path", installed / "python"]
    wrong = ["--output-format", "json", elsewhere / "wrong.py"]
    done = ran(*command, *wrong, cwd=elsewhere, env=CLEAN)
    errors = json.loads(done.stdout[done.stdout.index("{") :])["errors"]
    assert [(e["line"], e["name"]) for e in errors] == [(4, "missing-attribute")]


def test_the_package_requires_what_the_locks_are_compiled_from() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [
        line
        for file in ("kernel.in", "local.in")
        for line in (ROOT / "requirements" / file).read_text("utf-8").splitlines()
        if re.match(r"[a-z]", line)
    ]
    assert project["dependencies"] == named
