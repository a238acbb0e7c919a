"""Extensions share module names and never each other's modules."""

import asyncio
import sys
from pathlib import Path
from types import ModuleType

import pytest

from webbee_kernel.extensions.loader import load_main


def folder(root: Path, name: str, **files: str) -> Path:
    """`app__sub="…"` becomes `app/sub.py`."""
    for file, text in files.items():
        path = root / name / (file.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root / name


def load(root: Path, name: str, **files: str) -> ModuleType:
    return load_main(name, folder(root, name, **files))


def test_two_extensions_with_the_same_file_names_get_each_their_own(tmp_path: Path) -> None:
    one = load(
        tmp_path, "one", main="import handlers\nVALUE = handlers.NAME", handlers="NAME = 'one'"
    )
    two = load(tmp_path, "two", main="from handlers import NAME as VALUE", handlers="NAME = 'two'")
    assert (one.VALUE, two.VALUE, one.handlers.NAME) == ("one", "two", "one")
    assert "handlers" not in sys.modules


def test_an_import_inside_a_handler_finds_the_own_module_later(tmp_path: Path) -> None:
    late = "def handler():\n    import late\n    return late.NAME"
    one = load(tmp_path, "one", main=late, late="NAME = 'one'")
    two = load(tmp_path, "two", main=late, late="NAME = 'two'")
    assert (one.handler(), two.handler(), one.handler()) == ("one", "two", "one")


def test_a_module_is_run_once_and_is_one_object_for_all_who_import_it(tmp_path: Path) -> None:
    files = {
        "main": "import a, b",
        "a": "import state\nstate.seen.append('a')",
        "b": "from state import seen\nseen.append('b')",
        "state": "seen = []",
    }
    main = load(tmp_path, "app", **files)
    assert main.a.state is sys.modules["webbee_ext.app.state"]
    assert main.b.seen == ["a", "b"]


@pytest.mark.parametrize(
    "main",
    [
        "import views.board\nVALUE = views.board.NAME",
        "import views.board as board\nVALUE = board.NAME",
        "from views import board\nVALUE = board.NAME",
        "from views.board import NAME as VALUE",
        "from .views import board\nVALUE = board.NAME",
        "from . import helper\nVALUE = helper.VALUE",
    ],
)
@pytest.mark.parametrize("package", [True, False])
def test_folders_of_modules_work_in_every_spelling(
    tmp_path: Path, main: str, package: bool
) -> None:
    files = {
        "main": main,
        "views__board": "NAME = 'board'",
        "helper": "from views.board import NAME as VALUE",
    }
    if package:
        files["views____init__"] = ""
    assert load(tmp_path, "app", **files).VALUE == "board"


def test_what_is_missing_is_missing_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        load(tmp_path, "one", main="import nothing_of_this_name")
    with pytest.raises(ImportError, match="absent"):
        load(tmp_path, "two", main="from helper import absent", helper="")


def test_a_file_named_like_a_standard_module_hides_it_from_nobody(tmp_path: Path) -> None:
    main = load(
        tmp_path,
        "app",
        main="import json, email.message\nVALUE = json.dumps([1])",
        json="raise RuntimeError('mine')",
    )
    assert main.VALUE == "[1]"
    assert sys.modules["json"].__file__ != str(tmp_path / "app" / "json.py")


def test_the_sdk_cannot_be_replaced_by_a_file_of_its_name(tmp_path: Path) -> None:
    main = load(
        tmp_path,
        "app",
        main="from webbee_kernel.sdk import Extension\next = Extension('app')",
        webbee_kernel="Extension = None",
    )
    assert main.ext.app_id == "app"


def test_loading_again_runs_the_new_code(tmp_path: Path) -> None:
    assert load(tmp_path, "app", main="import part\nVALUE = part.N", part="N = 1").VALUE == 1
    (tmp_path / "app" / "part.py").write_text("N = 22222", "utf-8")
    assert load_main("app", tmp_path / "app").VALUE == 22222


def test_a_dash_in_the_id_is_no_obstacle(tmp_path: Path) -> None:
    assert load(tmp_path, "my-app", main="import part\nVALUE = part.N", part="N = 1").VALUE == 1


def test_annotations_and_async_code_work_as_in_any_module(tmp_path: Path) -> None:
    source = (
        "from __future__ import annotations\nimport typing\nfrom pydantic import BaseModel\nfrom"
        " dataclasses import dataclass\n@dataclass\nclass Row:\n    n: int\nclass"
        " Params(BaseModel):\n    rows: list[Row]\nasync def handler(ctx, params: Params):\n   "
        " import late\n    return late.total(params.rows)\nHINT ="
        " typing.get_type_hints(handler)['params']"
    )
    main = load(
        tmp_path, "app", main=source, late="def total(rows):\n    return sum(r.n for r in rows)"
    )
    assert main.HINT is main.Params
    assert asyncio.run(main.handler(None, main.Params(rows=[{"n": 2}, {"n": 3}]))) == 5


class Importing(str):
    """The name of a module; whoever looks at it is held up while another thread imports."""

    def __add__(self, other: str) -> str:
        sys.modules.setdefault("imported_meanwhile", ModuleType("imported_meanwhile"))
        return str(self) + other


def test_what_other_threads_import_meanwhile_keeps_none_from_loading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, Importing("held_up"), ModuleType("held_up"))
    monkeypatch.delitem(sys.modules, "imported_meanwhile", raising=False)
    try:
        assert load(tmp_path, "alone", main="LOADED = True").LOADED
    finally:
        sys.modules.pop("imported_meanwhile", None)
