"""What of a user's sections is stale, all that is due in one call, and how a turn asks for it."""

import asyncio
import logging
import threading
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from webbee_kernel.catalogue import AppInfo, Catalogue, SectionInfo
from webbee_kernel.clock import FrozenClock
from webbee_kernel.config import Settings
from webbee_kernel.refresh import refresh_queue
from webbee_kernel.refresh.refresh_queue import (
    JsonQueue,
    RefreshItem,
    SqsRefreshQueue,
    UserDue,
    stale,
    tick_passed,
)
from webbee_kernel.refresh.refresh_user import UserRefresher
from webbee_kernel.sdk import Context, Extension, User
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.stores.types import Section, UserState
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import (
    CallOutcome,
    CallRequest,
    UserKey,
    failed_outcome,
    ok_outcome,
    user_dict,
)

NOW = 1_000_000.0
CATALOGUE = Catalogue({"mail": AppInfo("mail", sections=(SectionInfo("inbox", 300),))})


def saved(age: float, due_in: float, failures: int = 0, lease_until: float = 0.0) -> Section:
    """A section of ttl 300, `age` seconds old."""
    return Section("mail", "inbox", {"n": 1}, NOW - age, 300, NOW + due_in, lease_until, failures)


SIX_HOURS = 6 * 3600
SECTIONS: dict[str, tuple[Section, bool]] = {
    "never saved": (Section("mail", "inbox", due_at=NOW), True),
    "due": (saved(300, 0), False),
    "overdue by more than a minute": (saved(361, -61), True),
    "being refreshed": (saved(361, -61, lease_until=NOW + 9), False),
    "waiting six hours, not old yet": (saved(360, SIX_HOURS), False),
    "waiting six hours, old": (saved(361, SIX_HOURS), True),
    "waiting six hours, nearly over": (saved(9_000, 10), True),
    "failing, left to its backoff": (saved(9_000, 600, failures=7), False),
    "failing, due": (saved(9_000, -5, failures=7), False),
    "failing and waiting six hours": (saved(9_000, SIX_HOURS, failures=7), True),
}


@pytest.mark.parametrize("case", SECTIONS)
def test_a_section_is_asked_for_when_its_own_pace_would_have_refreshed_it(case: str) -> None:
    section, is_wanted = SECTIONS[case]
    assert stale(CATALOGUE, ["mail"], UserState((section,)), NOW) == [("mail", "inbox")] * is_wanted


def test_who_no_tick_will_find_is_queued_by_who_saved_them() -> None:
    assert not tick_passed(NOW + 60, NOW, NOW + 59)  # further away than any tick has looked
    assert tick_passed(NOW + 50, NOW, NOW + 5)  # behind the mark, but the next may have come


@pytest.mark.parametrize("order", [("blocks", "counts"), ("counts", "blocks")])
def test_a_section_that_blocks_the_thread_takes_no_other_with_it(order: tuple[str, ...]) -> None:
    ext, released = Extension("office"), threading.Event()

    @ext.skeleton("counts")
    async def counts(ctx: Context) -> dict[str, Any]:
        before = await ctx.skeleton.get("counts")
        await asyncio.sleep(0)
        return {"response": {"n": before["n"] + 1}}

    @ext.skeleton("blocks")
    async def blocks(ctx: Context) -> dict[str, Any]:
        released.wait(60)
        return {"response": {"n": 0}}

    harness = ExtensionHarness(ext)
    given = {"snapshots": {"office": {"counts": {"n": 6}}}}

    def refreshed(*sections: str) -> dict[str, Any]:
        asked = {"sections": {"office": list(sections), "gone": ["x"]}, **given}
        user = user_dict(harness.user)
        request = CallRequest("skeletons", user, "", "skeletons", asked, deadline_s=0.5)
        outcome = harness.run(harness.host.execute(request))
        assert outcome.ok
        assert outcome.data["gone"]["x"]["code"] == "UNKNOWN_TOOL"
        found: dict[str, Any] = outcome.data["office"]
        return found

    try:
        found = refreshed(*order)
        assert (found["counts"], found["blocks"]["code"]) == ({"data": {"n": 7}}, "BACKEND_TIMEOUT")
        assert refreshed("counts")["counts"] == {"data": {"n": 7}}
    finally:
        released.set()


@pytest.mark.parametrize("bad", ["a", "z"])
def test_an_app_that_ends_its_process_takes_no_other_one_with_it_twice(bad: str) -> None:
    async def call(request: CallRequest) -> CallOutcome:
        if bad in request.arguments["sections"]:
            return failed_outcome(request, "INTERNAL", "it ended the process")
        return ok_outcome(request, {"mail": {"inbox": {"data": {}}}})

    async def refresh() -> dict[str, int]:
        message = UserDue(user_dict(User("alice")))
        await UserRefresher(dispatch, store, Mock(), clock, Settings()).due(message)
        clock.advance(600)
        return {s.app_id: s.failures for s in (await store.read(alice)).sections}

    apps = {n: AppInfo(n, sections=(SectionInfo("inbox", 60),)) for n in ("mail", bad)}
    dispatch = Mock(call=call, catalogue=AsyncMock(return_value=Catalogue(apps)))
    store, clock = memory_stores().skeleton, FrozenClock(NOW)
    alice, due = UserKey("default", "alice"), [Section(n, "inbox", due_at=NOW) for n in apps]
    asyncio.run(store.register(alice, due, who={}))
    for n in (1, 2, 3, 4):
        assert asyncio.run(refresh()) == {"mail": int(n == 1), bad: n}


def test_a_refused_request_is_logged_and_never_raised(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh_queue, "PATIENCE_S", 60.0)  # however slow the machine is
    refusing = Mock(**{"send_message_batch.return_value": {"Failed": [{"Id": "0"}]}})
    for name in ("aws_client", "brisk_client"):
        monkeypatch.setattr(refresh_queue, name, lambda _: refusing)
    with caplog.at_level(logging.WARNING, "webbee.queue"):
        asyncio.run(SqsRefreshQueue("").ask(User("a\uffff"), [RefreshItem("", "", "seen")]))
    asyncio.run(JsonQueue("https://queue").send({"text": "\uffff"}))
    [sent] = refusing.send_message_batch.call_args.kwargs["Entries"]
    bodies = [m["MessageBody"] for m in (sent, refusing.send_message.call_args.kwargs)]
    assert "".join(bodies).isascii()  # SQS refuses some other characters
    assert "refresh request not sent" in caplog.text
