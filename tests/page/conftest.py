"""A real Chromium against the local deployment. Skipped, with the reason, where there is no
Chromium."""

import asyncio
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
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
    --disable-background-networking --disable-component-update""".split()


Visit = Callable[..., Any]
"""What the fixture `visit` gives."""

LEFT = "WebSocket is closed before the connection is established"
"""What the browser says of a page that is left, or signed out of, while its socket connects: on a
busy machine that takes longer than a test stays."""

EMPTY = """async () => {
  localStorage.clear();
  sessionStorage.clear();
  const gone = (name) => new Promise((done) => {
    const asked = indexedDB.deleteDatabase(name);
    asked.onsuccess = asked.onerror = asked.onblocked = done;
  });
  await Promise.all((await indexedDB.databases()).map(({ name }) => gone(name)));
}"""


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
    for app in apps:
        (folder / app.name).symlink_to(app)
    return folder


@contextmanager
def shown(apps: Path, port: int = 0) -> Iterator[str]:
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


@pytest.fixture(scope="session")
def driven() -> Iterator[tuple[Any, asyncio.AbstractEventLoop]]:
    """Debian's Chromium, and the event loop of Playwright, which drives it."""
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
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield chromium, loop
        asyncio._set_running_loop(loop)
        chromium.close()


@pytest.fixture(scope="module")
def browser(driven: tuple[Any, asyncio.AbstractEventLoop]) -> Iterator[Any]:
    """The browser, whose driver's loop occupies this thread until the module ends: tests of other
    modules have loops of their own."""
    chromium, loop = driven
    asyncio._set_running_loop(loop)
    yield chromium
    asyncio._set_running_loop(None)


class Pages:
    """The browser's pages, each in a context of its own. One that a test has left is the next one's
    of the same deployment, as empty as a new one: a new one costs more than all that most tests do
    with it."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._left: dict[str, list[Any]] = {}

    def take(self, url: str, **options: Any) -> Any:
        """A page with these options that nobody uses."""
        kind = repr((url, sorted(options.items())))
        page = left.pop() if (left := self._left.get(kind)) else self._made(**options)
        page.context.kind = kind
        page.set_viewport_size(options["viewport"])
        page.emulate_media(color_scheme="light")
        return page

    def _made(self, **options: Any) -> Any:
        page = self._browser.new_context(**options).new_page()
        page.set_default_timeout(60_000)
        return page

    def leave(self, page: Any, url: str) -> None:
        """Empty a page, unless it was of another deployment than that."""
        context = page.context
        if page.is_closed() or not page.url.startswith(url):
            return context.close()
        for other in context.pages:
            if other is not page:
                other.close()
        for routed in (page, context):
            routed.unroute_all(behavior="ignoreErrors")
        context.set_offline(False)
        context.clear_cookies()
        page.goto(f"{url}/v1/health")  # of its origin, and nothing runs there
        page.evaluate(EMPTY)
        return self._left.setdefault(context.kind, []).append(page)


@pytest.fixture(scope="session")
def pages(driven: tuple[Any, asyncio.AbstractEventLoop]) -> Pages:
    return Pages(driven[0])


@pytest.fixture
def visit(browser: Any, pages: Pages, url: str) -> Iterator[Visit]:
    """`visit(token)`: the page signed in as that user. The test fails on a console error not
    `expected`, or when a stranger's script ran."""
    visited: list[tuple[Any, dict[str, Callable[[Any], None]]]] = []
    problems: list[str] = []

    def open_page(
        token: str = "",
        *,
        locale: str = "en-GB",
        expected: str = "\0",
        at: str = "",
        **options: Any,
    ) -> Any:
        def heard(message: Any) -> None:
            if message.type in ("error", "warning"):
                # a browser asks for this one itself where it is reloaded before the head is read
                is_own = message.location["url"].endswith("/favicon.ico")
                if not (is_own or any(text in message.text for text in (expected, LEFT))):
                    problems.append(f"{message.text} {message.location['url']}".rstrip())

        usual = {"reduced_motion": "reduce", "viewport": {"width": 1400, "height": 900}}
        page = pages.take(url, locale=locale, **{**usual, **options})
        listeners = {"console": heard, "pageerror": lambda e: problems.append(f"error: {e}")}
        visited.append((page, listeners))
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(at or url)
        if token:
            sign_in(page, token)
        return page

    yield open_page
    for page, listeners in visited:
        for one in page.context.pages:
            assert one.evaluate("window.pwned") is None
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        pages.leave(page, url)
    assert problems == []


def sign_in(page: Any, token: str) -> None:
    page.get_by_role("button", name=token).click()
    page.locator("#composer-text").wait_for()


class On:
    """What a person finds on a page, by the words that stand there."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.composer = page.locator("#composer-text")
        self.search = page.get_by_role("searchbox", name="Find in all conversations")
        self.card = page.get_by_role("group", name="Please confirm").last
        self.answers = page.locator(".turn.webbee")
        self.done = page.locator(".receipt.done")

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name)

    def panel(self, app: str) -> Any:
        return self.page.locator(f"[data-panel='{app}.{app}']")

    def logged(self, text: str) -> None:
        self.page.locator(".log").get_by_text(text).wait_for()

    def afresh(self) -> None:
        self.button("New conversation").first.click()

    def found(self, text: str) -> Any:
        """The first of what the search finds."""
        self.search.fill(text)
        return self.page.locator(".found-open").first


@pytest.fixture
def polled(visit: Visit) -> Visit:
    """`visit` as where a deployment has no WebSockets: the page polls, and chats over HTTP."""

    def open_page(token: str) -> Any:
        page = visit(expected="Failed to load")
        page.route("**/v1/live", lambda route: route.fulfill(status=404, json={"error": {}}))
        with page.expect_response("**/v1/events"):
            sign_in(page, token)
        return page

    return open_page
