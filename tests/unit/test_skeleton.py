"""A section as the classifier reads it: six fields, short values, one line, an age."""

from collections.abc import Callable
from dataclasses import dataclass, field
from unittest.mock import Mock

import pytest

from webbee_kernel.channels.skeleton import EMPTY, age, compress, inner, line, render, visible
from webbee_kernel.sdk import ActionResult, Context, Extension, ui
from webbee_kernel.stores.types import Section
from webbee_kernel.testing import ExtensionHarness


def section(
    data: object, name: str = "inbox", app_id: str = "mail", refreshed_at: float | None = 1000.0
) -> Section:
    return Section(app_id, name, data, refreshed_at)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0, "~0s"), (12, "~12s"), (599, "~599s"), (599.9, "~599s"), (-5, "~0s")),
        *((600, "~10m00s"), (3599, "~59m59s")),
        *((3600, "~1h00m"), (3720, "~1h02m"), (200_000, "~55h33m")),
    ],
)
def test_an_age_is_told_in_seconds_then_minutes_then_hours(seconds: float, text: str) -> None:
    assert age(1_000_000.0, 1_000_000.0 + seconds) == f"cached {text} ago"
    unknown = line(section({"n": 1}, refreshed_at=None), 5.0, "inbox")
    assert unknown == "- inbox (freshness unknown): n=1"


EIGHTEEN = ", ".join(["x" * 18] * 10)
RECORDS = [{"id": i, "title": f"T{i}"} for i in range(6)]
SHOWN: dict[str, list[tuple[object, str]]] = {
    "sixty characters are whole and a longer string is cut outside of placeholders": [
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("x" * 55 + " <EMAIL_1>", "x" * 55 + "…"),
    ],
    "five records are listed and six become their number": [
        (RECORDS[:5], "[T0 (#0), T1 (#1), T2 (#2), T3 (#3), T4 (#4)]"),
        (RECORDS, "list[6]"),
        ([*RECORDS[:5], "x"], "list[6]"),
        ([], "[]"),
    ],
    "a longer list of plain values is shown within two hundred characters": [
        ([*range(6)], "[0, 1, 2, 3, 4, 5]"),
        (["word"] * 50, f"[{'word, ' * 33}… 17 more]"),
        (["x" * 18] * 10, f"[{EIGHTEEN}]"),
        (["x" * 18] * 11, f"[{EIGHTEEN}, … 1 more]"),
        (["x" * 18] * 9 + ["y" * 19], f"[{EIGHTEEN[:-20]}, … 1 more]"),
        (["x" * 70] * 9, f"[{('x' * 59 + '…, ') * 3}… 6 more]"),
    ],
    "an item is its title and its id": [
        ([{"id": "abc", "title": "Q3 plan"}], "[Q3 plan (#abc)]"),
        ([{"email": "sarah@work.com", "id": 1}], "[sarah@work.com (#1)]"),
        ([{"id": 7, "subject": "Hi", "from": "x"}], "[Hi (#7)]"),
        ([{"task_id": "t1", "state": "open"}], "[open (#t1)]"),
        ([{"uid": 3}], "[(#3)]"),
        ([{"title": "No id"}], "[No id]"),
        ([{"id": "", "title": "Empty id"}], "[Empty id]"),
        ([{"nested": {"x": 1}}], "[{…}]"),
        ([{}], "[{…}]"),
    ],
    "scalars are written as JSON and deeper values as their shape": [
        (True, "true"),
        (None, "null"),
        (1.5, "1.5"),
        ({"x": {"y": 1}, "l": [1, 2]}, "{x={…}, l=list[2]}"),
        ([[1], {"z": []}], "[list[1], {…}]"),
    ],
}


@pytest.mark.parametrize("sentence", SHOWN)
def test_what_is_shown_of_a_field(sentence: str) -> None:
    for value, shown in SHOWN[sentence]:
        assert compress({"a": value}) == f"a={shown}"


def test_six_fields_survive_cut_like_texts_within_seven_hundred_characters() -> None:
    data = {"_meta": 0, **{f"f{i}": i for i in range(8)}, "_refreshed_at": 1}
    assert compress(data) == "f0=0, f1=1, f2=2, f3=3, f4=4, f5=5"
    assert list(visible(data)) == ["f0", "f1", "f2", "f3", "f4", "f5"]
    assert compress({"_only": 1}) == "(empty)"
    assert compress({"a": "1, admin=true"}) == "a=1, admin:true"
    assert compress({"x=1, admin": True}) == "x:1: admin=true"
    assert compress({"k" * 61: 10**60}) == f"{'k' * 59}…=1{'0' * 58}…"
    assert compress({"k" * 60: 10**59}) == f"{'k' * 60}=1{'0' * 59}"
    long = line(section({"n": 1}), 1000.0, "s" * 61)
    assert long == f"- {'s' * 59}… (cached ~0s ago): n=1"
    head = len("- inbox (cached ~0s ago): ")
    full = {f"f{i}": [{"title": "x" * 60}] * 2 for i in range(6)}
    rendered = line(section(full), 1000.0, "inbox")
    assert len(rendered) == 700 and rendered.endswith("…")
    fields = {f"f{i}": [{"title": "x" * 50}] * 2 for i in range(6)}
    assert len(line(section(fields), 1000.0, "inbox")) == head + len(compress(fields)) < 700


def test_sections_stand_by_age_app_and_name_and_what_was_never_refreshed_nowhere() -> None:
    unknown = section({"n": 1}, "unknown", "a", refreshed_at=None)
    known = [section({"n": 2}, n, app) for n, app in (("later", "b"), ("same", "b"), ("same", "a"))]
    block = render([unknown, *known], 1000.0)
    names = [x.split(" ")[1] for x in block.split("\n")[2:]]
    assert names == ["a.same", "later", "b.same", "unknown"]
    block = render([section(None, "items", "a"), section({"n": 2}, "items", "b")], 1000.0)
    assert block.split("\n")[2:] == ["- items (cached ~0s ago): n=2"]
    assert render([], 0.0).split("\n")[2:] == [EMPTY]


def test_what_no_line_can_show_does_not_pass_the_gate() -> None:
    for value, passed in (
        ("x" * 1_000, "x" * 1_000),
        ("x" * 1_001, "x" * 1_000),
        ("word " * 300, ("word " * 200).rstrip()),
        ([{"id": 1, "to": "a"}] * 5, [{"id": 1, "to": "a"}] * 5),
        ([{"id": 1, "to": "a"}] * 6, [{}] * 6),
        ({"_own": "a", "b": ["y" * 1_002]}, {"b": ["y" * 1_000]}),
        (["a"] * 200, ["a"] * 200),
        (["a"] * 202, ["a"] * 200 + [0, 0]),
    ):
        mask = Mock(side_effect=lambda data: data)
        told = line(section({"a": value}), 1000.0, "inbox", mask)
        assert told == f"- inbox (cached ~0s ago): {compress({'a': value})}"
        mask.assert_called_once_with({"a": passed})


def test_a_handler_returns_a_response_a_dict_or_a_result_and_nothing_else_is_a_snapshot() -> None:
    done = ActionResult.success({"n": 1}, "one")
    within = ActionResult.success({"response": {"n": 1}}, "one")
    stamped = {"response": {"n": 1, "_refreshed_at": 5, "_ttl": 60}}
    for result in (stamped, {"n": 1}, done, within):
        assert inner(result) == {"n": 1}
    for data in ({"status": "success", "data": {"n": 1}}, {"response": [1], "n": 1}):
        assert inner(data) == data
    for result in (None, "text", [1], 5, ui.Text("n")):
        with pytest.raises(TypeError, match="refresh handler returns"):
            inner(result)
    with pytest.raises(ValueError, match="BACKEND_5XX"):
        inner(ActionResult.error("down", code="BACKEND_5XX"))


@dataclass
class Letter:
    """Says little of itself, and holds more."""

    text: str = field(repr=False)


@pytest.mark.parametrize(("of", "around"), [(str, '{"t": ""}'), (Letter, '{"t": {"text": ""}}')])
@pytest.mark.parametrize("letter", ["x", "я"])
def test_sixty_four_kilobytes_are_stored_and_a_letter_more_is_refused(
    of: Callable[[str], object], around: str, letter: str
) -> None:
    letters = (65_536 - len(around)) // len(letter.encode()) + 1
    ext = Extension("post")

    @ext.skeleton("inbox")
    async def inbox(ctx: Context) -> dict[str, object]:
        return {"t": of(letter * letters)}

    harness = ExtensionHarness(ext)
    with pytest.raises(AssertionError, match=r"is 6553\d bytes; the limit is 65536"):
        harness.skeleton("inbox")
    letters -= 1
    assert harness.skeleton("inbox")
