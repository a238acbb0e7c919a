"""Installing and upgrading, where AWS adds nothing."""

from contextlib import suppress
from unittest.mock import AsyncMock

import pytest

from webbee_kernel.bootstrap import make_installer
from webbee_kernel.errors import DispatchRefused, StorageUnavailable
from webbee_kernel.extensions.host import InlineDispatch
from webbee_kernel.sdk import Context, Extension
from webbee_kernel.stores import Stores
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import CallOutcome, CallRequest


def versioned(version: str, log: list[str]) -> Extension:
    ext = Extension("app", version)

    @ext.on_install
    async def installed(ctx: Context) -> None:
        log.append(f"install {version}")

    @ext.on_upgrade("2.0.0")
    async def upgraded(ctx: Context) -> None:
        log.append("upgrade to 2.0.0")

    @ext.on_upgrade("3.0.0")
    async def failing(ctx: Context) -> None:
        log.append("upgrade to 3.0.0")
        raise RuntimeError("the upgrade fails")

    return ext


def install(version: str, stores: Stores, log: list[str]) -> None:
    harness = ExtensionHarness(versioned(version, log), stores=stores)
    installer = make_installer(harness.app, InlineDispatch(harness.host))
    harness.run(installer.install(harness.user, "app"))


@pytest.mark.parametrize(
    ("versions", "ran"),
    [
        ("1.0.0 1.0.0 2.0.0 2.0.0 2.1.0", ["install 1.0.0", "upgrade to 2.0.0"]),
        ("1.0.0 3.0.0 3.0.0", ["install 1.0.0", "upgrade to 3.0.0"]),
        ("2.0.0", ["install 2.0.0"]),
    ],
    ids=["once", "also where it fails", "not at the first installation"],
)
def test_an_upgrade_hook_runs_when_its_version_is_reached(versions: str, ran: list[str]) -> None:
    log: list[str] = []
    stores = memory_stores()
    for version in versions.split():
        install(version, stores, log)
    assert log == ran


@pytest.mark.parametrize(("refused", "away"), [(1, 0), (2, 0), (1, 1)])
@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_a_hook_that_was_not_run_is_run_the_next_time(
    version: str, refused: int, away: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no other one twice: the record stands before its hooks, or two of several requests at
    the same time would call them."""
    log: list[str] = []
    stores = memory_stores()
    if version == "2.0.0":
        install("1.0.0", stores, log)
    harness = ExtensionHarness(versioned(version, log), stores=stores)
    dispatch, calls = InlineDispatch(harness.host), list[str]()

    async def call(request: CallRequest) -> CallOutcome:
        calls.append(request.name)
        if len(calls) == refused:
            raise DispatchRefused("no place to run in")
        return await harness.host.execute(request)

    dispatch.call = call
    installer = make_installer(harness.app, dispatch)
    outage = [StorageUnavailable("throttled")] * away
    monkeypatch.setattr(stores.documents, "update", AsyncMock(side_effect=[*outage, *[None] * 9]))
    for _ in range(3 + away):
        with suppress(DispatchRefused, StorageUnavailable):
            harness.run(installer.install(harness.user, "app"))
    ran = ["install 1.0.0", "upgrade to 2.0.0"]
    assert log == (ran if version == "2.0.0" else ran[:1])
    if version == "1.0.0":
        twice = ("on_install", "on_enable")[refused - 1]
        assert sorted(calls) == sorted(["on_install", "on_enable", twice])
