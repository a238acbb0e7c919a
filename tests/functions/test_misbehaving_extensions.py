"""Extension code may raise, exit or return rubbish: the turn answers honestly, the next one works,
the ledger keeps nothing of it."""

import json
import re
from typing import Any

import pytest

from local.stack import Stack
from tests.functions.extensions.probe.main import RUBBISH, SECRET
from tests.functions.support import ALICE, Person, one_for_all, rows, tables
from tests.stand_ins.logs import everything_logged
from webbee_kernel.api.function import JsonFormatter

stack = one_for_all()


def facts(person: Person) -> str:
    """What the ledger would show a model: the FACTS lines of the person's session."""
    lines = person.prompt().splitlines()
    return "\n".join(line for line in lines if line.startswith("FACTS:"))


def assert_next_turn_works(person: Person) -> None:
    answer = person.chat('probe.save {"text": "after"}')
    assert (answer.status, answer["status"], answer["reply"]) == (200, "ok", 'Saved "after".')
    assert "after" in facts(person)


@pytest.mark.parametrize(
    ("message", "words"),
    [("probe.fail {}", "RuntimeError"), ("probe.leave {}", "SystemExit")],
    ids=["raises", "calls sys.exit"],
)
def test_a_handler_that_does_not_return_fails_its_call_and_its_error_stands_in_the_log_alone(
    person: Person, message: str, words: str
) -> None:
    with everything_logged(JsonFormatter("chat_turn")) as log:
        answer = person.chat(message)
    assert (answer.status, answer["status"], answer["turn"]) == (200, "error", 1)
    assert [c["error_code"] for c in answer["calls"]] == ["INTERNAL"]
    assert words in answer["reply"]
    assert facts(person) == ""
    shown = json.dumps([answer.body, person.turns(), person.events()], ensure_ascii=False)
    stored = json.dumps(tables(person.stack), default=str)
    incident = re.search(r'"incident": "([0-9a-f]{12})"', shown)
    assert incident and incident[1] in log.getvalue()
    assert [SECRET in text for text in (shown, stored, log.getvalue())] == [False, False, True]
    assert_next_turn_works(person)


REFUSED_KINDS = {
    *("string", "object", "number", "list", "10 MB", "recursive", "surrogate", "set"),
    *("nested", "raw", "object inside", "wrong types"),  # an object whose repr would pass for data
}
"""What is no result at all: these calls fail. The other kinds are made presentable."""


@pytest.mark.parametrize("kind", RUBBISH)
def test_rubbish_never_sinks_a_turn_nor_a_direct_call(person: Person, kind: str) -> None:
    answer = person.chat(f'probe.rubbish {{"kind": "{kind}"}}')
    assert answer.status == 200
    assert answer["reply"].strip()
    (made,) = answer["calls"]
    status = "error" if kind in REFUSED_KINDS or "error" in kind else "ok"
    assert (kind, made["status"]) == (kind, status)
    if status == "error":
        assert made["error_code"]
        assert facts(person) == ""
    assert len(json.dumps(answer.body)) < 100_000
    direct = person.call("probe", "rubbish", kind=kind)
    assert (kind, direct.status, direct["status"]) == (kind, 200, status)
    assert_next_turn_works(person)


def test_an_effect_whose_result_is_refused_is_not_told_as_undone(person: Person) -> None:
    answer = person.chat('probe.rubbish {"kind": "nested"}')
    assert [r["status"] for r in answer["receipts"]] == ["unknown"]
    assert (answer["work"]["changed"], answer["work"]["unknown"]) == (0, 1)
    direct = person.call("probe", "rubbish", kind="nested")
    assert direct["error"].startswith("rubbish ran, and its result was refused: ")
    assert "tree.in[0].in[0]" in direct["error"]
    assert "nests deeper than 100 levels; check what it did" in direct["error"]
    body = {"function": "__panel__board", "params": {"ctx": 1, "self": 1, "": 1, "a-b": [1]}}
    assert person.send("POST", "/v1/extensions/probe/call", body=body).status == 200


def test_a_handler_cannot_become_somebody_else(stack: Stack, person: Person) -> None:
    before = {(r["pk"], r["sk"]) for r in rows(stack, "store")}
    answer = person.chat("probe.usurp {}")
    after = {(r["pk"], r["sk"]) for r in rows(stack, "store")} - before
    own = {f"acme#{person.claims['sub']}#probe", "acme#probe#texts"}
    assert {pk for pk, _ in after if "users" not in pk} <= own
    assert not any("bob" in pk or "umbrella" in pk for pk, _ in after)
    assert answer["turn"] == 1
    assert [t["message"] for t in person.turns()] == ["probe.usurp {}"]
    assert person.chat("probe.look {}")["reply"] == "1 texts."


WEBHOOKS: dict[str, tuple[str, int, Any]] = {
    "raises": ("raise", 500, None),
    "calls sys.exit": ("exit", 500, None),
    "names a status": ("status", 202, "later"),
    "names a status that is none": ("bad status", 500, None),
    "returns nothing": ("nothing", 200, {"ok": True}),
    "returns JSON that it has written itself": ("written", 200, '{"challenge": 1}'),
    "returns an object": ("object", 500, None),
}


@pytest.mark.parametrize(("body", "status", "expected"), WEBHOOKS.values(), ids=WEBHOOKS.keys())
def test_a_webhook_that_misbehaves(stack: Stack, body: str, status: int, expected: Any) -> None:
    answer = Person(stack, ALICE).send("POST", "/v1/ext/probe/webhook/echo", body=body)
    assert answer.status == status
    if expected is None:
        assert answer.error["code"] == "INTERNAL"
        assert SECRET not in json.dumps(answer.body)
    else:
        assert answer.body == expected
    found = Person(stack, ALICE).send("POST", "/v1/ext/probe/webhook/echo", body="ping")["body"]
    assert found == "ping"
