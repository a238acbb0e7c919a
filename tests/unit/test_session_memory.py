"""The last five turns: what they show to the classifier, and how a turn joins them when two tabs
write at once."""

from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from webbee_kernel.channels.fact_ledger import TURN_CAP
from webbee_kernel.errors import StorageUnavailable
from webbee_kernel.llm.protocol import ModelResponse
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.pii.masker import Masker
from webbee_kernel.stores.types import SessionMemory, ToolCallDigest, Turn
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.pending_approvals import MAX_RACES
from webbee_kernel.turn.session_memory import history, render, undoable


def turn(seq: int = 1, **changes: Any) -> Turn:
    return replace(Turn(seq, "2026-05-15T17:21:04Z", "ok", "hi", "hello", f"r{seq}"), **changes)


def lines(*turns: Turn, mask: Any = None) -> list[str]:
    return render(history(SessionMemory(turns), mask)).split("\n")


def test_previews_are_short_and_no_arrow_in_one_passes_for_that_before_the_reply() -> None:
    for message in ("a → b", "a → → b", "a →", "→ a", "→", "a→b", "a\u200b → b"):
        shown = lines(turn(message=message, reply="the reply"))[1]
        assert (shown.count("→"), shown.partition(" → ")[2]) == (1, "the reply")
    whole = lines(turn(message="m" * 800, reply="r" * 500))[1]
    assert whole.endswith("]] " + "m" * 800 + " → " + "r" * 500)
    cut = lines(turn(message="m" * 801, reply="r" * 501))[1]
    assert cut.endswith("]] " + "m" * 799 + "…" + " → " + "r" * 499 + "…")


def test_facts_stored_in_the_open_are_masked_behind_a_closed_gate_within_the_cap() -> None:
    many = ", ".join(f'"{chr(97 + i // 26)}{chr(97 + i % 26)}@b.co"' for i in range(250))
    digest = ToolCallDigest("mail", "list", f'{{"all": [{many}]}}')
    open_turn = turn(digests=(digest,), masked=False)
    assert "aa@b.co" in lines(open_turn)[2]
    facts = [x for x in lines(open_turn, mask=Masker().mask) if x.startswith("FACTS: ")]
    assert "@" not in facts[0] and "<EMAIL_1>" in facts[0]
    assert len("\n".join(facts)) <= TURN_CAP


UNDO = {"app_id": "tasks", "function": "delete", "params": {"task": "t-1"}}


@pytest.mark.parametrize("status", ["failed", "not_run", "unknown", "waiting"])
def test_what_was_not_done_is_not_taken_back_and_takes_nothing_back(status: str) -> None:
    done = {"status": "done", "what": "Add", "call": 0, "undo": UNDO}
    other = {**done, "status": status, "what": "Delete", "took": UNDO}
    turns = turn(1, response={"receipts": [done]}), turn(2, response={"receipts": [other]}), turn(3)
    assert [u.what for u in undoable(SessionMemory(turns))] == ["Add"]


@pytest.mark.parametrize(
    ("effects", "left"),
    [
        ("a b", "b a"),
        ("a b -b", "a"),
        ("a b -a", "b"),
        ("a -a +a", "a"),
        ("a -a +a -a", ""),
        ("a b -b -a", ""),
    ],
)
def test_what_was_taken_back_is_not_again_unless_brought_back(effects: str, left: str) -> None:
    """`-a` takes `a` back, `+a` that again; what they would be taken back by is not asked for."""
    turns = []
    for n, effect in enumerate(effects.split(), 1):
        undoes, name = effect[:-1], effect[-1]
        calls = {sign: {**UNDO, "params": {"task": f"{sign}{name}"}} for sign in "+-"}
        took = {"took": calls[undoes]} if undoes else {}
        own = {"undo": calls["+" if undoes == "-" else "-"], "call": 0, "what": name}
        done = {"receipts": [{"status": "done", **own, **took}]}
        turns.append(turn(n, response=done))
    found = undoable(SessionMemory(tuple(turns)))
    first = [u for u in found if u.arguments["task"].startswith("-")]
    assert " ".join(dict.fromkeys(u.what for u in first)) == left


def test_a_session_that_never_lets_a_turn_in_ends_in_a_request_to_retry() -> None:
    kernel = TestKernel([], model=FunctionModel(lambda _: ModelResponse("Hello.")))
    busy = AsyncMock(return_value=False)
    with (
        patch.object(kernel.app.stores.sessions, "append", busy),
        pytest.raises(StorageUnavailable, match="retry"),
    ):
        kernel.chat("hello")
    assert busy.call_count == MAX_RACES == 20
