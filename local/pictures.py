"""`make pictures`: the page's states and every node of the SDK's ui, by a Chromium, for docs/."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

from .project import ROOT
from .run import MAIL
from .users import prepare, prepare_and_refresh
from .world import local_world

FOLDER = ROOT / "docs" / "pictures"
NODES = ROOT / "docs" / "nodes.png"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
DESKTOP = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}
TALL = {"width": 1600, "height": 3400}
"""The panel of all nodes need not scroll in it."""


def main() -> int:
    """Write the pictures; 1 where there is no Chromium."""
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if not chromium:
        print("Chromium is not here: CHROMIUM=/path/to/it", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with local_world(prepare=prepare_and_refresh) as world, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        conversation(_signed_in(browser, world.url, "bob"))
        developer(_signed_in(browser, world.url, "dev", color_scheme="dark"))
        phone(_signed_in(browser, world.url, "alice", viewport=PHONE))
        browser.close()
    with (
        local_world(prepare=prepare, extensions_dir=ROOT / "docs" / "examples") as world,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        nodes(_signed_in(browser, world.url, "bob", viewport=TALL))
        browser.close()
    for picture in sorted([NODES, *FOLDER.glob("*.png")]):
        print(f"wrote {picture.relative_to(ROOT)}, {picture.stat().st_size:,} bytes")
    return 0


def conversation(page: Any) -> None:
    """An empty conversation, a call opened, a question with its fields."""
    page.screenshot(path=FOLDER / "empty.png")
    say(page, 'write a note "Lisbon launch: 14 September"')
    page.locator(".call summary").first.click()
    say(page, "delete that note")
    page.screenshot(path=FOLDER / "question.png")


def developer(page: Any) -> None:
    """Where the time of a turn went, and the inspector beside it; dark."""
    say(page, "add a task: water the plants")
    page.locator(".fall > summary").click()
    page.get_by_role("button", name="Inspector").click()
    page.locator(".bars").wait_for()
    page.screenshot(path=FOLDER / "developer.png")


def phone(page: Any) -> None:
    """390 pixels, Russian."""
    say(page, MAIL[0])
    page.screenshot(path=FOLDER / "phone.png")


def nodes(page: Any) -> None:
    """Every node, as docs/examples/gallery makes it."""
    page.get_by_role("tab", name="Nodes").click()
    panel = page.locator("section[data-panel='gallery.nodes']")
    panel.locator(".n-card").first.wait_for()
    panel.screenshot(path=NODES)


def say(page: Any, message: str) -> None:
    """Send a message and wait for its answer."""
    before = page.locator(".turn.webbee").count()
    page.locator("#composer-text").fill(message)
    page.keyboard.press("Enter")
    page.locator(".turn.webbee").nth(before).wait_for()
    page.locator(".working").wait_for(state="detached")


def _signed_in(browser: Any, url: str, who: str, **options: Any) -> Any:
    context = browser.new_context(locale="en-GB", **{"viewport": DESKTOP, **options})
    page = context.new_page()
    page.goto(url)
    page.get_by_role("button", name=who).first.click()
    page.locator("#composer-text").wait_for()
    page.locator("[data-panel] .panel-body > :not(.muted)").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    return page


if __name__ == "__main__":
    sys.exit(main())
