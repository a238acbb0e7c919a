"""What both dialects share, told of an extension of each: the same sentences hold, and those of theirs
with an SDK of 5.x, too.

`docs/compatibility.md` lists them.
"""

import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.processes import ran
from webbee_kernel.testing import ExtensionHarness

ROOT = Path(__file__).resolve().parents[2]
OLDER = ROOT / ".sdk5"
pytestmark = pytest.mark.filterwarnings(
    "ignore:ChatExtension:DeprecationWarning"
)  # 5.x warns of what it still takes

OURS = "from webbee_kernel.sdk import ActionResult, ChatExtension, Extension, ui\n"
THEIRS = "from imperal_sdk import ActionResult, ChatExtension, Extension, ui\n"
MAIN = """
from pydantic import BaseModel

ext = Extension("pair", version="1.2.0", display_name="A pair", description="Moods of two")
chat = ChatExtension(ext, "tool_pair_chat", "Moods", system_prompt="Name the mood.")


class Mood(BaseModel):
    mood: str


@chat.function("set_mood", description="Set the mood", action_type="write")
async def set_mood(ctx, params: Mood) -> ActionResult:
    await ctx.store.create("moods", {"mood": params.mood})
    return ActionResult.success({"mood": params.mood}, "Set.")


@chat.function("who", description="Who asks", action_type="read")
async def who(ctx) -> ActionResult:
    return ActionResult.success({"id": ctx.user.id, "same": ctx.user.imperal_id}, "You.")


@chat.function("fail", description="Fail", action_type="read")
async def fail(ctx) -> ActionResult:
    raise LookupError("no such mood")


@ext.skeleton("mood", ttl=60)
async def mood(ctx):
    page = await ctx.store.query("moods", limit=10)
    if len(page.data) > 1:
        return ActionResult.error("too many moods")
    if len(page.data) == 1:
        return ActionResult.success({"mood": page.data[0].data["mood"]}, "One mood.")
    return {"response": {"mood": "none"}}


@chat.function("forget_mood", description="Forget a mood", action_type="destructive")
async def forget_mood(ctx, params: Mood) -> ActionResult:
    page = await ctx.store.query("moods", where={"mood": params.mood})
    for doc in page.data:
        await ctx.store.delete("moods", doc.id)
    return ActionResult.success({"forgotten": len(page.data)}, "Forgotten.")


@ext.tool("skeleton_alert_mood")
async def mood_alert(ctx, old, new):
    return "It changed" if old != new else ""


@ext.webhook("felt", secret_header="X-Key")
async def felt(ctx, headers, body, query_params):
    if headers["x-key"] != "k":
        return {"status_code": 401, "body": {"error": "wrong key"}}
    await ctx.as_user(body).store.create("moods", {"mood": query_params["mood"]})
    return {"ok": True}


@ext.schedule("hourly", "0 * * * *")
async def hourly(ctx):
    async for user in ctx.store.list_users("moods"):
        await ctx.as_user(user).store.set("asked/once", {"asked": True})


@chat.function("asked", description="Whether somebody asked", action_type="read")
async def asked(ctx) -> ActionResult:
    return ActionResult.success({"count": await ctx.store.count("asked")}, "Counted.")


@ext.panel("moods", slot="right", title="Moods")
async def moods(ctx, **params):
    return ui.Text("All moods")


@ext.on_event("other.laughed")
async def laughed(ctx, event):
    await ctx.store.create("moods", {"mood": event["by"]})


@chat.function("wake", "Wake", action_type="write", event="woken", data_model=Mood)
async def wake(ctx, well: bool) -> ActionResult:
    if not well:
        return ActionResult.error("still asleep")
    return ActionResult.success({"mood": 7}, "Awake.")


@ext.on_event("pair.woken")
async def woken(ctx, event):
    await ctx.store.create("moods", {"mood": "awake"})


@ext.on_install
async def installed(ctx):
    await ctx.store.set("asked/once", {"asked": True})


@ext.expose("count")
async def count(ctx):
    return {"count": await ctx.store.count("moods")}
"""


@pytest.fixture(params=["ours", "theirs"])
def harness(request: pytest.FixtureRequest, written: Callable[..., Path]) -> ExtensionHarness:
    head = OURS if request.param == "ours" else THEIRS
    return ExtensionHarness(written("pair", head + MAIN))


def test_an_app_has_words_kinds_of_functions_a_user_either_name(harness: ExtensionHarness) -> None:
    app = harness.registry.catalogue().apps["pair"]
    assert (app.display_name, app.description, app.version) == ("A pair", "Moods of two", "1.2.0")
    assert "Name the mood." in app.rules
    told = {"set_mood": "write", "who": "read", "forget_mood": "destructive"}
    assert told.items() <= {f.fn_name: f.action_type for f in app.functions}.items()
    assert harness.call("who").data == {"id": "alice", "same": "alice"}


def test_of_a_result_a_section_keeps_the_data_alone_and_of_a_failed_one_the_last_good_snapshot(
    harness: ExtensionHarness,
) -> None:
    assert harness.skeleton("mood") == {"mood": "none"}
    harness.call("set_mood", mood="calm")
    assert harness.skeleton("mood") == {"mood": "calm"}
    harness.call("set_mood", mood="bright")
    assert harness.skeleton("mood") == {"mood": "calm"}
    assert "the refresh handler failed" in str(harness.faults[-1])


def test_what_it_raises_is_told_at_its_line(harness: ExtensionHarness) -> None:
    result = harness.call("fail")
    assert result.error_code == "INTERNAL"
    assert str(result.error).endswith("LookupError: no such mood (pair/main.py:26)")


def test_documents_are_ones_own_found_by_their_fields_and_deleted(
    harness: ExtensionHarness,
) -> None:
    assert harness.call("set_mood").error_code == "VALIDATION_MISSING_FIELD"  # and did not run
    assert harness.exposed("count") == {"count": 0}
    harness.call("set_mood", mood="calm")
    for other in (harness.as_user("bob"), harness.as_user("alice", tenant_id="other")):
        assert other.exposed("count") == {"count": 0}
    assert harness.exposed("count") == {"count": 1}
    assert harness.call("forget_mood", mood="bright").data == {"forgotten": 0}
    assert harness.call("forget_mood", mood="calm").data == {"forgotten": 1}
    assert harness.exposed("count") == {"count": 0}


def test_a_section_alerts_by_its_tool(harness: ExtensionHarness) -> None:
    assert harness.alert("mood", old={"mood": "none"}, new={"mood": "calm"}) == "It changed"
    assert harness.alert("mood", old={"mood": "calm"}, new={"mood": "calm"}) == ""


def test_a_webhook_refuses_a_wrong_key_and_acts_for_its_user(harness: ExtensionHarness) -> None:
    query = {"mood": "calm"}
    wrong = harness.webhook("felt", "alice", headers={"X-Key": "no"}, query=query)
    assert (wrong.status, wrong.body) == (401, {"error": "wrong key"})
    right = harness.webhook("felt", "alice", headers={"X-Key": "k"}, query=query)
    assert (right.status, right.body) == (200, {"ok": True})
    assert harness.exposed("count") == {"count": 1}


def test_a_job_runs_at_its_minute_for_every_user(harness: ExtensionHarness) -> None:
    harness.call("set_mood", mood="calm")
    assert (harness.call("asked").data, harness.travel(3600)) == ({"count": 0}, ("hourly",))
    assert harness.call("asked").data == {"count": 1}
    assert harness.as_user("bob").call("asked").data == {"count": 0}


def test_a_panel_is_a_tree_and_an_event_reaches_who_listens(harness: ExtensionHarness) -> None:
    tree = harness.panel("moods")
    assert (tree["type"], tree["props"]["content"]) == ("Text", "All moods")
    harness.event("other.laughed", {"by": "calm"})
    assert harness.skeleton("mood") == {"mood": "calm"}


def test_a_success_is_published_as_the_functions_event_and_told_in_the_log_where_it_is_not_its_model(
    harness: ExtensionHarness, caplog: pytest.LogCaptureFixture
) -> None:
    failed = harness.call("wake", well=False)
    assert (failed.error, failed.error_code) == ("still asleep", "EXT_UNSTRUCTURED_ERROR")
    assert harness.exposed("count") == {"count": 0}
    assert harness.call("wake", well=True).ok
    assert harness.exposed("count") == {"count": 1}
    assert "does not fit its data_model: mood" in caplog.text


def test_a_hook_runs_when_the_app_is_installed(harness: ExtensionHarness) -> None:
    harness.hook("on_install")
    assert harness.call("asked").data == {"count": 1}


@pytest.mark.skipif(not OLDER.exists(), reason="the older SDK is not there: make test prepares it")
@pytest.mark.skipif(version("imperal-sdk").startswith("5."), reason="this is the older one")
def test_an_older_sdk_does_too() -> None:
    path = os.pathsep.join(map(str, (OLDER, ROOT / "layers/webbee_kernel", ROOT)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "theirs"]
    done = ran(*command, __file__, cwd=ROOT, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stdout
    assert "10 passed" in done.stdout
