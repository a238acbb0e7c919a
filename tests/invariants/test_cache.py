"""ctx.cache as a handler meets it: each limit at its edge, and nothing written beyond it."""

import pytest

from webbee_kernel.sdk import Extension
from webbee_kernel.testing import ExtensionHarness


@pytest.fixture
def harness() -> ExtensionHarness:
    return ExtensionHarness(Extension("mail"))


def test_i_cache_value_size_cap_64kb(harness: ExtensionHarness) -> None:
    cache = harness.context().cache
    harness.run(cache.set("k", "x" * (65_536 - 2)))
    for oversized in ("x" * (65_536 - 1), "я" * 32_768, {"n": ["y" * 100] * 700}):
        with pytest.raises(
            ValueError,
            match=r"I-CACHE-VALUE-SIZE-CAP-64KB: .*65,536 bytes.*This value has \d+ bytes",
        ):
            harness.run(cache.set("k", oversized))
    assert harness.run(cache.get("k")) == "x" * (65_536 - 2)


def test_i_cache_ttl_cap_300s(harness: ExtensionHarness) -> None:
    cache = harness.context().cache
    harness.run(cache.set("k", "v", 300))
    harness.advance(299.9)
    assert harness.run(cache.get("k")) == "v"
    harness.advance(0.1)
    assert harness.run(cache.get("k")) is None
    for ttl, error in [
        (301, ValueError),
        (4, ValueError),
        (10**9, ValueError),
        (60.5, TypeError),
        ("60", TypeError),
        (True, TypeError),
    ]:
        with pytest.raises(error, match=r"I-CACHE-TTL-CAP-300S: .*5 to 300 seconds"):
            harness.run(cache.set("k", "v", ttl))
    assert harness.run(cache.get("k")) is None


def test_i_cache_key_safety(harness: ExtensionHarness) -> None:
    cache = harness.context().cache
    for key in ("a", "inbox:page-1_A", "x" * 128):
        harness.run(cache.set(key, key))
        assert harness.run(cache.get(key)) == key
    for key in ("", "x" * 129, "a b", "a#b", "a/b", "../a", "ключ", "a\n", "a\u200b", "{a}"):
        for use in (
            cache.set(key, 1),
            cache.get(key),
            cache.delete(key),
            cache.get_or_fetch(key, None, _fetch),
        ):
            with pytest.raises(ValueError, match=r"I-CACHE-KEY-SAFETY: .*1 to 128 characters"):
                harness.run(use)


async def _fetch() -> int:
    raise AssertionError("nothing is fetched for a key that is refused")
