"""Extensions written for imperal-sdk run unchanged: each surface, through the kernel's own
dispatch."""

import json
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from imperal_sdk.oauth_tokens import PROVIDER_TOKEN_URLS

from tests.compat.conftest import ALICE, BOB, Bench
from tests.stand_ins.sign_in import CLIENT, provider
from webbee_kernel import background
from webbee_kernel.extensions.oauth import account_id
from webbee_kernel.extensions.registry import Registry
from webbee_kernel.sdk import User
from webbee_kernel.types import CallOutcome


def add(bench: Bench, title: str, pages: int = 0) -> dict[str, object]:
    made: dict[str, object] = bench.call("shelf", "add_book", title=title, pages=pages)
    return made


# ---- definitions


def test_the_catalogue_describes_them_as_it_does_the_kernels_own(registry: Registry) -> None:
    catalogue = registry.catalogue()
    shelf, weather = catalogue.apps["shelf"], catalogue.apps["weather"]
    assert (shelf.version, shelf.display_name, shelf.has_health_check) == ("2.1.0", "Shelf", True)
    kinds = {f.fn_name: f.action_type for f in shelf.functions} | {"late": "read"}
    assert kinds == {
        **dict.fromkeys(("add_book", "lend_book", "settings"), "write"),
        **dict.fromkeys(("list_books", "receipt", "late"), "read"),
        "drop_book": "destructive",
    }
    sections = [(s.section, s.ttl, s.alert) for s in shelf.sections]
    assert sections == [("books", 120, True), ("plain", 300, False)]
    assert [(p.panel_id, p.slot, p.refresh) for p in shelf.panels] == [
        ("board", "right", "on_event:shelf.added"),
        ("peek", "center", "manual"),
        ("__tray__out", "tray", "manual"),
        ("__widget__pages", "right", "manual"),
    ]
    assert [(s["name"], s["required"], s["scope"], s["write_mode"]) for s in weather.secrets] == [
        ("api_key", True, "user", "user"),
        ("refresh_token", False, "user", "extension"),
        ("shared_key", False, "app", "user"),
    ]
    assert not weather.panels  # the SDK's own secrets panel leads nowhere here


def test_schemas_come_from_models_signatures_and_the_decorators_words(registry: Registry) -> None:
    catalogue = registry.catalogue()
    book = catalogue.function("shelf", "add_book")
    assert book is not None and book.input_schema["required"] == ["title"]
    assert book.input_schema["properties"]["title"]["maxLength"] == 200
    forecast = catalogue.function("weather", "forecast")
    assert forecast is not None and forecast.input_schema["required"] == ["city"]
    assert forecast.input_schema["properties"]["city"]["description"] == "Where"
    assert forecast.input_schema["properties"]["days"]["default"] == 1
    host = catalogue.function("pulse", "check_host")
    assert host is not None and set(host.input_schema["properties"]) == {"host", "port"}
    wipe = catalogue.function("pulse", "wipe")
    assert wipe is not None and wipe.action_type == "destructive"


def test_equal_module_names_and_late_imports_stay_apart(bench: Bench) -> None:
    assert bench.call("shelf", "late")["whose"] == ["shelf"] * 4
    assert bench.call("weather", "late")["whose"] == ["weather"] * 3


# ---- store


def test_documents_are_created_read_paged_changed_merged_and_deleted(bench: Bench) -> None:
    for title in ("Emma", "Dune", "Ada"):
        add(bench, title)
    assert bench.call("shelf", "list_books") == {"titles": ["Ada", "Dune", "Emma"], "total": 3}
    book = add(bench, "Zen")
    known = {"book_id": book["id"], "etag": book["etag"]}
    assert bench.call("shelf", "lend_book", **known) == {"out": True, "days": 14}
    late = bench.outcome("shelf", "lend_book", **known)
    assert (late.error_code, late.retryable) == ("CONFLICT_KNOWN", True)
    assert bench.call("shelf", "drop_book", book_id=book["id"]) == {"gone": True, "again": False}
    prefs = [{"theme": "dark", "size": 2}]
    assert bench.call("shelf", "settings", theme="dark") == {"prefs": prefs, "visits": 1}


def test_a_query_may_ask_for_more_than_the_kernels_page(bench: Bench) -> None:
    ctx = bench.context("shelf")
    for n in range(1_020):
        bench.run(ctx.store.create("many", {"n": n}))
    page = bench.run(ctx.store.query("many", limit=1_010))
    assert (len(page), page.has_more) == (1_010, True)
    rest = bench.run(ctx.store.query("many", limit=5_000, cursor=page.cursor))
    assert ([d["n"] for d in rest], rest.has_more) == (list(range(1_010, 1_020)), False)
    whole = ctx.store._client.query
    ctx.store._client.query = lambda *asked: whole(*asked[:3], min(asked[3], 2), asked[4])
    assert len(bench.run(ctx.store.query("many", limit=5))) == 5, "also where pages are short"


# ---- skeleton, panels, tray


def test_a_section_reads_its_last_snapshot_alerts_once_and_may_be_a_tool(bench: Bench) -> None:
    for title, total in (("Emma", 1), ("Dune", 2)):
        add(bench, title)
        assert bench.refresh("shelf", "books") == "saved"
        told = {"total": total, "out": 0, "before": total - 1}
        assert bench.section("shelf", "books") == told
        bench.clock.advance(121)
    assert [e.data["text"] for e in bench.events("alert")] == ["1 books now", "2 books now"]
    assert bench.refresh("shelf", "plain") == "saved"
    assert bench.section("shelf", "plain") == {"n": 1}


def test_panels_trays_and_widgets_return_trees(bench: Bench) -> None:
    told = [n["type"] for n in bench.panel("shelf", "board", title="Mine")["props"]["children"]]
    assert told == ["Header", "Empty"]
    add(bench, "Emma", 320)
    board = bench.panel("shelf", "board", title="Mine")["props"]["children"]
    assert board[0]["props"]["text"] == "Mine"
    assert board[1]["props"]["items"][0]["props"]["title"] == "Emma"
    tray = bench.panel("shelf", "__tray__out")
    parts = [tray["props"][name]["type"] for name in ("badge", "panel")]
    assert (tray["type"], parts) == ("TrayResponse", ["Badge", "Text"])
    assert bench.panel("shelf", "__widget__pages")["props"]["value"] == 320
    assert bench.panel("clerk", "desk")["props"]["content"] == "desk"


# ---- http, secrets, cache, config, time


def test_a_forecast_is_fetched_once_with_the_users_key(bench: Bench, service: str) -> None:
    bench.host.registry.loaded["weather"].ext.config_defaults["base"] = ""
    bench.app.settings.app_config["weather"]["base"] = service
    bench.set_secret("weather", "api_key", "k-1")
    first = bench.call("weather", "forecast", city="Oslo")
    assert first == {"city": "Oslo", "degrees": 21, "days": 1, "fetched": 1}
    second = bench.call("weather", "forecast", city="Oslo", days=2)
    assert second == {**first, "days": 2, "fetched": 0}
    bench.clock.advance(61)
    assert bench.call("weather", "forecast", city="Oslo")["fetched"] == 1


def test_http_answers_and_fails_as_in_the_sdk(bench: Bench, service: str) -> None:
    found = bench.call("weather", "reach", url=f"{service}/json")
    assert (found["status"], found["ok"], found["kind"]) == (200, True, "dict")
    assert json.loads(found["text"])["auth"] == "Basic YW5uOnB3"
    told = json.loads(bench.call("weather", "reach", url=f"{service}/json", by_key=True)["text"])
    assert (told["auth"], told["key"]) == (None, "k-2")
    assert bench.call("weather", "reach", url=f"{service}/missing")["ok"] is False
    assert bench.call("weather", "reach", url=f"{service}/away", follow=False)["status"] == 302
    for wrong, code in (
        ({"url": f"{service}/away"}, "TOOMANYREDIRECTS"),
        ({"url": "http://169.254.169.254/latest/meta-data"}, "CONNECTERROR"),
        ({"url": "http://127.0.0.1:1/"}, "CONNECTERROR"),
        ({"url": service, "timeout": 181}, "VALUEERROR"),
        ({"url": service, "timeout": 0}, "VALUEERROR"),
    ):
        assert bench.outcome("weather", "reach", **wrong).error_code == code, wrong


# ---- webhooks


WEBHOOKS: dict[str, tuple[dict[str, object], tuple[int, dict[str, str], object]]] = {
    "plain data": (
        {"path": "dict", "body": '{"a": 1}', "headers": {"x-test": "y"}, "q": "1"},
        (200, {}, {"got": {"a": 1}, "header": "y", "query": {"q": "1"}, "user": "__webhook__"}),
    ),
    "a handshake in a header": (
        {"path": "control", "headers": {"x-hook-secret": "s3"}},
        (200, {"x-hook-secret": "s3"}, ""),
    ),
    "a status with the rest as body": ({"path": "control"}, (401, {}, {"error": "no secret"})),
    "control keys without a status": ({"path": "header"}, (200, {"x-echo": "yes"}, {"ok": 1})),
    "text": ({"path": "text", "body": "abc"}, (200, {}, "cba")),
    "the SDK's class": (
        {"path": "typed", "method": "GET", "challenge": "c"},
        (202, {"x-seen": "1"}, {"challenge": "c"}),
    ),
    "a handler of one request": (
        {"path": "whole", "body": '{"n": 2}'},
        (200, {}, {"method": "POST", "n": 2, "text": '{"n": 2}'}),
    ),
    "for the user it finds out about": (
        {"path": "for/user", "body": '{"user": "bob"}'},
        (200, {}, {"done": True}),
    ),
    "nothing, by GET": ({"path": "nothing", "method": "GET"}, (200, {}, {"ok": True})),
    "nothing, by POST": ({"path": "nothing"}, (200, {}, {"ok": True})),
}


@pytest.mark.parametrize(("sent", "expected"), WEBHOOKS.values(), ids=WEBHOOKS.keys())
def test_a_webhook_may_return(bench: Bench, sent: dict[str, str], expected: object) -> None:
    assert bench.webhook("courier", **sent) == expected  # type: ignore[arg-type]
    assert bench.events(user=BOB) == [], "webhooks carry no tenant: theirs is the default one's bob"


# ---- extensions among themselves


def test_extensions_call_each_other_get_the_sdks_errors_and_hear_events(bench: Bench) -> None:
    found = bench.call("courier", "send", app="warden", method="report", text="hi")
    assert found == {"answer": {"text": "HI", "user": "alice", "app": "warden"}}
    bench.call("courier", "post", text="news")
    heard = {"attribute": "news", "key": "news", "nested": "news", "type": "courier.posted"}
    assert bench.documents("warden", "heard") == [heard]

    def refused(app: str, method: str) -> str:
        return bench.outcome("courier", "send", app=app, method=method).error_code

    assert refused("warden", "nothing") == "NOTFOUNDERROR"
    assert refused("courier", "bounce") == "CIRCULARCALLERROR"
    bench.install("warden", uninstall=True)
    assert refused("warden", "report") == "AUTHERROR"


# ---- schedules, signals, lifecycle, health


def test_a_schedule_acts_as_each_user_who_has_something_and_a_signal_as_the_system(
    bench: Bench,
) -> None:
    for user in (ALICE, BOB):
        bench.call("warden", "add_door", user=user)
    bench.set_secret("warden", "badge", "b-7", user=BOB)
    assert bench.schedule("warden", "rounds") == "done"
    for user, badge in ((ALICE, None), (BOB, "b-7")):
        assert bench.documents("warden", "rounds", user) == [{"doors": 1, "badge": badge}]
    assert [e.data["text"] for e in bench.events("notification", BOB)] == ["round done for bob"]
    system = bench.documents("warden", "log", User("__system__", tenant_id="acme"))
    assert system == [{"users": ["alice", "bob"], "doors": ["alice", "bob"], "as": "__system__"}]
    assert bench.signal("user.created", user_id="bob", plan="free") == {"warden": "ok"}
    assert bench.documents("warden", "welcome", BOB) == [{"from": "__system__", "plan": "free"}]


def test_nobody_reaches_another_user_from_an_ordinary_request_and_reads_are_bounded(
    bench: Bench,
) -> None:
    ways = ("as_user", "store", "secrets", "notify", "list_users", "query_all")
    assert bench.call("warden", "pry")["errors"] == dict.fromkeys(ways, "RuntimeError")
    for limit in (0, 10_001):
        with pytest.raises(ValueError, match=f"limit is {limit}: give 1 to 10000"):
            bench.run(bench.context("shelf").store.query_all("books", limit=limit))


def test_the_platforms_own_namespaces_are_refused_in_words(bench: Bench) -> None:
    for name in ("users", "apps", "rbac", "conversations"):
        with pytest.raises(RuntimeError, match="no platform gateway"):
            getattr(bench.context("shelf"), name)
    assert bench.run(bench.context("shelf").signals.emit("k", 1))["ok"]


def test_lifecycle_hooks_and_the_health_check_run(bench: Bench) -> None:
    bench.install("shelf")
    bench.install("shelf")
    assert [d["title"] for d in bench.documents("shelf", "books")] == ["Manual"]
    bench.call_of("hook", "shelf", "on_upgrade", {"version": "2.1.0"})
    assert bench.documents("shelf", "marks") == [{"to": "2.1.0"}]
    bench.install("shelf", uninstall=True)
    assert {"done": True} in bench.documents("shelf", "marks")
    found = bench.call_of("health", "shelf", "health", {}).data
    assert found == {"status": "degraded", "message": "dusty", "details": {}}


# ---- an App of 6.x


def test_an_apps_functions_get_a_context_only_where_they_have_a_place_for_it(bench: Bench) -> None:
    found = bench.outcome("pulse", "check_host", host="example.org")
    host = {"status": "online", "host": "example.org", "port": 443}
    assert found.data == {**host, "count": 3, "user": "alice"}
    assert (found.ui["type"], found.ui["props"]["title"]) == ("Card", "Check Host")
    assert bench.call("pulse", "ping", times=2, tags=["a"]) == {"times": 2, "tags": ["a"]}
    assert bench.call("pulse", "listing") == {"items": [{"a": 1}, {"a": 2}]}
    assert bench.call("pulse", "say", schema="s", copy=True) == {"text": "s True"}
    wiped = bench.outcome("pulse", "wipe", name="x")
    assert (wiped.error_code, wiped.error) == ("NOT_THERE", "nothing to wipe")
    assert bench.refresh("pulse", "load") == "saved"


# ---- results


NOON = "2026-05-15T12:00:00"
TYPES = {"at": f"{NOON}+00:00", "id": "00000000-0000-0000-0000-000000000007", "cost": "1.10"}
TYPES |= {"colour": "red", "tags": ["a"], "line": {"at": f"{NOON}Z", "cost": "2.5"}}
RESULTS: dict[str, tuple[object, str]] = {
    "types": (TYPES, "Types."),
    "model": ({"at": f"{NOON}Z", "cost": "3"}, ""),
    "list of models": ({"lines": [{"at": f"{NOON}Z", "cost": "4"}]}, "Lines."),
    "dataclass": ({"name": "a", "lines": 2}, ""),
    "dict": ({"n": 1, "summary": "One."}, "One."),
    "text": ({"text": "Done."}, "Done."),
    "list": ({"items": [1, 2]}, ""),
    "number": ({"value": 4}, ""),
    "none": ({}, ""),
    "node": ({}, ""),
}


@pytest.mark.parametrize(("kind", "expected"), RESULTS.items())
def test_a_result_is_stored_and_rendered(
    bench: Bench, kind: str, expected: tuple[object, str]
) -> None:
    found = bench.outcome("clerk", "result", of=kind)
    assert (found.status, found.data, found.summary) == ("ok", *expected)


def test_a_result_keeps_its_ui_code_and_panels(bench: Bench) -> None:
    shown = bench.outcome("clerk", "result", of="ui")
    badge = {"type": "Badge", "props": {"label": "B", "color": "gray"}}
    assert shown.ui == {"type": "Card", "props": {"title": "T", "content": badge}}
    assert shown.panels == ()
    assert bench.outcome("clerk", "result", of="dict").panels == ("desk",)
    assert bench.outcome("clerk", "result", of="node").ui["props"]["content"] == "just a picture"
    failed = bench.outcome("clerk", "result", of="error")
    assert (failed.error, failed.error_code, failed.retryable) == ("Out of ink.", "NO_INK", True)
    assert bench.outcome("clerk", "result", of="codeless").error_code == "EXT_UNSTRUCTURED_ERROR"
    assert bench.outcome("clerk", "result", of="failed dict").error_code == "NO_PAPER"
    number = "00000000-0000-0000-0000-000000000001"
    data = bench.call("shelf", "receipt")
    assert data == {"number": number, "bought": "2026-05-15", "price": "12.50"}


# ---- the rest of ctx


def test_a_plain_tool_that_is_not_async_can_be_called(bench: Bench) -> None:
    found = bench.call("clerk", "count_words", text="a b a", unique=True)
    assert found == {"count": 2, "user": "alice"}
    function = bench.host.catalogue.function("clerk", "count_words")
    assert function is not None and function.action_type == "write"  # nobody said what it does


def test_completions_progress_log_and_background_work(bench: Bench) -> None:
    written = bench.call("clerk", "write", to="Ann")
    assert written == {"text": "Dear Ann,", "model": bench.app.model.name, "tokens": 0}
    progress = [(e.data["percent"], e.data["text"]) for e in bench.events("progress")]
    assert progress == [(10.0, "thinking"), (100.0, "")]
    started = bench.call("clerk", "print_all")
    assert background.wait(60)
    found = bench.events("result")[0].data
    told = (found["task_id"], found["name"], found["status"])
    assert told == (started["task"], "printing", "ok")
    assert (found["data"]["summary"], found["data"]["data"]) == ("Three pages.", {"pages": 3})


def test_messages_outside_the_reply_are_events(bench: Bench) -> None:
    url = "https://bee.example/v1/ext/courier/webhook/dict"
    assert bench.call("courier", "tell") == {"url": url, "surface": "panel"}
    loud, quiet, chat, long = (e.data for e in bench.events("notification"))
    assert (loud["text"], loud["channel"], quiet["channel"]) == ("loud", "in_app", "email")
    assert (chat["text"], chat["msg_type"], chat["channel"]) == ("**Two**\nlines", "system", "chat")
    assert len(long["text"]) < 66_000 and long["text"].endswith("...(truncated)")
    assert bench.events("panel_refresh")[0].data["panels"] == ["board"]


def test_a_sign_in_begins_with_the_apps_client_and_scopes_or_not_at_all(registry: Registry) -> None:
    bench = Bench(registry, IMPERAL_APPSECRET_YAHOO="web-9", IMPERAL_APPSECRET_OTHER="x")
    bench.set_secret("courier", "google_client_id", "web-1")
    url = urlsplit(bench.call("courier", "connect")["url"])
    query = {k: v[0] for k, v in parse_qs(url.query).items()}
    told = (url.netloc, query["client_id"], query["scope"])
    assert told == ("accounts.google.com", "web-1", "openid email")
    back = "https://bee.example/v1/ext/courier/oauth/google/callback"
    assert (query["redirect_uri"], query["access_type"]) == (back, "offline")
    assert "client_id=web-9&" in bench.call("courier", "connect", provider="yahoo")["url"]
    bench.set_secret("courier", "yahoo_client_id", "web-10")
    assert "client_id=web-10&" in bench.call("courier", "connect", provider="yahoo")["url"]
    refused = Bench(registry).outcome("courier", "connect", provider="yahoo")
    assert refused.error_code == "EXTENSIONERROR"
    assert "yahoo_client_id of courier is not set" in refused.error
    assert bench.outcome("courier", "connect", provider="myspace").error_code == "VALUEERROR"


# ---- an account that the kernel's sign-in stored


def test_an_account_is_stored_as_the_sdks_refresh_reads_it(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider() as acme:
        google = {"google": json.loads(acme.configuration)["acme"]}
        bench = Bench(registry, WEBBEE_OAUTH_PROVIDERS=json.dumps(google))
        for name, value in CLIENT.items():
            bench.set_secret("courier", f"google_{name}", value)
        url = bench.call("courier", "connect")["url"]
        assert parse_qs(urlsplit(url).query)["scope"] == ["openid email"]
        back = acme.consent(url)
        arguments = {"state": back["state"], "code": back["code"]}
        told = bench.call_of("connect", "courier", "google", arguments).data
        known = {"id": account_id("google", acme.claims), "email": "sarah@acme.example"}
        assert told == {"provider": "google", "collection": "google_accounts", **known}
        monkeypatch.setitem(PROVIDER_TOKEN_URLS, "google", f"{acme.address}/token")
        [before] = bench.documents("courier", "google_accounts")
        assert (before["access_token"], before["refresh_token"]) == ("access-1", "refresh-1")
        assert before["expires_at"] == int(bench.clock.now()) + 3600 < time.time()

        # the bench's clock stands in the past, so the stored token has expired
        renewed = bench.call("courier", "renew")
        [kept] = bench.documents("courier", "google_accounts")
        assert renewed["token"] == kept["access_token"] == "access-renewed"
        assert (kept["refresh_token"], kept["email"]) == ("refresh-1", "sarah@acme.example")
        # a result is remembered, and models read it: a token in it is masked
        assert renewed["kept"]["refresh_token"] == "[secret]"


# ---- what a chat function left for a webhook


def callback(bench: Bench, state: str, tenant: str) -> CallOutcome:
    given = {"method": "GET", "headers": {}, "body": "", "query": {"state": state}}
    who = User("__webhook__", role="system", tenant_id=tenant)
    return bench.call_of("webhook", "mason", "callback", given, who)


@pytest.mark.parametrize("way", ["client", "request", "for_user"])
def test_a_state_under_the_webhooks_name_is_found_by_the_webhook(bench: Bench, way: str) -> None:
    bench.call("mason", "connect", way=way)
    assert callback(bench, f"by-{way}", "umbrella").data["status"] == 403
    assert callback(bench, f"by-{way}", ALICE.tenant_id).data["body"] == {"user": "alice"}
    assert bench.documents("mason", "accounts") == [{"by": f"by-{way}"}]
    assert bench.documents("mason", "states") == []
