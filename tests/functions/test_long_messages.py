"""Long and odd messages through a whole turn, with the shipped apps and the embedded model: each is
answered, and none takes more work than a message of its length may."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.work import counted
from webbee_kernel.clock import new_id
from webbee_kernel.sdk import User
from webbee_kernel.testing import TestKernel

APPS = [Path("extensions") / name for name in ("mail", "tasks", "notes")]
SHORT, LONG = 2_000, 8_000
MOST = 500_000
"""Calls of functions that a turn of 8 KB may make: about a tenth of a second."""


def repeated(piece: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + piece * ((size - len(before + after)) // len(piece)) + after


def different(size: int) -> str:
    return " ".join(f"word{n:x}" for n in range(size // 8))


ONE_PIECE = {
    "commands": "delete and ",
    "russian": "удали и ",
    "no spaces": "買牛乳",
    "marks that combine": "e\u0301\u0301",
    "emoji": "🙂",
    "one figure": "9",
    "small words": "the ",
    "tomorrows": "tomorrow ",
    "commas": "a, ",
    "colons": ": ",
    "dots": "a.",
    "figures": "12 ",
    "days": "2026-01-01 ",
    "addresses": "a@b.example ",
    "quotes that stay open": "«a „b ",
}
SHAPES = {
    **{name: repeated(piece) for name, piece in ONE_PIECE.items()},
    "title": repeated("buy some very good things ", "add a task: "),
    "title of other words": lambda size: f"add a task: {different(size)}",
    "quoted title": repeated("buy some very good things ", 'add a task: "', '"'),
    "slots that may end anywhere": repeated("to to monday ", "move "),
    "other words": different,
}


@pytest.fixture(scope="module")
def kernel() -> TestKernel:
    """One that has answered before."""
    kernel = TestKernel(APPS)
    kernel.chat("hello there")
    return kernel


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_of_a_turn_grows_with_the_message(kernel: TestKernel, shape: str) -> None:
    short, long = (calls_of(kernel, shape, size) for size in (SHORT, LONG))
    if long >= MOST:  # what a process compiles and keeps once is no work of each turn
        long = calls_of(kernel, shape, LONG)
    assert long < 5 * short
    assert long < MOST


def calls_of(kernel: TestKernel, shape: str, size: int) -> int:
    """The calls of functions that a new user's turn makes."""
    ask = kernel.ask(SHAPES[shape](size), user=User(imperal_id=new_id(), tenant_id="test"))

    async def turn() -> int:
        with counted() as calls:
            assert (await kernel.kernel.turn(ask)).text
        return calls.count

    return int(kernel.run(turn()))


PIECES = st.one_of(
    st.sampled_from(
        ["delete and ", "add a task: ", "show my tasks ", '"', "«", "“", ": ", ", ", "{title}"]
    ),
    st.text("0123456789.,-/:٣७", max_size=40),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
WILD = st.tuples(st.lists(PIECES, min_size=1, max_size=12).map("".join), st.integers(1, 60))


@settings(max_examples=60)
@given(wild=WILD)
def test_every_message_is_answered(kernel: TestKernel, wild: tuple[str, int]) -> None:
    piece, times = wild
    message = (piece * times)[:LONG]
    if message.strip():
        reply = kernel.chat(message)
        assert reply.text
        assert len(reply.body["calls"]) <= 3
