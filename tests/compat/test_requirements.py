"""extensions/check_requirements.py: what extensions require is checked, by name, before the layer
is built."""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pip
import pytest

from tests.processes import ran

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "check_requirements", ROOT / "extensions" / "check_requirements.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


AGREE = {
    "different packages": ("a==1", "b==2"),
    "a range around a pin": ("httpx>=0.20,<1", "httpx==0.28.1"),
    "ranges that overlap": ("httpx>=0.20", "httpx<0.28"),
    "room between two numbers": ("httpx>1", "httpx<1.1"),
    "compatible releases": ("httpx~=1.4", "httpx==1.9.2"),
    "a prefix": ("httpx==1.4.*", "httpx>=1.4.7"),
    "no wish at all": ("httpx", "httpx==3"),
    "other spellings and extras": ("Foo.Bar[x]==1", "foo_bar==1  # a comment"),
    "options and addresses": ("-r a.txt\n--index-url https://a.b\nhttpx @ https://a/x", "httpx==1"),
    "hashes over several lines": (
        "httpx==1 \\\n  --hash=sha256:1 \\\n  --hash=sha256:2",
        "httpx<2",
    ),
}
CLASH = {
    "two pins": ("==1", "==2"),
    "a pin outside a range": (">=2", "==1.5"),
    "ranges apart": (">=2", "<2"),
    "a pin that is excluded": ("==1.2", "!=1.2.0"),
    "a compatible release passed": ("~=1.4", ">=2"),
    "a prefix passed": ("==1.4.*", "==1.5"),
}


@pytest.mark.parametrize(("mail", "tasks"), AGREE.values(), ids=AGREE.keys())
def test_two_extensions_agree_on(check: ModuleType, mail: str, tasks: str) -> None:
    assert check.conflicts({"mail": mail, "tasks": tasks}) == []
    assert check.conflicts({"mail": tasks, "tasks": mail}) == []


@pytest.mark.parametrize(("mail", "tasks"), CLASH.values(), ids=CLASH.keys())
def test_two_that_cannot_agree_are_named(check: ModuleType, mail: str, tasks: str) -> None:
    words = f"mail wants {mail}, tasks wants {tasks}"
    told = check.conflicts({"mail": f"httpx{mail}", "tasks": f"httpx{tasks}"})
    assert told == [f"httpx: {words}"]
    spelt = {"mail": f"Foo.Bar{mail}", "tasks": f"foo_bar{tasks}"}
    assert check.conflicts(spelt) == [f"foo-bar: {words}"]


def test_three_that_agree_in_pairs_only_are_named_together(check: ModuleType) -> None:
    agreed = {"a": "x!=1,<=2", "b": "x>=1,!=1.5,<1.6,!=1.0.1", "c": "x==1.5.*,!=1.5.1"}
    assert check.conflicts(agreed) == []
    told = check.conflicts({"a": "x<=1", "b": "x>=1", "c": "x!=1"})
    assert told == ["x: a wants <=1, b wants >=1, c wants !=1"]


def test_the_kernels_own_versions_are_a_party(tmp_path: Path, written: Callable[..., Path]) -> None:
    for name in ("check_requirements.py", "constraints.txt"):
        shutil.copy(ROOT / "extensions" / name, tmp_path)
    written("mail", "", **{"requirements.txt": "pydantic<2\n"})
    done = ran(sys.executable, "check_requirements.py", "mail", cwd=tmp_path)
    assert done.returncode == 1
    assert "pydantic: mail wants <2, the kernel wants ==" in done.stderr


def test_the_sdk_comes_by_itself_unless_somebody_names_a_version(check: ModuleType) -> None:
    extensions = Path(__file__).parent / "extensions"
    assert check.additional([extensions / "shelf"], {}) == ["imperal-sdk==6.3.7"]
    assert check.additional([extensions / "shelf"], {"other": "Imperal_SDK>=5"}) == []
    assert check.additional([ROOT / "extensions" / "mail"], {}) == []


def test_the_constraints_are_the_layers_versions() -> None:
    layers = (ROOT / "layers" / name for name in ("webbee_kernel", "mcp"))
    locks = [(layer / "requirements.txt").read_text("utf-8") for layer in layers]
    pins = {line.split(" ")[0] for lock in locks for line in lock.splitlines() if "==" in line}
    listed = set((ROOT / "extensions/constraints.txt").read_text("utf-8").splitlines()[1:])
    assert listed == pins


def test_what_a_dropped_in_extension_requires_is_there_or_stops_nothing(
    tmp_path: Path, written: Callable[..., Path]
) -> None:
    """The environment stands beside the extensions; its path has a space, as a clone's may."""
    for name in ("Makefile", "check_requirements.py", "constraints.txt"):
        shutil.copy(ROOT / "extensions" / name, tmp_path)
    wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    named = "Metadata-Version: 2.1\nName: honey\nVersion: 1.0\n"
    with zipfile.ZipFile(tmp_path / "honey-1.0-py3-none-any.whl", "w") as file:
        file.writestr("honey.py", "VALUE = 1\n")
        for part, text in (("METADATA", named), ("WHEEL", wheel), ("RECORD", "")):
            file.writestr(f"honey-1.0.dist-info/{part}", text)
    needs = f"--no-index\n--find-links '{tmp_path}'\nhoney==1.0\n"
    written("mail", "import honey\n", **{"requirements.txt": needs})
    venv.create(own := tmp_path / "its env", with_pip=False)
    # a pip of its own takes longer to install than all the rest
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(own)}))
    (packages / "pip").symlink_to(Path(pip.__file__).parent)

    def install() -> subprocess.CompletedProcess[str]:
        """What `make run` and `make demo` do first."""
        words = ("make", "--no-print-directory", "install", f"ENVIRONMENT={own}")
        return ran(*words, cwd=tmp_path)

    first, second = install(), install()
    assert (first.returncode, "installing" in first.stdout) == (0, True), first
    assert ran(own / "bin/python", "-c", "import honey").returncode == 0
    assert (second.returncode, second.stdout) == (0, "")  # once
    (tmp_path / "mail" / "requirements.txt").write_text("--no-index\nno-such-package==1.0\n")
    third = install()
    assert third.returncode == 0
    assert "not all of it could be installed: ./webbee check" in third.stderr


def test_pins_of_the_sdk_that_cannot_all_be_had_are_advice_and_one_pin_holds(
    check: ModuleType,
    written: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # as the Makefile asks: by names, whatever the folders stand in
    for name, text in (
        ("shelf", "imperal-sdk==5.9.0\nhoney==1.0\n"),
        ("weather", "imperal_sdk==6.3.7\n"),
        ("plain", "honey>=1\n"),
    ):
        written(name, "import imperal_sdk\n", **{"requirements.txt": text})
    assert check.main(["shelf", "weather", "plain"]) == 0
    out, err = capsys.readouterr()
    assert "shelf wants ==5.9.0, weather wants ==6.3.7; all get imperal-sdk==6.3.7" in err
    arguments = out.split()
    assert arguments[-1] == "imperal-sdk==6.3.7"
    files = [Path(a).read_text("utf-8") for a in arguments[1:-1:2]]
    assert files == ["honey==1.0\n", "", "honey>=1\n"]
    assert check.main([str(tmp_path / "shelf")]) == 0
    said = f"--requirement\n{tmp_path.as_posix()}/shelf/requirements.txt\n"
    assert capsys.readouterr() == (said, "")
