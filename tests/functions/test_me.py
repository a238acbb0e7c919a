"""What a person is owed: the whole conversation, the record of calls, everything that is kept, and
its end."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import boto3
import pytest

from local import webbee
from local.gateway import socket_event
from local.stack import Stack
from tests.functions.support import ALICE, BOB, OTHER_ALICE, Answer, Person, rows, settle
from tests.local.conftest import stack_of_the_tables
from webbee_kernel.config import ALL_TABLES
from webbee_kernel.stores import Collection
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.stores.dynamodb.personal_data import LOCATIONS
from webbee_kernel.stores.dynamodb.user_items import CONNECTION_KINDS
from webbee_kernel.stores.types import AcceptedDestination
from webbee_kernel.types import UserKey

PEOPLE = (ALICE, BOB, OTHER_ALICE)


LIVE, THERE = "wss://live.example/live", "http://127.0.0.1:9/c"
pytestmark = pytest.mark.deployed(env={"WEBBEE_LIVE_URL": LIVE, "WEBBEE_CONNECTIONS_URL": THERE})


def lived(stack: Stack, claims: Any) -> Person:
    """A user who has something everywhere."""
    person = Person(stack, claims)
    person.install("clockwork")
    for session in ("s1", "s2"):
        person.chat('probe.save {"text": "mine"}', session_id=session)
    for _ in range(4):  # the ring has no room for all of them
        person.chat('probe.look {} probe.mark {"text": "m"}')
    person.chat('probe.remove {"text": "mine"}')  # a question that waits
    stores = dynamodb_stores(Tables.from_variables(os.environ))
    user = UserKey(claims["tenant_id"], claims["sub"])
    at = "2026-05-15T17:21:04Z"
    accepted = AcceptedDestination("probe.save#0a1b", "probe", "save", "ann@example.org", at)
    asyncio.run(stores.accepted.put(user, [accepted]))
    stack.ask("PUT", "/v1/extensions/probe/secrets/token", claims, {"value": "s3cret"})
    person.send("POST", "/v1/turns/r0/stop")
    for connection in ("open", ""):  # one that is used, one that is not yet
        ticket = person.send("POST", "/v1/live")["url"].partition("?ticket=")[2]
        if connection:
            name = f"{connection}-{claims['tenant_id']}-{claims['sub']}"
            stack.invoke("chat_turn", socket_event("CONNECT", name, {"ticket": ticket}))
    stack.tick()
    settle(stack.drain)
    return person


def items(stack: Stack, claims: Any) -> list[tuple[str, dict[str, str]]]:
    """Every item, with its table's noun, in which a person's id stands anywhere."""
    whose = f"{claims['tenant_id']}#{claims['sub']}"
    return [
        (noun, row)
        for noun in ALL_TABLES
        for row in rows(stack, noun)
        if row["pk"] == whose or row["pk"].startswith(f"{whose}#") or claims["sub"] in str(row)
        if claims["tenant_id"] in (row["pk"] if "#" in row["pk"] else tenant_named(row))
    ]


def tenant_named(row: dict[str, str]) -> str:
    return str(json.loads(row["user"])["tenant_id"]) if "user" in row else ""


def told(stack: Stack) -> list[dict[str, str]]:
    """Alice's items that an export tells."""
    return [row for _, row in items(stack, ALICE) if "#" in row["pk"]]


def parameters(claims: Any) -> list[str]:
    path = f"/webbee/local/{claims['tenant_id']}/{claims['sub']}"
    found = boto3.client("ssm").get_parameters_by_path(Path=path, Recursive=True)
    return [p["Name"] for p in found["Parameters"]]


def export(person: Person) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    query: dict[str, str] = {}
    while True:
        answer = person.send("GET", "/v1/me/export", query=query)
        assert answer.headers["content-type"].startswith("application/x-ndjson")
        *part, last = [json.loads(line) for line in answer.body.splitlines()]
        lines += part
        if last == {"kind": "end"}:
            return lines
        query = {"cursor": last["cursor"]}


def erase(person: Person, **query: str) -> Answer:
    return person.send("DELETE", "/v1/me", query=query)


def test_erasure_leaves_nothing_touches_nobody_else_and_is_recorded_once(stack: Stack) -> None:
    people = [lived(stack, claims) for claims in PEOPLE]
    for given in ("", "yes", "erase_0123456789ab", erase(people[1])["confirm"]):
        refused = erase(people[0], confirm=given)  # without the word that was given out
        assert (refused.status, refused.error["field"]) == (409, "confirm")
    others = [(items(stack, claims), parameters(claims)) for claims in PEOPLE[1:]]
    assert parameters(ALICE)

    asked = erase(people[0])
    assert (asked["status"], asked["counts"]) == ("confirm", {})
    assert items(stack, ALICE)
    erased = erase(people[0], confirm=asked["confirm"])
    assert (erased.status, erased["status"]) == (200, "erased")
    assert {place.kind for place in LOCATIONS} | {"secret"} == set(erased["counts"])

    assert (items(stack, ALICE), parameters(ALICE)) == ([], [])
    assert [(items(stack, claims), parameters(claims)) for claims in PEOPLE[1:]] == others
    kept = [r for r in rows(stack, "audit") if r["pk"].startswith("acme#__erased_")]
    told = [json.loads(r["body"]) for r in kept]
    assert {t["fn_name"] for t in told} >= {"save", "look", "erase"}
    assert len({r["pk"] for r in kept}) == 1
    assert not any(t[f] for t in told for f in ("session_id", "request_id", "args_hash", "outcome"))
    before = rows(stack, "audit")
    assert erase(people[0], confirm=asked["confirm"])["counts"] == {}
    assert rows(stack, "audit") == before


def test_an_erasure_finds_each_place_and_goes_on(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = lived(stack, ALICE)
    inside = {"user": 2, "session": 3, "app": 3}
    met = set()
    for noun, row in items(stack, ALICE):
        parts = len(row["pk"].split("#"))
        fits = [p for p in LOCATIONS if p.table == noun and parts == inside[p.of]]
        fits = [place for place in fits if row["sk"].startswith(place.prefix)]
        kinds = {kind for kind in CONNECTION_KINDS if row["pk"].startswith(f"{kind}!")}
        if named := kinds if noun == "connections" else set():
            assert json.loads(row["user"])["imperal_id"] == ALICE["sub"]
            met.update(named)
            continue
        assert len(fits) == 1, (noun, row["pk"], row["sk"])
        met.add(fits[0].kind)
    assert met == {place.kind for place in LOCATIONS} | set(CONNECTION_KINDS)
    word, statuses = erase(alice)["confirm"], []
    monkeypatch.setattr("webbee_kernel.api.me.ERASE_S", -1.0)  # the time is over after each step
    for _ in range(200):
        answer = erase(alice, confirm=word)
        statuses.append(answer.status)
        if answer.status == 200:
            break
    assert (set(statuses[:-1]), statuses[-1]) == ({202}, 200)
    assert items(stack, ALICE) == []
    kept = [r for r in rows(stack, "audit") if "#__erased_" in r["pk"]]
    assert len({r["pk"] for r in kept}) == 1
    # its last try found nothing, and the earlier ones' record is there all the same
    assert [json.loads(r["body"])["fn_name"] for r in kept].count("erase") == 1


def test_an_export_is_whole_without_secrets(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = lived(stack, ALICE)
    lived(stack, BOB)
    lines = export(alice)
    assert {line["kind"] for line in lines} == {place.kind for place in LOCATIONS} | {"secret"}
    assert len([x for x in lines if x["kind"] != "secret"]) == len(told(stack))
    text = json.dumps(lines)
    assert "s3cret" not in text
    assert "bob" not in text
    turns = [t["message"] for x in lines if x["kind"] == "turn" for t in x["data"]]
    assert 'probe.save {"text": "mine"}' in turns
    kept = [x["data"] for x in lines if x["kind"] == "document" and x["in"] == "probe"]
    assert "mine" in [x["data"].get("text") for x in kept if "data" in x]
    until = {x["kind"]: x["until"] for x in lines}
    for_good = {"accepted", "document", "secret", "skeleton"}
    assert {k for k, v in until.items() if v is None} == for_good
    assert all(v is None or re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}Z", v) for v in until.values())
    timer = next(x["data"] for x in lines if x["kind"] == "skeleton" and "sections" in x["data"])
    assert timer["sections"]
    monkeypatch.setattr("webbee_kernel.stores.dynamodb.personal_data.MAX_PART_BYTES", 1)
    assert export(alice) == lines, "without a gap"


def test_an_export_holds_whatever_an_app_has_named_or_stored_so(stack: Stack) -> None:
    stores = dynamodb_stores(Tables.from_variables(os.environ))
    user, now = UserKey(ALICE["tenant_id"], ALICE["sub"]), "2026-05-15T17:21:04Z"
    asyncio.run(stores.cache.set(user, "probe", "a#part#1", "k", b'"v"', expires_at=2e9))
    of, half = Collection(user, "probe", "notes"), {"half": "\ud800"}
    half["in parts"] = os.urandom(250_000).hex()
    made = asyncio.run(stores.documents.create(of, half, now=now))
    lines = export(Person(stack, ALICE))
    found = {line["kind"]: line for line in lines if not line["key"].startswith("#")}
    assert (found["cache"]["key"], found["cache"]["data"]["value"]) == ("a#part#1#k", '"v"')
    assert found["document"]["key"] == f"notes#{made.id}"
    assert found["document"]["data"]["data"] == half


def test_calls_are_told_by_message_conversations_by_title(alice: Person, bob: Person) -> None:
    alice.chat('probe.save {"text": "a"}')
    alice.confirm(alice.chat('probe.remove {"text": "a"}')["confirmation"]["id"])
    kinds = {"remove": "destructive", "save": "write"}
    page = {"limit": "1"}
    for name, kind in kinds.items():  # the newest first, by pages
        told = alice.send("GET", "/v1/me/audit", query=page)
        [record] = told["records"]
        assert (record["fn_name"], record["action_type"]) == (name, kind)
        assert record["message"] == f'probe.{name} {{"text": "a"}}'
        page["cursor"] = told["cursor"]
    assert told["cursor"] is None
    assert bob.send("GET", "/v1/me/audit")["records"] == []
    alice.chat("what about Lisbon", session_id="s2")
    renamed = alice.send("PATCH", "/v1/sessions/s1", body={"title": "  The  budget "})
    assert (renamed.status, renamed["title"]) == (200, "The budget")
    for query, titles in (
        ("lisbon", {"what about Lisbon"}),
        ("", {"The budget", "what about Lisbon"}),
    ):
        listed = alice.send("GET", "/v1/sessions", query={"q": query} if query else {})["sessions"]
        assert {s["title"] for s in listed} == titles
    assert bob.send("PATCH", "/v1/sessions/s1", body={"title": "x"}).status == 404


def test_an_operator_takes_a_person_s_data_out_and_erases_it(
    stack: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lived(stack, ALICE)
    stack_of_the_tables("local")
    who = ["--tenant", "acme", "--user", "alice", "--stack", "local"]
    apps = ["--app", "probe", "--app", "clockwork"]
    file = tmp_path / "alice.jsonl"
    assert webbee.main(["export", *who, *apps, "--into", str(file)]) == 0
    assert file.stat().st_mode & 0o077 == 0
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert len([x for x in lines if x["kind"] != "secret"]) == len(told(stack))
    assert webbee.main(["erase", *who, *apps, "--yes"]) == 0
    assert "nothing is left of alice of tenant acme" in capsys.readouterr().out
    assert (items(stack, ALICE), parameters(ALICE)) == ([], [])
    assert webbee.main(["erase", *who, "--yes"]) == 0
    assert "nothing was kept of alice" in capsys.readouterr().out
