"""The gateway that hand-built clients find: a real HTTP endpoint, for the app, tenant and user of
one call, as long as that call."""

import http.client
import json
import logging
import urllib.parse
from typing import Any
from unittest.mock import AsyncMock

import pytest
from imperal_sdk.store.client import StoreClient

from tests.compat.conftest import ALICE, BOB, EXTENSIONS, Bench
from tests.functions.support import ALICE as ALICE_CLAIMS
from tests.functions.support import Person, deployed
from tests.processes import said
from webbee_kernel.errors import StorageUnavailable
from webbee_kernel.extensions.context.http_client import HttpClient
from webbee_kernel.sdk import User

STORE = "/v1/internal/store"
SYSTEM = User("__system__", role="system", tenant_id="acme", scopes=("*",))
Answer = tuple[int, Any]


def send(
    ctx: Any, method: str, path: str, body: Any = None, *, token: str | None = None, **headers: Any
) -> Answer:
    """One request with the context's token: status and JSON."""
    address = urllib.parse.urlsplit(ctx._gateway_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    sent = {"X-Service-Token": ctx._service_token if token is None else token} | {
        k.replace("_", "-"): v for k, v in headers.items()
    }
    raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    try:
        connection.request(method, path, raw, sent)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()


def counted(ctx: Any, **more: Any) -> int:
    """The status of one request that every token may make of its own documents."""
    return send(ctx, "POST", f"{STORE}/bricks/count", {}, **more)[0]


@pytest.fixture
def ctx(bench: Bench) -> Any:
    return bench.context("mason")


# ---- the SDK's clients


def test_built_clients_equal_given_ones_in_a_chat_function(bench: Bench) -> None:
    assert bench.call("mason", "complete") == {"same": True, "text": "Dear Ann,"}
    assert bench.call("mason", "compare")["wrong"] == []
    told = [
        (e.data["text"], e.data["channel"], e.data["app_id"]) for e in bench.events("notification")
    ]
    assert told == [("loud", "email", "mason"), ("quiet", "in_app", "mason")] * 2


def test_built_clients_equal_given_ones_in_a_webhook_that_acts_for_a_user(bench: Bench) -> None:
    bob = User("bob", tenant_id="default")  # a webhook comes without a tenant
    bench.webhook("mason", "compare", user="zoe")
    status, _, report = bench.webhook("mason", "compare", user="bob")
    own = {"owners": ["bob", "zoe"], "users": [["bob", "zoe"]] * 2}
    assert (status, report) == (200, {"wrong": [], **own, "three": [3, 3]})
    assert [e.data["text"] for e in bench.events("notification", bob)] == ["loud", "quiet"] * 2
    assert bench.documents("mason", "bricks", User("__webhook__", tenant_id="default")) == []


def test_built_clients_equal_given_ones_in_a_schedule(bench: Bench) -> None:
    users = [ALICE, BOB, *(User(name, tenant_id="acme") for name in ("cy", "ди ана", "eve"))]
    for user in users:
        bench.call("mason", "many", user=user, count=0)
        bench.run(bench.context("mason", user=user).store.create("bricks", {}))
    assert bench.schedule("mason", "compare") == "done"
    report = {"as": "__system__", "wrong": [], "users": sorted(user.imperal_id for user in users)}
    assert bench.documents("mason", "reports", SYSTEM) == [report]
    for user in users:
        assert bench.documents("mason", "signed", user) == [{"by": user.imperal_id}]


def test_a_new_id_and_a_client_of_another_address_are_as_the_sdk_made_them(
    bench: Bench, ctx: Any
) -> None:
    client = StoreClient(ctx._gateway_url, ctx._service_token, "mason", "alice", "acme")
    made = bench.run(client.set("prefs/main", {"n": 1}))
    assert (made.id == "main", bench.documents("mason", "prefs")) == (False, [{"n": 1}])
    assert "X-Acting-User" in StoreClient(ctx._gateway_url, "t", "mason", "alice")._headers()
    sent = StoreClient("https://gateway.example", "t", "mason", "alice")._headers()
    own = {"X-Service-Token": "t", "X-Extension-ID": "mason", "X-Tenant-ID": "default"}
    assert sent == own


# ---- plain HTTP


def test_plain_http_reaches_it_however_the_handler_waits(bench: Bench) -> None:
    found = bench.call("mason", "raw")
    by, owner = ["httpx", "urllib", "ctx.http"], ["mason", "acme", "alice", True]
    assert found == {"same": True, "owner": owner, "status": 200, "by": by}
    assert bench.call("mason", "raw_sync", text="Ёж") == {"count": 3}
    chat, told = (e.data for e in bench.events("notification"))
    assert (chat["text"], chat["msg_type"], chat["channel"]) == ("Ёж", "system", "chat")
    assert (told["text"], told["channel"]) == ("Ёж", "in_app")
    assert bench.events("panel_refresh")[0].data["panels"] == ["wall"]


@pytest.mark.parametrize("doc_id", ["%41", "..", "+", "ключ", "x" * 500])
def test_any_id_comes_back_percent_decoded(ctx: Any, doc_id: str) -> None:
    path = f"{STORE}/notes/{urllib.parse.quote(doc_id, safe='')}"
    assert send(ctx, "PATCH", path, {"data": {"n": 1}})[1]["id"] == doc_id
    assert send(ctx, "GET", path)[1]["data"] == {"n": 1}
    assert send(ctx, "DELETE", path) == (200, {"deleted": True})
    assert send(ctx, "DELETE", path) == (404, {"detail": "there is no such document"})


def test_pages_follow_their_cursor(bench: Bench, ctx: Any) -> None:
    for n in range(5):
        bench.run(ctx.store.create("bricks", {"n": n}))
    seen, cursor = [], None
    while True:
        page = send(ctx, "POST", f"{STORE}/bricks/query", {"limit": 2, "cursor": cursor})[1]
        seen += [d["data"]["n"] for d in page["data"]]
        if not (cursor := page["cursor"]):
            break
    assert seen == list(range(5))


# ---- who may


def test_a_token_ends_with_its_call_its_context_and_its_clients(bench: Bench, ctx: Any) -> None:
    kept = bench.call("mason", "keep")
    assert kept["url"] == ctx._gateway_url
    assert kept["token"] != ctx._service_token
    for token in (kept["token"], "guessed", ""):
        assert counted(ctx, token=token) == 401
    assert counted(ctx, token="", authorization=f"bearer {ctx._service_token}") == 200
    other = bench.context("mason")
    token, store = other._service_token, other.store
    del other
    assert counted(ctx, token=token) == 200
    del store
    assert counted(ctx, token=token) == 401
    system = bench.context("mason", user=SYSTEM, system=True)
    token = system.as_user("bob").as_user("alice").store._auth_token
    brick = {"collection": "bricks", "data": {}}
    assert send(ctx, "POST", STORE, brick, token=token)[1]["user_id"] == "alice"
    del system
    assert counted(ctx, token=token) == 401


C_AND_DATA = {"collection": "c", "data": {}}
NOTIFY, INJECT = "POST /v1/internal/notify", "POST /v1/internal/chat/inject"
D = f"GET {STORE}/c/d"
FORGED = [
    ("extension_id", D, None, {"X_Extension_ID": "shelf"}),
    ("extension_id", f"{D}?extension_id=shelf", None, {}),
    ("extension_id", f"POST {STORE}", {**C_AND_DATA, "extension_id": "shelf"}, {}),
    ("ext_id", INJECT, {"ext_id": "shelf", "text": "x"}, {}),
    ("tenant_id", D, None, {"X_Tenant_ID": "umbrella"}),
    ("tenant_id", f"PATCH {STORE}/c/d", {"data": {}, "tenant_id": "umbrella"}, {}),
    ("only schedules", D, None, {"X_Acting_User": "bob"}),
    ("only schedules", f"POST {STORE}/c/count", {"user_id": "bob"}, {}),
    ("only schedules", f"POST {STORE}/c/query", {"user_id": "__system__"}, {}),
    ("only schedules", INJECT, {"user_id": "bob", "text": "x"}, {}),
    ("only schedules", f"GET {STORE}/c/list_users?limit=5", None, {}),
    ("only schedules", f"GET {STORE}/c/all?limit=5", None, {}),
]


@pytest.mark.parametrize(("why", "route", "body", "headers"), FORGED)
def test_a_chat_functions_token_opens_nothing_else(
    bench: Bench, ctx: Any, why: str, route: str, body: Any, headers: dict[str, str]
) -> None:
    status, answer = send(ctx, *route.split(), body, **headers)
    assert (status, answer["detail"].startswith(why)) == (403, True), answer
    assert [bench.documents("mason", "c", user) for user in (ALICE, BOB, SYSTEM)] == [[], [], []]
    assert bench.events(user=BOB) == []


def test_a_system_context_acts_for_whom_the_header_names_and_tells_any_user(bench: Bench) -> None:
    system = bench.context("mason", user=SYSTEM, system=True)
    made = send(system, "POST", STORE, {**C_AND_DATA, "user_id": "alice"}, X_Acting_User="bob")
    assert made[1]["user_id"] == "bob"
    listed = send(system, "GET", f"{STORE}/c/list_users?limit=5")
    assert listed == (200, {"user_ids": ["bob"], "next_cursor": None})
    assert send(system, "GET", f"{STORE}/c/all?limit=5")[1] == [made[1]]
    body = {"ext_id": "mason", "user_id": "bob", "text": "x" * 70_000, "refresh_panels": ["wall"]}
    assert send(system, "POST", "/v1/internal/chat/inject", body) == (200, {"ok": True})
    assert bench.events("notification", BOB)[0].data["text"].endswith("x...(truncated)")
    assert (len(bench.events("panel_refresh", BOB)), bench.events(user=SYSTEM)) == (1, [])


# ---- what cannot be served


SERVES = "this deployment serves"
LARGEST = 6 * 1024 * 1024
WRONG = [
    (f"GET {STORE}/c/a%23b", None, 422, "document id 'a#b'"),
    ("GET /v1/internal/billing/balance", None, 404, f"{SERVES} POST /v1/internal/store, POST"),
    (f"GET {STORE}/notes/", None, 404, SERVES),
    (f"PUT {STORE}/notes/a", {}, 405, "this path takes DELETE, GET, PATCH"),
    (f"GET {STORE}", None, 405, "this path takes POST"),
    (f"POST {STORE}", b"{", 422, "body: this is no JSON"),
    (f"POST {STORE}", [1], 422, "body: an object is wanted"),
    (f"POST {STORE}", None, 422, "collection: Field required; data: Field required"),
    (f"PATCH {STORE}/c/d", {"data": "secret"}, 422, "data: Input should be"),
    (f"POST {STORE}/c/query", {"limit": "many"}, 422, "limit: Input should be"),
    (NOTIFY, {"message": " "}, 422, "a notification needs text"),
    (NOTIFY, {"text": "x"}, 422, "message: Field required"),
    (INJECT, {}, 422, "text: Field required"),
    (f"POST {STORE}/c/count", {"user_id": ["alice"]}, 422, "user_id: a string is wanted"),
    (f"POST {STORE}", {**C_AND_DATA, "collection": "a b"}, 422, "collection 'a b': a name has"),
    (f"POST {STORE}/c/query", {"cursor": "x"}, 422, "cursor 'x' is not one"),
    (f"POST {STORE}", b'{"collection": "c", "data": {"n": NaN}}', 422, "Out of range float"),
    (f"POST {STORE}", b" " * (LARGEST + 1), 413, "a request holds at most 6291456 bytes"),
]


@pytest.mark.parametrize(
    ("route", "body", "status", "detail"), WRONG, ids=[f"{w[2]} {w[0]}: {w[3]}" for w in WRONG]
)
def test_a_wrong_request_is_told_what_is_wrong(
    ctx: Any, route: str, body: Any, status: int, detail: str
) -> None:
    found, answer = send(ctx, *route.split(), body)
    assert (found, answer["detail"].startswith(detail)) == (status, True), answer
    assert "secret" not in answer["detail"]


@pytest.mark.parametrize(
    ("error", "status", "detail"),
    [
        (StorageUnavailable("acme-documents"), 503, "unavailable; try again in 30 s"),
        (RuntimeError("password=hunter2"), 500, "internal error"),
        (UnicodeDecodeError("utf-8", b"acme", 0, 1, "hunter2"), 500, "internal error"),
    ],
)
def test_a_failure_says_nothing_of_the_deployment(
    ctx: Any, error: Exception, status: int, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    ctx._kernel.store._documents = AsyncMock(**{"count.side_effect": error})
    assert send(ctx, "POST", f"{STORE}/c/count", {}) == (status, {"detail": detail})
    assert ctx._service_token not in caplog.text


def test_no_log_and_no_text_of_a_context_holds_the_token(
    bench: Bench, ctx: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    kept = bench.call("mason", "keep")
    send(ctx, "GET", f"{STORE}/c/d")
    send(ctx, "GET", "/nowhere")
    assert kept["shown"] == "KernelContext(app='mason')Store(app='mason')"
    assert (kept["token"] in caplog.text, ctx._service_token in caplog.text) == (False, False)


# ---- the socket


def test_a_deployment_that_never_asks_for_the_address_starts_nothing() -> None:
    code = f"""
        import sys, threading
        from pathlib import Path
        from tests.compat.conftest import Bench
        from webbee_kernel.extensions.registry import load_folder
        bench = Bench(load_folder(Path({str(EXTENSIONS)!r})))
        bench.call("shelf", "add_book", title="Emma")
        repr(bench.context("mason"))
        assert not [m for m in sys.modules if m.startswith("webbee_kernel.compat.loopback_gateway")]
        assert not [t.name for t in threading.enumerate() if "gateway" in t.name]
        bench.call("mason", "many", count=1)
        assert sorted(t.name for t in threading.enumerate() if "gateway" in t.name) == ["webbee-gateway", "webbee-gateway-http"]
    """
    assert said(code) == ""


# ---- ctx.http


def test_ctx_http_reaches_it_with_its_own_token_only(bench: Bench, ctx: Any) -> None:
    assert ctx.store._gateway_url == ctx.notify._gateway_url == ctx._gateway_url
    ctx.http._http = HttpClient()  # as deployed: closed to private networks
    url, other = f"{ctx._gateway_url}{STORE}/c/d", bench.context("mason")
    own = {"x-service-token": ctx._service_token}
    for headers in (own, {"Authorization": f"Bearer {ctx._service_token}"}):
        assert bench.run(ctx.http.get(url, headers=headers)).status_code == 404
    there, _, port = ctx._gateway_url.rpartition(":")
    assert there == "http://127.0.0.1"
    for closed, headers in (
        (url, {}),
        (url, {"X-Service-Token": "guessed"}),
        (url, {"X-Service-Token": other._service_token}),
        (f"http://127.0.0.1:{int(port) - 1}/", own),
        (f"http://127.0.0.1:{port}@169.254.169.254/latest", own),
        (f"http://localhost:{port}{STORE}/c/d", own),
        ("http://127.0.0.1/", own),
    ):
        with pytest.raises(Exception, match="closed to extensions"):
            bench.run(ctx.http.get(closed, headers=headers))


# ---- deployed


def test_it_serves_the_tables_of_a_deployment() -> None:
    """The DynamoDB stores from the gateway's own event loop, closed networks and all."""
    with deployed(extensions=EXTENSIONS) as stack:
        person = Person(stack, ALICE_CLAIMS)
        answer = person.call("mason", "compare")
        assert (answer.status, answer["data"]) == (200, {"wrong": []})
        assert person.call("mason", "raw")["data"]["by"] == ["httpx", "urllib", "ctx.http"]
        assert person.call("mason", "many")["data"]["count"] == 50
        hook = person.send("POST", "/v1/ext/mason/webhook/compare", query={"user": "bob"})
        assert (hook.body["wrong"], hook.body["users"]) == ([], [["bob"], ["bob"]])
        url = f"{person.call('mason', 'keep')['data']['url']}{STORE}/c/d"
        assert person.call("mason", "fetch", url=url)["error_code"] == "CONNECTERROR"
        assert person.call("mason", "fetch", url=url, own=True)["data"] == {"status": 404}
