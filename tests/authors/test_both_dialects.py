"""What both dialects share, told of an extension of each: the same sentences hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from webbee_kernel.testing import ExtensionHarness

OURS = "from webbee_kernel.sdk import ActionResult, ChatExtension, Extension\n"
THEIRS = "from imperal_sdk import ActionResult, ChatExtension, Extension\n"
MAIN = """
from pydantic import BaseModel

ext = Extension("pair", version="1.0.0")
chat = ChatExtension(ext, "tool_pair_chat", "A pair")


class Nothing(BaseModel):
    pass


class Mood(BaseModel):
    mood: str


@chat.function("set_mood", description="Set the mood", action_type="write")
async def set_mood(ctx, params: Mood) -> ActionResult:
    await ctx.store.create("moods", {"mood": params.mood})
    return ActionResult.success({"mood": params.mood}, "Set.")


@chat.function("who", description="Who asks", action_type="read")
async def who(ctx, params: Nothing) -> ActionResult:
    return ActionResult.success({"id": ctx.user.id, "same": ctx.user.imperal_id}, "You.")


@chat.function("fail", description="Fail", action_type="read")
async def fail(ctx, params: Nothing) -> ActionResult:
    raise LookupError("no such mood")


@ext.skeleton("mood", ttl=60)
async def mood(ctx):
    page = await ctx.store.query("moods", limit=10)
    if len(page.data) > 1:
        return ActionResult.error("too many moods", code="TOO_MANY")
    if len(page.data) == 1:
        return ActionResult.success({"mood": page.data[0].data["mood"]}, "One mood.")
    return {"response": {"mood": "none"}}
"""


@pytest.fixture(params=["ours", "theirs"])
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> ExtensionHarness:
    folder = tmp_path / "pair"
    folder.mkdir()
    head = OURS if request.param == "ours" else THEIRS
    (folder / "main.py").write_text(head + MAIN, "utf-8")
    return ExtensionHarness(folder)


def test_a_user_is_known_by_either_name(harness: ExtensionHarness) -> None:
    assert harness.call("who").data == {"id": "alice", "same": "alice"}


def test_of_a_sections_result_the_data_is_stored_and_nothing_round_it(
    harness: ExtensionHarness,
) -> None:
    assert harness.skeleton("mood") == {"mood": "none"}
    harness.call("set_mood", mood="calm")
    assert harness.skeleton("mood") == {"mood": "calm"}


def test_a_failed_result_keeps_the_last_good_snapshot(harness: ExtensionHarness) -> None:
    harness.call("set_mood", mood="calm")
    assert harness.skeleton("mood") == {"mood": "calm"}
    harness.call("set_mood", mood="bright")
    assert harness.skeleton("mood") == {"mood": "calm"}
    assert "TOO_MANY" in str(harness.faults[-1])


def test_what_it_raises_is_told_at_its_line(harness: ExtensionHarness) -> None:
    result = harness.call("fail")
    assert result.error_code == "INTERNAL"
    assert str(result.error).endswith("LookupError: no such mood (main.py:30)")
