"""`make gallery`: draws every node of the SDK in a Chromium and writes docs/nodes.png."""

from __future__ import annotations

import os
import shutil
import sys

from .project import ROOT
from .users import prepare
from .world import local_world

PICTURE = ROOT / "docs" / "nodes.png"
WIDTH, HEIGHT = 1600, 3400
"""Pixels of the window: tall enough that the panel need not scroll."""
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    """Write the picture; 1 where there is no Chromium."""
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if not chromium:
        print("Chromium is not here: CHROMIUM=/path/to/it", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright

    examples = ROOT / "docs" / "examples"
    with (
        local_world(prepare=prepare, extensions_dir=examples) as world,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(world.url)
        page.get_by_role("button", name="bob").click()
        page.get_by_role("tab", name="Nodes").click()
        panel = page.locator("section[data-panel='gallery.nodes']")
        panel.locator(".n-card").first.wait_for()
        panel.screenshot(path=str(PICTURE))
        browser.close()
    print(f"wrote {PICTURE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
