"""Accessibility, judged by axe-core: nothing serious in any state of the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .test_page import say

Visit = Callable[..., Any]
AXE = Path(__file__).parents[2] / ".venv-page/node_modules/axe-core/axe.min.js"


def serious(page: Any) -> list[str]:
    """What axe finds serious or critical on the page as it is, with the first element of each."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    grave = (v for v in found if v["impact"] in ("serious", "critical"))
    return [f"{v['id']}: {n['html'][:150]} {n['any'][:1]}" for v in grave for n in v["nodes"][:3]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Visit, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not here: make page prepares it where npm is installed")
    page = visit(
        "dev developer", color_scheme=scheme, reduced_motion="reduce"
    )  # what still fades in is pale
    assert serious(page) == []
    say(page, "show my inbox")
    say(page, "add a task: be heard")
    page.locator(".call summary").last.click()
    page.locator(".fall > summary").last.click()
    say(page, "delete the task be heard")
    assert serious(page) == []
    page.get_by_role("button", name="Inspector").click()
    page.locator(".bars").wait_for()
    assert serious(page) == []
    page.get_by_role("button", name="Apps", exact=True).click()
    page.get_by_role("dialog").wait_for()
    assert serious(page) == []


def test_the_focus_never_falls_to_the_body(visit: Visit) -> None:
    page = visit("bob")

    def focused() -> bool:
        return bool(page.evaluate("document.activeElement !== document.body"))

    say(page, "add a task: hold the focus")
    assert focused()
    say(page, "delete the task hold the focus")
    card = page.get_by_role("group", name="Please confirm")
    card.get_by_role("button", name="Delete").press("Enter")
    page.locator(".log").get_by_text("Deleted the task").wait_for()
    assert focused()
    page.locator(".session-menu > summary").first.press("Enter")
    page.get_by_role("button", name="Delete", exact=True).first.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
    page.get_by_role("dialog").wait_for(state="detached")
    page.locator(".welcome").wait_for()
    assert focused()
