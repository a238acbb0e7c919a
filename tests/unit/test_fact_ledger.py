"""What a turn's calls leave behind: verbatim where it fits, and honest, valid JSON where it does
not."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.json_values import json_values
from webbee_kernel.channels.bounding import fitted
from webbee_kernel.channels.fact_ledger import (
    OMITTED_FN,
    TRUNCATED,
    TURN_CAP,
    fit,
    line,
    lines,
    record,
)
from webbee_kernel.stores.types import ToolCallDigest
from webbee_kernel.text import dumps

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
LONG_TEXTS = st.builds(lambda t, n: t * n, TEXTS, st.integers(1, 200))
JSON_VALUES = json_values(TEXTS | LONG_TEXTS, items=12, fields=6)
NAMES = st.text("abcdefgh_-0123456789", min_size=1, max_size=64)
CALLS = st.lists(st.tuples(NAMES, NAMES, JSON_VALUES), max_size=40)
SMALL_CALLS = st.lists(
    st.tuples(NAMES, NAMES, st.dictionaries(TEXTS, TEXTS | st.lists(st.integers()), max_size=3)),
    max_size=4,
)


def facts(digests: tuple[ToolCallDigest, ...]) -> str:
    return "\n".join(line(d) for d in digests)


def data(digest: ToolCallDigest) -> Any:
    return json.loads(digest.data_facts_json)


def rows(n: int, width: int = 40) -> dict[str, Any]:
    return {"count": n, "items": [{"id": f"t{i}", "title": "x" * width} for i in range(n)]}


def test_the_action_meta_envelope_is_dropped_and_other_hidden_fields_stay() -> None:
    (digest,) = record(
        [("a", "f", {"_action_meta": {"ms": 3}, "_kept": 1, "inner": {"_action_meta": 2}})]
    )
    assert data(digest) == {"_kept": 1, "inner": {"_action_meta": 2}}


@pytest.mark.parametrize("empty", [None, {}, [], "", {"_action_meta": {"ms": 3}}])
def test_empty_data_leaves_no_entry(empty: object) -> None:
    assert record([("a", "f", empty)]) == ()


@pytest.mark.parametrize("falsy", [0, False, 0.0, {"n": None}])
def test_a_falsy_fact_is_a_fact(falsy: object) -> None:
    assert data(record([("a", "f", falsy)])[0]) == falsy


def test_a_function_may_bear_the_name_by_which_omitted_calls_are_told() -> None:
    calls = [("a", "f", {"n": 1}), ("a", "_omitted", {"n": 2}), ("a", "f", {"n": 3})]
    digests = record(calls, arguments=[{"x": 1_001}, {"x": 1_002}, {"x": 1_003}])
    assert [(data(d)["n"], args(d)["x"]) for d in digests] == [(n, 1_000 + n) for n in (1, 2, 3)]


def test_three_thousand_characters_fit_and_one_more_does_not() -> None:
    room = TURN_CAP - len('FACTS: app=a fn=f data={"t": ""}')
    exact = record([("a", "f", {"t": "x" * room})])
    assert len(facts(exact)) == TURN_CAP and data(exact[0]) == {"t": "x" * room}
    over = record([("a", "f", {"t": "x" * (room + 1)})])
    assert len(facts(over)) <= TURN_CAP and "…" in over[0].data_facts_json


def test_a_newest_call_that_fits_stays_whole_whatever_came_before() -> None:
    digests = record([("a", "big", rows(400)), ("a", "small", {"id": "n1"})])
    assert data(digests[-1]) == {"id": "n1"}
    assert data(digests[0])["count"] == 400
    assert len(facts(digests)) > TURN_CAP - 200


def test_a_number_of_more_digits_than_there_is_room_for_does_not_sink_the_turn() -> None:
    digests = record([("a", "old", {"id": 1}), ("a", "new", 10**4000)])
    assert digests[-1].fn_name == "new" and len(facts(digests)) <= TURN_CAP


def test_older_calls_are_named_while_that_leaves_the_newest_half_of_the_room() -> None:
    calls = [("a", f"f{i}", rows(400)) for i in range(4)]
    whole = len(json.dumps(rows(400), ensure_ascii=False))
    marker = f'FACTS: app=a fn=f0 data={{"{TRUNCATED}": "{whole} chars"}}\n'
    room = 2 * 3 * len(marker)
    named, counted = record(calls, room), record(calls, room - 1)
    assert [d.fn_name for d in named] == ["f0", "f1", "f2", "f3"]
    assert counted[0].fn_name == OMITTED_FN
    assert len(line(named[-1])) <= room // 2 < len(line(counted[-1]))


@pytest.mark.parametrize("budget", range(60, 90))
def test_a_placeholder_is_never_cut_in_half(budget: int) -> None:
    kept = fit("<EMAIL_1> wrote <NAME_22> and <PHONE_3> " * 20, budget)
    body = kept[: kept.rindex("…[")]
    assert not re.search(r"<[^>]*$", body)
    assert set(re.findall(r"<[^>]*>", body)) <= {"<EMAIL_1>", "<NAME_22>", "<PHONE_3>"}


@settings(max_examples=60)
@given(CALLS)
def test_any_calls_leave_at_most_three_thousand_characters_of_valid_json_in_order(
    calls: list[tuple[str, str, Any]],
) -> None:
    digests = record(calls)
    assert len(facts(digests)) <= TURN_CAP
    for digest in digests:
        json.loads(digest.data_facts_json)
        assert len(line(digest).splitlines()) == 1
    told = [
        (a, f)
        for a, f, d in calls
        if not (d is None or d in ({}, [], "")) and d != {"_action_meta": 0}
    ]
    kept = [(d.app_id, d.fn_name) for d in digests if d.fn_name != OMITTED_FN]
    assert kept == told[len(told) - len(kept) :]
    assert bool(kept) == bool(told)  # the newest call is always there


@given(SMALL_CALLS)
def test_calls_that_fit_are_kept_verbatim(calls: list[tuple[str, str, Any]]) -> None:
    whole = [(a, f, d) for a, f, d in calls if not (d is None or d in ({}, [], ""))]
    if (
        len("\n".join(f"FACTS: app={a} fn={f} data={json.dumps(d)}" for a, f, d in whole))
        <= TURN_CAP // 2
    ):
        assert [(d.app_id, d.fn_name, data(d)) for d in record(calls)] == whole


@given(JSON_VALUES, st.integers(60, 400))
def test_a_cut_value_keeps_to_its_budget_and_its_kind(value: Any, budget: int) -> None:
    kept = fit(value, budget)
    assert len(json.dumps(kept, ensure_ascii=False)) <= budget
    if isinstance(value, dict | list | str):
        assert type(kept) is type(value)


# ---- cutting keeps what selects


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


@given(
    st.lists(
        st.fixed_dictionaries(
            {"id": st.integers(0, 10**6), "title": TEXTS},
            optional={"body": LONG_TEXTS, "tags": st.lists(TEXTS, max_size=5), "n": st.floats()},
        ),
        max_size=60,
    ),
    st.integers(60, 4_000),
)
def test_cut_rows_keep_their_order_their_ids_and_the_budget(
    rows: list[dict[str, Any]], budget: int
) -> None:
    kept = fit({"rows": rows}, budget)
    assert size(kept) <= budget and json.loads(json.dumps(kept, allow_nan=True)) is not None
    shown = [r for r in kept.get("rows", []) if isinstance(r, dict)]
    assert [r["id"] for r in shown if "id" in r] == [
        r["id"] for r, s in zip(rows, shown, strict=False) if "id" in s
    ]
    needed = sum(len(f'{{"id": {r["id"]}}}, ') for r in rows)
    if budget >= 300 and needed <= budget // 4:
        assert [r.get("id") for r in shown] == [r["id"] for r in rows]


# ---- arguments that the result does not repeat


def args(digest: ToolCallDigest) -> Any:
    return json.loads(digest.args_json) if digest.args_json else None


def test_arguments_that_the_result_lacks_stand_in_a_line_of_their_own_under_its_facts() -> None:
    (digest,) = record(
        [("mail", "send", {"sent": True, "to": "sarah@example.com"})],
        arguments=[{"to": "sarah@example.com", "subject": "План"}],
    )
    assert lines(digest) == (
        'FACTS: app=mail fn=send data={"sent": true, "to": "sarah@example.com"}',
        'ARGS: app=mail fn=send args={"subject": "План"}',
    )


def test_a_call_without_data_leaves_its_arguments_alone() -> None:
    first, second = record(
        [("files", "mkdir", {}), ("files", "ls", {"names": ["a"]})],
        arguments=[{"name": "archive"}, {}],
    )
    assert lines(first) == ('ARGS: app=files fn=mkdir args={"name": "archive"}',)
    assert lines(second) == ('FACTS: app=files fn=ls data={"names": ["a"]}',)


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"to": "a@b.co", "n": 3, "x": None, "y": "", "z": []}, None),
        ({"text": "wrote plan.md"}, None),
        ({"deep": {"list": ["a@b.co", 3]}}, None),
        ({"deep": {"list": ["a@b.co", 4]}}, {"deep": {"list": ["a@b.co", 4]}}),
        ({"n": 4}, {"n": 4}),
        ({"flag": True}, {"flag": True}),
        ({"t": "plan"}, {"t": "plan"}),
        ({"t": "plan."}, None),
    ],
)
def test_what_the_facts_hold_is_not_said_twice(arguments: Any, kept: Any) -> None:
    data = {"to": "a@b.co", "n": 3, "note": "I wrote plan.md for you"}
    (digest,) = record([("a", "f", data)], arguments=[arguments])
    assert args(digest) == kept


@pytest.mark.parametrize(("over", "cut"), [(0, fit), (1, fitted)])
def test_data_up_to_ten_times_its_room_is_weighed_whole_and_larger_data_by_what_could_stay(
    over: int, cut: Callable[[Any, int], Any]
) -> None:
    room = TURN_CAP - len("FACTS: app=a fn=f data=")
    texts = ["word " * 20] * 200
    large = ["x" * (10 * room + over - len(dumps(["", *texts]))), *texts]
    (digest,) = record([("a", "f", large)])
    assert len(dumps(large)) == 10 * room + over
    assert fit(large, room) != fitted(large, room) and data(digest) == cut(large, room)


@pytest.mark.parametrize(
    ("room", "kept"), [(59, {TRUNCATED: "621 chars"}), (60, {"id": 7, TRUNCATED: "1 more fields"})]
)
def test_an_older_call_keeps_facts_from_sixty_characters_of_room_and_tells_its_size_below(
    room: int, kept: dict[str, Any]
) -> None:
    empty = len("FACTS: app=a fn=f data=")
    newest = "x" * (TURN_CAP - room - 2 * empty - len('\n""'))
    older, _ = record([("a", "f", {"id": 7, "note": "words " * 100}), ("a", "f", newest)])
    assert data(older) == kept


def test_rows_that_nothing_selects_have_a_floor_each_and_their_first_fields_fill_it() -> None:
    row = {f"k{n}": ["w" * 9] * 3 for n in range(4)}
    room = 20 * 80 + len('["… 20 more, fields left out"]')
    assert fit([row] * 20, room) == [*[{"k0": row["k0"]}] * 20, "… fields left out"]
    assert len(fit([row] * 20, room - 1)) < 20


def test_facts_come_before_arguments_and_newer_arguments_before_older_ones() -> None:
    calls = [("a", f"f{i}", {"id": i, "pad": "x" * 400}) for i in range(5)]
    said = [{"note": f"{i} " * 120} for i in range(5)]
    digests = record(calls, arguments=said)
    assert [data(d)["id"] for d in digests] == [0, 1, 2, 3, 4]
    there = [d.fn_name for d in digests if d.args_json]
    assert there and there == [f"f{i}" for i in range(5 - len(there), 5)]
    assert len("\n".join(x for d in digests for x in lines(d))) <= TURN_CAP


@pytest.mark.parametrize("over", [0, 1])
def test_facts_and_arguments_take_the_cap_to_its_last_character(over: int) -> None:
    said = {"a": "y" * 500}
    bare = 'FACTS: app=a fn=f data={"t": ""}' + "\n" + f"ARGS: app=a fn=f args={json.dumps(said)}"
    (digest,) = record([("a", "f", {"t": "x" * (TURN_CAP - len(bare) + over)})], arguments=[said])
    assert (args(digest) == said) is not bool(over)


def test_calls_that_stay_keep_their_arguments_though_an_older_one_went_with_its_own() -> None:
    calls = [("a" * 2900, "f", {"n": 1}), ("mail", "find", {"n": 2}), ("mail", "read", {"n": 3})]
    omitted, *kept = record(calls, arguments=[{"q": "one"}, {"q": "two"}, {"q": "three"}])
    assert (omitted.fn_name, omitted.args_json) == (OMITTED_FN, "")
    assert [args(digest)["q"] for digest in kept] == ["two", "three"]


@pytest.mark.parametrize(("room", "whole"), [(600, True), (601, False)])
def test_arguments_of_six_hundred_characters_are_kept_whole(room: int, whole: bool) -> None:
    said = {"body": "x" * (room - len('{"body": ""}'))}
    (digest,) = record([("mail", "send", {"ok": 1})], arguments=[said])
    assert (args(digest) == said) is whole


@pytest.mark.parametrize(("count", "kept"), [(40, True), (41, False)])
def test_arguments_of_more_names_than_have_room_are_not_kept_in_part(
    count: int, kept: bool
) -> None:
    said = {f"name {n:02}": 50 + n for n in range(count)}
    (digest,) = record([("mail", "send", {"ok": 1})], arguments=[said])
    assert args(digest) == (said if kept else None)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(NAMES, NAMES, JSON_VALUES, st.dictionaries(TEXTS, JSON_VALUES, max_size=4)),
        max_size=12,
    )
)
def test_facts_and_arguments_together_keep_to_the_cap(
    calls: list[tuple[str, str, Any, dict[str, Any]]],
) -> None:
    plain = [(a, f, d) for a, f, d, _ in calls]
    digests = record(plain, arguments=[said for *_, said in calls])
    text = "\n".join(x for d in digests for x in lines(d))
    assert len(text) <= TURN_CAP
    assert all(json.loads(d.args_json) for d in digests if d.args_json)
    bare = [d.data_facts_json for d in record(plain)]
    assert [d.data_facts_json for d in digests if d.data_facts_json] == bare


@pytest.mark.parametrize("ident", ["file_id", "message_id", "ref_id"])
def test_the_id_that_a_function_takes_stays_of_every_row(ident: str) -> None:
    rows = [
        {
            ident: f"AAMkAGI{n:04}",
            "subject": f"Re: offer {n}",
            "preview": "Dear all, please find the attached offer and let me know " * 3,
            "labels": ["inbox", "work"],
        }
        for n in range(50)
    ]
    kept = fit({"items": rows}, 3_000)["items"]
    assert [row[ident] for row in kept[:50]] == [row[ident] for row in rows]
