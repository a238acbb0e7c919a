"""Extension code may hang, giving way to others or not: the turn answers honestly, others go on,
and what comes late arrives as an event."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, Person, deployed, until
from webbee_kernel.turn.messages import as_text


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """One deployment for the module, with little patience."""
    with deployed(env={"WEBBEE_CALL_SECONDS": "1"}) as running:
        yield running


def late_result(person: Person) -> str:
    """The text of the event that a call outliving its turn becomes, however slow the machine is."""
    return str(until(lambda: person.events("result"))[0]["text"])


@pytest.mark.parametrize(
    ("message", "late"),
    [("probe.sleep {}", "Slept."), ("probe.block {}", "Late.")],
    ids=["gives way", "blocks its thread"],
)
def test_a_handler_that_hangs_fails_its_call_and_nothing_else(
    person: Person, message: str, late: str
) -> None:
    answer = person.chat(message)
    assert (answer.status, answer["status"], answer["turn"]) == (200, "error", 1)
    assert [c["error_code"] for c in answer["calls"]] == ["BACKEND_TIMEOUT"]
    [receipt] = answer["receipts"]
    assert receipt["status"] == "running"
    assert receipt["text"].endswith("still running")
    assert receipt["text"] in as_text(answer.body)
    assert "FACTS:" not in person.prompt()
    assert person.chat('probe.save {"text": "after"}')["reply"] == 'Saved "after".'
    assert late_result(person) == late


def test_a_call_that_waits_does_not_hold_up_the_calls_beside_it(person: Person) -> None:
    answer = person.chat("probe.sleep {} probe.look {}")
    assert [(c["fn_name"], c["status"]) for c in answer["calls"]] == [
        ("sleep", "error"),
        ("look", "ok"),
    ]
    assert (answer["status"], "0 texts." in answer["reply"]) == ("ok", True)
    assert late_result(person) == "Slept."


def test_a_thread_that_blocks_does_not_take_other_users_with_it(
    stack: Stack, person: Person
) -> None:
    other = Person(stack, {**ALICE, "sub": "patient"})
    assert person.chat("probe.block {}")["calls"][0]["error_code"] == "BACKEND_TIMEOUT"
    assert other.chat('probe.save {"text": "meanwhile"}')["status"] == "ok"
    assert late_result(person) == "Late."  # the blocked thread came back to life
    assert other.chat("probe.look {}")["reply"] == "1 texts."
    assert person.chat("probe.look {}")["reply"] == "0 texts."
