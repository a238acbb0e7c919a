"""Conversations, searched in full."""

from pathlib import Path

import pytest

from tests.functions.support import BOB, OTHER_ALICE, Person
from webbee_kernel.llm.embedded import EmbeddedModel


def said(person: Person, query: str, **more: str) -> list[dict[str, object]]:
    return list(person.send("GET", "/v1/search", query={"q": query, **more})["matches"])


def test_a_number_in_a_reply_is_found_by_whom_it_was_said_to_until_deleted(alice: Person) -> None:
    alice.chat('probe.save {"text": "order 300418 was shipped"}', session_id="orders")
    for n in range(7):  # the model's memory has lost it, the person has not
        alice.chat(f"and what of {n}?", session_id="orders")
    alice.chat("something else", session_id="other")
    [match] = said(alice, "300418")
    assert match["session_id"] == "orders"
    excerpt = str(match["excerpt"])
    assert excerpt[int(str(match["start"])) : int(str(match["end"]))] == "300418"
    assert len(said(alice, "SHIPPED Order")) == len(said(alice, "orders")) == 1
    for other in (BOB, OTHER_ALICE):
        assert said(Person(alice.stack, other), "300418") == []
    alice.send("DELETE", "/v1/sessions/orders")
    assert said(alice, "300418") == [], "nobody finds what was deleted"


def test_turns_that_lack_a_word_stand_behind_and_hold_what_tells_most(alice: Person) -> None:
    alice.chat('probe.save {"text": "order 300418 was shipped to the Straße"}', session_id="s1")
    for n in range(4):
        alice.chat(f"is {n} the right one?", session_id="s1")
    alice.chat("what was my order number?", session_id="s2")
    found = said(alice, "order number")
    assert [(m["session_id"], m["lacks"]) for m in found] == [("s2", []), ("s1", ["number"])]
    assert said(alice, "the straße")[0]["lacks"] == [] and len(said(alice, "the straße")) == 1
    assert not said(alice, "avenue boulevard")
    assert said(alice, " a ") == said(alice, "") == [], "a letter stands everywhere"


def test_an_excerpt_is_the_line_or_cells_with_most_of_the_words(alice: Person) -> None:
    row = "| n1 | Photos | 2026-11-29 19:20 UTC | no | By the Lake |"
    text = f"One photo.\n\n| id | title | at | done | text |\n| --- |\n{row}\n\nThat is all."
    alice.chat(text, session_id="s1")
    [match] = said(alice, "photo lake")
    assert (match["excerpt"], match["start"], match["end"]) == ("Photos · By the Lake", 0, 5)
    assert said(alice, "all")[0]["excerpt"] == "That is all."


@pytest.mark.deployed(extensions=Path("extensions"), model=EmbeddedModel())
def test_a_reply_that_only_offers_buttons_is_no_answer_and_a_button_no_hit(alice: Person) -> None:
    failed = alice.chat("my order number please", session_id="s1")
    assert "order" in failed["reply"] and failed["calls"] == []
    assert [m["where"] for m in said(alice, "order number")] == ["message"]
    alice.call("tasks", "add", title="pay order 300418")
    assert alice.chat("show my tasks", session_id="s2")["calls"]
    assert [m["where"] for m in said(alice, "300418")] == ["reply"]
    assert said(alice, "horizontal") == []  # how buttons lie is said by nobody
    alice.chat("of 300418, wherever, whenever", session_id="s3")
    assert [(m["session_id"], m["lacks"]) for m in said(alice, "wherever whenever 300418")] == [
        ("s3", []),
        ("s2", ["wherever", "whenever"]),
    ]


def test_a_request_reads_so_many_conversations_and_the_cursor_goes_on(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbee_kernel.api.conversations.CONVERSATIONS", 2)
    for n in range(3):
        alice.chat(f"needle {n}", session_id=f"s{n}")
    first = alice.send("GET", "/v1/search", query={"q": "needle"})
    assert first["searched"] == 2 and len(first["matches"]) == 2
    rest = alice.send("GET", "/v1/search", query={"q": "needle", "cursor": first["cursor"]})
    assert len(rest["matches"]) == 1 and rest["cursor"] is None
