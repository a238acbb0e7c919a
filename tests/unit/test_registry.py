"""The deployed extensions: each loaded with modules of its own, and the catalogue they add up
to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from webbee_kernel.catalogue import Catalogue
from webbee_kernel.extensions.loader import load_main
from webbee_kernel.extensions.registry import load_folder
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension
from webbee_kernel.testing import registry_of

Write = Callable[..., Path]
MAIN = "from webbee_kernel.sdk import Extension\nwhatever = Extension('claimed', '2.1.0')\n"


@pytest.mark.parametrize(
    ("main", "reason"),
    [
        ("import missing_module_x", "No module named 'missing_module_x' (main.py:1)"),
        ("import sys\nsys.exit(3)", "SystemExit: 3 (main.py:2)"),
        ("\n\nraise RuntimeError('no key')", "RuntimeError: no key (main.py:3)"),
        ("import sub.deep", "RuntimeError: too deep (sub/deep.py:2)"),
        ("import json\njson.loads('{')", "(main.py:2)"),
        ("raise ValueError(__file__)", "ValueError: broken/main.py (main.py:1)"),
        ("raise ValueError('x' * 9000)", "x… (main.py:1)"),
    ],
)
def test_one_that_fails_is_told_shortly_with_its_own_line_and_the_others_work(
    tmp_path: Path, written: Write, main: str, reason: str
) -> None:
    written("broken", main, **{"sub/deep.py": "\nraise RuntimeError('too deep')\n"})
    written("good", MAIN)
    (tmp_path / "no_main_here").mkdir()
    registry = load_folder(tmp_path)
    assert list(registry.loaded) == ["good"] and list(registry.failed) == ["broken"]
    found = registry.failed["broken"]
    assert found.endswith(reason) and str(tmp_path) not in found and len(found) < 600
    apps = registry.catalogue().apps
    assert apps["broken"].error and not apps["broken"].functions and not apps["good"].error


def test_extensions_that_are_exchanged_while_the_catalogue_is_made_are_in_the_next() -> None:
    registry = registry_of(Extension("mail", "1"))

    class Slow(BaseModel):
        @classmethod
        def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
            registry.put(registry_of(Extension("notes", "1")).loaded, gone=["mail"])
            return handler(core)

    tasks = Extension("tasks", "1")

    @ChatExtension(tasks).function("add", "Adds")
    async def add(ctx: Any, params: Slow) -> ActionResult:
        return ActionResult.success({}, "")

    registry.put(registry_of(tasks, Extension("mail", "1")).loaded)
    before = registry.loaded.items()
    assert list(registry.catalogue().apps) == ["mail", "tasks"]
    assert list(registry.catalogue().apps) == ["notes", "tasks"]
    assert {app_id for app_id, _ in before} == {"mail", "tasks"}


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        ("{", ""),
        ('{"app_id": "Bad Id"}', ""),
        ('{"app_id": "a#b"}', ""),
        ('{"app_id": "good"}', "taken by another folder"),
    ],
)
def test_a_bad_manifest_or_the_id_of_another_costs_only_its_own_folder(
    tmp_path: Path, written: Write, manifest: str, told: str
) -> None:
    written("zz-bad", MAIN, **{"imperal.json": manifest})
    good = written("good", MAIN)
    registry = load_folder(tmp_path)
    assert [loaded.folder for loaded in registry.loaded.values()] == [good]
    assert list(registry.failed) == ["zz-bad"] and told in registry.failed["zz-bad"]


class Params(BaseModel):
    """Internal words."""

    title: str = Field(description="What to do", max_length=80)
    due: str | None = None


def extension() -> Extension:
    ext = Extension("tasks", "1.2.0", display_name="Tasks", description="To do", icon="check")
    chat = ChatExtension(ext)

    ways: dict[str, Any] = {"scopes": ["tasks:write"], "id_projection": "task_id"}
    plain = {"when": {"type": "string", "required": True}, "n": "integer"}

    @chat.function("add", "Add a task", action_type="write", examples=["add a task"], **ways)
    async def add(ctx: Any, params: Params) -> ActionResult:
        return ActionResult.success({}, "")

    @chat.function("old", "Old style", params=plain)
    async def old(ctx: Any, **kwargs: Any) -> ActionResult:
        return ActionResult.success({}, "")

    @ext.skeleton("open", ttl=60, alert=True)
    async def open_(ctx: Any) -> dict[str, Any]:
        return {}

    @ext.panel("board", slot="left", title="Board")
    async def board(ctx: Any) -> Any:
        return None

    ext.secret("key", "The key", required=True)
    return ext


def test_the_catalogue_says_what_an_extension_offers_also_to_another_function() -> None:
    catalogue = registry_of(extension(), Extension("bare")).catalogue()
    assert Catalogue.from_dict(json.loads(json.dumps(catalogue.to_dict()))) == catalogue
    app = catalogue.apps["tasks"]
    add, old = app.functions
    assert (app.version, app.display_name, app.icon) == ("1.2.0", "Tasks", "check")
    assert (add.tool_name, add.action_type, add.examples, add.scopes, add.id_projection) == (
        "tasks__add", "write", ("add a task",), ("tasks:write",), "task_id",
    )  # fmt: skip
    assert add.input_schema["required"] == ["title"]
    assert set(add.input_schema["properties"]) == {"title", "due"}
    assert "Internal words" not in json.dumps(add.input_schema)
    assert old.input_schema == {
        "type": "object",
        "properties": {"when": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["when"],
    }
    assert [(s.section, s.ttl, s.alert) for s in app.sections] == [("open", 60, True)]
    assert [(p.panel_id, p.slot, p.title) for p in app.panels] == [("board", "left", "Board")]
    assert app.secrets[0]["name"] == "key" and app.secrets[0]["required"]


async def _nothing(ctx: Any) -> dict[str, Any]:
    return {}


def test_a_long_tool_name_is_shortened_and_stays_unique() -> None:
    ext = Extension("a" * 40)
    chat = ChatExtension(ext)
    for name in ("f" * 30 + "1", "f" * 30 + "2", "ok"):
        chat.function(name, "F")(_nothing)
    names = [f.tool_name for f in registry_of(ext).catalogue().functions(["a" * 40])]
    assert len(set(names)) == 3 and all(len(n) <= 64 for n in names)
    assert names[2] == "a" * 40 + "__ok"


def test_an_app_whose_schema_cannot_be_told_is_named_and_the_others_work() -> None:
    class Broken(BaseModel):
        @classmethod
        def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
            raise KeyError("#/$defs/nowhere")

    broken = Extension("broken", "1")

    @ChatExtension(broken).function("run", "Runs")
    async def run(ctx: Any, params: Broken) -> ActionResult:
        return ActionResult.success({})

    apps = registry_of(broken, extension()).catalogue().apps
    assert "KeyError" in apps["broken"].error
    assert apps["broken"].functions == ()
    assert [f.fn_name for f in apps["tasks"].functions] == ["add", "old"]


IMPORTS = (
    "import views.board\nVALUE = views.board.NAME",
    "import views.board as board\nVALUE = board.NAME",
    "from views import board\nVALUE = board.NAME",
    "from views.board import NAME as VALUE",
    "from .views import board\nVALUE = board.NAME",
    "from . import helper\nVALUE = helper.VALUE",
)


@pytest.mark.parametrize("package", [True, False])
@pytest.mark.parametrize("main", IMPORTS)
def test_folders_of_modules_work_in_any_spelling(written: Write, main: str, package: bool) -> None:
    beside = {"views/board.py": "NAME = 'board'", **({"views/__init__.py": ""} if package else {})}
    beside["helper.py"] = "from views.board import NAME as VALUE"
    assert load_main("app", written("app", main, **beside)).VALUE == "board"
