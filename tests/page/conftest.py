"""A real Chromium against the local deployment. Skipped, with the reason, where there is no
Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.processes import kill

ROOT = Path(__file__).parents[2]
CHROMIUM = (
    os.environ.get("CHROMIUM")
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
    or shutil.which("google-chrome")
)
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
    --disable-background-networking --disable-component-update""".split()


Visit = Callable[..., Any]
"""What the fixture `visit` gives."""

LEFT = "WebSocket is closed before the connection is established"
"""What the browser says of a page that is left, or signed out of, while its socket connects: on a
busy machine that takes longer than a test stays."""


@contextmanager
def served(
    folder: Path, *signing_in: str, port: int = 0, model: str = "offline", **env: str
) -> Iterator[list[str]]:
    """The address of a deployment of its own process, with these extensions, and its issuer's: tests
    beside these keep their environment. Its end is sudden, as a crash's would be."""
    path = f"{ROOT / 'layers/webbee_kernel'}:{ROOT}"
    command = [sys.executable, "-m", "tests.page.serve", str(folder), str(port), model]
    with subprocess.Popen(
        [*command, *signing_in],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "WEBBEE_CALL_SECONDS": "120", **env},  # if busy
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout
        addresses = server.stdout.readline().split()
        assert addresses, "the local deployment did not start"
        yield addresses
        kill(server)


def folder_of(folder: Path, *apps: Path) -> Path:
    """A folder with these extensions."""
    for app in apps:
        (folder / app.name).symlink_to(app)
    return folder


@contextmanager
def shown(apps: Path, port: int = 0) -> Iterator[str]:
    """A deployment with prices."""
    prices = '{"offline": {"input": 3, "output": 15, "cached": 0.3}}'
    with served(apps, port=port, WEBBEE_MODEL_PRICES=prices) as [address]:
        yield address


@pytest.fixture(scope="session")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped extensions, `showcase` and one that does not load."""
    shipped = (ROOT / "extensions" / name for name in ("mail", "tasks", "notes"))
    own = (Path(__file__).parent / "extensions" / name for name in ("showcase", "broken"))
    return folder_of(tmp_path_factory.mktemp("extensions"), *shipped, *own)


@pytest.fixture(scope="session")
def url(apps: Path) -> Iterator[str]:
    """A deployment for all tests that do not end it."""
    with shown(apps) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright, whose event loop occupies this thread: it ends with
    the module, before others run."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright has no wheel for this machine"
    )
    if not CHROMIUM:
        pytest.skip(
            "Chromium is not installed: apt-get install chromium, or set CHROMIUM=/path/to/it"
        )
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=CHROMIUM,
            headless=True,
            args=FLAGS,
            env={**os.environ, "TMPDIR": "/tmp"},  # a socket's path is 107 bytes at most
        )
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Any, url: str) -> Iterator[Callable[..., Any]]:
    """`visit(token)`: the page signed in as that user. The test fails on a console error not
    `expected`, or when a stranger's script ran."""
    contexts: list[Any] = []
    problems: list[str] = []

    def open_page(
        token: str = "",
        *,
        locale: str = "en-GB",
        expected: str = "\0",
        at: str = "",
        **options: Any,
    ) -> Any:
        context = browser.new_context(
            locale=locale,
            reduced_motion=options.pop("reduced_motion", "reduce"),
            viewport=options.pop("viewport", {"width": 1400, "height": 900}),
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on(
            "console",
            lambda m: (
                problems.append(m.text)
                if m.type in ("error", "warning") and not any(t in m.text for t in (expected, LEFT))
                else None
            ),
        )
        page.on("pageerror", lambda e: problems.append(f"error: {e}"))
        page.goto(at or url)
        if token:
            page.get_by_role("button", name=token).click()
            page.locator("#composer-text").wait_for()
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.pwned") is None
        context.close()
    assert problems == []


@pytest.fixture
def polled(visit: Visit) -> Visit:
    """`visit` as where a deployment has no WebSockets: the page polls, and chats over HTTP."""

    def open_page(token: str) -> Any:
        page = visit(token, expected="Failed to load")
        page.route("**/v1/live", lambda route: route.fulfill(status=404, json={"error": {}}))
        with page.expect_response("**/v1/events"):
            page.reload()
        page.locator("#composer-text").wait_for()
        return page

    return open_page
