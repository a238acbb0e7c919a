"""The harness reaches every kind of handler an extension may register, and refuses there what looks
like a secret."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from webbee_kernel.extensions.error_mapping import KEPT
from webbee_kernel.llm.protocol import ToolCall
from webbee_kernel.sdk import Context, Extension
from webbee_kernel.testing import ExtensionHarness, HttpCall, ModelResponse, TestKernel

MAIN = """
from pydantic import BaseModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

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


@ext.on_install
async def installed(ctx):
    await ctx.store.create("sales", {"price": 0})


@ext.on_upgrade("1.1.0")
async def upgraded(ctx):
    await ctx.store.create("sales", {"price": 1})


@ext.expose("total")
async def total(ctx, currency="eur"):
    return {"count": await ctx.store.count("sales"), "currency": currency}


@ext.panel("recent", refresh="on_event:shop.sold, counted")
async def recent(ctx, **_):
    return {"ui": {"type": "Text", "props": {"content": "…"}}}


@ext.panel("till")
async def till(ctx, **_):
    return {"ui": {"type": "Text", "props": {"content": str(await ctx.store.count("sales"))}}}


@ext.health_check
async def health(ctx):
    return {"status": "degraded"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "till"
    made.mkdir()
    (made / "main.py").write_text(MAIN, "utf-8")
    return made


@pytest.fixture
def harness(folder: Path) -> ExtensionHarness:
    def rates(call: HttpCall) -> dict[str, float] | tuple[int, dict[str, float]]:
        return {"rate": 1.1} if call.params["to"] == "usd" else (404, {})

    return ExtensionHarness(folder, http=rates, secrets={"signing_key": "k1"})


def test_http_is_answered_by_a_function_and_what_was_sent_is_kept(
    harness: ExtensionHarness,
) -> None:
    assert harness.call("rate").data == {"status": 200, "rate": 1.1}
    found = [(c.method, c.url, c.params) for c in harness.sent]
    assert found == [("GET", "https://rates.example/eur", {"to": "usd"})]


def test_jobs_signals_hooks_exposed_methods_panels_and_health_run(
    harness: ExtensionHarness,
) -> None:
    assert harness.schedule("daily") == {"days": 1}
    assert harness.signal("cleanup", older_than=7) == {"older_than": 7}
    harness.hook("on_install")
    harness.hook("on_upgrade", "1.1.0")
    assert harness.exposed("total", currency="usd") == {"count": 2, "currency": "usd"}
    assert harness.panel("till")["props"]["content"] == "2"
    assert harness.health()["status"] == "degraded"


def test_an_event_reaches_listeners_and_a_failing_one_is_told(harness: ExtensionHarness) -> None:
    harness.event("shop.sold", {"price": 3})
    assert harness.skeleton("sales") == {"count": 1}
    for _ in range(KEPT + 1):  # one more than are remembered
        with pytest.raises(AssertionError, match=r"no price \(.*main.py:"):
            harness.event("shop.sold", {})


def test_panels_that_wait_for_an_event_and_no_others_are_fetched_again_when_it_is_emitted(
    harness: ExtensionHarness,
) -> None:
    def told(event: str) -> list[object]:
        before = len(harness.events("panel_refresh"))
        harness.run(harness.context().extensions.emit(event, {"price": 3}))
        return [e.data["panels"] for e in harness.events("panel_refresh")[before:]]

    assert told("shop.sold") == [["recent"]]
    assert told("till.counted") == [["recent"]]
    assert told("shop.counted") == told("shop.opened") == []


def test_time_travels_with_its_jobs_sections_and_alerts(harness: ExtensionHarness) -> None:
    harness.skeleton("sales")
    harness.event("shop.sold", {"price": 3})
    assert harness.travel(2 * 86_400) == ("daily", "daily")
    assert [e.data["text"] for e in harness.events("alert")] == ["1 sales"]


def test_a_request_that_no_test_answers_does_not_leave_the_machine(folder: Path) -> None:
    told = ExtensionHarness(folder).call("rate").error
    assert "answer rates.example with http=lambda request: {…}" in told


def test_what_cannot_answer_requests_is_told_before_any_is_made(folder: Path) -> None:
    with pytest.raises(TypeError, match="http= is a function of the request, not dict"):
        ExtensionHarness(folder, http={"rate": 1.1})  # type: ignore[arg-type]


def test_a_secret_that_is_not_declared_is_told_with_those_that_are(folder: Path) -> None:
    with pytest.raises(ValueError, match="till declares no secret 'key'; it declares signing_key"):
        ExtensionHarness(folder, secrets={"key": "k"})


def test_a_folder_without_an_extension_is_told_by_its_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no main\.py in it"):
        ExtensionHarness(tmp_path / "nothing")


SCRIPT = (
    ModelResponse(tool_calls=(ToolCall("till__rate", {}),)),
    ModelResponse(text="It is known."),
)


def test_a_whole_turn_is_answered_by_a_function_too(folder: Path) -> None:
    def rates(call: HttpCall) -> dict[str, float]:
        return {"rate": 1.1}

    kernel = TestKernel([folder], http=rates, script=SCRIPT)
    assert kernel.chat("what is the rate?").body["calls"][0]["status"] == "ok"
    assert [call.url for call in kernel.sent] == ["https://rates.example/eur"]


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


@pytest.fixture
def exposing(tmp_path: Path) -> Path:
    made = tmp_path / "exposing"
    made.mkdir()
    (made / "main.py").write_text(EXPOSING, "utf-8")
    return made


def test_what_looks_like_a_secret_is_refused_on_its_authors_machine(exposing: Path) -> None:
    harness = ExtensionHarness(exposing)
    assert "rows[1].api_key looks like a secret" in str(harness.call("keyed").error)
    assert "note looks like a secret" in str(harness.call("formed").error)
    assert "headers.Authorization looks like a secret" in str(harness.call("headed").error)
    assert "client_secret of a log line looks like a secret: leave it out (" in str(
        harness.call("logged").error
    )
    assert harness.call("declared").data == {"api_key": "9f8e7d6c5b4a"}
    with pytest.raises(AssertionError, match="api_key looks like a secret"):
        harness.skeleton("account")


def test_in_production_it_is_masked_and_the_log_has_the_place(
    exposing: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "webbee.extension")
    harness = ExtensionHarness(exposing, env={"WEBBEE_DEVELOP": "false"})
    assert harness.call("keyed").data == {
        "rows": [{"n": 1}, {"n": 2, "api_key": "[secret]"}],
        "next_page_token": "a1b2c3d4e5f6",
    }
    assert harness.call("formed").data["note"] == "[secret]"
    assert harness.call("logged").ok
    assert harness.skeleton("account") == {"plan": "free", "api_key": "[secret]"}
    assert (
        "app=exposing function=keyed fields=rows[1].api_key | masked, as they look" in caplog.text
    )
    assert "masked in a log line: client_secret" in caplog.text
    assert "client_secret=[secret] rows=3 | begun" in caplog.text
    assert "asked with Bearer [secret] and more" in caplog.text
    assert "DB_PASSWORD=[secret] of the letter" in caplog.text
    assert "9f8e7d6c5b4a" not in caplog.text
