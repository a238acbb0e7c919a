"""The page's sources: nothing in them can run a stranger's text, every word exists in both
languages, the docs list every node."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from webbee_kernel.page import FOLDER, SMALL, assembled, digest, document, script

ROOT = Path(__file__).parents[2]
MODULES = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.js")}


@pytest.mark.parametrize(
    "danger",
    [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "srcdoc",
        "DOMParser",
        'style="',
    ],
)
def test_no_module_parses_html_or_runs_text(danger: str) -> None:
    assert [name for name, source in MODULES.items() if danger in source] == []


def test_every_module_is_in_the_page_and_each_stays_readable() -> None:
    whole = script()
    for name, source in MODULES.items():
        assert re.sub(r"^import .*\n|^export ", "", source, flags=re.MULTILINE) in whole, name
        assert len(source.splitlines()) <= 300, name
    assert "import " not in whole
    assert "export " not in whole


def test_no_two_modules_declare_one_name() -> None:
    declared = [
        name
        for source in MODULES.values()
        for name in re.findall(
            r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", source, re.M
        )
    ]
    assert [name for name in declared if declared.count(name) > 1] == []


def test_the_small_form_is_that_of_these_sources() -> None:
    page = pytest.importorskip("local.page", reason="the minifier has no wheel for this machine")
    assert SMALL.read_text("utf-8") == page.small(), "document.html is stale: make page"
    assert document().html == page.small()


def test_sources_newer_than_the_small_form_are_served_as_they_are() -> None:
    plain = assembled("a{}", script())
    assert digest() in plain
    assert script() in plain


def test_every_word_the_page_says_exists_in_both_languages() -> None:
    words = dict(re.findall(r'^  (\w+): \[(".+", ".+")\],$', MODULES["strings.js"], re.MULTILINE))
    assert len(words) == MODULES["strings.js"].partition("\n};")[0].count("\n") - 2
    said = {key for source in MODULES.values() for key in re.findall(r"\bt\(\"(\w+)\"", source)}
    assert said <= set(words)
    kinds = {
        "shown",
        "masked",
        "cut",
        "dropped",
        "hidden",
        "unknown",
        "you",
        "webbee",
        "audio",
        "video",
    }
    kinds |= {f"event_{kind}" for kind in ("alert", "fault", "notification", "result")}
    assert set(words) - said - kinds == set()


def test_the_docs_list_exactly_the_nodes_that_are_drawn() -> None:
    drawn = {
        name
        for module, table in (("nodes.js", "const NODES"), ("fields.js", "const FIELDS"))
        for name in re.findall(r"^  ([A-Z]\w+):", MODULES[module].partition(table)[2], re.MULTILINE)
    }
    text = (ROOT / "docs" / "page.md").read_text("utf-8").partition("These are drawn:")[2]
    listed = set(re.findall(r"[A-Z]\w+", text.partition("`")[2].partition("`")[0]))
    assert drawn - {"Html"} == listed
