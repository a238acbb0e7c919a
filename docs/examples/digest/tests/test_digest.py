"""The digest example: a long job, waited for by what it tells."""

import asyncio
from pathlib import Path

import pytest

from webbee_kernel.testing import ExtensionHarness, HttpCall

URLS = ["https://a.example/", "https://b.example/", "https://gone.example/"]


def pages(call: HttpCall) -> str:
    if "gone" in call.url:
        raise ConnectionError("nobody answers")
    return "three short words"


@pytest.fixture
def digest() -> ExtensionHarness:
    return ExtensionHarness(Path(__file__).parents[1], http=pages)


def wait(digest: ExtensionHarness) -> None:
    async def told() -> None:
        while not [e for e in await digest.app.events.since(digest.key) if e.kind == "result"]:
            await asyncio.sleep(0.01)

    digest.run(asyncio.wait_for(told(), 30))


def test_the_turn_ends_at_once_and_the_result_arrives(digest: ExtensionHarness) -> None:
    assert digest.call("start_digest", urls=URLS).data["pages"] == 3
    wait(digest)
    found = digest.call("last_digest").data
    assert (found["state"], found["words"][URLS[0]], found["failed"]) == ("done", 3, [URLS[2]])
    assert [e.data["text"] for e in digest.events("notification")] == [
        "The digest is done: 2 pages, 1 failed."
    ]


def test_it_tells_how_far_it_is(digest: ExtensionHarness) -> None:
    digest.call("start_digest", urls=URLS)
    wait(digest)
    told = [e.data["percent"] for e in digest.events("progress")]
    assert sorted(told) == told
    assert told[-1] == 100.0
    assert digest.panel("digest")["props"]["value"] == 3
