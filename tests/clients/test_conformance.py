"""The official conformance suite of the Model Context Protocol, as a server meets it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local.world import local_world
from tests.clients.naming import named
from tests.clients.running import node

HERE = Path(__file__).parent
SUITE = "@modelcontextprotocol/conformance/dist/index.js"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The API with the suite's own tools, under the names it knows. It asks more in a minute than a
    user may: what would be refused then differs from run to run."""
    no_limit = {"WEBBEE_USER_REQUESTS_PER_MINUTE": "0"}
    with (
        local_world(extensions_dir=HERE / "extensions", env=no_limit) as own,
        named(own.url, "dev") as address,
    ):
        yield address


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_the_suite_fails_only_where_nothing_is_served(url: str, npm: Path, version: str) -> None:
    """Scenarios about what is not served stand in `expected.yml`; one that fails beside them, or
    does not fail any more, fails this test."""
    chosen = ["--requirements", version] if version == "2026-07-28" else ["--spec-version", version]
    expected = ["--expected-failures", str(HERE / f"expected-{version}.yml")]
    ran = node(npm, str(npm / SUITE), "server", "--url", f"{url}/v1/mcp", *chosen, *expected)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
