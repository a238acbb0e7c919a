"""The skeleton: who reads it, what shows of it, when it is refreshed."""

import re
from typing import Any

import pytest

from tests.planning import planning
from webbee_kernel.bootstrap import bootstrap, make_dispatch, make_refresher
from webbee_kernel.clock import FrozenClock
from webbee_kernel.config import Settings
from webbee_kernel.llm.protocol import ModelResponse
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.refresh.refresh_queue import RefreshItem, RefreshMessage, RefreshRequest
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension, SkeletonAccessForbidden, User
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import USER, ExtensionHarness, TestKernel, registry_of
from webbee_kernel.types import UserKey, user_dict


def refreshed(
    extension: Extension, section: str, kernel: TestKernel, user: User = USER
) -> dict[str, Any]:
    """Refresh a section of this user as the loop does, on the kernel's stores and clock."""
    harness = ExtensionHarness(
        extension, user=user, stores=kernel.app.stores, now=kernel.clock.now()
    )
    return harness.skeleton(section)


def test_i_skeleton_llm_only() -> None:
    ext, other = Extension("mail"), Extension("tasks")
    chat = ChatExtension(ext)
    refused: list[str] = []

    async def peek(ctx: Any, who: str) -> None:
        with pytest.raises(SkeletonAccessForbidden, match="I-SKELETON-LLM-ONLY"):
            await ctx.skeleton.get("inbox")
        refused.append(who)

    @ext.skeleton("inbox", alert=True)
    async def inbox(ctx: Any) -> dict[str, Any]:
        before = await ctx.skeleton.get("inbox")
        foreign = await ctx.skeleton.get("secrets_of_tasks")
        return {
            "response": {
                "marker": "m4rk3r",
                "seen": (before or {}).get("marker"),
                "foreign": foreign,
            }
        }

    @other.skeleton("secrets_of_tasks")
    async def secrets_of_tasks(ctx: Any) -> dict[str, Any]:
        return {"response": {"marker": "t4sks"}}

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
    refreshed(other, "secrets_of_tasks", kernel)
    harness = ExtensionHarness(ext, stores=kernel.app.stores, now=kernel.clock.now())
    assert harness.skeleton("inbox") == {"marker": "m4rk3r", "seen": "m4rk3r", "foreign": None}
    harness.panel("side")
    kernel.chat("look around")
    assert set(refused) == {"alert", "panel", "function"}
    classifier, narrator = model.requests
    assert (
        "m4rk3r" in classifier.prompt
        and "m4rk3r" not in narrator.prompt
        and "[SKELETON]" not in narrator.prompt
    )


def test_i_skeleton_staleness_envelope() -> None:
    ext = Extension("mail")

    @ext.skeleton("inbox")
    async def inbox(ctx: Any) -> dict[str, Any]:
        return {"response": {"unread": 8}}

    @ext.skeleton("outbox")
    async def outbox(ctx: Any) -> dict[str, Any]:
        return {"response": {"queued": 1}}

    kernel = TestKernel([ext])
    for age, text in [
        (0, "cached ~0s ago"),
        (599, "cached ~599s ago"),
        (1, "cached ~10m00s ago"),
        (3000, "cached ~1h00m ago"),
    ]:
        if not kernel.state().sections:
            refreshed(ext, "inbox", kernel)
            refreshed(ext, "outbox", kernel)
        kernel.clock.advance(age)
        block = kernel.prompt("hi").split("[HISTORY]")[0].strip().split("\n")
        assert block[0] == "[SKELETON]" and "AUTHORITATIVE" in block[1] and "STALE" in block[1]
        assert len(block) == 4 and all(f" ({text}): " in line for line in block[2:])


def test_i_skel_auto_derive_1() -> None:
    ext = Extension("mail")

    @ext.skeleton("inbox", ttl=30)
    async def inbox(ctx: Any) -> dict[str, Any]:
        return {"response": {"unread": 8}}

    @ext.tool("skeleton_refresh_outbox")
    async def outbox(ctx: Any) -> dict[str, Any]:
        return {"response": {"queued": 1}}

    @ext.tool("sweep")
    async def sweep(ctx: Any) -> dict[str, Any]:
        return {}

    kernel = TestKernel([ext], script=[ModelResponse("Hello.")])
    assert [(s.section, s.ttl) for s in kernel.registry.catalogue().apps["mail"].sections] == [
        ("inbox", 30),
        ("outbox", 300),
    ]
    kernel.chat("hi")
    assert {(app, section) for app, section, _ in kernel.queue.asked} == {
        ("mail", "inbox"),
        ("mail", "outbox"),
    }
    refreshed(ext, "inbox", kernel)
    refreshed(ext, "outbox", kernel)
    assert (
        "- inbox (cached ~0s ago): unread=8\n- outbox (cached ~0s ago): queued=1\n"
        in kernel.prompt("hi")
    )


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

    @ext.skeleton("fast", ttl=30)
    async def fast(ctx: Any) -> dict[str, Any]:
        runs["fast"].append(ctx.time.timestamp() - start)
        return {"response": {"n": len(runs["fast"])}}

    @ext.skeleton("slow", ttl=200)
    async def slow(ctx: Any) -> dict[str, Any]:
        runs["slow"].append(ctx.time.timestamp() - start)
        return {"response": {"n": len(runs["slow"])}}

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
    assert len(runs["fast"]) >= 10 and all(
        b - a >= 30 for a, b in zip(runs["fast"], runs["fast"][1:], strict=False)
    )
    assert max(b - a for a, b in zip(runs["fast"], runs["fast"][1:], strict=False)) <= 60


def test_i_skel_per_user_1() -> None:
    ext = Extension("mail")

    @ext.skeleton("inbox")
    async def inbox(ctx: Any) -> dict[str, Any]:
        return {"response": {"of": f"{ctx.user.tenant_id}/{ctx.user.imperal_id}"}}

    users = [
        User("alice", tenant_id="one"),
        User("bob", tenant_id="one"),
        User("alice", tenant_id="two"),
    ]
    kernel = TestKernel([ext], env={"IMPERAL_FACT_LEDGER_EXPOSE_PII": "true"})
    for user in users[:2]:
        refreshed(ext, "inbox", kernel, user)
    prompts = [
        str(kernel.run(kernel.kernel.view(kernel.ask("hi", user=user))).opening.prompt.text)
        for user in users
    ]
    assert [re.findall(r"of=(\S+)", p) for p in prompts] == [["one/alice"], ["one/bob"], []]
    assert kernel.run(kernel.app.stores.skeleton.purge(UserKey("one", "bob"), "mail")) == 1
    assert "of=one/alice" in str(
        kernel.run(kernel.kernel.view(kernel.ask("hi", user=users[0]))).opening.prompt.text
    )


def test_i_skel_summary_values_1() -> None:
    ext = Extension("mail")
    before: list[Any] = []

    @ext.skeleton("inbox")
    async def inbox(ctx: Any) -> dict[str, Any]:
        before.append(await ctx.skeleton.get("inbox"))
        return {
            "response": {
                "_cursor": "h1dden",
                "unread": 8,
                "top": [{"_raw": "h1dden", "id": 1, "subject": "Hi"}],
                "more": {"_x": "h1dden", "y": 2},
            }
        }

    stores, clock = memory_stores(), FrozenClock()
    app = bootstrap(
        Settings.from_env({}),
        stores=stores,
        clock=clock,
        llm=FunctionModel(lambda r: ModelResponse("hi")),
    )
    refresher = make_refresher(app, make_dispatch(app, registry_of(ext)))
    kernel = TestKernel([ext], stores=stores, now=clock.now())
    for reason in ("new", "effect"):
        wanted = (RefreshItem("mail", "inbox", reason),)
        kernel.run(refresher.refresh(RefreshRequest(user_dict(USER), wanted)))
    prompt = kernel.prompt("hi")
    assert "- inbox (cached ~0s ago): unread=8, top=[Hi (#1)], more={y=2}\n" in prompt
    assert "h1dden" not in prompt and "_refreshed_at" not in prompt and "_ttl" not in prompt
    assert before[1]["_cursor"] == "h1dden" and (before[1]["_refreshed_at"], before[1]["_ttl"]) == (
        clock.now(),
        300,
    )
