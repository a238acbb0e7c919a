"""What a turn's calls leave behind: verbatim where it fits, and honest, valid JSON where it does
not."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.json_values import json_values
from webbee_kernel.channels import fact_ledger
from webbee_kernel.channels.fact_ledger import OMITTED_FN, TURN_CAP, line, lines, record
from webbee_kernel.stores.types import ToolCallDigest

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
LONG_TEXTS = st.builds(lambda t, n: t * n, TEXTS, st.integers(1, 200))
JSON_VALUES = json_values(TEXTS | LONG_TEXTS, items=12, fields=6)
NAMES = st.text("abcdefgh_-0123456789", min_size=1, max_size=64)
CALLS = st.tuples(NAMES, NAMES, JSON_VALUES, st.dictionaries(TEXTS, JSON_VALUES, max_size=4))


def facts(digests: tuple[ToolCallDigest, ...]) -> str:
    return "\n".join(line(d) for d in digests)


def data(digest: ToolCallDigest) -> Any:
    return json.loads(digest.data_facts_json)


def rows(n: int, width: int = 40) -> dict[str, Any]:
    return {"count": n, "items": [{"id": f"t{i}", "title": "x" * width} for i in range(n)]}


def test_older_calls_are_named_while_that_leaves_the_newest_half_of_the_room() -> None:
    digests = record([("a", "old", {"id": 1}), ("a", "new", 10**4000)])
    assert digests[-1].fn_name == "new" and len(facts(digests)) <= TURN_CAP
    calls = [("a", f"f{i}", rows(400)) for i in range(4)]
    whole = len(json.dumps(rows(400), ensure_ascii=False))
    marker = f'FACTS: app=a fn=f0 data={{"{fact_ledger.TRUNCATED}": "{whole} chars"}}\n'
    room = 2 * 3 * len(marker)
    named, counted = record(calls, room), record(calls, room - 1)
    assert [d.fn_name for d in named] == ["f0", "f1", "f2", "f3"]
    assert counted[0].fn_name == OMITTED_FN
    assert len(line(named[-1])) <= room // 2 < len(line(counted[-1]))


def args(digest: ToolCallDigest) -> Any:
    return json.loads(digest.args_json) if digest.args_json else None


def test_what_the_facts_hold_is_not_said_twice() -> None:
    for arguments, kept in (
        ({"to": "a@b.co", "n": 3, "x": None, "y": "", "z": []}, None),
        ({"text": "wrote plan.md"}, None),
        ({"deep": {"list": ["a@b.co", 3]}}, None),
        ({"deep": {"list": ["a@b.co", 4]}}, {"deep": {"list": ["a@b.co", 4]}}),
        ({"n": 4}, {"n": 4}),
        ({"flag": True}, {"flag": True}),
        ({"t": "plan"}, {"t": "plan"}),
        ({"t": "plan."}, None),
        ({"to": "a@b.co", "subject": "План"}, {"subject": "План"}),
    ):
        data = {"to": "a@b.co", "n": 3, "note": "I wrote plan.md for you"}
        (digest,) = record([("a", "f", data)], arguments=[arguments])
        assert args(digest) == kept


def test_calls_that_stay_keep_their_arguments_though_older_ones_went_with_their_own() -> None:
    calls = [("mail", "look", {"n": 0}), ("a" * 2900, "f", {"n": 1})]
    calls += [("mail", "find", {"n": 2}), ("mail", "read", {"n": 3})]
    omitted, *kept = record(calls, arguments=[{"q": f"call {n}"} for n in range(4)])
    assert (omitted.fn_name, omitted.args_json) == (OMITTED_FN, "")
    assert [args(digest)["q"] for digest in kept] == ["call 2", "call 3"]


@settings(max_examples=25)
@given(st.lists(CALLS, max_size=30))
def test_any_calls_leave_at_most_three_thousand_characters_of_valid_json_in_order(
    calls: list[tuple[str, str, Any, dict[str, Any]]],
) -> None:
    plain = [(a, f, d) for a, f, d, _ in calls]
    digests = record(plain, arguments=[said for *_, said in calls])
    shown = [x for d in digests for x in lines(d)]
    assert len("\n".join(shown)) <= TURN_CAP
    assert all(len(x.splitlines()) == 1 for x in shown)
    assert all(json.loads(d.args_json) for d in digests if d.args_json)
    bare = record(plain)
    assert [data(d) for d in digests if d.data_facts_json] == [data(d) for d in bare]
    told = [(a, f) for a, f, d in plain if not (d is None or d in ({}, [], ""))]
    kept = [(d.app_id, d.fn_name) for d in bare if d.fn_name != OMITTED_FN]
    assert kept == told[len(told) - len(kept) :]
    assert bool(kept) == bool(told)  # the newest call is always there
