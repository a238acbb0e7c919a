"""Two users, and two tenants with a user of the same name: the same session id, app and keys, and
nothing crosses."""

from __future__ import annotations

import json

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, BOB, OTHER_ALICE, Person, deployed, obedient, rows

SESSION = {"session_id": "shared", "request_id": "same"}


@pytest.fixture(
    params=[BOB, OTHER_ALICE], ids=["another user", "another tenant's user of the same name"]
)
def other(stack: Stack, request: pytest.FixtureRequest) -> Person:
    return Person(stack, request.param)


def prompt(person: Person) -> str:
    developer = Person(person.stack, {**person.claims, "role": "developer"})
    return str(
        developer.send(
            "chat_turn", "GET", "/v1/inspect", query={"session_id": "shared", "message": "and now?"}
        )["prompt"]
    )


def test_history_and_facts_stay_with_their_user(alice: Person, other: Person) -> None:
    alice.chat('probe.save {"text": "private words"}', **SESSION)
    assert "private words" in prompt(alice)
    assert "private words" not in prompt(other)
    assert other.turns("shared") == []
    assert other.send("chat_turn", "GET", "/v1/sessions")["sessions"] == []
    assert other.chat('probe.save {"text": "own words"}', **SESSION)["turn"] == 1
    assert "own words" not in prompt(alice)


def test_forgetting_a_session_forgets_ones_own(alice: Person, other: Person) -> None:
    alice.chat('probe.save {"text": "kept"}', **SESSION)
    assert other.send("chat_turn", "DELETE", "/v1/sessions/shared").status == 200
    assert len(alice.turns("shared")) == 1
    assert alice.send("chat_turn", "DELETE", "/v1/sessions/shared").status == 200
    assert alice.turns("shared") == []


def test_documents_stay_with_their_user(alice: Person, other: Person) -> None:
    alice.chat('probe.save {"text": "mine"}', **SESSION)
    assert other.chat("probe.look {}")["reply"] == "0 texts."
    assert other.call("probe", "look")["data"] == {"texts": []}
    assert other.call("probe", "__panel__board")["ui"]["props"]["content"] == "nothing"


def test_cache_events_and_secrets_stay_with_their_user(alice: Person, other: Person) -> None:
    alice.send("chat_turn", "PUT", "/v1/extensions/probe/secrets/token", body={"value": "t0ken"})
    alice.chat('probe.mark {"text": "m"}', **SESSION)
    mine, theirs = alice.call("probe", "whoami")["data"], other.call("probe", "whoami")["data"]
    assert (mine["token_set"], mine["cached"]) == (True, {"text": "m"})
    assert (theirs["token_set"], theirs["cached"]) == (False, None)
    assert [e["text"] for e in alice.events("notification")] == ["marked m"]
    assert other.events() == []


def test_removing_a_secret_removes_ones_own(alice: Person, other: Person) -> None:
    alice.send("chat_turn", "PUT", "/v1/extensions/probe/secrets/token", body={"value": "t0ken"})
    assert other.send("chat_turn", "DELETE", "/v1/extensions/probe/secrets/token").status == 200
    assert alice.call("probe", "whoami")["data"]["token_set"] is True


def test_a_waiting_question_stays_with_its_user(stack: Stack, alice: Person, other: Person) -> None:
    confirmation = alice.chat('probe.remove {"text": "x"}', **SESSION)["confirmation"]["id"]
    assert other.chat("yes", session_id="shared")["calls"] == []
    assert other.confirm(confirmation).status == 404
    assert not [r for r in rows(stack, "store") if r["sk"].startswith("removed#")]


def test_installations_stay_with_their_user(alice: Person, other: Person) -> None:
    assert alice.uninstall("probe").status == 200
    assert alice.call("probe", "look").status == 403
    assert other.call("probe", "look").status == 200
    assert not alice.chat('probe.save {"text": "x"}', session_id="shared")["calls"]


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
        ("a", "b"),
        ("a/b", "c"),
        ("a", "b/c"),
        ("a:b", "c"),
        ("ä", "b"),
        ("a", "__b"),
        ("A", "b"),
        ("a", "B"),
        ("a ", "b"),
        ("a", " b"),
    ]
    people = [Person(stack, {**ALICE, "tenant_id": tenant, "sub": user}) for tenant, user in names]
    for number, person in enumerate(people):
        assert person.chat(f'probe.save {{"text": "word-{number}"}}', **SESSION)["turn"] == 1
        assert (
            person.send(
                "chat_turn",
                "PUT",
                "/v1/extensions/probe/secrets/token",
                body={"value": f"secret-{number}"},
            ).status
            == 200
        )
    assert [p.call("probe", "look")["data"]["texts"] for p in people] == [
        [f"word-{n}"] for n in range(len(people))
    ]
    assert [p.call("probe", "whoami")["data"]["given"] for p in people] == [
        f"secret-{n}" for n in range(len(people))
    ]


def test_a_model_never_meets_another_users_words() -> None:
    model = obedient()
    with deployed(model=model) as stack:
        alice, bob = Person(stack, ALICE), Person(stack, BOB)
        alice.chat('probe.save {"text": "aaa-words"}', **SESSION)
        model.requests.clear()
        bob.chat("probe.look {}", **{**SESSION, "request_id": "other"})
        assert model.requests
        assert not any("aaa-words" in r.prompt + r.system for r in model.requests)
