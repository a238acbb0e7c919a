"""The page's sources: nothing in them can run a stranger's text, every word exists in both languages, the docs list every node."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from webbee_kernel.page import FOLDER, bundle

ROOT = Path(__file__).parents[2]
MODULES = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.js")}


@pytest.mark.parametrize(
    "danger", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "srcdoc", "DOMParser", 'style="']
)
def test_no_module_parses_html_or_runs_text(danger: str) -> None:
    assert [name for name, source in MODULES.items() if danger in source] == []


def test_every_module_is_in_the_page_and_each_stays_readable() -> None:
    served = bundle()
    for name, source in MODULES.items():
        assert f"const {name.removesuffix('.js')}_js = " in served
        assert len(source.splitlines()) <= 300, name


def test_every_word_the_page_says_exists_in_both_languages() -> None:
    english, russian = (set(re.findall(r"(\w+): \"", part)) for part in MODULES["strings.js"].split("const RU = {"))
    assert english == russian
    said = {key for source in MODULES.values() for key in re.findall(r"\bt\(\"(\w+)\"", source)}
    assert said <= english
    kinds = {"shown", "masked", "cut", "dropped", "hidden", "unknown", "you", "webbee"}
    kinds |= {f"event_{kind}" for kind in ("alert", "notification", "result")}
    assert english - said - kinds == set()


def test_the_docs_list_exactly_the_nodes_that_are_drawn() -> None:
    drawn = {
        name
        for module, table in (("nodes.js", "const NODES"), ("fields.js", "const FIELDS"))
        for name in re.findall(r"^  ([A-Z]\w+):", MODULES[module].partition(table)[2], re.MULTILINE)
    }
    text = (ROOT / "docs" / "page.md").read_text("utf-8").partition("These are drawn:")[2]
    listed = set(re.findall(r"[A-Z]\w+", text.partition("`")[2].partition("`")[0]))
    assert drawn - {"Html"} == listed
