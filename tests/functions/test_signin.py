"""Connecting an account of another service: begun by a call, finished by the browser that comes
back, once, for the user who began it."""

import html
import json
import re
from ast import literal_eval
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from local.stack import Stack, http_event
from tests.functions.support import ALICE, BOB, Person, deployed, rows, settle
from tests.functions.test_exactly_once import at_once
from tests.stand_ins.sign_in import CLIENT, Provider, provider
from webbee_kernel.clock import FrozenClock

EXTENSIONS = Path(__file__).parent / "connectable"
CALLBACK = "/v1/ext/accounts/oauth/acme/callback"
OPERATOR = {**ALICE, "sub": "olga", "role": "operator"}
PUBLIC_URL = "https://bee.example"


@pytest.fixture
def acme() -> Iterator[Provider]:
    with provider() as running:
        yield running


@pytest.fixture
def stack(acme: Provider, clock: FrozenClock) -> Iterator[Stack]:
    env = {"WEBBEE_OAUTH_PROVIDERS": acme.configuration, "WEBBEE_PUBLIC_URL": PUBLIC_URL}
    with deployed(extensions=EXTENSIONS, env=env, clock=clock) as running:
        for name, value in CLIENT.items():
            set_secret(running, f"acme_{name}", value)
        yield running


def set_secret(stack: Stack, name: str, value: str) -> None:
    path = f"/v1/extensions/accounts/secrets/{name}"
    assert Person(stack, OPERATOR).send("PUT", path, body={"value": value}).status == 200


def begin(person: Person, provider: str = "acme", **more: Any) -> str:
    answer = person.call("accounts", "connect", provider=provider, **more)
    assert answer["status"] == "ok", answer.body
    return str(answer["data"]["url"])


def returns(
    person: Person,
    query: dict[str, str],
    method: str = "GET",
    path: str = CALLBACK,
    language: str = "en",
) -> tuple[int, str]:
    """The browser at the callback: status and the page's text."""
    more: dict[str, Any] = {"query": query, "headers": {"accept-language": language}}
    if method == "POST":
        kind = {"content-type": "application/x-www-form-urlencoded"}
        more = {"body": urlencode(query), "headers": kind}
    answer = person.stack.invoke("chat_turn", http_event(method, path, **more))
    assert answer["headers"]["content-type"] == "text/html; charset=utf-8", answer
    assert "default-src 'none'" in answer["headers"]["content-security-policy"]
    assert answer["headers"]["cache-control"] == "no-store"
    assert answer["headers"]["referrer-policy"] == "no-referrer"
    return answer["statusCode"], answer["body"]


def fields(page: str) -> dict[str, str]:
    """What the page's form would send."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    return {name: html.unescape(value) for name, value in found}


def connect(acme: Provider, person: Person) -> tuple[int, str]:
    """All of it: the call, the provider, the question, the yes."""
    status, page = returns(person, acme.consent(begin(person)))
    assert status == 200, page
    return returns(person, fields(page), "POST")


def accounts(person: Person) -> dict[str, Any]:
    data = person.call("accounts", "connected")["data"]
    return {
        name: [{k: literal_eval(v) for k, v in pairs} for pairs in found]
        for name, found in data.items()
    }


def test_the_address_has_what_is_needed_and_no_secret(alice: Person, acme: Provider) -> None:
    url = begin(alice, hint="sarah@acme.example")
    query = {k: v[0] for k, v in parse_qs(urlsplit(url).query).items()}
    assert url.startswith(f"{acme.address}/authorize?")
    assert query.pop("state") != query.pop("code_challenge")
    assert query == {
        "client_id": "web-1",
        "response_type": "code",
        "redirect_uri": f"{PUBLIC_URL}{CALLBACK}",
        "scope": "openid mail.read",
        "code_challenge_method": "S256",
        "prompt": "consent",
        "login_hint": "sarah@acme.example",
    }
    assert begin(alice) != begin(alice)


def test_an_account_is_connected_and_told(acme: Provider, alice: Person) -> None:
    alice.install("accounts")
    status, page = connect(acme, alice)
    assert (status, "acme account sarah@acme.example connected" in page) == (200, True)
    found = accounts(alice)
    (account,), (heard,) = found["mailboxes"], found["heard"]
    assert account.pop("id").startswith("acme-")
    assert account == {
        "provider": "acme",
        "email": "sarah@acme.example",
        "name": "Sarah",
        "access_token": "access-1",
        "refresh_token": "refresh-1",
        "scope": "openid mail.read",
        "token_type": "Bearer",
        "expires_at": 1778865664 + 3600,
    }
    assert accounts(Person(alice.stack, BOB)) == {"mailboxes": [], "heard": []}
    named = {"who": "alice", "provider": "acme", "email": "sarah@acme.example"}
    assert heard.items() >= {**named, "collection": "mailboxes"}.items()
    (told,) = alice.events("notification")
    assert told["text"] == "acme account sarah@acme.example connected"
    (refresh,) = alice.events("panel_refresh")
    assert refresh["panels"] == ["accounts"]
    assert "access-1" not in str([heard, told, refresh])
    settle(alice.stack.drain)
    sections = [r["data"] for r in rows(alice.stack, "skeleton") if r["sk"] == "accounts#accounts"]
    assert sections == ['{"connected":1}']


def test_a_token_is_renewed_once_for_all(acme: Provider, alice: Person, clock: FrozenClock) -> None:
    def looked() -> str:
        answer = alice.call("accounts", "look")
        if answer.status == 200 and answer["status"] == "ok":
            return "".join(answer["data"]["with"])
        return str(answer.error["code"] if answer.status != 200 else answer["error_code"])

    assert looked() == ""
    connect(acme, alice)
    assert looked() == "access-1"
    clock.advance(3541)
    asked = len(acme.requests)
    acme.fails = (503, b"{}")
    assert looked() == "BACKEND_5XX"
    acme.fails = (400, b'{"error": "invalid_grant"}')
    assert looked() == "PERMISSION_DENIED"
    acme.fails = None
    assert at_once(*[looked] * 4) == ["access-renewed"] * 4
    assert len(acme.requests) - asked == 3
    assert accounts(alice)["mailboxes"][0]["refresh_token"] == "refresh-1"


def test_an_export_names_the_connection_and_never_its_tokens(acme: Provider, alice: Person) -> None:
    # of a form that no rule knows: they go by their names
    acme.more = {"refresh_token": "again and for good", "id_token": "whose"}
    connect(acme, alice)
    set_secret(alice.stack, "acme_client_secret", "s3cret")
    exported = alice.send("GET", "/v1/me/export").body
    lines = [json.loads(line) for line in exported.splitlines()]
    (account,) = [x["data"] for x in lines if x.get("key", "").startswith("mailboxes#acme-")]
    told = {"provider": "acme", "email": "sarah@acme.example", "scope": "openid mail.read"}
    assert account["data"].items() >= told.items()
    assert account["created_at"]
    assert account["data"]["refresh_token"] == "[secret]"
    assert [text for text in ("access-1", "again and", "s3cret") if text in exported] == []


def test_a_page_sent_by_four_browsers_at_once_connects_once(acme: Provider, alice: Person) -> None:
    russian = Person(alice.stack, {**ALICE, "language": "ru-RU"})
    assert "Подключить Acme к Accounts?" in returns(alice, acme.consent(begin(russian)))[1]
    assert '<html lang="ru">' in returns(alice, {"state": "x"}, language="ru-RU,ru;q=0.9")[1]
    _, page = returns(alice, acme.consent(begin(alice)))
    assert "alice@acme.example" in page, "so that a stranger's link is noticed"
    assert "Connect Acme to Accounts?" in page
    assert accounts(alice)["mailboxes"] == [], "looking connects nothing"
    form = fields(page)
    assert {status for status, _ in at_once(*[lambda: returns(alice, form, "POST")] * 4)} == {200}
    assert returns(alice, form, "POST") == returns(alice, form, "POST")
    assert [r["path"] for r in acme.requests] == ["/token"]
    assert len(accounts(alice)["heard"]) == 1


def test_the_same_account_again_is_the_same_document(acme: Provider, alice: Person) -> None:
    acme.with_id_token = False
    connect(acme, alice)  # the provider is asked whose account it is
    assert acme.requests[-1] == {"path": "/me", "authorization": "Bearer access-1"}
    acme.with_id_token, acme.more = True, {}
    connect(acme, alice)
    (account,) = accounts(alice)["mailboxes"]
    assert (account["access_token"], account["refresh_token"]) == ("access-2", "refresh-1")
    acme.claims = {"sub": "43", "email": "second@acme.example"}
    connect(acme, alice)
    both = [a["email"] for a in accounts(alice)["mailboxes"]]
    assert both == ["sarah@acme.example", "second@acme.example"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        *(({"state": state}, "This sign-in is over") for state in ("A" * 43, "", "../etc#%00")),
        ({"code": "", "error": "access_denied"}, "Acme reports: access_denied"),
        ({"code": "", "error": "<script>alert(1)</script>"}, "Acme reports: no code"),
        ({"code": "a b\n"}, "Acme reports: no code"),
    ],
    ids=str,
)
def test_what_comes_back_wrong_connects_nothing(
    acme: Provider, alice: Person, change: dict[str, str], words: str
) -> None:
    status, page = returns(alice, {**acme.consent(begin(alice)), **change})
    assert (status, words in page, "<script" in page) == (400, True, False)
    assert accounts(alice)["mailboxes"] == []


def test_a_state_is_its_owns_while_it_lasts(
    acme: Provider, alice: Person, clock: FrozenClock
) -> None:
    for other in ("probe/oauth/acme", "accounts/oauth/google", "no/oauth/acme"):
        query, path = acme.consent(begin(alice)), f"/v1/ext/{other}/callback"
        assert returns(alice, query, path=path)[0] == 400
        assert returns(alice, {k: query[k] for k in ("state", "code")}, "POST", path=path)[0] == 400
    assert acme.requests == []
    query = acme.consent(begin(alice))
    clock.advance(599)
    assert returns(alice, query)[0] == 200
    clock.advance(1)
    assert [returns(alice, query, how)[0] for how in ("GET", "POST")] == [400, 400]
    form = fields(returns(alice, acme.consent(begin(alice)))[1])
    alice.uninstall("accounts")
    status, page = returns(alice, form, "POST")
    assert (status, "accounts is no longer installed" in page) == (400, True)
    assert acme.requests == []


REFUSED = (400, b'{"error": "invalid_grant", "error_description": "hunter2"}')
FAILURES: dict[str, tuple[tuple[int, bytes], str]] = {
    "refuses": (REFUSED, "invalid_grant"),
    "fails": ((503, b"<html>down</html>"), "status 503"),
    "answers rubbish": ((200, b"\xff\xfe"), "status 200"),
    "gives a token of the wrong kind": ((200, b'{"access_token": {"a": 1}}'), "status 200"),
    "gives a huge token": ((200, b'{"access_token": "%s"}' % (b"x" * 20_000)), "status 200"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_provider_that(acme: Provider, alice: Person, failure: str) -> None:
    acme.fails, words = FAILURES[failure]
    status, page = connect(acme, alice)
    assert (status, f"acme gave no tokens ({words})" in page) == (400, True)
    assert "hunter2" not in page
    assert accounts(alice) == {"mailboxes": [], "heard": []}
    acme.fails = None
    assert connect(acme, alice)[0] == 200  # the next sign-in is not harmed


def test_the_apps_credentials_are_the_operators_to_set_and_nobodys_to_read(alice: Person) -> None:
    path = "/v1/extensions/accounts/secrets"
    for claims, writable in ((ALICE, False), (OPERATOR, True)):
        seen = Person(alice.stack, claims).send("GET", path)["secrets"]
        assert [s["writable"] for s in seen] == [writable] * 2
        assert CLIENT["client_secret"] not in str(seen)
    refused = alice.send("PUT", f"{path}/acme_client_id", body={"value": "mine"})
    assert (refused.status, refused.error["field"]) == (403, "role")


def test_a_sign_in_needs_the_operators_client_id(alice: Person) -> None:
    refused = alice.call("accounts", "connect", provider="google")
    assert refused["error_code"] == "OAuthNotConfigured"
    assert "app-wide secret google_client_id of accounts is not set" in refused["error"]
    assert f"{PUBLIC_URL}/v1/ext/accounts/oauth/google/callback" in refused["error"]
    unknown = alice.call("accounts", "connect", provider="myspace")
    assert unknown["error_code"] == "ValueError"
    assert "acme, google, microsoft, yahoo" in unknown["error"]


def test_without_its_own_address_a_deployment_begins_none(acme: Provider) -> None:
    env = {"WEBBEE_OAUTH_PROVIDERS": acme.configuration}
    with deployed(extensions=EXTENSIONS, env=env) as stack:
        refused = Person(stack, ALICE).call("accounts", "connect")
        assert refused["error_code"] == "OAuthNotConfigured"
        assert "WEBBEE_PUBLIC_URL" in refused["error"]


def test_what_is_kept_and_logged_holds_neither_state_nor_secret(
    acme: Provider, alice: Person, caplog: pytest.LogCaptureFixture
) -> None:
    acme.fails = REFUSED
    url = begin(alice)
    state = parse_qs(urlsplit(url).query)["state"][0]
    returns(alice, fields(returns(alice, acme.consent(url))[1]), "POST")
    acme.fails = None
    connect(acme, alice)
    assert "sign-in not finished: acme gave no tokens (invalid_grant)" in caplog.text
    kept = caplog.text + str([rows(alice.stack, table) for table in ("audit", "events", "cache")])
    secrets = (state, CLIENT["client_secret"], "access-1", "refresh-1", "hunter2")
    assert [secret for secret in secrets if secret in kept] == []
