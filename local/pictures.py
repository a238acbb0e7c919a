"""`make pictures`: the page's states and every node of the SDK's ui, by a Chromium, for docs/."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

from .project import ROOT
from .run import MAIL
from .world import local_world, prepare, prepare_and_refresh

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
        card_and_receipt(_signed_in(browser, world.url, "bob"))
        mark(_signed_in(browser, world.url, "bob"))
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


def card_and_receipt(page: Any) -> None:
    """What waits for a yes, and the kernel's own account of what the yes did."""
    say(page, 'send an email to ann@example.com with the text "The draft is ready."')
    if page.locator(".turn.webbee .n-form").count():  # the helper asks to look at it first
        page.locator(".turn.webbee .n-form button[type=submit]").last.click()
        page.locator(".toast").wait_for()
    last(page).locator(".bubble").screenshot(path=FOLDER / "card.png")
    last(page).locator(".confirm-buttons button").first.click()
    page.locator(".receipt.done").wait_for()
    last(page).locator(".bubble").screenshot(path=FOLDER / "receipt.png")


MARKED = "You have 50 open tasks; the next one, water the plants, is due on 30 November."
"""A reply of a model's that the data contradicts in one place."""


def mark(page: Any) -> None:
    """A reply with a number that the data does not have: underlined, and what the data holds."""
    start = MARKED.index("50")
    span = {"start": start, "end": start + 2, "reason": "contradicted", "holds": "36"}
    body = {"reply": MARKED, "turn": 1, "status": "ok", "calls": [], "refresh_panels": []}
    body |= {"marks": [span], "work": {"text": "looked up 1, changed nothing"}}

    def answer(route: Any) -> None:
        session = route.request.post_data_json["session_id"]
        route.fulfill(json={**body, "session_id": session})

    page.route("**/v1/live", lambda route: route.fulfill(status=404, json={}))
    page.route("**/v1/chat", answer)
    page.reload()
    page.locator("#composer-text").wait_for()
    say(page, "do I have 50 tasks?")
    last(page).locator(".unsourced").focus()
    last(page).locator(".bubble").screenshot(path=FOLDER / "mark.png")


def last(page: Any) -> Any:
    """The last answer."""
    return page.locator(".turn.webbee").last


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
