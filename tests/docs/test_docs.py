"""What the documents promise is what the code has."""

import ast
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

import benchmarks.__main__ as benchmarks
from local import webbee
from webbee_kernel.config import GROUPS, Settings, variable_of

ROOT = Path(__file__).resolve().parents[2]
FRONT = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")]
PAGES = [*FRONT, *sorted((ROOT / "docs").rglob("*.md"))]
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text("utf-8")


ALONE = [str(field.alias) for field in Settings.model_fields.values()]


@pytest.mark.parametrize("variable", [*ALONE, *GROUPS])
def test_every_setting_has_its_row(variable: str) -> None:
    rows = [line.split("|")[1] for line in CONFIGURATION.splitlines() if line.startswith("|")]
    assert sum(f"`{variable}`" in row for row in rows) == 1


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_tells_what_it_holds(group: str) -> None:
    [row] = [line for line in CONFIGURATION.splitlines() if line.startswith(f"| `{group}`")]
    assert re.findall(r"`([A-Z][A-Za-z]+)`", row) == list(GROUPS[group])
    for name in GROUPS[group]:
        assert variable_of(name) in ALONE


def test_no_described_setting_is_unknown() -> None:
    described = set(re.findall(r"`(WEBBEE_[A-Z_]+)`", CONFIGURATION))
    assert described <= {*ALONE, *GROUPS}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#]*)(?:#([^)]+))?\)", page.read_text("utf-8"))
    missing = [name for name, _ in links if not (page.parent / name).exists()]
    assert missing == []
    targets = [((page.parent / name) if name else page, anchor) for name, anchor in links if anchor]
    assert [(t.name, a) for t, a in targets if a not in anchors(t)] == []


@cache
def anchors(page: Path) -> frozenset[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in set(re.findall(r"(?:`|^|&& )make ([a-z][a-z-]+)", text, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert set(re.findall(r"make bench ARGS=\"?([a-z_]+)", text)) <= benchmarks.PARTS.keys()
    for module in set(re.findall(r"make python ARGS='-m ([\w.]+)", text)):
        assert find_spec(module), module
    known = webbee.parser().format_help()
    for command in set(re.findall(r"(?:`|^)(?:\./)?webbee ([a-z][a-z-]+)", text, re.MULTILINE)):
        assert re.search(rf"^    {command}\b", known, re.MULTILINE), command


def test_the_index_of_decisions_names_every_section() -> None:
    page = (ROOT / "docs" / "decisions.md").read_text("utf-8")
    listed = re.findall(r"^- \[(.*)\]\(#.*\)$", page, re.M)
    assert listed == re.findall(r"^## (.*)$", page, re.M)


def test_the_table_of_the_command_line_has_every_command() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    commands = re.findall(r"^    ([a-z-]+)\s", webbee.parser().format_help(), re.MULTILINE)
    assert len(commands) > 10
    assert [c for c in commands if f"| `{c} " not in page] == []


PACKAGE = ROOT / "layers/webbee_kernel/webbee_kernel"
ROOMS = sorted(PACKAGE.glob("*/__init__.py"))


@pytest.mark.parametrize("room", ROOMS, ids=lambda p: p.parent.name)
def test_a_room_says_what_it_may_import_and_where_its_entrance_is(room: Path) -> None:
    told = " ".join((ast.get_docstring(ast.parse(room.read_text("utf-8"))) or "").split())
    assert "May import: " in told
    assert "Entrance: " in told


@pytest.mark.parametrize("room", sorted(PACKAGE.rglob("__init__.py")), ids=lambda p: p.parent.name)
def test_the_modules_that_a_room_names_stand_in_it(room: Path) -> None:
    told = ast.get_docstring(ast.parse(room.read_text("utf-8"))) or ""
    named = re.findall(r"^- `(\w+)`", told, re.MULTILINE)
    known = {p.stem for p in room.parent.iterdir()} | set(_exported(room))
    assert set(named) <= known


def _exported(room: Path) -> list[str]:
    return re.findall(r'^    "(\w+)",$', room.read_text("utf-8"), re.MULTILINE)


TOLD = [*PAGES, *PACKAGE.rglob("__init__.py")]


@pytest.mark.parametrize("page", TOLD, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_that_is_named_is_there(page: Path) -> None:
    """`turn/prompt`, `guards/consent.why_asked` in a page or a room's docstring."""
    named = re.findall(r"`([a-z_]+)/([a-z_0-9/]+)[`.]", page.read_text("utf-8"))
    gone = [
        f"{room}/{rest}"
        for room, rest in named
        if any((folder / room).is_dir() for folder in (ROOT, PACKAGE))
        and rest != "xx"  # any language
        and not any(any(folder.glob(f"{room}/{rest}*")) for folder in (ROOT, PACKAGE))
    ]
    assert gone == []
