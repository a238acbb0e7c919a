"""The skeleton: who reads it, what shows of it, when it is refreshed."""

import re
from itertools import pairwise
from typing import Any

import pytest

from tests.planning import planning
from webbee_kernel.clock import FrozenClock
from webbee_kernel.llm.protocol import ModelResponse
from webbee_kernel.refresh.refresh_queue import RefreshItem, RefreshMessage, RefreshRequest
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension, SkeletonAccessForbidden, User
from webbee_kernel.testing import USER, ExtensionHarness, TestKernel
from webbee_kernel.types import UserKey, user_dict


def refreshed(kernel: TestKernel, extension: Extension, *names: str, user: User = USER) -> Any:
    """Refresh sections of this user as the loop does, on the kernel's stores and clock; what the
    last of them holds."""
    stores, now = kernel.app.stores, kernel.clock.now()
    harness = ExtensionHarness(extension, user=user, stores=stores, now=now)
    return [harness.skeleton(name) for name in names][-1]


def holding(app_id: str = "mail", ttl: int = 300, /, **sections: Any) -> Extension:
    """An app whose sections hold this."""
    ext = Extension(app_id)
    for name, response in sections.items():

        @ext.skeleton(name, ttl=ttl)
        async def section(ctx: Any, response: Any = response) -> dict[str, Any]:
            return {"response": response}

    return ext


def test_i_skeleton_llm_only() -> None:
    ext, other = Extension("mail"), holding("tasks", secrets_of_tasks={"marker": "t4sks"})
    chat = ChatExtension(ext)
    refused: list[str] = []

    async def peek(ctx: Any, who: str) -> None:
        with pytest.raises(SkeletonAccessForbidden, match="I-SKELETON-LLM-ONLY"):
            await ctx.skeleton.get("inbox")
        refused.append(who)

    @ext.skeleton("inbox", alert=True)
    async def inbox(ctx: Any) -> dict[str, Any]:
        before = await ctx.skeleton.get("inbox") or {}
        foreign = await ctx.skeleton.get("secrets_of_tasks")
        return {"response": {"marker": "m4", "seen": before.get("marker"), "foreign": foreign}}

    @ext.tool("skeleton_alert_inbox")
    async def alert(ctx: Any, old: Any, new: Any) -> str:
        await peek(ctx, "alert")
        return ""

    @chat.function("look", "Look around")
    async def look(ctx: Any) -> ActionResult:
        await peek(ctx, "function")
        return ActionResult.success({"n": 1}, "looked")

    @ext.panel("side")
    async def side(ctx: Any) -> Any:
        await peek(ctx, "panel")
        return {"type": "Text", "props": {}}

    model = planning("mail__look", reply="looked")
    kernel = TestKernel([ext, other], model=model)
    refreshed(kernel, other, "secrets_of_tasks")
    harness = ExtensionHarness(ext, stores=kernel.app.stores, now=kernel.clock.now())
    assert harness.skeleton("inbox") == {"marker": "m4", "seen": "m4", "foreign": None}
    harness.panel("side")
    kernel.chat("look around")
    assert set(refused) == {"alert", "panel", "function"}
    classifier, narrator = model.requests
    assert "marker=m4" in classifier.prompt
    assert "marker" not in narrator.prompt and "[SKELETON]" not in narrator.prompt


def test_i_skeleton_staleness_envelope() -> None:
    ext = holding(inbox={"unread": 8}, outbox={"queued": 1})
    kernel = TestKernel([ext])
    refreshed(kernel, ext, "inbox", "outbox")
    for passed, age in ((0, "0s"), (599, "599s"), (1, "10m00s"), (3000, "1h00m")):
        kernel.clock.advance(passed)
        block = kernel.prompt("hi").split("[HISTORY]")[0].strip().split("\n")
        assert block[0] == "[SKELETON]" and "AUTHORITATIVE" in block[1] and "STALE" in block[1]
        assert len(block) == 4 and all(f" (cached ~{age} ago): " in x for x in block[2:])


def test_i_skel_auto_derive_1() -> None:
    ext = holding("mail", 30, inbox={"unread": 8})

    @ext.tool("skeleton_refresh_outbox")
    async def outbox(ctx: Any) -> dict[str, Any]:
        return {"response": {"queued": 1}}

    @ext.tool("sweep")
    async def sweep(ctx: Any) -> dict[str, Any]:
        return {}

    kernel = TestKernel([ext], script=[ModelResponse("Hello.")])
    sections = kernel.registry.catalogue().apps["mail"].sections
    assert [(s.section, s.ttl) for s in sections] == [("inbox", 30), ("outbox", 300)]
    kernel.chat("hi")
    asked = {(app, section) for app, section, _ in kernel.queue.asked}
    assert asked == {("mail", "inbox"), ("mail", "outbox")}
    refreshed(kernel, ext, "inbox", "outbox")
    shown = "- inbox (cached ~0s ago): unread=8\n- outbox (cached ~0s ago): queued=1\n"
    assert shown in kernel.prompt("hi")


class Line:
    """A queue that delivers each message at its second, moving the clock."""

    def __init__(self, clock: FrozenClock) -> None:
        self.clock = clock
        self.waiting: list[tuple[float, RefreshMessage]] = []

    async def send(self, messages: Any) -> None:
        self.waiting += [(self.clock.now() + m.delay_s, m) for m in messages]


def test_i_skel_freshness_1() -> None:
    ext = Extension("mail")
    runs: dict[str, list[float]] = {"fast": [], "slow": []}
    harness = ExtensionHarness(ext)
    start = harness.clock.now()

    for name, ttl in (("fast", 30), ("slow", 200)):

        @ext.skeleton(name, ttl=ttl)
        async def section(ctx: Any, name: str = name) -> dict[str, Any]:
            runs[name].append(ctx.time.timestamp() - start)
            return {"response": {"n": len(runs[name])}}

    line = Line(harness.clock)
    wanted = tuple(RefreshItem("mail", section, "new") for section in runs)
    harness.run(harness.refresher.refresh(RefreshRequest(user_dict(harness.user), wanted), line))
    for minute in range(10):
        harness.clock.set(start + 60 * minute)
        harness.run(harness.refresher.tick(line))
        while due := [w for w in line.waiting if w[0] < start + 60 * (minute + 1)]:
            at, message = min(due, key=lambda w: w[0])
            line.waiting.remove((at, message))
            harness.clock.set(max(at, harness.clock.now()))
            harness.run(harness.refresher.refresh(message, line))
            harness.run(harness.refresher.refresh(message, line))  # delivered twice, refreshed once
    assert runs["slow"] == [0, 200, 400]
    pauses = [later - earlier for earlier, later in pairwise(runs["fast"])]
    assert len(pauses) >= 9 and min(pauses) >= 30 and max(pauses) <= 60


def test_a_section_that_its_app_no_longer_registers_leaves_the_prompt() -> None:
    before, after = holding(inbox={"n": 1}, old={"n": 2}), holding(inbox={"n": 3})
    kernel = TestKernel([before])
    refreshed(kernel, before, "inbox", "old")
    assert "- old (" in kernel.prompt("hi")
    kernel.clock.advance(400)
    refreshed(kernel, after, "inbox")
    assert "- inbox (" in kernel.prompt("hi")
    assert "- old (" not in kernel.prompt("hi")


def test_i_skel_per_user_1() -> None:
    ext = Extension("mail")

    @ext.skeleton("inbox")
    async def inbox(ctx: Any) -> dict[str, Any]:
        return {"response": {"of": f"{ctx.user.tenant_id}/{ctx.user.imperal_id}"}}

    named = (("alice", "one"), ("bob", "one"), ("alice", "two"))
    users = [User(name, tenant_id=tenant) for name, tenant in named]
    kernel = TestKernel([ext], env={"IMPERAL_FACT_LEDGER_EXPOSE_PII": "true"})
    for user in users[:2]:
        refreshed(kernel, ext, "inbox", user=user)

    def seen() -> list[list[str]]:
        views = [kernel.run(kernel.kernel.view(kernel.ask("hi", user=user))) for user in users]
        return [re.findall(r"of=(\S+)", str(view.opening.prompt.text)) for view in views]

    assert seen() == [["one/alice"], ["one/bob"], []]
    assert kernel.run(kernel.app.stores.skeleton.purge(UserKey("one", "bob"), "mail")) == 1
    assert seen() == [["one/alice"], [], []]


def test_i_skel_summary_values_1() -> None:
    ext = Extension("mail")
    before: list[Any] = []

    @ext.skeleton("inbox")
    async def inbox(ctx: Any) -> dict[str, Any]:
        before.append(await ctx.skeleton.get("inbox"))
        top = [{"_raw": "h1dden", "id": 1, "subject": "Hi"}]
        hidden = {"_cursor": "h1dden", "more": {"_x": "h1dden", "y": 2}}
        return {"response": {"unread": 8, "top": top, **hidden}}

    harness = ExtensionHarness(ext)
    stores, clock = harness.app.stores, harness.clock
    kernel = TestKernel([ext], stores=stores, now=clock.now())
    for reason in ("new", "effect"):
        wanted = (RefreshItem("mail", "inbox", reason),)
        harness.run(harness.refresher.refresh(RefreshRequest(user_dict(USER), wanted)))
    prompt = kernel.prompt("hi")
    assert "- inbox (cached ~0s ago): unread=8, top=[Hi (#1)], more={y=2}\n" in prompt
    assert "h1dden" not in prompt and "_refreshed_at" not in prompt and "_ttl" not in prompt
    marked = [before[1][name] for name in ("_cursor", "_refreshed_at", "_ttl")]
    assert marked == ["h1dden", clock.now(), 300]
