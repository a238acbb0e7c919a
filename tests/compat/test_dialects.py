"""One extension, word for word, in the kernel's own SDK, in `imperal-sdk` 6, and, where it is there,
in an `imperal-sdk` of 5.x: it does the same."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from string import Template

import pytest

from tests.compat.conftest import ALICE, BOB, Bench
from webbee_kernel.extensions.registry import load_folder
from webbee_kernel.types import CallOutcome

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.filterwarnings(
    "ignore:ChatExtension:DeprecationWarning"
)  # 5.0 warns of what it still takes

SOURCE = Template("""
import $sdk as sdk
from pydantic import BaseModel, Field
from $sdk import ActionResult, ChatExtension, Extension

ext = Extension(
    "another-id",
    version="1.2.0",
    capabilities=["garden:read"],
    config_defaults={"greeting": {"word": "hello"}},
    display_name="Garden",
    description="Plants and beds",
)
ext.secret("token", "A token", required=False)(lambda: None)
chat = ChatExtension(ext, "garden_chat", description="Plants", system_prompt="Name the bed.")
heard = []


class Plant(BaseModel):
    name: str = Field(description="Name of the plant", max_length=20)
    bed: str = "south"


class Planted(BaseModel):
    id: str
    name: str


@ext.cache_model("seen")
class Seen(BaseModel):
    name: str


@chat.function("plant", "Plant something", action_type="write", event="planted", data_model=Planted)
async def plant(ctx, params: Plant) -> ActionResult:
    doc = await ctx.store.create("plants", {"name": params.name, "bed": params.bed})
    return ActionResult.success({"id": doc.id, "name": params.name}, f"Planted {params.name}.")


@chat.function("wither", "Answer with what does not fit", action_type="read", data_model=Planted)
async def wither(ctx) -> ActionResult:
    return ActionResult.success({"id": 7}, "Withered.")


@chat.function("fail", "Fail", action_type="write", event="failed_planting")
async def fail(ctx) -> ActionResult:
    return ActionResult.error("no room", retryable=False)


@chat.function("look", "Look around", action_type="read")
async def look(ctx) -> ActionResult:
    await ctx.cache.set("last", Seen(name="Fern"), ttl_seconds=60)
    errors = []
    for call in (ctx.skeleton.get("beds"), ctx.secrets.get("undeclared")):
        try:
            await call
        except (sdk.SkeletonAccessForbidden, sdk.SecretNotDeclaredError) as error:
            errors.append(type(error).__name__)
    page = await ctx.store.query("plants", where={"bed": "south"}, order_by="name", limit=10)
    await ctx.progress(50, "half")
    await ctx.notify.send("looked", priority="low")
    seen = {
        "names": [d.data["name"] for d in page.data],
        "cached": (await ctx.cache.get("last", Seen)).name,
        "errors": errors,
        "greeting": ctx.config.get("greeting.word"),
        "hook": ctx.webhook_url("rain"),
        "token": await ctx.secrets.get("token"),
    }
    return ActionResult.success(seen, "Looked.")


@chat.function("break_down", "Raise", action_type="read")
async def break_down(ctx) -> ActionResult:
    raise RuntimeError("secret detail")


@chat.function("dig", "Dig up for good", action_type="destructive", id_projection="plant_id")
async def dig(ctx, plant_id: str) -> ActionResult:
    return ActionResult.success({"deleted": await ctx.store.delete("plants", plant_id)}, "Gone.")


@ext.tool("water", description="Water all plants")
async def water(ctx, litres: int = 1):
    return {"watered": await ctx.store.count("plants"), "litres": litres}


@ext.on_event("garden.planted")
async def on_planted(ctx, event):
    heard.append(event["name"])


@ext.on_event("garden.failed_planting")
async def on_failed(ctx, event):
    heard.append("failed")


@ext.skeleton("beds", ttl=120, alert=True, description="Plants per bed")
async def beds(ctx) -> dict:
    previous = await ctx.skeleton.get("beds")
    return {"response": {"plants": await ctx.store.count("plants"), "seen": bool(previous)}}


@ext.tool("skeleton_alert_beds")
async def beds_alert(ctx, old, new):
    return f"{new['plants']} plants" if old and new["plants"] > old.get("plants", 0) else ""


@ext.panel("plot", slot="right", title="Plot")
async def plot(ctx, **params):
    return {"ui": {"type": "Text", "props": {"text": params.get("word", "soil")}}}


@ext.expose("names")
async def names(ctx):
    return [d.data["name"] for d in (await ctx.store.query("plants")).data]


@ext.webhook("rain", method="POST")
async def rain(ctx, headers, body, query_params):
    told = {"fell": body, "by": ctx.user.imperal_id, "where": query_params.get("where")}
    respond = getattr(sdk, "WebhookResponse", dict)
    return respond(status_code=202, body=told, headers={"X-Seen": headers.get("x-test", "")})


@ext.schedule("nightly", cron="0 3 * * *")
async def nightly(ctx):
    heard.append(f"night of {ctx.user.imperal_id}")
    async for user_id in ctx.store.list_users("plants"):
        theirs = ctx.as_user(user_id).store
        await theirs.create("visits", {"plants": await theirs.count("plants")})


@ext.signal("frost")
async def frost(ctx, **data):
    heard.append(f"frost {data.get('degrees')}")


@ext.on_install
async def installed(ctx):
    heard.append(f"installed for {ctx.user.imperal_id}")


@ext.health_check
async def health(ctx):
    return getattr(sdk, "HealthStatus", dict)(status="ok")
""")


@pytest.fixture(params=["webbee_kernel.sdk", "imperal_sdk"])
def garden(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    folder = tmp_path / "garden"
    folder.mkdir()
    folder.joinpath("main.py").write_text(SOURCE.substitute(sdk=request.param), "utf-8")
    registry = load_folder(tmp_path)
    assert not registry.failed, registry.failed
    return Bench(registry)


def heard(garden: Bench) -> list[str]:
    """What the extension's listeners noted."""
    function = garden.host.registry.extension("garden").functions["plant"].func
    return _global(function, "heard")


def _global(function: object, name: str) -> list[str]:
    """A name of the extension's module, behind whatever wraps the handler."""
    cells = [function, *(c.cell_contents for c in getattr(function, "__closure__", None) or ())]
    spaces = (getattr(f, "__globals__", {}) for f in cells)
    found: list[str] = next(space[name] for space in spaces if name in space)
    return found


def outcome(garden: Bench, called: str, /, **arguments: object) -> CallOutcome:
    return garden.outcome("garden", called, **arguments)


def test_the_catalogue_says_the_same(garden: Bench) -> None:
    app = garden.host.catalogue.apps["garden"]
    assert (app.display_name, app.description, app.version) == (
        "Garden",
        "Plants and beds",
        "1.2.0",
    )
    assert {f.fn_name: f.action_type for f in app.functions} == {
        "plant": "write",
        "wither": "read",
        "fail": "write",
        "look": "read",
        "break_down": "read",
        "dig": "destructive",
        "water": "write",
    }
    assert [(s.section, s.ttl, s.alert) for s in app.sections] == [("beds", 120, True)]
    assert [(p.panel_id, p.slot, p.title) for p in app.panels] == [("plot", "right", "Plot")]
    assert [(j.name, j.cron) for j in app.schedules] == [("nightly", "0 3 * * *")]
    assert app.signals == ("frost",)
    assert "Name the bed." in app.rules


def test_arguments_are_held_against_the_model_before_the_handler_runs(garden: Bench) -> None:
    missing, long = outcome(garden, "plant"), outcome(garden, "plant", name="x" * 21)
    assert (missing.error_code, long.error_code) == (
        "VALIDATION_MISSING_FIELD",
        "VALIDATION_TYPE_ERROR",
    )
    assert missing.problems[0]["field"] == long.problems[0]["field"] == "name"
    assert garden.documents("garden", "plants") == []


def test_a_success_is_published_as_the_functions_event_and_a_failure_is_not(garden: Bench) -> None:
    done, failed = outcome(garden, "plant", name="Fern"), outcome(garden, "fail")
    assert (done.ok, done.summary, done.data["name"]) == (True, "Planted Fern.", "Fern")
    assert (failed.error, failed.error_code) == ("no room", "EXT_UNSTRUCTURED_ERROR")
    assert heard(garden) == ["Fern"]


def test_a_result_that_does_not_fit_its_model_is_told_in_the_log(
    garden: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    assert outcome(garden, "wither").ok
    assert "the result does not fit its data_model" in caplog.text
    assert "fields=id, name" in caplog.text


def test_a_context_has_a_cache_settings_secrets_and_news(garden: Bench) -> None:
    outcome(garden, "plant", name="Fern")
    assert outcome(garden, "look").data == {
        "names": ["Fern"],
        "cached": "Fern",
        "errors": ["SkeletonAccessForbidden", "SecretNotDeclaredError"],
        "greeting": "hello",
        "hook": "https://bee.example/v1/ext/garden/webhook/rain",
        "token": None,
    }
    assert [e.data["text"] for e in garden.events("notification")] == ["looked"]
    assert [e.data["percent"] for e in garden.events("progress")] == [50.0]


def test_an_exception_is_its_class_name_and_never_its_text(garden: Bench) -> None:
    broken = outcome(garden, "break_down")
    assert (broken.error_code, "RuntimeError" in broken.error) == ("INTERNAL", True)
    assert "secret" not in broken.error


def test_keyword_handlers_and_plain_tools_are_called(garden: Bench) -> None:
    made = outcome(garden, "plant", name="Fern").data["id"]
    assert outcome(garden, "water", litres=3).data == {"watered": 1, "litres": 3}
    assert outcome(garden, "dig", plant_id=made).data == {"deleted": True}


def test_users_do_not_meet(garden: Bench) -> None:
    outcome(garden, "plant", name="Fern")
    assert len(garden.documents("garden", "plants", ALICE)) == 1
    assert garden.documents("garden", "plants", BOB) == []


def test_a_section_reads_its_previous_snapshot_and_its_alert_hears_the_change(
    garden: Bench,
) -> None:
    assert garden.refresh("garden", "beds") == "saved"
    assert garden.section("garden", "beds") == {"plants": 0, "seen": False}
    outcome(garden, "plant", name="Fern")
    garden.clock.advance(121)
    assert garden.refresh("garden", "beds") == "saved"
    assert garden.section("garden", "beds") == {"plants": 1, "seen": True}
    assert [e.data["text"] for e in garden.events("alert")] == ["1 plants"]


def test_panels_webhooks_jobs_signals_hooks_and_health_checks_answer(garden: Bench) -> None:
    assert garden.panel("garden", "plot", word="moss")["props"] == {"text": "moss"}
    sent = {"headers": {"x-test": "yes"}, "where": "roof"}
    status, headers, body = garden.webhook("garden", "rain", "5 mm", **sent)
    assert (status, body) == (202, {"fell": "5 mm", "by": "__webhook__", "where": "roof"})
    assert {name.lower(): value for name, value in headers.items()}["x-seen"] == "yes"
    outcome(garden, "plant", name="Fern", user=BOB)
    assert garden.schedule("garden", "nightly") == "done"
    assert garden.documents("garden", "visits", BOB) == [{"plants": 1}]
    assert garden.schedule("garden", "nightly") == "skipped"
    assert garden.signal("frost", degrees=-3) == {"garden": "ok"}
    garden.install("garden")
    assert garden.call_of("health", "garden", "health", {}).data["status"] == "ok"
    told = ["Fern", "night of __system__", "frost -3", "installed for alice"]
    assert heard(garden) == told


def test_a_panel_that_is_not_there_is_said_so(garden: Bench) -> None:
    assert garden.outcome("garden", "nowhere", call="panel").error_code == "UNKNOWN_SUB_FUNCTION"
    assert outcome(garden, "nothing").error_code == "UNKNOWN_SUB_FUNCTION"


OLDER = ROOT / ".sdk5"


@pytest.mark.skipif(not OLDER.exists(), reason="the older SDK is not there: make test prepares it")
@pytest.mark.skipif(version("imperal-sdk").startswith("5."), reason="this is the older one")
def test_an_older_sdk_does_too() -> None:
    path = os.pathsep.join(map(str, (OLDER, ROOT / "layers/webbee_kernel", ROOT)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__))]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert "22 passed, 1 skipped" in done.stdout
