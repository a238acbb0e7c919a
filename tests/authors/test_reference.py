"""docs/reference.md is what the code says, and the guide's snippets and README's extension run."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from local import reference
from local.checking import problems_of
from webbee_kernel.sdk import Extension, ui
from webbee_kernel.testing import TestKernel, registry_of

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "extensions.md").read_text("utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
CODE = "\n\n".join(s for s in SNIPPETS if "webbee_kernel.testing" not in s)
"""The guide's blocks are one extension, less its test."""


@pytest.fixture
def folder(written: Callable[..., Path]) -> Path:
    return written("invoices", CODE)


def test_the_reference_is_what_the_code_says_with_a_row_of_every_node_and_decorator() -> None:
    assert reference.PAGE.read_text("utf-8") == reference.page(), (
        "make python ARGS='-m local.reference'"
    )
    page = reference.page()
    nodes = [n for n in ui.__all__ if n not in ("UINode", "UIAction")]
    names = [n for n in vars(Extension) if not n.startswith("_")]
    assert [n for n in nodes if f"| `{n}` |" not in page] == []
    assert [n for n in names if f"ext.{n}(" not in page] == []


def test_the_guides_extension_is_whole_has_no_finding_and_passes_its_tests(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = problems_of(folder).findings
    assert [f"{f.line}: {f.message}" for f in found] == []
    (loaded,) = registry_of(folder).loaded.values()
    ext = loaded.ext
    assert all((ext.skeletons, ext.panels, ext.webhooks, ext.schedules, ext.secrets))
    monkeypatch.chdir(folder.parent)
    (tests,) = (s.replace("extensions/", "") for s in SNIPPETS if "webbee_kernel.testing" in s)
    namespace: dict[str, object] = {}
    exec(tests, namespace)
    found = [f for name, f in namespace.items() if name.startswith("test_") and callable(f)]
    assert found
    for test in found:
        test()


def test_what_the_guide_says_to_its_extension_is_understood(folder: Path) -> None:
    kernel = TestKernel([folder])
    asked = kernel.chat("write an invoice to Acme for 100 euros")  # it goes to somebody
    card = asked.body["confirmation"]
    assert card["calls"][0]["fn_name"] == "write_invoice"
    assert kernel.chat("yes").body["calls"][0]["status"] == "ok"
    reply = kernel.chat("which invoices are open?").body["reply"]
    assert "| Acme | 100 |" in reply


def test_the_page_lists_every_sentence_that_holds_in_both_dialects() -> None:
    suite = (ROOT / "tests/authors/test_both_dialects.py").read_text("utf-8")
    named = re.findall(r"^def test_(\w+)\(\s*harness: ExtensionHarness", suite, re.MULTILINE)
    page = (ROOT / "docs/compatibility.md").read_text("utf-8")
    listed = page.partition("<!-- both -->\n")[2].partition("<!-- /both -->")[0]
    assert listed.splitlines() == [f"- {n.replace('_', ' ').capitalize()}" for n in named] != []


SHIPPED = [Path("extensions") / name for name in ("tasks", "notes")]  # they need no account


@pytest.mark.parametrize(
    ("message", "city"),
    [
        ("weather in Riga tomorrow", "Riga"),
        ("What's the weather in Riga tomorrow?", "Riga"),
        ("weather in New York tomorrow, please", "New York"),
        ("погода в Риге завтра", "Риге"),
        ("weather on Mars", ""),
        ("what time is it in Riga?", ""),
        ("how are you?", ""),
        ("what is 2+2?", ""),
    ],
)
def test_its_sentences_work_word_for_word_and_others_do_not_call_it(
    written: Callable[..., Path], message: str, city: str
) -> None:
    """Those of README's extension, beside the shipped ones."""
    [code] = re.findall(r"```python\n(.*?)```", Path("README.md").read_text("utf-8"), re.S)
    kernel = TestKernel([written("weather", code), *SHIPPED], http=lambda _: {"high": 21})
    if not city:
        kernel.chat("weather in Riga tomorrow")
    reply = kernel.chat(message)
    called = [(c["app_id"], c["status"]) for c in reply.body["calls"]]
    if city:
        assert called == [("weather", "ok")]
        assert reply.text.startswith(f"Tomorrow 21 °C in {city}.")
    else:
        assert "weather" not in dict(called)
        assert "'label': '" in str(reply.body["ui"])
