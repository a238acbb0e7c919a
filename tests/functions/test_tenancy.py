"""Tenants and users stay apart: the same session, app and keys, webhooks and schedules, and nothing
crosses."""

import asyncio
import hashlib
import hmac
import io
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlsplit

import boto3
import pytest

from benchmarks.meter import metered
from local.stack import Stack
from tests.functions.support import (
    ALICE,
    BOB,
    OTHER_ALICE,
    Answer,
    Person,
    deployed,
    event,
    rows,
    settle,
)
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.aws.invoke import LambdaDispatch
from webbee_kernel.aws.parameters import CACHE_S, LOOKUP_INTERVAL_S, WebhookKeys, mark_of
from webbee_kernel.bootstrap import bootstrap, make_host
from webbee_kernel.clock import FrozenClock
from webbee_kernel.config import Settings
from webbee_kernel.types import CallRequest

SESSION = {"session_id": "shared", "request_id": "same"}


@pytest.fixture(
    params=[BOB, OTHER_ALICE], ids=["another user", "another tenant's user of the same name"]
)
def other(stack: Stack, request: pytest.FixtureRequest) -> Person:
    return Person(stack, request.param)


def set_token(person: Person, value: str) -> None:
    path = "/v1/extensions/probe/secrets/token"
    assert person.send("PUT", path, body={"value": value}).status == 200


def test_all_that_a_user_has_stays_with_the_user(alice: Person, other: Person) -> None:
    alice.chat('probe.save {"text": "private words"}', **SESSION)
    assert "private words" in alice.prompt(session_id="shared")
    assert "private words" not in other.prompt(session_id="shared")
    assert other.turns("shared") == other.send("GET", "/v1/sessions")["sessions"] == []
    assert other.chat('probe.save {"text": "own words"}', **SESSION)["turn"] == 1
    assert "own words" not in alice.prompt(session_id="shared")
    card = alice.chat('probe.remove {"text": "x"}', session_id="shared")["confirmation"]["id"]
    assert other.chat("yes", session_id="shared")["calls"] == []
    assert other.confirm(card).status == 404
    assert not rows(alice.stack, "store", "removed#")
    assert other.send("DELETE", "/v1/sessions/shared").status == 200
    assert (len(alice.turns("shared")), other.turns("shared")) == (2, [])
    set_token(alice, "t0ken")
    alice.call("probe", "mark", text="m")
    mine, theirs = alice.call("probe", "whoami")["data"], other.call("probe", "whoami")["data"]
    assert (mine["token_set"], mine["cached"]) == (True, {"text": "m"})
    assert (theirs["token_set"], theirs["cached"]) == (False, None)
    assert [e["text"] for e in alice.events("notification")] == ["marked m"]
    assert other.events("notification") == []
    assert alice.uninstall("probe").status == 200
    refused = alice.call("probe", "look")
    assert (refused.status, refused.error["field"]) == (403, "app_id")
    assert other.call("probe", "look").status == 200


def test_no_item_of_a_table_holds_two_users(stack: Stack, alice: Person, bob: Person) -> None:
    stranger = Person(stack, OTHER_ALICE)
    for person, word in ((alice, "aaa-words"), (bob, "bbb-words"), (stranger, "ccc-words")):
        person.chat(f'probe.save {{"text": "{word}"}} probe.mark {{"text": "{word}"}}', **SESSION)
    owners = {"acme#alice": "aaa-words", "acme#bob": "bbb-words", "umbrella#alice": "ccc-words"}
    for table in ("sessions", "skeleton", "cache", "store", "audit", "events"):
        for row in rows(stack, table):
            text = json.dumps(row, default=lambda raw: bytes(raw).decode("latin-1"))
            for owner, word in owners.items():
                if word in text:
                    assert row["pk"] == owner or row["pk"].startswith(owner + "#")


def test_names_that_look_like_keys_of_others_stay_apart(stack: Stack) -> None:
    """Tenant and user are joined in keys: no choice of names may meet somebody else's."""
    names = [
        *[("a", "b"), ("a/b", "c"), ("a", "b/c"), ("a:b", "c"), ("ä", "b"), ("a", "__b")],
        *[("A", "b"), ("a", "B"), ("a ", "b"), ("a", " b")],
    ]
    people = [Person(stack, {**ALICE, "tenant_id": tenant, "sub": user}) for tenant, user in names]
    for number, person in enumerate(people):
        assert person.chat(f'probe.save {{"text": "word-{number}"}}', **SESSION)["turn"] == 1
        set_token(person, f"secret-{number}")
    for number, person in enumerate(people):
        assert person.call("probe", "look")["data"]["texts"] == [f"word-{number}"]
        assert person.call("probe", "whoami")["data"]["given"] == f"secret-{number}"


# ---- webhooks and schedules


TENANTED = Path(__file__).parent / "tenanted"
ENV = {
    "WEBBEE_PUBLIC_URL": "https://api.example",
    "WEBBEE_TENANTS": "home",
    "WEBBEE_INSTALL": "herald",
    "WEBBEE_CONFIG": json.dumps({"tenants": {"umbrella": {"herald": {"greeting": "salve"}}}}),
}
HOME_ALICE = {**ALICE, "tenant_id": "home"}
TENANTS = pytest.mark.parametrize("claims", [ALICE, OTHER_ALICE, HOME_ALICE], ids=str)


@pytest.fixture
def tenanted() -> Iterator[Stack]:
    with deployed(extensions=TENANTED, env=ENV) as running:
        yield running


def operator(tenanted: Stack, claims: Any) -> Person:
    return Person(tenanted, {**claims, "sub": "ops", "role": "operator"})


def begun(tenanted: Stack, claims: Any) -> dict[str, str]:
    """An account that is being connected: its state and the app's addresses."""
    return dict(Person(tenanted, claims).call("herald", "connect")["data"])


def request(tenanted: Stack, method: str, url: str, **parts: Any) -> Answer:
    """What another service sends: no token, the address as it was given."""
    return Person(tenanted, None).send(method, urlsplit(url).path, **parts)  # type: ignore[arg-type]


def set_secret(person: Person, name: str, value: str, **query: str) -> Answer:
    path = f"/v1/extensions/herald/secrets/{name}"
    return person.send("PUT", path, body={"value": value}, query=query)


def signed(tenanted: Stack, url: str, key: str, user: str) -> Answer:
    body = json.dumps({"user": user})
    signature = hmac.new(key.encode(), body.encode(), hashlib.sha256).hexdigest()
    return request(tenanted, "POST", url, body=body, headers={"x-signature": signature})


@TENANTS
def test_a_state_and_a_secret_are_found_by_their_tenants_webhook(
    tenanted: Stack, claims: Any
) -> None:
    person = Person(tenanted, claims)
    set_secret(operator(tenanted, claims), "client", f"client of {claims['tenant_id']}")
    own = begun(tenanted, claims)
    bobs = begun(tenanted, {**claims, "sub": "bob"})["state"]
    for tenant in ("hooli", "initech"):
        theirs = begun(tenanted, {**claims, "tenant_id": tenant})["url"]
        begun(tenanted, {**claims, "tenant_id": tenant, "sub": "z"})
        for state in ("state-of-nobody", bobs):
            assert request(tenanted, "GET", theirs, query={"state": state}).status == 403
    answer = request(tenanted, "GET", own["url"], query={"state": own["state"]})
    assert answer.body == {"tenant": claims["tenant_id"], "user": claims["sub"]}
    greeting = "salve" if claims["tenant_id"] == "umbrella" else "hello"
    made = {"client": f"client of {claims['tenant_id']}", "greeting": greeting}
    assert person.call("herald", "account")["data"]["accounts"] == {"main": made}
    assert request(tenanted, "GET", own["url"], query={"state": own["state"]}).status == 403
    key = f"key of {claims['tenant_id']}"
    assert set_secret(operator(tenanted, claims), "signing", key, user="__webhook__").status == 200
    assert signed(tenanted, own["paid"], key, claims["sub"])["tenant"] == claims["tenant_id"]
    assert [e["text"] for e in person.events("notification")] == ["paid"]
    assert signed(tenanted, own["paid"], "another key", claims["sub"]).status == 401
    another = begun(tenanted, {**claims, "tenant_id": "hooli"})["paid"]
    assert signed(tenanted, another, key, claims["sub"]).status == 401


def test_secrets_of_webhooks_are_an_operators_to_list_set_and_remove(tenanted: Stack) -> None:
    path = "/v1/extensions/herald/secrets"
    theirs = {"user": "__webhook__"}
    ops = operator(tenanted, ALICE)
    set_secret(ops, "signing", "key", **theirs)

    def is_set(person: Person, query: dict[str, str]) -> dict[str, bool]:
        return {s["name"]: s["is_set"] for s in person.send("GET", path, query=query)["secrets"]}

    assert is_set(ops, theirs) == {"signing": True, "client": False}
    assert is_set(ops, {}) == {"signing": False, "client": False}
    for role in ("user", "developer"):
        person = Person(tenanted, {**ALICE, "role": role})
        assert set_secret(person, "signing", "mine", **theirs).status == 403
        assert person.send("GET", path, query=theirs).status == 403
        assert person.send("DELETE", f"{path}/signing", query=theirs).status == 403
    assert set_secret(ops, "signing", "x", user="bob").status == 400
    assert ops.send("DELETE", f"{path}/signing", query=theirs).status == 200
    assert is_set(ops, theirs) == {"signing": False, "client": False}


def test_an_address_names_its_tenant_and_nobody_can_write_anothers(tenanted: Stack) -> None:
    ours, theirs = (begun(tenanted, claims)["paid"] for claims in (ALICE, OTHER_ALICE))
    assert ours.startswith("https://api.example/v1/ext/herald/webhook/~acme.")
    assert theirs.startswith("https://api.example/v1/ext/herald/webhook/~umbrella.")
    marks = ("~umbrella.", "~default.", "~acme.a", "~~acme.")
    before = ours.partition("~")[0]
    forged = [ours.replace("~acme.", mark) for mark in marks]
    for url in (*forged, f"{before}~acme./paid", f"{before}~/paid"):
        assert (url, signed(tenanted, url, "key", "alice").status) == (url, 404)
    set_secret(operator(tenanted, HOME_ALICE), "signing", "key", user="__webhook__")
    assert signed(tenanted, f"{before}paid", "key", "alice")["tenant"] == "home"


OWN_KEY = "the-callers-own"


def test_the_extensions_function_has_no_key_but_its_tenants_mark(tenanted: Stack) -> None:
    asked: list[dict[str, Any]] = []
    host = make_host(bootstrap(Settings.from_env({**tenanted.env, "WEBBEE_WEBHOOK_KEY": ""})))

    class Cell:
        def invoke(self, FunctionName: str, Payload: str, **_: Any) -> dict[str, Any]:  # noqa: N803
            asked.append(json.loads(Payload))
            outcome = asyncio.run(host.execute(CallRequest(**asked[-1])))
            return {"Payload": io.BytesIO(json.dumps(asdict(outcome)).encode())}

    keys = WebhookKeys(Settings.from_env({**tenanted.env, "WEBBEE_WEBHOOK_KEY": OWN_KEY}))
    dispatch = LambdaDispatch("cell", lambda _: Cell(), webhook_mark=keys.mark)
    user = {"imperal_id": "alice", "tenant_id": "acme"}
    call = CallRequest("function", user, "herald", "connect", request_id="r1")
    url = asyncio.run(dispatch.call(call)).data["paid"]
    mark = mark_of("acme", OWN_KEY)
    assert url == f"https://api.example/v1/ext/herald/webhook/{mark}/paid"
    assert OWN_KEY not in json.dumps(asked)


def rotate(arn: str) -> None:
    """What an operator types (docs/operations.md)."""
    boto3.client("secretsmanager").put_secret_value(SecretId=arn, SecretString=uuid.uuid4().hex)


def test_a_rotated_key_signs_and_the_one_before_it_stays_good_and_no_older_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two processes: one signs anew, the other still has the keys of before."""
    clock = [1000.0]
    with deployed(extensions=TENANTED, env={**ENV, "WEBBEE_WEBHOOK_KEY": ""}) as tenanted:
        made = boto3.client("secretsmanager").create_secret(Name="hooks", SecretString="the first")
        arn = made["ARN"]
        monkeypatch.setenv("WEBBEE_WEBHOOK_KEY_SECRET", arn)
        settings = Settings.from_env({**tenanted.env, "WEBBEE_WEBHOOK_KEY_SECRET": arn})

        def fresh() -> WebhookKeys:
            return WebhookKeys(settings, now=lambda: clock[0])

        async def signing() -> None:
            old = fresh()
            first = await old.mark("acme")
            assert await old.tenant(first) == "acme"
            rotate(arn)
            second = await fresh().mark("acme")
            assert second != first
            assert [await fresh().tenant(m) for m in (first, second)] == ["acme", "acme"]
            assert await old.tenant(second) == "acme"  # it looks, because it does not know it
            assert await old.tenant(second.replace("~acme.", "~umbrella.")) is None
            rotate(arn)
            third = await fresh().mark("acme")
            told = [await fresh().tenant(m) for m in (first, second, third)]
            assert told == [None, "acme", "acme"]
            assert await old.tenant(third) is None  # it has looked a moment ago
            clock[0] += LOOKUP_INTERVAL_S
            assert await old.tenant(third) == "acme"

        asyncio.run(signing())
        at = "https://api.example/v1/ext/herald/webhook/{}/paid"
        url = at.format(asyncio.run(fresh().mark("acme")))
        assert signed(tenanted, url, "no key of the app", "alice").status == 401  # it is heard
        rotate(arn)
        assert signed(tenanted, url, "no key of the app", "alice").status == 401
        forged = url.replace("~acme.", "~umbrella.")
        assert signed(tenanted, forged, "key", "alice").status == 404


def test_a_key_is_asked_for_every_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, asked = [1000.0], Mock()
    with deployed(env={**ENV, "WEBBEE_WEBHOOK_KEY": ""}) as tenanted:
        service = boto3.client("secretsmanager")
        made = service.create_secret(Name="hooks", SecretString="the first")
        asked.get_secret_value.side_effect = service.get_secret_value
        settings = Settings.from_env({**tenanted.env, "WEBBEE_WEBHOOK_KEY_SECRET": made["ARN"]})
        keys = WebhookKeys(settings, lambda _: asked, lambda: clock[0])
        for _ in range(2):
            marks = {asyncio.run(keys.mark("acme")) for _ in range(3)}
            assert len(marks) == 1
            clock[0] += CACHE_S + 1
        assert asked.get_secret_value.call_count == 4  # each time the key and the one before it
        asked.get_secret_value.side_effect = ConnectionError("an outage")
        assert {asyncio.run(keys.mark("acme")), *marks} == marks


def test_an_app_reaches_its_webhooks_partition_and_no_other_users(tenanted: Stack) -> None:
    ended = Person(tenanted, ALICE).call("herald", "pry", user="bob")["data"]
    assert (set(ended.values()), len(ended)) == ({"SystemContextRequired"}, 7)


# ---- schedules


def run_jobs(tenanted: Stack) -> int:
    """A tick, and its jobs out of the queue."""
    jobs = int(tenanted.invoke("skeleton_refresh", event("eventbridge_tick"))["jobs"])
    settle(tenanted.drain)
    return jobs


def account(person: Person) -> None:
    """An account of this user, by the way of the webhook."""
    own = begun(person.stack, person.claims)
    request(person.stack, "GET", own["url"], query={"state": own["state"]})


def tenants_of(tenanted: Stack) -> set[str]:
    """Where jobs were claimed."""
    claimed = [r["pk"] for r in rows(tenanted, "audit") if r["pk"].endswith("#__system__")]
    return {pk.partition("#")[0] for pk in claimed}


@contextmanager
def with_jobs(installed: str) -> Iterator[tuple[Stack, FrozenClock]]:
    """A deployment in which everybody has that app, and its clock."""
    clock = FrozenClock("2026-05-15T17:21:04Z")
    env = {**ENV, "WEBBEE_INSTALL": installed}
    with deployed(extensions=TENANTED, env=env, clock=clock) as running:
        yield running, clock


@pytest.mark.parametrize("by_default", ["herald", ""], ids=["everybody has it", "who installs it"])
def test_a_job_runs_in_every_tenant_that_has_the_app(by_default: str) -> None:
    with with_jobs(by_default or "none") as (tenanted, _):
        people = [Person(tenanted, claims) for claims in (ALICE, BOB, OTHER_ALICE)]
        for person in people:
            assert person.install("herald").status == 200
            account(person)
        assert run_jobs(tenanted) == 2 * 3  # this minute and the one before it, and the own tenant
        assert tenants_of(tenanted) == {"home", "acme", "umbrella"}
        assert [p.call("herald", "account")["data"]["daily"] for p in people] == [2, 2, 2]


def test_a_tenant_is_known_from_its_users_first_turn_on() -> None:
    with with_jobs("herald") as (tenanted, _):
        for _ in range(10):  # what a busy machine does not send in its half second, it sends anew
            Person(tenanted, ALICE).chat("herald.account {}")
            if tenanted.drain():
                break
        settle(tenanted.drain)
        assert (run_jobs(tenanted), tenants_of(tenanted)) == (2 * 2, {"home", "acme"})


def test_finding_the_tenants_of_a_job_reads_no_users(tenanted: Stack) -> None:
    for number in range(20):
        Person(tenanted, {**ALICE, "sub": f"u{number}"}).install("herald")
    with metered(aws_client("dynamodb")) as meter:
        tenanted.invoke("skeleton_refresh", event("eventbridge_tick"))
    reads = [c.operation for c in meter.calls]
    assert reads.count("Query") == 2  # one for each minute of the job, which everybody has
    assert "Scan" not in reads
