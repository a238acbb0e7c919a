"""What a session has been shown of a large catalogue, as its turns keep it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.catalogue import AppInfo, FunctionInfo
from webbee_kernel.llm.tools import forms
from webbee_kernel.stores.types import Turn
from webbee_kernel.turn import tool_retrieval
from webbee_kernel.turn.tool_retrieval import (
    BUDGET,
    GROWN,
    MAX_GROWN,
    NEAR,
    Place,
    Shortlist,
    Standing,
    shortlist,
)

KEY = b"\x01\x02\x03\x04"
MATTERS = ("invoice", "parcel", "garden", "orchestra", "glacier", "harbour", "violin", "engine")


def functions(each: int = 60) -> list[FunctionInfo]:
    """Of each matter so many, each with a few words of its own."""
    return [
        FunctionInfo(
            matter,
            f"{matter}_{n}",
            f"Looks after the {matter} number {n}. " + "More is to be said of it. " * 15,
            input_schema={"type": "object", "properties": {"note": {"type": "string"}}},
        )
        for matter in MATTERS
        for n in range(each)
    ]


ALL = functions()


def stood(listed: Shortlist, known: list[FunctionInfo] = ALL) -> Standing:
    """What the next turn reads of this one."""
    kept = tool_retrieval.text(tool_retrieval.standing(listed.tools, known, listed.base), KEY)
    again = tool_retrieval.read(kept, KEY)
    assert again is not None
    return again


def turn(seq: int, listed: str = "") -> Turn:
    return Turn(seq, "2026-05-15T17:21:04Z", "ok", "hi", "hello", f"r{seq}", listed=listed)


@given(
    st.lists(st.builds(Place, st.integers(0, 40_000), st.booleans()), max_size=120),
    st.integers(0, 120),
)
def test_a_list_is_read_as_it_was_written(places: list[Place], base: int) -> None:
    listed = Standing(tuple(places), base)
    assert tool_retrieval.read(tool_retrieval.text(listed, KEY), KEY) == listed


def test_a_list_takes_a_byte_or_two_a_function() -> None:
    listed = stood(shortlist(ALL, "the parcel and the violin"))
    assert len(listed.places) > 50
    assert len(tool_retrieval.text(listed, KEY)) // 2 < 1.3 * len(listed.places) + 10


def test_the_list_of_another_catalogue_is_none() -> None:
    kept = tool_retrieval.text(Standing((Place(1, True),), 1), KEY)
    assert tool_retrieval.read(kept, b"\x01\x02\x03\x05") is None


def test_an_app_more_or_a_function_less_is_another_catalogue() -> None:
    one = AppInfo("a", functions=tuple(ALL[:3]))
    keys = {
        tool_retrieval.key_of(apps)
        for apps in (
            [one],
            [one, AppInfo("b")],
            [AppInfo("a", functions=tuple(ALL[:2]))],
            [AppInfo("a", functions=(ALL[1], ALL[0], ALL[2]))],
        )
    }
    assert len(keys) == 4
    said_otherwise = AppInfo("a", functions=tuple(replace(f, description="x") for f in ALL[:3]))
    assert tool_retrieval.key_of([said_otherwise]) == tool_retrieval.key_of([one])


def test_a_turn_keeps_its_list_only_where_no_turn_that_stays_says_the_same() -> None:
    assert tool_retrieval.kept("aa", [], 1) == "aa"
    said = [turn(1, "aa"), turn(2)]
    assert tool_retrieval.kept("aa", said, 3) == ""
    assert tool_retrieval.kept("bb", said, 3) == "bb"
    assert tool_retrieval.kept("aa", said, 5) == ""
    assert tool_retrieval.kept("aa", said, 6) == "aa"  # the seventh turn finds slots 2 to 6


def test_a_turn_that_asked_no_model_hands_the_list_on() -> None:
    said = [turn(1, "aa"), turn(2)]
    assert tool_retrieval.kept("", said, 3) == ""
    assert tool_retrieval.kept("", said, 6) == "aa"
    assert tool_retrieval.kept("", [turn(1)], 2) == ""


def test_what_was_shown_stands_as_it_did_and_what_is_needed_besides_stands_behind_it() -> None:
    first = shortlist(ALL, "the parcel number 7")
    then = shortlist(ALL, "the violin number 9", before=stood(first))
    assert then.tools[: len(first.tools)] == first.tools
    assert then.steady == then.base == len(first.tools)
    assert {f.app_id for f in then.shown[then.steady :]} == {"violin"}
    assert "violin_9" in {f.fn_name for f in then.shown}


def test_a_message_about_what_is_shown_adds_little_and_the_same_message_nothing() -> None:
    first = shortlist(ALL, "the parcel number 7")
    then = shortlist(ALL, "and the parcel number 8", before=stood(first))
    assert len(then.tools) - then.steady < NEAR / 2
    again = shortlist(ALL, "and the parcel number 8", before=stood(then))
    assert again.tools == then.tools
    assert again.steady == len(again.tools)


def test_what_earlier_messages_added_makes_room_and_the_first_choice_stays() -> None:
    listed = first = shortlist(ALL, f"the {MATTERS[0]} number 1")
    began_anew = 0
    for n, matter in enumerate(MATTERS[1:], 2):
        before, listed = listed, shortlist(ALL, f"the {matter} number {n}", before=stood(listed))
        assert listed.tools[: len(first.tools)] == first.tools
        assert f"{matter}_{n}" in {f.fn_name for f in listed.shown}
        assert len(listed.tools) <= MAX_GROWN
        assert listed.characters <= GROWN
        assert listed.tools[: listed.steady] == before.tools[: listed.steady]
        began_anew += listed.steady < len(before.tools)
    assert 0 < began_anew < len(MATTERS) - 1


def test_what_was_used_stays_when_room_is_made() -> None:
    used = {("violin", "violin_3"), ("engine", "engine_25")}
    small = functions(30)
    full = Standing(tuple(Place(n, False) for n in range(MAX_GROWN)), 90)
    listed = shortlist(small, "the glacier number 4", used=used, before=full)
    assert used <= {(f.app_id, f.fn_name) for f in listed.shown}
    assert len(listed.tools) <= MAX_GROWN


def test_of_what_is_added_the_nearest_is_shown_whole() -> None:
    first = shortlist(ALL, "the parcel number 17")
    then = shortlist(ALL, "the violin number 19", before=stood(first))
    added = {t.fn_name: t for t in then.tools[then.steady :]}
    assert added["violin_19"] is forms(next(f for f in ALL if f.fn_name == "violin_19")).whole
    assert any("More is" not in t.description for t in added.values())


def test_a_first_choice_keeps_its_budget() -> None:
    assert shortlist(ALL, "the parcel number 7").characters <= BUDGET
