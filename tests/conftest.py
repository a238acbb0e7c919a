"""No test can meet a real account: whatever builds an AWS client finds these, and no profile of the
machine's owner."""

import collections
import gc
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from local.webbee import main
from webbee_kernel import background
from webbee_kernel.api.function import set_up_logging

os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_DEFAULT_REGION="us-east-1",
    AWS_REGION="us-east-1",
    AWS_EC2_METADATA_DISABLED="true",
)
for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
    os.environ.pop(name, None)

# A function sets up its process's log once: before a test could, for whose time alone standard error
# is caught, at the level of a local deployment.
set_up_logging("tests")
logging.getLogger("webbee").setLevel(logging.WARNING)

# A slow example on a busy runner is no failure; and what is green is green the next time. Other
# examples than always: HYPOTHESIS=random make test.
hypothesis.settings.register_profile(
    "shared machine",
    deadline=None,
    derandomize=os.environ.get("HYPOTHESIS") != "random",
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("shared machine")


# With Python's own thresholds up to a fifth of the suite's time goes into looking through what is
# imported and collected, which stays, and through each test's deployment, which is new.
gc.set_threshold(50_000, 20, 50)


LONG = (
    *("page/", "local/", "authors/", "e2e/", "clients/", "attacks/", "mcp/", "api/", "benchmarks/"),
    *("functions/test_late_effects.py", "functions/test_long_messages.py", "functions/test_me.py"),
    *("functions/test_refresh.py", "kernel/test_offline_talk.py", "unit/test_strangers.py"),
)
"""Rooms whose files take long for the few tests they have, and the longest files of others."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """A worker more than there are processors: a third of the time goes into waiting, for a browser or
    a process."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first: a run ends with its last file, whose worker is then alone."""
    rooms = tuple(f"tests/{room}" for room in LONG)
    items.sort(key=lambda item: not item.nodeid.startswith(rooms))


def pytest_collection_finish() -> None:
    """What is there by now stays until the end."""
    gc.freeze()


@pytest.fixture
def anyio_backend() -> str:
    """What runs tests that are coroutines."""
    return "asyncio"


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """What a test began is over when it ends: no later one of this process waits for it."""
    yield
    assert background.wait(60), "work of the background goes on: end it in this test"


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """`written("till", text)`: an extension in a folder of its own."""

    def write(app: str, text: str, **beside: str) -> Path:
        for name, content in {"main.py": text, **beside}.items():
            file = tmp_path / app / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, "utf-8")
        return tmp_path / app

    return write


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """`command("check", "till", ends=1)`: what `webbee` prints on both its streams."""

    def run(*words: str, ends: int = 0) -> tuple[str, str]:
        capsys.readouterr()
        ended = main(list(words))
        out, err = capsys.readouterr()
        assert ended == ends, (out, err)
        return out, err

    return run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was skipped, and what would have to be there: one line a reason, the most first; and
    where something failed, the order in which it did."""
    seed = terminalreporter.config.getoption("randomly_seed", None)
    if seed is not None and any(terminalreporter.stats.get(k) for k in ("failed", "error")):
        terminalreporter.write_line(f"the order of these tests: --randomly-seed={seed}")
    reasons = collections.Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        terminalreporter.section("not run on this machine", sep="-")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
