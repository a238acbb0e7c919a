"""What the documents promise is what the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from webbee_kernel.config import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text("utf-8")


@pytest.mark.parametrize("variable", [str(field.alias) for field in Settings.model_fields.values()])
def test_every_setting_is_described(variable: str) -> None:
    assert f"`{variable}`" in CONFIGURATION


def test_no_described_setting_is_unknown() -> None:
    described = set(re.findall(r"`(WEBBEE_[A-Z_]+)`", CONFIGURATION))
    assert described <= {field.alias for field in Settings.model_fields.values()}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text("utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_make_targets_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in set(re.findall(r"`?make ([a-z-]+)", (ROOT / "README.md").read_text("utf-8"))):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
