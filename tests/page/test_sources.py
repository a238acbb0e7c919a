"""The page's sources: nothing in them can run a stranger's text, every word exists in each
language, the docs list every node."""

import re
from pathlib import Path

import pytest

from local.page import ESBUILD, digest, small, sources
from webbee_kernel.api.page import FOLDER, SMALL

ROOT = Path(__file__).parents[2]
MODULES = {path.name: path.read_text("utf-8") for path in FOLDER.rglob("*.js")}


RUNS = "eval( Function( document.write srcdoc".split()
PARSES = "innerHTML outerHTML insertAdjacentHTML DOMParser".split()


def test_no_module_parses_html_or_runs_text() -> None:
    for danger in (*RUNS, *PARSES, 'style="'):
        assert [name for name, source in MODULES.items() if danger in source] == [], danger


def test_the_small_form_is_that_of_these_sources() -> None:
    assert f'data-of="{digest()}"' in SMALL.read_text("utf-8"), "document.html is stale: make page"


def test_the_small_form_is_what_the_bundler_makes() -> None:
    if not ESBUILD.exists():
        pytest.skip("esbuild is not here: make page prepares it where npm is installed")
    assert SMALL.read_text("utf-8") == small()


def test_no_line_is_over_120_columns() -> None:
    long = [
        f"{path.name}:{number}"
        for path in sources()
        if path.suffix in (".js", ".css")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert long == []


def _words(tag: str) -> dict[str, str]:
    text = (FOLDER / "words" / f"{tag}.js").read_text("utf-8")
    return dict(re.findall(r'^  (\w+):\s*(".+"),$', text, re.MULTILINE))


def test_every_word_the_page_says_exists_in_every_language_with_the_same_gaps() -> None:
    words = _words("en")
    said = {key for source in MODULES.values() for key in re.findall(r"\bt\(\s*\"(\w+)\"", source)}
    kinds = {"shown", "masked", "cut", "dropped", "hidden", "unknown", "you", "webbee", "accept"}
    kinds |= {"refuse", "refused", "audio", "video", "undo", "confirmYes", "confirmNo"}
    kinds |= {"confirmDone", "confirmPassed", "confirmOver"}
    kinds |= {f"event_{kind}" for kind in ("alert", "fault", "notification", "result")}
    assert set(words) ^ said <= kinds

    def gaps(text: str) -> list[str]:
        return sorted(re.findall(r"\{(\w+)\}", text))

    for tag in ("ru", "de", "es", "fr"):
        others = _words(tag)
        assert set(others) == set(words), tag
        assert {k for k in words if gaps(words[k]) != gaps(others[k])} == set(), tag


def test_the_docs_list_exactly_the_nodes_that_are_drawn() -> None:
    drawn = {
        name
        for module, table in (("nodes.js", "const NODES"), ("fields.js", "const FIELDS"))
        for name in re.findall(r"^  ([A-Z]\w+):", MODULES[module].partition(table)[2], re.MULTILINE)
    }
    text = (ROOT / "docs" / "page.md").read_text("utf-8").partition("These are drawn:")[2]
    listed = set(re.findall(r"[A-Z]\w+", text.partition("`")[2].partition("`")[0]))
    assert drawn - {"Html"} == listed
