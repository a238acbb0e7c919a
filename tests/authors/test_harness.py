"""The harness reaches every kind of handler an extension may register, and refuses there what looks
like a secret."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from webbee_kernel.extensions.error_mapping import MAX_FAULTS
from webbee_kernel.llm.protocol import ToolCall
from webbee_kernel.sdk import Context, Extension
from webbee_kernel.testing import ExtensionHarness, HttpCall, ModelResponse, TestKernel

MAIN = """
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("till", "1.1.0")
chat = ChatExtension(ext)
ext.secret("signing_key", "Key of the sender", scope="app")


@chat.function("rate", "The rate of a currency in euros")
async def rate(ctx: Context) -> ActionResult:
    found = await ctx.http.get("https://rates.example/eur", params={"to": "usd"})
    return ActionResult.success({"status": found.status_code, "rate": found.json()["rate"]}, "Rate.")


@ext.skeleton("sales", ttl=60, alert=True)
async def sales(ctx):
    return {"response": {"count": await ctx.store.count("sales")}}


@ext.tool("skeleton_alert_sales")
async def sales_alert(ctx, old, new):
    return f"{new['count']} sales" if new["count"] > old.get("count", 0) else ""


@ext.schedule("daily", "0 7 * * *")
async def daily(ctx):
    await ctx.store.create("days", {"at": ctx.time.iso()})
    return {"days": await ctx.store.count("days")}


@ext.signal("cleanup")
async def cleanup(ctx, older_than=0):
    return {"older_than": older_than}


@ext.on_event("shop.sold")
async def sold(ctx, data):
    if data.get("price") is None:
        raise ValueError("no price")
    await ctx.store.create("sales", data)


@ext.on_upgrade("1.1.0")
async def upgraded(ctx):
    await ctx.store.create("sales", {"price": 1})


@ext.panel("recent", refresh="on_event:shop.sold, counted")
async def recent(ctx, **_):
    return ui.Text("…")


@ext.health_check
async def health(ctx):
    return {"status": "degraded"}
"""


def rates(call: HttpCall) -> dict[str, float] | tuple[int, dict[str, float]]:
    return {"rate": 1.1} if call.params["to"] == "usd" else (404, {})


@pytest.fixture
def folder(written: Callable[..., Path]) -> Path:
    return written("till", MAIN)


@pytest.fixture
def harness(folder: Path) -> ExtensionHarness:
    return ExtensionHarness(folder, http=rates, secrets={"signing_key": "k1"})


def test_http_is_answered_by_a_function_in_a_call_and_in_a_turn_and_what_was_sent_is_kept(
    folder: Path, harness: ExtensionHarness
) -> None:
    assert harness.call("rate").data == {"status": 200, "rate": 1.1}
    calls = (ToolCall("till__rate", {}),)
    script = (ModelResponse(tool_calls=calls), ModelResponse(text="It is known."))
    kernel = TestKernel([folder], http=rates, script=script)
    assert kernel.chat("what is the rate?").body["calls"][0]["status"] == "ok"
    for sent in (harness.sent, kernel.sent):
        found = [(c.method, c.url, c.params) for c in sent]
        assert found == [("GET", "https://rates.example/eur", {"to": "usd"})]


def test_jobs_signals_hooks_and_health_run(harness: ExtensionHarness) -> None:
    assert harness.schedule("daily") == {"days": 1}
    assert harness.signal("cleanup", older_than=7) == {"older_than": 7}
    harness.hook("on_upgrade", "1.1.0")
    assert (harness.skeleton("sales"), harness.health()["status"]) == ({"count": 1}, "degraded")


def test_an_event_reaches_listeners_and_a_failing_one_is_told(harness: ExtensionHarness) -> None:
    harness.event("shop.sold", {"price": 3})
    assert harness.skeleton("sales") == {"count": 1}
    for _ in range(MAX_FAULTS + 1):  # one more than are remembered
        with pytest.raises(AssertionError, match=r"no price \(.*main.py:"):
            harness.event("shop.sold", {})


def test_panels_that_wait_for_an_event_and_no_others_are_fetched_again_when_it_is_emitted(
    harness: ExtensionHarness,
) -> None:
    def told(event: str) -> list[object]:
        before = len(harness.events("panel_refresh"))
        harness.run(harness.context().extensions.emit(event, {"price": 3}))
        return [e.data["panels"] for e in harness.events("panel_refresh")[before:]]

    assert told("shop.sold") == told("till.counted") == [["recent"]]
    assert told("shop.counted") == told("shop.opened") == []


def test_time_travels_with_its_jobs_sections_and_alerts(harness: ExtensionHarness) -> None:
    harness.skeleton("sales")
    harness.event("shop.sold", {"price": 3})
    assert harness.travel(2 * 86_400) == ("daily", "daily")
    assert [e.data["text"] for e in harness.events("alert")] == ["1 sales"]


def test_what_a_test_gives_wrongly_or_not_at_all_is_told(folder: Path) -> None:
    told = ExtensionHarness(folder).call("rate").error  # which does not leave the machine
    assert "answer rates.example with http=lambda request: {…}" in told
    with pytest.raises(TypeError, match="http= is a function of the request, not dict"):
        ExtensionHarness(folder, http={"rate": 1.1})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="till declares no secret 'key'; it declares signing_key"):
        ExtensionHarness(folder, secrets={"key": "k"})
    with pytest.raises(FileNotFoundError, match=r"there is no main\.py in it"):
        ExtensionHarness(folder / "nothing")


@pytest.mark.parametrize("returned", [3, "three went", [1, 2, 3], {"gone": 3}, None])
def test_a_job_may_return_whatever_is_json(returned: object) -> None:
    ext = Extension("jobs")

    @ext.schedule("nightly", "0 3 * * *")
    async def nightly(ctx: Context) -> object:
        return returned

    assert ExtensionHarness(ext).schedule("nightly") == (returned or {})


# ---- what looks like a secret


EXPOSING = """
from typing import Annotated

from pydantic import BaseModel, Field
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension

ext = Extension("exposing")
chat = ChatExtension(ext)


class Key(BaseModel):
    api_key: Annotated[str, Field(json_schema_extra={"x-pii": "secret"})]


@chat.function("keyed", "List accounts")
async def keyed(ctx):
    rows = [{"n": 1}, {"n": 2, "api_key": "9f8e7d6c5b4a"}]
    return ActionResult.success({"rows": rows, "next_page_token": "a1b2c3d4e5f6"}, "Listed.")


@chat.function("formed", "Show an account")
async def formed(ctx):
    return {"note": "AKIAIOSFODNN7EXAMPLE", "text": "the password is in the letter"}


@chat.function("headed", "Show a request")
async def headed(ctx):
    return {"headers": {"Accept": "Basic understanding", "Authorization": "Bearer a1b2C3d4e5f6g7h8i9"}}


@chat.function("declared", "Show a key", data_model=Key)
async def declared(ctx):
    return {"api_key": "9f8e7d6c5b4a"}


@chat.function("logged", "Log in")
async def logged(ctx):
    print("DB_PASSWORD=hunter2x of the letter")
    ctx.log.info("asked with Bearer a1b2C3d4e5f6g7h8i9 and more")
    ctx.log.info("begun", client_secret="9f8e7d6c5b4a", rows=3)
    return {"n": 1}


@ext.skeleton("account")
async def account(ctx):
    return {"response": {"plan": "free", "api_key": "9f8e7d6c5b4a"}}
"""
REFUSED = {
    "keyed": "rows[1].api_key looks like a secret",
    "formed": "note looks like a secret",
    "headed": "headers.Authorization looks like a secret",
    "logged": "client_secret of a log line looks like a secret: leave it out (",
}
LOGGED = (
    "app=exposing function=keyed fields=rows[1].api_key | masked, as they look",
    "masked in a log line: client_secret",
    "client_secret=[secret] rows=3 | begun",
    "asked with Bearer [secret] and more",
    "DB_PASSWORD=[secret] of the letter",
)


def test_what_looks_like_a_secret_is_refused_on_its_authors_machine_and_masked_in_production(
    written: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    folder = written("exposing", EXPOSING)
    harness = ExtensionHarness(folder)
    for function, told in REFUSED.items():
        assert told in str(harness.call(function).error)
    assert harness.call("declared").data == {"api_key": "9f8e7d6c5b4a"}
    with pytest.raises(AssertionError, match="api_key looks like a secret"):
        harness.skeleton("account")

    caplog.set_level(logging.INFO, "webbee.extension")
    caplog.clear()
    harness = ExtensionHarness(folder, env={"WEBBEE_DEVELOP": "false"})
    rows = [{"n": 1}, {"n": 2, "api_key": "[secret]"}]
    assert harness.call("keyed").data == {"rows": rows, "next_page_token": "a1b2c3d4e5f6"}
    assert harness.call("formed").data["note"] == "[secret]"
    assert harness.call("logged").ok
    assert harness.skeleton("account") == {"plan": "free", "api_key": "[secret]"}
    assert [told for told in LOGGED if told not in caplog.text] == []
    assert "9f8e7d6c5b4a" not in caplog.text
